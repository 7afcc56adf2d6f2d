"""`rvbuild doctor`: is this machine able, and what would make it so."""

import platform
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from rvbuild.cli.invocation import JsonOption, emit, emit_json, network, settings, uses_color
from rvbuild.errors import MissingToolError

if TYPE_CHECKING:
    from rvbuild.cli.settings import Settings
    from rvbuild.doctor import Finding, Mode, Patient

SCHEMA = "rvbuild.doctor/1"
STYLES = {"ok": "green", "warning": "yellow", "problem": "red"}
STATE_WIDTH = len("warning")
NAME_WIDTH = len("compiler cache")


def register(program: typer.Typer) -> None:
    """Add the command to the program."""
    program.command("doctor")(examine_machine)


def examine_machine(context: typer.Context, as_json: JsonOption = False) -> None:
    """Check this machine, and say what would mend it."""
    from rvbuild.doctor import examine, modes

    chosen = settings(context)
    patient = _patient(chosen)
    findings = examine(patient)
    ways = modes(findings, patient)
    if as_json:
        emit_json(
            {
                "schema": SCHEMA,
                "findings": [asdict(finding) for finding in findings],
                "modes": [{**asdict(way), "possible": way.possible} for way in ways],
            }
        )
    else:
        color = uses_color(chosen.color)
        emit("\n".join([*_drawn(findings, color=color), "", *_ways(ways)]))
    cross = ways[0]
    if not cross.possible:
        raise MissingToolError("this machine cannot build across", causes=cross.missing)


def _patient(chosen: "Settings") -> "Patient":
    from rvbuild.doctor import Patient
    from rvbuild.places import builtin_folder
    from rvbuild.target import Floor

    docker = shutil.which("docker")
    return Patient(
        places=chosen.places,
        network=network(chosen),
        pins=builtin_folder("sysroots"),
        machine=platform.machine(),
        system=platform.system(),
        floor=Floor.parse(chosen.floor),
        pythons=chosen.pythons,
        toolchain=chosen.toolchain,
        compiler_cache=chosen.compiler_cache,
        docker=Path(docker) if docker else None,
    )


def _drawn(findings: tuple["Finding", ...], *, color: bool) -> list[str]:
    from rvbuild.cli.report import paint

    lines = []
    for finding in findings:
        state = paint(f"{finding.state:<{STATE_WIDTH}}", STYLES[finding.state], color)
        lines.append(f"{state}  {finding.name:<{NAME_WIDTH}}  {finding.what}")
        if finding.fix and finding.state != "ok":
            lines.append(
                f"{'':<{STATE_WIDTH + NAME_WIDTH + 4}}{paint('fix:', 'cyan', color)} {finding.fix}"
            )
    return lines


def _ways(ways: tuple["Mode", ...]) -> list[str]:
    lines = []
    for way in ways:
        lines.append(f"{way.name}: {'possible' if way.possible else 'not possible'}")
        lines += [f"  missing: {each}" for each in way.missing]
    return lines
