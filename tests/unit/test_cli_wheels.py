"""`wheel` and `build`: what lands in `dist`, what is printed, and how failures end."""

from pathlib import Path

import pytest

from rvbuild.cli.delivery import as_json, deliver, summary
from rvbuild.cli.house import outside_environment, supported_host
from rvbuild.errors import CheckError, MissingToolError, UsageError
from rvbuild.events import Silent
from rvbuild.pipeline import Outcome
from tests.cli_samples import Desk, broken, write_wheel
from tests.conftest import Recorder


def test_a_wheel_lands_in_dist_and_its_path_on_stdout(desk: Desk) -> None:
    desk.write_recipe("thing")

    ended = desk.run("wheel", "thing", "--no-test")

    place = desk.home / "dist/thing-1.0-py3-none-any.whl"
    assert (ended.code, ended.out) == (0, f"{place}\n")
    assert place.read_bytes() == (desk.home / "made/thing-1.0-py3-none-any.whl").read_bytes()
    assert "sha256" in ended.err
    assert list(place.parent.iterdir()) == [place]


def test_the_second_time_nothing_is_built_nor_written(desk: Desk) -> None:
    desk.write_recipe("thing")
    desk.run("wheel", "thing", "--no-test")
    before = (desk.home / "dist/thing-1.0-py3-none-any.whl").stat()

    ended = desk.run("wheel", "thing", "--no-test", "--json")

    after = (desk.home / "dist/thing-1.0-py3-none-any.whl").stat()
    assert desk.begun == ["thing-1.0:cp313"]
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    jobs = ended.document["jobs"]
    assert isinstance(jobs, list)
    assert [(job["state"], job["error"]) for job in jobs] == [("cached", None)]


def test_every_failure_is_drawn_and_hides_no_success(desk: Desk) -> None:
    desk.write_recipe("low", "library")
    desk.write_recipe("high", more="requires: {libraries: [low]}\n")
    desk.write_recipe("other")
    desk.write_recipe("thing")
    desk.failing["low"] = broken("low")
    desk.failing["other"] = CheckError("`other` is wrong")

    ended = desk.run("wheel", "high", "other", "thing", "--no-test")

    assert ended.code == 6
    assert ended.out == f"{desk.home}/dist/thing-1.0-py3-none-any.whl\n"
    assert "error: `low` does not compile" in ended.err
    assert "error: `other` is wrong" in ended.err
    assert "failed: low-1.0:library" in ended.err
    assert "not started: high-1.0:cp313" in ended.err


def test_quiet_says_only_what_failed(desk: Desk) -> None:
    desk.write_recipe("thing")
    desk.failing["thing"] = broken("thing")

    ended = desk.run("--quiet", "wheel", "thing", "--no-test")

    assert ended.err == "error: `thing` does not compile\ncause: no such header\n"


def test_kinds_have_commands_of_their_own(desk: Desk) -> None:
    desk.write_recipe("low", "library")
    desk.write_recipe("thing")

    library, wheel = desk.run("wheel", "low"), desk.run("build", "thing")

    assert (library.code, wheel.code, desk.begun) == (2, 2, [])
    assert "hint: `rvbuild build low`" in library.err
    assert "hint: `rvbuild wheel thing`" in wheel.err


def test_build_prints_the_prefix(desk: Desk) -> None:
    desk.write_recipe("low", "library")

    ended = desk.run("build", "low")

    assert ended.code == 0
    assert (Path(ended.out.strip()) / "lib/liba.so").read_text() == "code"
    assert not (desk.home / "dist").exists()


def test_every_mode_can_be_planned_on_any_machine(desk: Desk) -> None:
    desk.write_recipe("thing")

    for mode in ("--cross", "--native", "--emulated"):
        planned = desk.run("wheel", "thing", mode, "--dry-run")
        assert (planned.code, "thing-1.0:cp313" in planned.out) == (0, True)
    assert desk.run("wheel", "thing", "--native", "--cross").code == 2
    assert desk.run("wheel", "thing", "--cross", "--no-container").code == 2
    assert desk.begun == []


def test_an_emulated_build_warns_of_its_speed(desk: Desk) -> None:
    desk.write_recipe("thing")

    ended = desk.run("wheel", "thing", "--emulated", "--no-test")

    assert (ended.code, len(desk.begun)) == (0, 1)
    assert "times as long" in ended.err


