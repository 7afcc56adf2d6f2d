"""Kits of other machines: everything pinned unpacks, and its programs are for them."""

import platform
from collections.abc import Iterator
from dataclasses import replace

import pytest

from rvbuild.elf import read_elf
from rvbuild.emulator import emulator_tree
from rvbuild.kit import Supplies, Tree, materialise
from rvbuild.kit.generators import PIN_FILE
from rvbuild.kit.pins import load_pins
from rvbuild.kit.programs import LOADERS, PLACES, tool_pins
from rvbuild.pythons import interpreter_trees, known_versions
from rvbuild.toolchain.install import compiler_tree
from tests.integration.conftest import PINS

MACHINES = {"x86_64": "EM_X86_64", "aarch64": "EM_AARCH64", "riscv64": "EM_RISCV"}
OTHERS = sorted(MACHINES.keys() - {platform.machine()})


def kits(host: str) -> Iterator[tuple[Tree, tuple[str, ...]]]:
    """Give the trees of a machine with their programs."""
    yield compiler_tree(host, PINS), ("ziglang/zig",)
    yield emulator_tree(host, PINS), ("usr/bin/qemu-riscv64",)
    for version in known_versions(PINS):
        yield interpreter_trees(version, host, PINS)[1], (f"usr/bin/python{version}",)
    generators = load_pins(PINS / PIN_FILE).tree(f"generators-{host}")
    yield Tree(f"generators-{host}", generators), ("usr/bin/protoc", "usr/bin/flatc")
    programs = tool_pins(PINS).tree(f"programs-{host}")
    yield Tree(f"programs-{host}", programs), ("usr/bin/make", "usr/bin/pkgconf", LOADERS[host])
    for name in ("patchelf", "sccache", "ninja", "cmake"):
        yield Tree(f"{name}-{host}", tool_pins(PINS).tree(f"{name}-{host}")), (PLACES[name],)


@pytest.mark.parametrize("host", OTHERS)
def test_every_kit_unpacks_and_is_for_its_machine(host: str, supplies: Supplies) -> None:
    for tree, programs in kits(host):
        # Finishing a kit runs its programs: what is unpacked here must not be taken for one.
        root = materialise(replace(tree, revision="unpacked alone"), supplies).path
        for program in programs:
            found = next(root.glob(program), None)
            assert found is not None, (tree.name, program)
            assert read_elf(found.resolve()).machine == MACHINES[host], (tree.name, program)
