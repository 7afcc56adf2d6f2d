from pathlib import Path

import pytest

from rvbuild.places import Places
from rvbuild.store import Step, close_work, find_work, mark_done, open_work

JOB = "markupsafe-3.0.3:cp313"
KEY, OTHER = "a" * 64, "b" * 64


def test_a_new_job_starts_with_an_empty_folder(tmp_path: Path) -> None:
    work = open_work(Places(tmp_path), JOB, KEY)
    assert work.folder == tmp_path / "work" / "markupsafe-3.0.3_cp313"
    assert [path.name for path in work.folder.iterdir()] == ["state.json"]
    assert work.steps == ()


def test_a_job_goes_on_where_it_stopped(tmp_path: Path) -> None:
    places = Places(tmp_path)
    work = mark_done(open_work(places, JOB, KEY), "sources", 1.5, "markupsafe.tar.gz")
    work = mark_done(work, "configure", 2.0)
    (work.folder / "build.ninja").write_text("half of a build")
    again = open_work(places, JOB, KEY)
    assert again == work
    assert again.steps == (Step("sources", 1.5, "markupsafe.tar.gz"), Step("configure", 2.0))
    assert again.is_done("configure")
    assert not again.is_done("build")
    assert (again.folder / "build.ninja").read_text() == "half of a build"


def test_another_key_starts_anew(tmp_path: Path) -> None:
    places = Places(tmp_path)
    old = mark_done(open_work(places, JOB, KEY), "sources", 1.0)
    (old.folder / "tree").mkdir()
    (old.folder / "tree" / "file").write_text("old")
    (old.folder / "tree").chmod(0o555)
    new = open_work(places, JOB, OTHER)
    assert new.steps == ()
    assert [path.name for path in new.folder.iterdir()] == ["state.json"]
    assert find_work(places, JOB, KEY) is None
    assert list((places.store / "trash").iterdir()) == []


@pytest.mark.parametrize("state", [b"", b"{", b"[]", b'{"key": "a"}', b"\xff\xfe", None])
def test_a_folder_without_a_good_state_starts_anew(tmp_path: Path, state: bytes | None) -> None:
    places = Places(tmp_path)
    work = mark_done(open_work(places, JOB, KEY), "sources", 1.0)
    (work.folder / "rest").write_text("rest")
    if state is None:
        (work.folder / "state.json").unlink()
    else:
        (work.folder / "state.json").write_bytes(state)
    again = open_work(places, JOB, KEY)
    assert again.steps == ()
    assert not (again.folder / "rest").exists()


def test_a_step_marked_twice_counts_once_with_its_last_time(tmp_path: Path) -> None:
    work = mark_done(open_work(Places(tmp_path), JOB, KEY), "build", 5.0)
    assert mark_done(work, "build", 1.0).steps == (Step("build", 1.0),)


def test_find_work_changes_nothing(tmp_path: Path) -> None:
    places = Places(tmp_path)
    assert find_work(places, JOB, KEY) is None
    assert list(tmp_path.iterdir()) == []
    work = mark_done(open_work(places, JOB, KEY), "sources", 1.0)
    assert find_work(places, JOB, KEY) == work
    assert find_work(places, JOB, OTHER) is None
    assert work.folder.is_dir()


def test_a_closed_work_folder_is_gone(tmp_path: Path) -> None:
    work = open_work(Places(tmp_path), JOB, KEY)
    close_work(work)
    assert not work.folder.exists()
    close_work(work)


def test_cpu_time_of_a_step_is_kept_with_it(tmp_path: Path) -> None:
    places = Places(tmp_path)
    work = mark_done(open_work(places, JOB, KEY), "build", 2.0, "x.whl", 7.5)
    found = find_work(places, JOB, KEY)
    assert found == work
    assert work.steps == (Step("build", 2.0, "x.whl", 7.5),)
