"""`rvbuild audit`: is a wheel what its name, its tags and a policy say, whoever made it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rvbuild.cli.invocation import JsonOption, emit, emit_json, settings
from rvbuild.cli.selection import select_wheels
from rvbuild.errors import AuditError, MissingToolError

if TYPE_CHECKING:
    from rvbuild.audit import AuditReport, Policy
    from rvbuild.cli.settings import Settings
    from rvbuild.target import Floor

SCHEMA = "rvbuild.audits/1"


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """A wheel that is too damaged for a report."""

    path: Path
    error: AuditError


def register(program: typer.Typer) -> None:
    """Add the command to the program."""
    program.command("audit")(audit_wheels)


def audit_wheels(
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
    as_json: JsonOption = False,
) -> None:
    """Audit wheels: policy, machine, symbols, libraries, metadata. Prints a report of each."""
    from rvbuild.audit import Policy
    from rvbuild.target import Floor

    chosen = settings(context, floor=(floor,) if floor else None)
    asked = Floor.parse(chosen.floor)
    policy = Policy(asked, tuple(libraries or ()) or _sysroot_libraries(asked, chosen))
    reports = [_audit(path, policy) for path in select_wheels(paths)]
    if as_json:
        emit_json({"schema": SCHEMA, "reports": [_as_json(report) for report in reports]})
    else:
        for report in reports:
            emit(_as_text(report))
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


def _as_json(report: "AuditReport | _Unreadable") -> dict[str, object]:
    from rvbuild.audit import report_as_json

    if isinstance(report, _Unreadable):
        causes = list(report.error.causes)
        error = {"message": report.error.message, "causes": causes}
        return {"wheel": report.path.name, "ok": False, "error": error}
    return report_as_json(report)


def _as_text(report: "AuditReport | _Unreadable") -> str:
    from rvbuild.audit import render_report

    if isinstance(report, _Unreadable):
        lines = [f"{report.path.name} cannot be audited", f"  error: {report.error.message}"]
        return "\n".join([*lines, *(f"    cause: {cause}" for cause in report.error.causes)])
    return render_report(report)


def _judge(reports: Sequence["AuditReport | _Unreadable"], policy: "Policy") -> None:
    bad = [report for report in reports if isinstance(report, _Unreadable) or not report.ok]
    if bad:
        raise AuditError(f"{len(bad)} of {len(reports)} wheels do not keep to {policy.floor.tag}")
