"""`rvbuild triage`: what kind failures are, where they happen, and a report to send upstream."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rvbuild.cli.invocation import JsonOption, emit, emit_json
from rvbuild.cli.tests import write_text
from rvbuild.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rvbuild.triage import Cluster, Triage

SCHEMA = "rvbuild.triage/1"
TESTS_SHOWN = 5


def register(program: typer.Typer) -> None:
    """Add the command to the program."""
    program.command("triage")(sort_failures)


def sort_failures(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="REPORT", help="Reports of `rvbuild test --json`; JUnit files to compare with."
        ),
    ],
    *,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a report to send upstream.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Sort the failures of reports: kind, cause, CPUs, smallest case. Prints one block for each."""
    from rvbuild.triage import read_references, read_reports, triage, write_up

    reports = read_reports(paths)
    if not reports:
        raise UsageError(
            "a JUnit file alone does not say which CPU it is of",
            hint="give a report of `rvbuild test --json` too",
        )
    found = triage(reports, read_references(paths))
    if markdown is not None:
        write_text(write_up(found, reports), markdown)
    if as_json:
        emit_json({"schema": SCHEMA, "known": found.known, "clusters": _plain(found)})
    else:
        emit(draw(found))


def draw(found: "Triage") -> str:
    """Draw a block of lines for each cluster."""
    blocks = ["\n".join(_lines(cluster)) for cluster in found.clusters]
    if found.known:
        blocks.append(f"{found.known} known failures are left out")
    return "\n\n".join(blocks or ["nothing failed"])


def _lines(cluster: "Cluster") -> "Iterator[str]":
    wheels = ", ".join(dict.fromkeys(each.wheel for each in cluster.occurrences))
    yield f"{cluster.title}: {len(cluster.tests)} tests of {wheels}"
    yield f"  fails on: {', '.join(cluster.reach.failed)}"
    if cluster.reach.passed:
        yield f"  passes on: {', '.join(cluster.reach.passed)}"
    yield f"  {cluster.reach.meaning}"
    if cluster.elsewhere:
        yield f"  {cluster.elsewhere}"
    if cluster.kind is not None:
        yield f"  cause: {cluster.kind.cause}"
        yield f"  fix: {cluster.kind.fix} ({cluster.kind.link})"
    if cluster.smallest is not None:
        case = cluster.smallest
        yield f"  smallest case: {case.name} on {case.cpu}: {case.detail}"
    for test in cluster.tests[:TESTS_SHOWN]:
        yield f"  - {test}"
    if len(cluster.tests) > TESTS_SHOWN:
        yield f"  - and {len(cluster.tests) - TESTS_SHOWN} more"


def _plain(found: "Triage") -> list[dict[str, object]]:
    return [
        {
            "kind": cluster.kind.name if cluster.kind else None,
            "cause": cluster.kind.cause if cluster.kind else None,
            "link": cluster.kind.link if cluster.kind else None,
            "where": cluster.reach.where,
            "meaning": cluster.reach.meaning,
            "failed": cluster.reach.failed,
            "passed": cluster.reach.passed,
            "elsewhere": cluster.elsewhere,
            "smallest": asdict(cluster.smallest) if cluster.smallest else None,
            "tests": cluster.tests,
        }
        for cluster in found.clusters
    ]
