"""What programs have to say before a build begins."""

from dataclasses import replace
from pathlib import Path

import pytest

from rvbuild.build.checks import run_checks
from rvbuild.errors import BuildError, MissingToolError
from rvbuild.executor.local import LocalExecutor
from tests.build_samples import bench_at, job_of, recipe_of, workshop_at

CHECK = {
    "run": ["protoc", "--version"],
    "prints": "libprotoc 3.21.12",
    "reason": "third_party/protobuf reads no other version's code",
}


def check(folder: Path, says: str | None, **changes: object) -> None:
    """Run a check of a `protoc` that prints `says`, or of none."""
    job = job_of(recipe_of("demo", checks=[{**CHECK, **changes}]))
    bench = bench_at(folder, job)
    programs = folder / "bin"
    programs.mkdir()
    (programs / "sh").symlink_to("/bin/sh")
    if says is not None:
        (programs / "protoc").write_text(f"#!/bin/sh\necho {says}\n")
        (programs / "protoc").chmod(0o755)
    workshop = replace(workshop_at(folder), executor=LocalExecutor())
    run_checks(workshop, bench)


def test_the_right_version_goes_on(tmp_path: Path) -> None:
    check(tmp_path, "libprotoc 3.21.12")


def test_placeholders_are_filled_in(tmp_path: Path) -> None:
    check(tmp_path, "libprotoc 1.0", prints="libprotoc {version}", run=["{tools}/protoc"])


def test_another_version_stops_with_both_and_the_reason(tmp_path: Path) -> None:
    with pytest.raises(BuildError) as caught:
        check(tmp_path, "libprotoc 3.12.4")
    error = caught.value
    assert error.message == (
        "`protoc --version` says `libprotoc 3.12.4` and not `libprotoc 3.21.12`"
    )
    assert error.causes == (CHECK["reason"],)
    assert "`checks` of `demo`" in (error.hint or "")
    assert error.reproduce == "rvbuild shell demo-1.0:cp313"


def test_a_missing_generator_is_named_with_the_next_move(tmp_path: Path) -> None:
    with pytest.raises(MissingToolError) as caught:
        check(tmp_path, None)
    assert caught.value.message == "`demo-1.0:cp313` has no `protoc`"
    assert caught.value.hint == "name `protoc` in `requires.tools` of `demo`"


def test_a_program_that_fails_is_told_with_what_it_said(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="says `broken` and not"):
        check(tmp_path, "broken; exit 3")
