"""The kit commands, with kits that are made here at the places where pinned ones belong."""

import platform
from pathlib import Path

import pytest

from rvbuild.emulator import emulator_tree
from rvbuild.kit.manifest import write_manifest
from rvbuild.kit.tree import kit_path
from rvbuild.places import builtin_folder
from rvbuild.sysroot import find_sysroot, sysroot_trees
from rvbuild.target import Floor
from tests.cli_samples import Desk, write_wheel

PINS = builtin_folder("sysroots")
HOST = platform.machine()


@pytest.fixture
def emulator(desk: Desk) -> Path:
    """Put a file in the place of QEMU."""
    path = kit_path(emulator_tree(HOST, PINS), desk.places)
    (path / "usr/bin").mkdir(parents=True)
    (path / "usr/bin/qemu-riscv64").write_text("#!/bin/sh\n")
    write_manifest(path)
    return path


@pytest.mark.parametrize("noun", ["sysroot", "toolchain", "python", "emulator"])
def test_kits_are_described_without_being_there(desk: Desk, noun: str) -> None:
    listed = desk.run(noun, "list")
    shown = desk.run(noun, "show", "--json")
    path = desk.run(noun, "path")

    assert (listed.code, "not installed" in listed.out) == (0, True)
    kits = shown.document["kits"]
    assert isinstance(kits, list)
    assert kits[0]["installed"] is False
    assert kits[0]["trees"][0]["packages"]
    assert (path.code, path.out) == (4, "")
    assert f"hint: `rvbuild {noun} fetch {kits[0]['name']}`" in path.err
    assert desk.run(noun, "verify").code == 4
    assert not desk.places.cache.exists()


def test_a_kit_is_found_and_verified(desk: Desk, emulator: Path) -> None:
    program = emulator / "usr/bin/qemu-riscv64"

    assert desk.run("emulator", "path").out == f"{program}\n"
    assert desk.run("emulator", "verify").code == 0
    program.write_text("#!/bin/false\n")
    damaged = desk.run("emulator", "verify")

    assert damaged.code == 5
    assert "cause: `usr/bin/qemu-riscv64` was changed" in damaged.err
    assert "--again" in damaged.err


def test_fetching_again_removes_what_was_damaged(desk: Desk, emulator: Path) -> None:
    ended = desk.run("emulator", "fetch", "--again")

    # Offline there is nothing to unpack it from.
    assert ended.code == 5
    assert not emulator.exists()


def test_floors_are_named_either_way(desk: Desk) -> None:
    dotted, plain = desk.run("sysroot", "show", "2.31"), desk.run("sysroot", "show", "2_31")

    assert dotted == plain
    assert dotted.code == 0
    assert desk.run("sysroot", "show", "2_99").code == 2
    assert "`3.13`" in desk.run("python", "show", "3.31").err


def test_an_audit_looks_symbols_up_in_the_sysroot_that_is_there(desk: Desk) -> None:
    floor = Floor(2, 31)
    assert find_sysroot(floor, PINS, desk.places) is None
    path = kit_path(sysroot_trees(floor, PINS)[0], desk.places)
    (path / "usr/lib/gcc-cross/riscv64-linux-gnu/10").mkdir(parents=True)

    found = find_sysroot(floor, PINS, desk.places)

    assert found is not None
    assert found.libraries == (path / "usr/riscv64-linux-gnu/lib",)
    wheel = write_wheel(desk.home / "made")
    assert desk.run("audit", str(wheel), "--floor", "2_36").code == 0
    assert desk.run("audit", str(wheel)).code == 0
