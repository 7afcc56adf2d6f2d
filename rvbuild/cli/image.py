"""`rvbuild image`: the images that containers are made of."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from rvbuild.cli import wishes
from rvbuild.cli.house import open_house
from rvbuild.cli.invocation import JsonOption, emit, emit_json, tell, watcher
from rvbuild.cli.usage import command_group
from rvbuild.cli.wishes import wished_settings
from rvbuild.errors import MissingToolError

if TYPE_CHECKING:
    from rvbuild.image.context import Contents
    from rvbuild.pipeline import House

SCHEMA = "rvbuild.image/1"
PYTHONS = ("3.13", "3.14")


class Target(StrEnum):
    """What an image is for."""

    MANYLINUX = "manylinux"
    CROSS = "cross"


app = command_group("The images that containers are made of.")

Name = Annotated[
    str | None, typer.Argument(metavar="IMAGE", help="An image; else the one of these settings.")
]


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The image that is spoken of, and the house it is made in."""

    contents: "Contents"
    house: "House"


@contextmanager
def _choose(
    context: typer.Context, pythons: list[str] | None, floor: str | None = None
) -> Iterator[_Chosen]:
    from rvbuild.image.context import Contents
    from rvbuild.target import Floor

    chosen = wished_settings(context, pythons=pythons or PYTHONS, floor=floor)
    with watcher(context, chosen) as watch:
        house = open_house(chosen, watch)
        yield _Chosen(
            Contents(Floor.parse(chosen.floor), chosen.pythons, house.host, house.pins), house
        )


@app.command("base", help="Make the base image from packages. Prints its archive.")
def make_base(context: typer.Context) -> None:
    """Make the base image's archive, without any engine."""
    from rvbuild.image import install_base

    with _choose(context, None) as chosen:
        emit(str(install_base(chosen.house.pins, chosen.house.supplies).archive))


@app.command("context", help="Write what `docker build` takes into a folder. Prints it.")
def make_context(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="An empty folder, or a new one.")],
    *,
    pythons: wishes.Pythons = None,
    floor: wishes.Floor = None,
) -> None:
    """Write the build context of the manylinux image."""
    from rvbuild.errors import UsageError
    from rvbuild.image.context import write_context

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"`{folder}` is not an empty folder")
    with _choose(context, pythons, floor) as chosen:
        write_context(chosen.contents, folder, chosen.house.supplies)
    emit(str(folder))


@app.command("build", help="Build an image. Prints its name.")
def build_image(
    context: typer.Context,
    *,
    target: Annotated[
        Target, typer.Option(help="For riscv64, as cibuildwheel takes it, or to build across in.")
    ] = Target.MANYLINUX,
    base: Annotated[str | None, typer.Option(metavar="IMAGE", help="An image to build on.")] = None,
    pythons: wishes.Pythons = None,
    floor: wishes.Floor = None,
) -> None:
    """Build an image, on the base image or on another one."""
    with _choose(context, pythons, floor) as chosen:
        build = _build_cross if target is Target.CROSS else _build_manylinux
        emit(build(chosen, base))


def _build_cross(chosen: _Chosen, base: str | None) -> str:
    from rvbuild.events import step
    from rvbuild.executor.daemon import connect, require_image
    from rvbuild.image import ARCHITECTURES, provide_base
    from rvbuild.image.cross import RECIPE, CrossContents, write_cross_context

    daemon, house = connect(), chosen.house
    contents = CrossContents(chosen.contents.pythons, house.host, house.pins)
    name, digest = contents.name, contents.digest
    ground = base or provide_base(daemon, house.pins, house.supplies, house.host)
    require_image(ground, daemon.image(ground))
    if daemon.image(name) is None or base is not None:
        with _scratch(house) as folder:
            write_cross_context(contents, folder, house.environment, house.supplies)
            arguments = {"BASE": ground, "DIGEST": digest, "PYTHONS": " ".join(contents.pythons)}
            platform = f"linux/{ARCHITECTURES[house.host]}"
            with step(house.watch, name, "build"):
                daemon.build(folder, RECIPE, arguments, name, platform)
    return name


