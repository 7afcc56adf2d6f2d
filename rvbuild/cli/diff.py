"""`rvbuild diff`: where two wheels differ, member by member, and why."""

from pathlib import Path
from typing import Annotated

import typer

from rvbuild.cli.invocation import JsonOption, emit, emit_json, tell
from rvbuild.errors import AuditError, UsageError

SCHEMA = "rvbuild.diff/1"
WheelPath = Annotated[Path, typer.Argument(metavar="WHEEL", help="A wheel.")]


def register(program: typer.Typer) -> None:
    """Add the command to the program."""
    program.command("diff")(compare)


def compare(
    context: typer.Context, first: WheelPath, second: WheelPath, *, as_json: JsonOption = False
) -> None:
    """Say which members of two wheels differ, and why. Wheels that differ fail."""
    from rvbuild.audit.difference import compare_wheels

    for path in (first, second):
        if not path.is_file():
            raise UsageError(f"there is no wheel `{path}`")
    found = compare_wheels(first, second)
    if as_json:
        listed = [{"member": each.member, "reasons": list(each.reasons)} for each in found]
        emit_json({"schema": SCHEMA, "same": not found, "differences": listed})
    for each in found if not as_json else ():
        emit(each.member or "the archive")
        for reason in each.reasons:
            emit(f"  {reason}")
    if found:
        raise AuditError(f"the wheels differ in {len(found)} places")
    tell(context, "the wheels are the same, byte for byte")
