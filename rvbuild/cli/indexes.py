"""`rvbuild index` and `rvbuild publish`: a static index in a folder, uploads to one."""

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rvbuild.cli.invocation import (
    JsonOption,
    emit,
    emit_json,
    settings,
    surroundings,
    tell,
    watcher,
)
from rvbuild.cli.selection import existing, select_wheels
from rvbuild.cli.usage import command_group
from rvbuild.errors import PublishError, UsageError

if TYPE_CHECKING:
    from rvbuild.cli.settings import NamedIndex
    from rvbuild.publish.indexes import IndexTarget

SCHEMA = "rvbuild.published/1"

app = command_group("Make, serve and check a static index of wheels in a folder.")

Folder = Annotated[
    Path,
    typer.Argument(metavar="DIR", help="The folder that holds the wheels.", show_default=False),
]


def register(program: typer.Typer) -> None:
    """Add the group and the command to the program."""
    program.add_typer(app, name="index")
    program.command("publish")(publish_wheels)


@app.command("build")
def build_pages(context: typer.Context, folder: Folder) -> None:
    """Write the index of a folder. Prints where the pages are."""
    from rvbuild.publish.index import build_index

    report = build_index(existing(folder))
    tell(
        context,
        f"{len(report.wheels)} wheels of {len(report.projects)} projects, "
        f"{len(report.written)} files written, {len(report.removed)} removed",
    )
    emit(str(report.destination))


@app.command("serve")
def serve_folder(
    context: typer.Context,
    folder: Folder,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="The address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="NUMBER", min=0, max=65535, help="The port; 0 takes a free one.")
    ] = 0,
) -> None:
    """Serve a folder over HTTP until Ctrl-C. Prints the address that pip takes."""
    from rvbuild.publish.serve import serve

    pages = "simple/" if (existing(folder) / "simple").is_dir() else ""
    with serve(folder, host, port) as address:
        try:
            emit(f"{address}{pages}")
            tell(context, "serving until Ctrl-C")
            threading.Event().wait()
        except KeyboardInterrupt:
            # The way to end a server, so no failure.
            tell(context, "done")


@app.command("verify")
def verify_pages(folder: Folder) -> None:
    """Check an index against its wheels. Prints where the pages are."""
    from rvbuild.publish.verify import verify_index

    findings = verify_index(existing(folder))
    if findings:
        raise PublishError(
            f"the index in `{folder}` has {len(findings)} faults",
            causes=[f"{finding.file} {finding.problem}" for finding in findings],
            hint=f"`rvbuild index build {folder}` writes it anew",
        )
    emit(str(folder.resolve() / "simple"))


def publish_wheels(
    context: typer.Context,
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH", help="Wheels, or folders of wheels.")
    ],
    index: Annotated[
        str, typer.Option(metavar="NAME", help="The index, by its name in the settings.")
    ],
    as_json: JsonOption = False,
) -> None:
    """Upload wheels to an index of the settings. Prints each file that is there at the end."""
    from rvbuild.cli.settings import find_index
    from rvbuild.publish import require_uploading

    require_uploading()
    from rvbuild.publish.credentials import find
    from rvbuild.publish.upload import publish

    chosen = settings(context)
    target = _target(find_index(index, chosen))
    wheels = select_wheels(paths)
    credentials = find(target.name, target.url, surroundings().environment)
    with watcher(context, chosen) as watch:
        published = publish(wheels, target, credentials, watch)
    if as_json:
        files = [
            {"file": str(one.file), "sha256": one.sha256, "state": one.state} for one in published
        ]
        emit_json({"schema": SCHEMA, "index": target.name, "files": files})
        return
    for one in published:
        emit(str(one.file))


def _target(index: "NamedIndex") -> "IndexTarget":
    from rvbuild.publish.indexes import IndexTarget

    for key, value in (("url", index.url), ("simple", index.simple)):
        if value is None:
            raise UsageError(
                f"index `{index.name}` has no `{key}`",
                causes=(f"it was given by {index.origin}",),
                hint=f"add `{key}` below `[indexes.{index.name}]`",
            )
    return IndexTarget(index.name, index.url or "", index.simple or "", index.allowed)
