"""Where a mode's commands run: on this machine, or in a riscv64 container, emulated or not."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rvbuild.errors import MissingToolError
from rvbuild.executor.container import ContainerExecutor
from rvbuild.executor.daemon import NO_BINFMT, connect, require_riscv64
from rvbuild.image import provide_base
from rvbuild.image.base import base_tree
from rvbuild.kit.tree import kit_path
from rvbuild.pipeline.model import House, Options
from rvbuild.recipe.model import Mode
from rvbuild.target import MACHINE, cpus
from rvbuild.testing import binfmt_state

# Probes that look at the processor see what they see in a build across.
CPU = "rv64gc"


def build_machine(mode: Mode, host: str) -> str:
    """Give the architecture that a mode's compilers and Pythons run on.

    A native build is planned as the target plans it, wherever that is done.
    """
    return host if mode == "cross" else MACHINE


def in_container(options: Options) -> bool:
    """Say whether a run's commands are given to a container."""
    return options.mode == "emulated" or (options.mode == "native" and options.container)


def build_house(options: Options, house: House) -> House:
    """Give the house that commands of a mode run in: its architecture, its executor.

    Raises `MissingToolError` where this machine cannot do it.
    """
    if options.mode == "native" and house.host != MACHINE:
        raise MissingToolError(
            f"this machine is {house.host}, and `--native` builds on {MACHINE}",
            hint="leave it out to build across, or take `--emulated`, which is much slower",
        )
    if not in_container(options):
        return house
    if house.host != MACHINE:
        _require_binfmt()
    return replace(house, host=MACHINE, executor=_containers(house))


def build_root(options: Options, house: House) -> Path:
    """Say which folder holds the Unix programs that builds of a mode may call."""
    return kit_path(base_tree(house.pins), house.places) if in_container(options) else Path("/")


def _containers(house: House) -> ContainerExecutor:
    daemon = connect()
    name = provide_base(daemon, house.pins, house.supplies)
    require_riscv64(name, daemon.image(name))
    return ContainerExecutor(
        daemon,
        name,
        folders=_folders(house),
        readable=named_files(house.environment),
        environment={"QEMU_CPU": cpus()[CPU].qemu},
        stop=house.executor.stop,
    )


def _folders(house: House) -> tuple[Path, ...]:
    """List the cache and those of its parts that are links to somewhere else."""
    places = house.places
    places.cache.mkdir(parents=True, exist_ok=True)
    whole = places.cache.absolute()
    parts = (places.cache, *places.cache.iterdir())
    resolved = {part.resolve() for part in parts if part.is_dir()}
    outside = (part for part in resolved if not part.is_relative_to(whole))
    return (whole, *sorted(outside))


def named_files(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """List what settings of pip and certificates name and what pip reads by itself.

    A home folder is not shown; its files for pip are.
    """
    home = Path(environment.get("HOME", "/nonexistent"))
    own = (home / ".config/pip", home / ".pip", home / ".netrc", Path("/etc/pip.conf"))
    named = (
        Path(word.removeprefix("file://"))
        for name, text in environment.items()
        if name not in ("HOME", "PATH")
        for word in text.split()
    )
    found = (path for path in (*own, *named) if path.is_absolute() and path.exists())
    return tuple(sorted(set(found)))


def _require_binfmt() -> None:
    state = binfmt_state()
    if not (state.registered and state.enabled and state.fixed):
        raise MissingToolError(
            f"this machine does not run {MACHINE} programs in containers", hint=NO_BINFMT
        )
