"""`shell` and `patches`: which stopped job is meant, what runs in it, what patches say."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rvbuild.cli.shell import choose_work
from rvbuild.errors import NothingSelectedError, UsageError
from rvbuild.pipeline import House, Options, stopped
from rvbuild.pipeline.stopped import StoppedJob, python_of, split_label
from rvbuild.places import Places
from rvbuild.recipe.catalogue import Catalogue
from rvbuild.store import Work, close_work, mark_done, open_work, stopped_work
from tests.build_samples import job_of, recipe_of
from tests.cli_samples import Desk


@pytest.fixture
def places(tmp_path: Path) -> Places:
    found = Places(tmp_path)
    for job in ("numpy-2.5.5:cp313", "numpy-2.5.5:cp314", "numpy-doc-1.0:cp313", "z-1:library"):
        mark_done(open_work(found, job, "0" * 64), "source", 1.0)
    (found.work / "test-numpy").mkdir()
    return found


@pytest.mark.parametrize(
    ("name", "asked", "job"),
    [
        ("numpy-2.5.5:cp314", (), "numpy-2.5.5:cp314"),
        ("numpy", ("3.13",), "numpy-2.5.5:cp313"),
        ("NumPy==2.5.5", ("3.14",), "numpy-2.5.5:cp314"),
        ("numpy_doc", (), "numpy-doc-1.0:cp313"),
        ("z", (), "z-1:library"),
    ],
)
def test_names_mean_stopped_jobs(
    places: Places, name: str, asked: tuple[str, ...], job: str
) -> None:
    assert choose_work(name, asked, places).job == job


def test_a_job_that_did_not_stop_and_one_name_for_two(places: Places) -> None:
    with pytest.raises(NothingSelectedError, match="no stopped job") as none:
        choose_work("scipy", (), places)
    with pytest.raises(UsageError, match="several") as several:
        choose_work("numpy", (), places)

    assert "`z-1:library`" in (none.value.hint or "")
    assert "`numpy-2.5.5:cp314`" in (several.value.hint or "")
    assert len(stopped_work(places)) == 4
    assert stopped_work(Places(places.cache / "none")) == ()


def test_labels_and_tags_are_taken_apart(tmp_path: Path) -> None:
    (tmp_path / "lib-2to3.yaml").write_text("")
    recipes = Catalogue((tmp_path,))

    assert split_label("numpy-2.5.5", recipes) == ("numpy", "2.5.5")
    assert split_label("lib-2to3-1.0-rc1", recipes) == ("lib-2to3", "1.0-rc1")
    assert [python_of(tag) for tag in ("cp313", "cp313t", "library")] == ["3.13", "3.13t", None]


def test_a_command_runs_in_the_job_with_its_environment_only(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = open_work(desk.places, "thing-1.0:cp313", "0" * 64)

    @contextmanager
    def pretend(work: Work, options: Options, house: House) -> Iterator[StoppedJob]:
        job = job_of(recipe_of("thing"))
        yield StoppedJob(job, work.folder, {"PATH": "/usr/bin:/bin", "CC": "cross"}, changed=True)

    monkeypatch.setattr(stopped, "reopen", pretend)
    monkeypatch.setenv("LEAK", "leaked")
    ended = desk.run("shell", "thing", "--", "sh", "-c", 'echo "$CC$LEAK" > seen; exit 5')

    assert (ended.code, ended.out) == (5, "")
    assert (work.folder / "seen").read_text() == "cross\n"
    assert "would be built anew" in ended.err
    assert desk.run("shell", "thing", "--", "sh", "-c", "kill -9 $$").code == 137
    assert desk.run("shell", "thing", "--", "nothing-of-that-name").code == 4


def test_without_a_command_the_user_s_shell_comes(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = open_work(desk.places, "thing-1.0:cp313", "0" * 64)
    shell = desk.home / "shell"
    shell.write_text("#!/bin/sh\npwd > shell-was-here\n")
    shell.chmod(0o755)

    @contextmanager
    def pretend(work: Work, options: Options, house: House) -> Iterator[StoppedJob]:
        yield StoppedJob(job_of(recipe_of("thing")), work.folder, {"PATH": "/bin"}, changed=False)

    monkeypatch.setattr(stopped, "reopen", pretend)
    monkeypatch.setenv("SHELL", str(shell))

    assert desk.run("shell", "thing").code == 0
    assert (work.folder / "shell-was-here").read_text() == f"{work.folder}\n"


def test_a_stopped_job_is_opened_with_what_its_build_sees(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write_recipe("low", "library", "resources: {cores: 1}\n")
    monkeypatch.setattr(stopped, "workshop", desk.workshop)
    jobs = desk.run("plan", "low", "--json").document["jobs"]
    assert isinstance(jobs, list)
    work = open_work(desk.places, "low-1.0:library", jobs[0]["key"])
    script = 'echo "$CC" > seen-cc; env > env.txt'

    ended = desk.run("shell", "low", "--", "/bin/sh", "-c", script)
    desk.write_recipe("low", "library", "expect: {files: [lib/a.so]}\n")
    same = desk.run("shell", "low", "--", "/bin/sh", "-c", "exit 0")

    assert (ended.code, ended.err) == (0, "")
    assert "clang" in (work.folder / "seen-cc").read_text()
    assert f"RVBUILD_WORK={work.folder}\n" in (work.folder / "env.txt").read_text()
    assert same.err == ""


def test_programs_of_a_library_s_tests_that_stopped_are_opened_too(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = "{build: [{run: [make]}], run: [{name: dot, command: [dot]}]}"
    desk.write_recipe("low", "library", f"test: {{programs: {programs}}}\n")
    monkeypatch.setattr(stopped, "workshop", desk.workshop)
    work = open_work(desk.places, "low-1.0:tests", "0" * 64)

    ended = desk.run("shell", "low-1.0:tests", "--", "/bin/sh", "-c", "env > env.txt")

    assert ended.code == 0
    assert f"RVBUILD_WORK={work.folder}\n" in (work.folder / "env.txt").read_text()


def test_a_job_that_another_run_finished_is_not_opened(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write_recipe("low", "library")
    monkeypatch.setattr(stopped, "workshop", desk.workshop)
    work = open_work(desk.places, "low-1.0:library", "0" * 64)

    monkeypatch.setattr("rvbuild.cli.shell.choose_work", lambda *_: work)
    close_work(work)

    assert desk.run("shell", "low", "--", "true").code == 3


PATCH = "{status}--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"


def test_patches_say_what_upstream_knows(desk: Desk) -> None:
    desk.write_recipe("thing")
    assert desk.run("patches", "status", "thing").err == "no recipe has a patch\n"
    desk.write_recipe("thing", more="patches: [one.patch]\n")
    folder = desk.home / "patches/thing"
    folder.mkdir(parents=True)
    (folder / "one.patch").write_text(PATCH.format(status="Upstream-Status: To upstream\n"))

    ended = desk.run("patches", "status", "thing")
    (folder / "one.patch").write_text(PATCH.format(status=""))
    silent = desk.run("patches", "status", "thing", "--json")

    assert (ended.code, "To upstream" in ended.out) == (0, True)
    assert silent.code == 5
    assert silent.document["patches"] == [
        {"recipe": "thing-1.0", "patch": "one.patch", "status": "unknown"}
    ]