@contextmanager
def _scratch(house: "House") -> Iterator[Path]:
    house.places.work.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=house.places.work, prefix="image-") as folder:
        yield Path(folder)


def _build_manylinux(chosen: _Chosen, base: str | None) -> str:
    from rvbuild.events import step
    from rvbuild.executor.daemon import PLATFORM, connect, require_riscv64
    from rvbuild.image import provide_base
    from rvbuild.image.context import RECIPE, write_context

    daemon, house, contents = connect(), chosen.house, chosen.contents
    ground = base or provide_base(daemon, house.pins, house.supplies)
    require_riscv64(ground, daemon.image(ground))
    if daemon.image(contents.name) is None or base is not None:
        with _scratch(house) as folder:
            write_context(contents, folder, house.supplies)
            arguments = {"BASE": ground, "DIGEST": contents.digest}
            with step(house.watch, contents.name, "build"):
                daemon.build(folder, RECIPE, arguments, contents.name, PLATFORM)
    return contents.name


@app.command("show", help="Show name, inputs and presence of an image.")
def show_image(context: typer.Context, name: Name = None, *, as_json: JsonOption = False) -> None:
    """Show what the engine says of an image."""
    from rvbuild.cli.report import size, table
    from rvbuild.executor.daemon import connect

    with _choose(context, None) as chosen:
        wanted = name or chosen.contents.name
        facts = connect().image(wanted)
    told = {
        "name": wanted,
        "present": facts is not None,
        "id": facts.id if facts else None,
        "architecture": facts.architecture if facts else None,
        "size_bytes": facts.size if facts else None,
        "labels": dict(facts.labels) if facts else {},
        "digest": chosen.contents.digest if name is None else None,
    }
    if as_json:
        emit_json({"schema": SCHEMA, **told})
        return
    rows = [("name", wanted), ("present", "yes" if facts else "no")]
    if facts is not None:
        rows += [("id", facts.id), ("architecture", facts.architecture), ("size", size(facts.size))]
        rows += sorted(facts.labels.items())
    emit(table(rows))


@app.command("verify", help="Run what is in an image: Pythons, compiler, auditwheel, patchelf.")
def verify_image(
    context: typer.Context, name: Name = None, *, pythons: wishes.Pythons = None
) -> None:
    """Prove an image, whoever made it."""
    from rvbuild.executor.container import ContainerExecutor
    from rvbuild.executor.daemon import connect, require_riscv64
    from rvbuild.image.verify import proofs, verify

    with _choose(context, pythons) as chosen, TemporaryDirectory() as folder:
        daemon, wanted = connect(), name or chosen.contents.name
        require_riscv64(wanted, daemon.image(wanted))
        executor = ContainerExecutor(daemon, wanted, (Path(folder),))
        found = list(verify(executor, proofs(chosen.contents.pythons), Path(folder)))
    for what, problem in found:
        tell(context, f"{what}: {problem or 'ok'}")
    causes = [f"{what}: {problem}" for what, problem in found if problem]
    if causes:
        raise MissingToolError(f"image `{wanted}` is not fit to build wheels in", causes=causes)
    emit(wanted)


@app.command("export", help="Write an image as an archive. Prints the file.")
def export_image(
    context: typer.Context,
    archive: Annotated[Path, typer.Argument(metavar="FILE", help="The archive to write.")],
    name: Name = None,
) -> None:
    """Write an image for machines without a registry."""
    from rvbuild.executor.daemon import connect, require_image

    with _choose(context, None) as chosen:
        daemon, wanted = connect(), name or chosen.contents.name
        require_image(wanted, daemon.image(wanted))
        daemon.export(wanted, archive)
    emit(str(archive))


@app.command("push", help="Push an image to a registry. Prints the name it has there.")
def push_image(
    context: typer.Context,
    remote: Annotated[str, typer.Argument(metavar="REMOTE", help="Its name in the registry.")],
    name: Name = None,
) -> None:
    """Push under another name; who may is the engine's knowledge."""
    from rvbuild.executor.daemon import connect, require_image

    with _choose(context, None) as chosen:
        daemon, wanted = connect(), name or chosen.contents.name
        require_image(wanted, daemon.image(wanted))
        daemon.push(wanted, remote)
    emit(remote)
