"""The four families of kits as `kits` takes them: sysroots, toolchains, Pythons, the emulator."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from rvbuild.cli.house import open_house
from rvbuild.cli.invocation import emit, watcher
from rvbuild.cli.kits import Choice, Family, make_group
from rvbuild.cli.wishes import Toolchain, Wish, pipeline_options, wished_settings

if TYPE_CHECKING:
    from rvbuild.kit import Tree
    from rvbuild.pipeline import House, Options
    from rvbuild.target import Floor

EMULATOR = "qemu"


def register(program: typer.Typer) -> None:
    """Add the groups to the program."""
    groups = {family.noun: make_group(family) for family in (SYSROOT, TOOLCHAIN, PYTHON, QEMU)}
    groups["toolchain"].command("probe")(probe)
    for noun, group in groups.items():
        program.add_typer(group, name=noun)


def probe(context: typer.Context, toolchain: Toolchain = None) -> None:
    """Compile, link and run C, C++ and RVV code once more. Prints where the programs are."""
    from rvbuild.toolchain.probe import probe_mark

    chosen = wished_settings(context, toolchain=toolchain)
    with watcher(context, chosen) as watch:
        choice = Choice(chosen.toolchain, chosen, open_house(chosen, watch))
        # What is marked as probed is not probed again.
        probe_mark(_toolchain_place(choice).parent).unlink(missing_ok=True)
        emit(str(_install_toolchain(choice)))


def _sysroot_names(house: "House") -> tuple[str, ...]:
    files = house.pins.glob("manylinux_*_riscv64.yaml")
    names = (file.stem.removeprefix("manylinux_").removesuffix("_riscv64") for file in files)
    return tuple(sorted(names, key=lambda name: [int(part) for part in name.split("_")]))


def _floor(choice: Choice) -> "Floor":
    from rvbuild.target import Floor

    return Floor.parse(choice.name)


def _sysroot_trees(choice: Choice) -> tuple["Tree", ...]:
    from rvbuild.sysroot import sysroot_trees

    return sysroot_trees(_floor(choice), choice.house.pins)


def _install_sysroot(choice: Choice) -> Path:
    from rvbuild.sysroot import install_sysroot

    return install_sysroot(_floor(choice), choice.house.pins, choice.house.supplies).root


def _sysroot_place(choice: Choice) -> Path:
    return _tree_place(_sysroot_trees(choice)[0], choice)


def _toolchain_names(_: "House") -> tuple[str, ...]:
    from rvbuild.toolchain.install import CHOICES

    return CHOICES


def _toolchain_trees(choice: Choice) -> tuple["Tree", ...]:
    from rvbuild.toolchain.install import compiler_tree

    # Whatever compiles for the target, the pinned one compiles what a build runs itself.
    return (compiler_tree(choice.house.host, choice.house.pins),)


def _install_toolchain(choice: Choice) -> Path:
    from rvbuild.pipeline.equipment import install_kits

    return install_kits(_options(choice), choice.house).toolchain.folder


def _toolchain_place(choice: Choice) -> Path:
    from rvbuild.sysroot import sysroot_digest
    from rvbuild.toolchain.install import toolchain_digest, toolchain_path

    house = choice.house
    sysroot = sysroot_digest(_options(choice).floor, house.pins)
    digest = toolchain_digest(choice.name, house.host, house.pins, sysroot)
    return toolchain_path(choice.name, digest, house.places.kits) / "bin"


def _options(choice: Choice) -> "Options":
    return replace(pipeline_options(choice.settings, Wish(())), toolchain=choice.name)


def _python_names(house: "House") -> tuple[str, ...]:
    from rvbuild.pythons import known_versions

    return known_versions(house.pins)


def _python_trees(choice: Choice) -> tuple["Tree", ...]:
    from rvbuild.pythons import interpreter_trees

    return interpreter_trees(choice.name, choice.house.host, choice.house.pins)


def _install_python(choice: Choice) -> Path:
    from rvbuild.pipeline.equipment import install_pythons

    return install_pythons((choice.name,), choice.house)[choice.name].root


def _python_place(choice: Choice) -> Path:
    return _tree_place(_python_trees(choice)[0], choice)


def _emulator_trees(choice: Choice) -> tuple["Tree", ...]:
    from rvbuild.emulator import emulator_tree

    return (emulator_tree(choice.house.host, choice.house.pins),)


def _install_emulator(choice: Choice) -> Path:
    from rvbuild.emulator import install_emulator

    house = choice.house
    return install_emulator(house.host, house.pins, house.supplies).program


def _emulator_place(choice: Choice) -> Path:
    return _tree_place(_emulator_trees(choice)[0], choice) / "usr/bin/qemu-riscv64"


def _tree_place(tree: "Tree", choice: Choice) -> Path:
    from rvbuild.kit.tree import kit_path

    return kit_path(tree, choice.house.places)


SYSROOT = Family(
    noun="sysroot",
    metavar="FLOOR",
    description="The headers and libraries that set the glibc floor.",
    names=_sysroot_names,
    default=lambda chosen: chosen.floor,
    trees=_sysroot_trees,
    install=_install_sysroot,
    place=_sysroot_place,
)
TOOLCHAIN = Family(
    noun="toolchain",
    metavar="NAME",
    description="The compilers for riscv64 and for this machine.",
    names=_toolchain_names,
    default=lambda chosen: chosen.toolchain,
    trees=_toolchain_trees,
    install=_install_toolchain,
    place=_toolchain_place,
)
PYTHON = Family(
    noun="python",
    metavar="VERSION",
    description="The Pythons of riscv64, and those that run builds here.",
    names=_python_names,
    default=lambda chosen: chosen.pythons[0],
    trees=_python_trees,
    install=_install_python,
    place=_python_place,
)
QEMU = Family(
    noun="emulator",
    metavar="NAME",
    description="QEMU, which runs riscv64 programs here.",
    names=lambda _: (EMULATOR,),
    default=lambda _: EMULATOR,
    trees=_emulator_trees,
    install=_install_emulator,
    place=_emulator_place,
)
