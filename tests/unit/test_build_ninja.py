"""What is heard of ninja: how far it is, and everything that failed."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from rvbuild.build.ninja import KEPT_FAILURES, NinjaOutput, wrap_installed_ninja, wrap_ninja
from rvbuild.build.running import run
from rvbuild.errors import BuildError
from rvbuild.events import Progress
from rvbuild.executor.local import LocalExecutor
from tests.build_samples import bench_at, job_of, recipe_of, workshop_at
from tests.conftest import Recorder

OUTPUT = """\
-- Configuring done
[1/4 0.5s] Building CXX object a.cpp.o
FAILED: [code=1] lib/a.cpp.o
/kits/bin/clang++ -Werror -I/include/error.h -c a.cpp
In file included from error.h:1:
a.cpp:3:1: error: unknown type name 'vfloat'
    3 | vfloat x;
1 error generated.
[2/4 1.0s] Building CXX object b.cpp.o
[3/4 1.5s] Linking CXX shared library c.so
FAILED: c.so
clang++ -shared -o c.so
ld.lld: error: undefined symbol: cblas_cdotu_sub
ninja: build stopped: cannot make progress due to previous errors.
Traceback of whoever started it: error: not of c.so
"""


def heard(output: str) -> NinjaOutput:
    ninja = NinjaOutput()
    for line in output.splitlines():
        ninja.read(line)
    return ninja


def test_every_failure_is_told_with_what_it_was_and_why() -> None:
    assert heard(OUTPUT).told() == (
        "`lib/a.cpp.o`: a.cpp:3:1: error: unknown type name 'vfloat'",
        "`c.so`: ld.lld: error: undefined symbol: cblas_cdotu_sub",
    )


def test_a_failure_without_the_word_tells_its_last_line_or_that_there_is_none() -> None:
    output = "[1/2] x\nFAILED: x\ncmd x\none\ntwo\n[2/2] y\nFAILED: y\ncmd y\n"
    assert heard(output).told() == ("`x`: two", "`y`: it printed nothing")


def test_of_very_many_failures_the_rest_is_counted() -> None:
    output = "".join(f"FAILED: {each}\ncmd\nx: error: {each}\n" for each in range(25))
    told = heard(output).told()
    assert told[KEPT_FAILURES - 1] == "`19`: x: error: 19"
    assert told[KEPT_FAILURES:] == ("and 5 more, all of them in the log",)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("[373/1491 982.5s] Building CXX object x.o", Progress(373, 1491, 982.5 * 1118 / 373)),
        ("[1491/1491 3900.0s] Linking", Progress(1491, 1491, 0.0)),
        ("[0/4 0.0s] Re-checking globbed directories...", Progress(0, 4, None)),
        ("[12/23] Cythonizing scipy/x.pyx", Progress(12, 23, None)),
        ("  [1/2 0.1s] in CMake's own report", None),
        ("[1/2] without the blank", Progress(1, 2, None)),
        ("[100%] Built target x", None),
        ("[notice] 1/2", None),
    ],
)
def test_progress_is_read_from_the_counters(line: str, expected: Progress | None) -> None:
    assert NinjaOutput().read(line) == expected


def test_what_is_left_goes_by_the_pace_of_late() -> None:
    ninja = NinjaOutput()
    cached = [f"[{done}/1000 {done * 0.1:.1f}s] x" for done in range(1, 401)]
    for line in cached:
        ninja.read(line)
    assert ninja.progress is not None
    assert ninja.progress.seconds_left == pytest.approx(60.0)
    for done in range(401, 451):
        ninja.read(f"[{done}/1000 {40 + (done - 400) * 10.0:.1f}s] x")
    assert ninja.progress.seconds_left == pytest.approx(5500.0)


def test_another_ninja_counts_from_its_own_beginning() -> None:
    ninja = NinjaOutput()
    for line in ("[1/2 30.0s] x", "[2/2 60.0s] y", "[1/10 2.0s] z"):
        ninja.read(line)
    assert ninja.progress == Progress(1, 10, 18.0)


def test_a_build_tells_its_progress_and_the_first_failure_at_once(
    tmp_path: Path, recorder: Recorder
) -> None:
    (tmp_path / "output").write_text(OUTPUT)
    (tmp_path / "source").mkdir()
    workshop = replace(workshop_at(tmp_path), executor=LocalExecutor(), watch=recorder)
    bench = bench_at(tmp_path, job_of(recipe_of("demo")))
    told = {"PATH": "/usr/bin:/bin"}
    with pytest.raises(BuildError) as caught:
        run(workshop, bench, ("sh", "-c", f"cat {tmp_path}/output; exit 1"), told)
    assert caught.value.causes[0] == "it ended with exit code 1"
    assert caught.value.causes[1:] == heard(OUTPUT).told()
    assert caught.value.tail[1] == "a.cpp:3:1: error: unknown type name 'vfloat'"
    assert [event[1] for event in recorder.of("progress")] == ["1/4", "2/4", "3/4"]
    (note,) = recorder.of("note")
    assert note[1].startswith("`lib/a.cpp.o` failed; everything else is still built")
    kinds = [event[0] for event in recorder.events]
    assert kinds.index("note") < kinds.index("progress", kinds.index("progress") + 1)


def test_a_compiler_that_was_killed_far_above_the_end_is_seen(tmp_path: Path) -> None:
    filler = "".join(f"[{number}/900 9.0s] Building\n" for number in range(3, 900))
    failed = "[2/900 1.0s] x\nFAILED: x.o\nclang x\nclang: error: unable to execute: Killed\n"
    (tmp_path / "output").write_text(failed + filler)
    workshop = replace(workshop_at(tmp_path), executor=LocalExecutor())
    bench = bench_at(tmp_path, job_of(recipe_of("demo", resources={"memory_mb": 900})))
    with pytest.raises(BuildError) as caught:
        run(workshop, bench, ("cat", f"{tmp_path}/output", "/nowhere"), {"PATH": "/usr/bin:/bin"})
    assert (caught.value.hint or "").startswith("out of memory? 900 MiB")


def test_whoever_starts_ninja_is_told_to_go_on(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.write_text('#!/bin/sh\necho "$@"\n')
    real.chmod(0o755)
    wrap_ninja(tmp_path / "ninja", real)
    done = subprocess.run([tmp_path / "ninja", "-t", "clean"], capture_output=True, check=True)
    assert done.stdout == b"-k 0 -t clean\n"


def test_a_ninja_of_the_build_requirements_is_told_too(tmp_path: Path) -> None:
    wrap_installed_ninja(tmp_path)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "ninja").write_text('#!/bin/sh\necho "its own $@"\n')
    (tmp_path / "ninja").chmod(0o755)
    wrap_installed_ninja(tmp_path)
    done = subprocess.run([tmp_path / "ninja", "-j2"], capture_output=True, check=True)
    assert done.stdout == b"its own -k 0 -j2\n"
