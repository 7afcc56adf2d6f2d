"""What command lines ask the pipeline for: the options that many share, and what they mean."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from rvbuild.cli.invocation import settings
from rvbuild.cli.spelling import did_you_mean
from rvbuild.errors import UsageError

if TYPE_CHECKING:
    from rvbuild.cli.settings import Settings
    from rvbuild.events import Watcher
    from rvbuild.pipeline import Options
    from rvbuild.recipe.model import Mode

ALL = "all"

Names = Annotated[
    list[str], typer.Argument(metavar="NAME", help="Recipes, like `numpy` or `numpy==2.5.5`.")
]
Pythons = Annotated[
    list[str] | None,
    typer.Option("--python", metavar="VERSION", help="A Python to build for; may be repeated."),
]
Floor = Annotated[
    str | None, typer.Option(metavar="GLIBC", help="The oldest glibc to run on, like 2_31.")
]
Jobs = Annotated[
    int | None, typer.Option(metavar="NUMBER", min=1, help="Cores that all jobs share.")
]
Toolchain = Annotated[
    str | None, typer.Option(metavar="NAME", help="`clang`, `gcc` or `clang-system`.")
]
Cpus = Annotated[
    list[str] | None,
    typer.Option("--cpu", metavar="NAME", help="A CPU to test on, or `all`; may be repeated."),
]
Cross = Annotated[bool, typer.Option("--cross", help="Build here for riscv64, the default.")]
Native = Annotated[bool, typer.Option("--native", help="Build on riscv64.")]
Emulated = Annotated[bool, typer.Option("--emulated", help="Build in an emulated container.")]
NoContainer = Annotated[
    bool, typer.Option("--no-container", help="With `--native`: build on the bare machine.")
]


@dataclass(frozen=True, slots=True)
class Wish:
    """What a command asks for beside the settings."""

    names: tuple[str, ...]
    mode: "Mode" = "cross"
    test: bool = True
    suites: bool = True
    prefer_public: bool = False
    container: bool = True


def mode_of(cross: bool, native: bool, emulated: bool) -> "Mode":
    """Give the one mode that was asked for; raises `UsageError` for more than one."""
    if cross + native + emulated > 1:
        raise UsageError("`--cross`, `--native` and `--emulated` exclude each other")
    if native:
        return "native"
    return "emulated" if emulated else "cross"


def tell_mode(wish: Wish, watch: "Watcher") -> None:
    """Warn of what a mode costs; raises `UsageError` for a container option that means nothing."""
    if not wish.container and wish.mode != "native":
        raise UsageError("`--no-container` goes with `--native`")
    if wish.mode == "emulated":
        watch.note("emulated", "this takes 5 to 20 times as long as building across")


def wished_settings(
    context: typer.Context, **given: Sequence[str] | str | int | None
) -> "Settings":
    """Settle the settings with a command's own options on top, by key; None is not given."""
    return settings(context, **{key: _words(value) for key, value in given.items()})


def _words(value: Sequence[str] | str | int | None) -> tuple[str, ...]:
    if value is None:
        return ()
    return (str(value),) if isinstance(value, str | int) else tuple(value)


def pipeline_options(chosen: "Settings", wish: Wish) -> "Options":
    """Turn settings and a wish into what the pipeline takes; raises `UsageError`."""
    from rvbuild.pipeline.model import Options
    from rvbuild.target import Floor as GlibcFloor

    return Options(
        names=wish.names,
        pythons=chosen.pythons,
        floor=GlibcFloor.parse(chosen.floor),
        mode=wish.mode,
        toolchain=chosen.toolchain,
        jobs=chosen.jobs,
        cpus=known_cpus(chosen.cpus),
        test=wish.test,
        suites=wish.suites,
        prefer_public=wish.prefer_public,
        compiler_cache=chosen.compiler_cache,
        container=wish.container,
    )


def known_cpus(names: Sequence[str]) -> tuple[str, ...]:
    """Give back CPU names that exist; `all` among them stands alone. Raises `UsageError`."""
    from rvbuild.target import cpus

    for name in names:
        if name != ALL and name not in cpus():
            raise UsageError(f"there is no CPU `{name}`", hint=did_you_mean(name, cpus()))
    return (ALL,) if ALL in names else tuple(names)
