"""The digests that keys are made of, read from pin files: planning installs and fetches nothing."""

import hashlib
from importlib import resources
from pathlib import Path

from rvbuild.emulator import emulator_digest
from rvbuild.image import base_digest
from rvbuild.kit.generators import GENERATORS, PIN_FILE
from rvbuild.pipeline.model import House, Options
from rvbuild.pipeline.modes import build_machine, in_container
from rvbuild.plan import Inputs, Recipes
from rvbuild.pythons import interpreter_digest
from rvbuild.recipe.model import Recipe, StandIn
from rvbuild.sources.digest import tree_digest
from rvbuild.sysroot import sysroot_digest
from rvbuild.toolchain.install import toolchain_digest


def plan_inputs(options: Options, house: House, recipes: tuple[Recipe, ...]) -> Inputs:
    """Collect the digests of everything that jobs of these recipes read besides the recipes."""
    sysroot = sysroot_digest(options.floor, house.pins)
    machine = build_machine(options.mode, house.host)
    return Inputs(
        toolchain=toolchain_digest(options.toolchain, machine, house.pins, sysroot),
        sysroot=sysroot,
        emulator=emulator_digest(house.host, house.pins),
        tools=_tools_digest(options, house),
        environment=_environment_digest(),
        pythons={
            version: interpreter_digest(version, machine, house.pins) for version in options.pythons
        },
        patches={
            (recipe.name, entry.value): _digest(house, recipe, entry.value)
            for recipe in recipes
            for entry in recipe.patches
        },
        stand_ins={
            recipe.name: _stand_in_digest(house, recipe, recipe.stand_in)
            for recipe in recipes
            if recipe.stand_in is not None
        },
        asked=dict.fromkeys(GENERATORS, _file_digest(house.pins / PIN_FILE)),
    )


def _environment_digest() -> str:
    # What rvbuild lays into a build environment decides the result as much as a recipe does.
    folder = resources.files("rvbuild").joinpath("data/build")
    files = sorted(folder.iterdir(), key=lambda file: file.name)
    texts = [file.read_text(encoding="utf-8") for file in files if file.is_file()]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _tools_digest(options: Options, house: House) -> str:
    texts = [(house.pins / name).read_bytes() for name in ("tools.yaml", "fortran.yaml")]
    if in_container(options):
        texts.append(base_digest(house.pins).encode())
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


def _digest(house: House, recipe: Recipe, patch: str) -> str:
    return _file_digest(house.catalogue.patch_path(recipe, patch))


def _stand_in_digest(house: House, recipe: Recipe, stand_in: StandIn) -> str:
    lines = (*stand_in.takes, tree_digest(house.catalogue.stand_in_path(recipe)))
    return hashlib.sha256("\0".join(lines).encode()).hexdigest()


def _file_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def reachable(names: tuple[str, ...], recipes: Recipes) -> tuple[Recipe, ...]:
    """Find the recipes of names and of everything below them, each once."""
    found: dict[str, Recipe] = {}
    waiting = list(names)
    while waiting:
        name, _, version = waiting.pop(0).partition("==")
        recipe = recipes.find(name, version or None)
        if recipe.label not in found:
            found[recipe.label] = recipe
            waiting += [*recipe.requires.libraries, *recipe.requires.target]
    return tuple(found.values())
