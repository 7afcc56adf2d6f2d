"""What a plan needs on this machine: installed kits and programs, as one `Workshop`."""

from dataclasses import dataclass
from pathlib import Path

from rvbuild.build import Workshop
from rvbuild.emulator import Emulator, install_emulator
from rvbuild.errors import UsageError
from rvbuild.kit.fortran import install_fortran, install_objcopy
from rvbuild.kit.generators import GENERATORS, install_generator
from rvbuild.kit.pins import load_pins
from rvbuild.kit.programs import PLACES, install_program
from rvbuild.pipeline.compiler_cache import compiler_cache
from rvbuild.pipeline.meson import install_meson
from rvbuild.pipeline.model import House, Options
from rvbuild.pipeline.modes import build_house, build_root
from rvbuild.plan import Job
from rvbuild.pythons import (
    Interpreter,
    install_build_python,
    install_interpreter,
    known_versions,
)
from rvbuild.sysroot import Sysroot, install_sysroot
from rvbuild.toolchain import Toolchain
from rvbuild.toolchain.install import Parts, install_toolchain
from rvbuild.toolchain.probe import Executors, probe_toolchain

# What each build system is driven by, beside what a recipe asks for.
PROGRAMS = {
    "cmake": ("cmake", "ninja"),
    "meson": ("meson", "ninja"),
    "autotools": ("make",),
    "make": ("make",),
}
# Lists of flags and of folders have no way to quote these.
SEPARATORS = " \t\n:;,#$%&'\"\\"


@dataclass(frozen=True, slots=True)
class Kits:
    """The installed kits that every job uses, and the house of the machine that builds."""

    sysroot: Sysroot
    emulator: Emulator
    toolchain: Toolchain
    house: House


def install_kits(options: Options, house: House) -> Kits:
    """Have sysroot, emulator and a probed toolchain on disk."""
    builder = build_house(options, house)
    sysroot = install_sysroot(options.floor, house.pins, house.supplies)
    emulator = install_emulator(house.host, house.pins, house.supplies)
    pkg_config = install_program("pkgconf", builder.host, house.pins, house.supplies)
    parts = Parts(
        sysroot=sysroot.root,
        gcc_install=sysroot.gcc_install,
        sysroot_digest=sysroot.digest,
        emulator=emulator.program,
        pkg_config=pkg_config,
    )
    toolchain = install_toolchain(
        options.toolchain, builder.host, house.pins, parts, house.supplies
    )
    executors = Executors(builder.executor, house.executor)
    probe_toolchain(toolchain, emulator.program, executors, house.watch)
    return Kits(sysroot, emulator, toolchain, builder)


def install_everything(options: Options, house: House) -> None:
    """Have all that building may ask for on disk, as far as it is pinned for this machine."""
    install_kits(options, house)
    install_pythons(options.pythons, house)
    pinned = load_pins(house.pins / "fortran.yaml").trees
    fortran = ("gfortran",) if f"compiler-{house.host}" in pinned else ()
    for name in (*PLACES, "meson", *GENERATORS, *fortran):
        _install(name, house)


def install_pythons(versions: tuple[str, ...], house: House) -> dict[str, Interpreter]:
    """Have the interpreters of minor versions on disk."""
    return {
        version: install_interpreter(version, house.host, house.pins, house.supplies)
        for version in versions
    }


def workshop(options: Options, house: House, jobs: tuple[Job, ...]) -> Workshop:
    """Equip a workshop for jobs that are to be built.

    Raises `UsageError` for a cache in whose path makefiles and flags would be taken apart.
    """
    if any(char in SEPARATORS for char in str(house.places.cache)):
        raise UsageError(
            f"nothing can be built in `{house.places.cache}`: its path has a space in it or a sign "
            "that shells and makefiles give a meaning to",
            hint="choose another place by `--cache`",
        )
    kits = install_kits(options, house)
    versions = tuple(dict.fromkeys(job.python for job in jobs if job.python is not None))
    names = {name for job in jobs for name in _programs(job)}
    programs = {name: _install(name, kits.house) for name in sorted(names)}
    if kits.house.host != house.host:
        # What finishes the target's Python is run once, and better not emulated.
        install_pythons(versions, house)
    return Workshop(
        toolchain=kits.toolchain,
        sysroot=kits.sysroot,
        emulator=kits.emulator,
        interpreters=install_pythons(versions, kits.house),
        programs=programs,
        executor=kits.house.executor,
        watch=house.watch,
        cache=house.places.cache,
        launcher=compiler_cache(options, house),
        root=build_root(options, house),
        # PATH is for git alone: what is built here finds only the programs of its own job.
        network_environment={
            name: text for name, text in house.environment.items() if name != "PATH"
        },
    )


def _install(name: str, house: House) -> Path:
    if name == "meson":
        return install_meson(house)
    if name == "python3":
        version = known_versions(house.pins)[-1]
        return install_build_python(version, house.host, house.pins, house.supplies)
    if name == "gfortran":
        return install_fortran(house.host, house.pins, house.supplies)
    if name == "objcopy":
        return install_objcopy(house.host, house.pins, house.supplies)
    if name in GENERATORS:
        return install_generator(name, house.host, house.pins, house.supplies)
    return install_program(name, house.host, house.pins, house.supplies)


def _programs(job: Job) -> tuple[str, ...]:
    # `cc` is the compiler for what runs here, which comes with the toolchain.
    asked = tuple(name for name in job.recipe.requires.tools if name != "cc")
    return (*PROGRAMS.get(job.recipe.build.system, ()), *asked)