def test_unknown_names_answer_with_near_ones(desk: Desk) -> None:
    desk.write_recipe("thing")

    ended = desk.run("wheel", "thign")

    # The index, which might have it, cannot be asked.
    assert ended.code == 5
    assert "`thing`" in ended.err.partition("hint:")[2]


def test_unknown_cpus_are_refused_before_anything_runs(desk: Desk) -> None:
    desk.write_recipe("thing")

    ended = desk.run("wheel", "thing", "--cpu", "vlen257")

    assert (ended.code, desk.begun) == (2, [])
    assert "`vlen256`" in ended.err


def test_the_first_of_two_wheels_with_one_name_is_kept(tmp_path: Path, recorder: Recorder) -> None:
    first = write_wheel(tmp_path / "a", files={"thing.py": b"1"})
    second = write_wheel(tmp_path / "b", files={"thing.py": b"2"})
    outcomes = (
        Outcome("thing-1.0:cp313", "built", wheel=first),
        Outcome("thing-1.0:cp314", "built", wheel=second),
    )

    delivered = deliver(outcomes, tmp_path / "dist", recorder)

    assert (tmp_path / "dist" / first.name).read_bytes() == first.read_bytes()
    assert [job for job, _ in recorder.of("note")] == ["thing-1.0:cp314"]
    assert delivered[0].sha256 == delivered[1].sha256


def test_other_bytes_of_an_earlier_run_are_replaced(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path / "a")
    place = tmp_path / "dist" / wheel.name
    place.parent.mkdir()
    place.write_bytes(b"old")

    deliver((Outcome("thing-1.0:cp313", "built", wheel=wheel),), place.parent, Silent())

    assert place.read_bytes() == wheel.read_bytes()


def test_symbols_beside_a_wheel_are_named(tmp_path: Path) -> None:
    for name in ("plain", "split"):
        (tmp_path / name).mkdir()
    (tmp_path / "split/symbols").mkdir()
    outcomes = [
        Outcome(f"{name}-1.0:cp313", "built", wheel=write_wheel(tmp_path / name, name))
        for name in ("plain", "split")
    ]

    delivered = deliver(outcomes, tmp_path / "dist", Silent())

    assert summary(delivered).splitlines()[-1] == f"symbols: {tmp_path}/split/symbols"
    jobs = as_json(delivered)["jobs"]
    assert isinstance(jobs, list)
    assert [job["symbols"] for job in jobs] == [None, f"{tmp_path}/split/symbols"]


def test_a_dist_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path / "a")
    (tmp_path / "dist").write_text("a file")

    with pytest.raises(UsageError, match="cannot be written"):
        deliver((Outcome("thing", "built", wheel=wheel),), tmp_path / "dist", Silent())


def test_what_failed_its_tests_is_not_delivered(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path / "a")
    failed = Outcome("thing", "failed", wheel=wheel, error=CheckError("wrong"))

    assert deliver((failed,), tmp_path / "dist", Silent())[0].path is None
    assert not (tmp_path / "dist").exists()


def test_only_what_is_listed_comes_in_from_outside() -> None:
    environment = {
        "PATH": "/bin",
        "HOME": "/home/me",
        "https_proxy": "http://proxy.example",
        "PIP_TRUSTED_HOST": "index.example",
        "CURL_CA_BUNDLE": "/ca.pem",
        "LD_LIBRARY_PATH": "/evil",
        "CFLAGS": "-march=native",
        "RVBUILD_PYPI_INDEX": "http://one.example/simple http://two.example/simple",
    }

    seen = outside_environment(environment)

    assert seen["PIP_INDEX_URL"] == "http://one.example/simple"
    assert seen["PIP_EXTRA_INDEX_URL"] == "http://two.example/simple"
    assert {"PATH", "HOME", "https_proxy", "PIP_TRUSTED_HOST", "CURL_CA_BUNDLE"} <= seen.keys()
    assert not {"LD_LIBRARY_PATH", "CFLAGS", "RVBUILD_PYPI_INDEX"} & seen.keys()


@pytest.mark.parametrize(("system", "machine"), [("Darwin", "arm64"), ("Linux", "ppc64le")])
def test_machines_without_kits_are_refused(system: str, machine: str) -> None:
    assert supported_host("Linux", "aarch64") == "aarch64"
    with pytest.raises(MissingToolError, match=machine):
        supported_host(system, machine)
