"""A report in Markdown that can be sent upstream: what fails where, the smallest case, commands."""

import shlex
from collections.abc import Iterator, Sequence

from rvbuild.target import cpus
from rvbuild.testing import TestReport
from rvbuild.testing.table import tabulate
from rvbuild.triage.model import Cluster, Triage

TESTS_SHOWN = 20
MESSAGE_LENGTH = 400
# What the names of a suite's tests begin with in occurrences.
SUITE = "suite: "


def write_up(found: Triage, reports: Sequence[TestReport]) -> str:
    """Write the report; it names no folder of this machine but in the commands and logs."""
    parts = ["# Failures on riscv64\n", *_environment(reports), *_table(reports)]
    if not found.clusters:
        parts.append("Nothing failed that is not known.\n")
    for number, cluster in enumerate(found.clusters, 1):
        parts += _cluster(number, cluster)
    if found.known:
        parts.append(f"{found.known} known failures are left out.\n")
    return "\n".join(parts)


def _environment(reports: Sequence[TestReport]) -> Iterator[str]:
    yield "## Environment\n"
    wheels = dict.fromkeys((report.wheel, report.sha256) for report in reports)
    for wheel, digest in wheels:
        yield f"- `{wheel}`, sha256 `{digest}`"
    if pythons := dict.fromkeys(report.python for report in reports if report.python):
        yield f"- Python {', '.join(pythons)} for riscv64"
    yield f"- run by {', '.join(dict.fromkeys(report.emulator for report in reports))}"
    used = dict.fromkeys(result.cpu for report in reports for result in report.results)
    for name in used:
        if name in cpus():
            yield f"- `{name}`: `qemu-riscv64 -cpu {cpus()[name].qemu}`"
    yield ""


def _table(reports: Sequence[TestReport]) -> Iterator[str]:
    table = tabulate(reports)
    yield "## Results\n"
    yield f"| wheel | {' | '.join(table.columns)} |"
    yield f"|{' --- |' * (1 + len(table.columns))}"
    for row in table.rows:
        words = (row.cells[cpu].words if cpu in row.cells else "-" for cpu in table.columns)
        yield f"| {row.wheel} | {' | '.join(words)} |"
    yield ""


def _cluster(number: int, cluster: Cluster) -> Iterator[str]:
    reach = cluster.reach
    yield f"## {number}. {cluster.title}\n"
    if cluster.kind is not None:
        yield f"{_sentence(cluster.kind.cause)} See {cluster.kind.link}.\n"
    yield f"- fails on {_listed(reach.failed)}"
    yield f"- passes on {_listed(reach.passed) or 'no CPU that was tried'}"
    yield f"- {reach.meaning}"
    if cluster.elsewhere:
        yield f"- {cluster.elsewhere}"
    if cluster.kind is not None:
        yield f"- what mends it as a rule: {cluster.kind.fix}"
    yield ""
    yield from _smallest(cluster)
    yield from _tests(cluster)
    yield from _again(cluster)


def _smallest(cluster: Cluster) -> Iterator[str]:
    case = cluster.smallest
    if case is not None:
        yield f"Smallest failing case: `{case.name}` on `{case.cpu}`: {_short(case.detail)}\n"


def _tests(cluster: Cluster) -> Iterator[str]:
    messages: dict[str, str] = {}
    for each in cluster.occurrences:
        messages.setdefault(each.test, each.message)
    for test, message in list(messages.items())[:TESTS_SHOWN]:
        yield f"- `{test}`: {_short(message)}"
    if len(messages) > TESTS_SHOWN:
        yield f"- and {len(messages) - TESTS_SHOWN} more"
    yield ""


def _again(cluster: Cluster) -> Iterator[str]:
    wanted = cluster.smallest.cpu if cluster.smallest else cluster.occurrences[0].cpu
    first = next(each for each in cluster.occurrences if each.cpu == wanted)
    if first.cpu in cpus():
        what = f"./{first.wheel}" if first.wheel.endswith(".whl") else first.wheel
        check = f"rvbuild test {what} --cpu {first.cpu}"
        if first.test.startswith(SUITE):
            check += f" --suite --again -k {shlex.quote(first.test.removeprefix(SUITE))}"
        yield f"Again, with rvbuild:\n\n```sh\n{check}\n```\n"
    if first.reproduce:
        yield f"The bare command:\n\n```sh\n{first.reproduce}\n```\n"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MESSAGE_LENGTH else f"{line[: MESSAGE_LENGTH - 1]}…"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
