"""`rvbuild audit`: is a wheel what its name, its tags and a policy say, whoever made it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rvbuild.cli.invocation import JsonOption, emit, emit_json, settings
from rvbuild.cli.selection import select_wheels
from rvbuild.cli.spelling import did_you_mean
from rvbuild.errors import AuditError, MissingToolError, UsageError

if TYPE_CHECKING:
    from rvbuild.audit import AuditReport, Policy
    from rvbuild.cli.settings import Settings
    from rvbuild.target import Board, Floor

SCHEMA = "rvbuild.audits/1"


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """A wheel that is too damaged for a report."""

    path: Path
    error: AuditError


def register(program: typer.Typer) -> None:
    """Add the command to the program."""
    program.command("audit")(audit_wheels)


def audit_wheels(  # noqa: PLR0913, PLR0917 - typer reads the options from the parameters
    context: typer.Context,
    paths: Annotated[
        list[Path], typer.Argument(metavar="WHEEL", help="Wheels, or folders of wheels.")
    ],
    floor: Annotated[
        str | None, typer.Option(metavar="GLIBC", help="The oldest glibc to run on, like 2_31.")
    ] = None,
    libraries: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR", help="Libraries of that glibc, for undefined symbols; else a sysroot's."
        ),
    ] = None,
    board: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Say whether they run on a board or chip, like k1."),
    ] = None,
    sarif: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the findings there as SARIF, too.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Audit wheels: policy, instructions, symbols, metadata.

    Prints a report of each.
    """
    from rvbuild.audit import Policy
    from rvbuild.target import Floor

    chosen = settings(context, floor=(floor,) if floor else None)
    asked = Floor.parse(chosen.floor)
    policy = Policy(asked, tuple(libraries or ()) or _sysroot_libraries(asked, chosen))
    place = _known_board(board) if board else None
    reports = [_audit(path, policy) for path in select_wheels(paths)]
    if as_json:
        emit_json({"schema": SCHEMA, "reports": [_as_json(report, place) for report in reports]})
    else:
        for report in reports:
            emit(_as_text(report, place))
    if sarif is not None:
        _write_sarif(sarif, reports)
    _judge(reports, policy)


def _sysroot_libraries(floor: "Floor", chosen: "Settings") -> tuple[Path, ...]:
    """Give the libraries of the floor's sysroot where that is in the cache; nothing is fetched."""
    from rvbuild.places import builtin_folder
    from rvbuild.sysroot import find_sysroot

    try:
        found = find_sysroot(floor, builtin_folder("sysroots"), chosen.places)
    except MissingToolError:
        # Nobody pinned a sysroot of that floor; the audit says what it leaves out then.
        return ()
    return found.libraries if found is not None else ()


def _audit(path: Path, policy: "Policy") -> "AuditReport | _Unreadable":
    """Audit one wheel; a damaged one must not hide what there is to say of the others."""
    from rvbuild.audit import audit_wheel

    try:
        return audit_wheel(path, policy)
    except AuditError as error:
        return _Unreadable(path, error)


def _known_board(name: str) -> "Board":
    from rvbuild.target import boards, find_board

    found = find_board(name)
    if found is None:
        known = [each for chip in boards().values() for each in (chip.name, *chip.boards)]
        raise UsageError(f"there is no board `{name}`", hint=did_you_mean(name, known))
    return found


def _write_sarif(path: Path, reports: Sequence["AuditReport | _Unreadable"]) -> None:
    """Write the findings of the wheels that could be read; the others are told in any case."""
    from rvbuild import __version__
    from rvbuild.audit import reports_as_sarif

    readable = [report for report in reports if not isinstance(report, _Unreadable)]
    try:
        path.write_text(json.dumps(reports_as_sarif(readable, __version__), indent=2) + "\n")
    except OSError as error:
        raise UsageError(f"`{path}` cannot be written: {error.strerror}") from error


def _as_json(
    report: "AuditReport | _Unreadable", place: "Board | None" = None
) -> dict[str, object]:
    from rvbuild.audit import answer_as_json, answer_board, report_as_json

    if isinstance(report, _Unreadable):
        causes = list(report.error.causes)
        error = {"message": report.error.message, "causes": causes}
        return {"wheel": report.path.name, "ok": False, "error": error}
    values = report_as_json(report)
    if place is not None:
        values["on"] = answer_as_json(answer_board(report.binaries, report.findings, place))
    return values


def _as_text(report: "AuditReport | _Unreadable", place: "Board | None" = None) -> str:
    from rvbuild.audit import answer_board, render_answer, render_report

    if isinstance(report, _Unreadable):
        lines = [f"{report.path.name} cannot be audited", f"  error: {report.error.message}"]
        return "\n".join([*lines, *(f"    cause: {cause}" for cause in report.error.causes)])
    text = render_report(report)
    if place is not None:
        text += "\n" + render_answer(answer_board(report.binaries, report.findings, place))
    return text


def _judge(reports: Sequence["AuditReport | _Unreadable"], policy: "Policy") -> None:
    bad = [report for report in reports if isinstance(report, _Unreadable) or not report.ok]
    if bad:
        raise AuditError(f"{len(bad)} of {len(reports)} wheels do not keep to {policy.floor.tag}")
