"""Wheels on machines that are near: this one, and containers of a riscv64 image."""

import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from rvbuild import testing
from rvbuild.errors import MissingToolError
from rvbuild.executor.daemon import connect
from rvbuild.image import provide_base
from rvbuild.kit import Supplies
from rvbuild.recipe import model as recipe
from rvbuild.target import cpus
from rvbuild.testing.meeting import met
from rvbuild.testing.nearby import reached
from tests.integration.conftest import PINS
from tests.integration.test_testing_wheels import bench, make_wheel, only

__all__ = ["bench"]

CHIP = cpus()["vlen256"]
SMOKE = """
import platform, sys
import demo
assert platform.machine() == "riscv64"
assert not demo.__file__.startswith({here!r})
print("answer", demo.answer)
open("left.txt", "w").write("fetched")
sys.exit(demo.code)
"""
PATH = "/usr/local/bin:/usr/bin:/bin"


@pytest.fixture
def image(supplies: Supplies) -> testing.Image:
    """Give the base image: it has no Python, so that the runtime is copied into containers."""
    name = provide_base(connect(), PINS, supplies)
    return testing.Image(name, "docker", emulated=True, environment={"PATH": PATH})


def answer_as(machine: str, python: str, folder: Path, way: str) -> testing.ThisMachine:
    """Make this machine answer as another one, with a Python that runs by what `way` says."""
    folder.mkdir()
    for name, text in (("uname", f"echo {machine}"), (python, f'exec {way} "$@"')):
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    return testing.ThisMachine({"PATH": f"{folder}:{PATH}", "HOME": str(folder)})


def proven(place: testing.Place, folder: Path, bench: testing.Bench, code: int) -> None:
    """Try a wheel that ends with a code, and look at everything that is told of it."""
    wheel = make_wheel(folder, "demo", code=f"answer = 42\ncode = {code}\n")
    tests = recipe.Test(imports=("demo",), smoke=SMOKE.format(here=str(bench.workspace)))
    with (
        reached(place, bench.executor, bench.workspace) as reach,
        met(reach, bench.runtime, bench.executor, bench.workspace) as machine,
    ):
        at = replace(bench, machine=machine)
        report = testing.check_wheel(wheel, tests, (machine.cpu,), at)
    smoke = only(report, "smoke")
    assert smoke.log is not None
    assert "answer 42" in smoke.log.read_text()
    assert smoke.status == ("failed" if code else "passed"), smoke
    assert (smoke.log.parent / "left.txt").read_text() == "fetched"
    assert report.emulator.startswith(f"{reach.kind} {reach.name} (")


@pytest.mark.needs("qemu")
@pytest.mark.parametrize("code", [0, 255])
def test_a_wheel_is_tried_on_this_machine(tmp_path: Path, bench: testing.Bench, code: int) -> None:
    interpreter = bench.runtime.interpreter
    words = (*bench.runtime.emulator.words(CHIP, interpreter.root), str(interpreter.program))
    name = f"python{interpreter.version}"
    place = answer_as("riscv64", name, tmp_path / "programs", shlex.join(words))
    proven(place, tmp_path, bench, code)


@pytest.mark.needs("qemu")
def test_this_machine_has_to_be_riscv64(tmp_path: Path, bench: testing.Bench) -> None:
    place = answer_as("x86_64", "python3.13", tmp_path / "programs", "false")
    with (
        pytest.raises(MissingToolError, match="local `this machine` is no riscv64 machine"),
        met(place, bench.runtime, bench.executor, bench.workspace),
    ):
        pass


@pytest.mark.needs("qemu", "docker", "binfmt")
@pytest.mark.parametrize("code", [0, 7])
def test_a_wheel_is_tried_in_a_container_that_is_gone_at_the_end(
    tmp_path: Path, bench: testing.Bench, image: testing.Image, code: int
) -> None:
    words = ("docker", "ps", "--all", "--quiet", "--filter", f"ancestor={image.name}")
    before = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    proven(image, tmp_path, bench, code)
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == before


@pytest.mark.needs("qemu", "docker")
def test_an_image_that_is_not_there_is_named(bench: testing.Bench, image: testing.Image) -> None:
    absent = replace(image, name="rvbuild-absent:1")
    with (
        pytest.raises(MissingToolError, match="no container of `rvbuild-absent:1`") as caught,
        reached(absent, bench.executor, bench.workspace),
    ):
        pass
    assert caught.value.causes


@pytest.mark.needs("qemu")
def test_an_engine_that_is_not_there_is_named(bench: testing.Bench) -> None:
    absent = testing.Image("base", "no-such-engine", emulated=True, environment={"PATH": PATH})
    with (
        pytest.raises(MissingToolError, match="containers are run by `no-such-engine`"),
        reached(absent, bench.executor, bench.workspace),
    ):
        pass
