"""Putting failures together that are of one kind and happen on the same CPUs of the same wheel."""

from collections.abc import Mapping, Sequence

from rvbuild.testing import TestReport
from rvbuild.triage.kinds import kind_of, kinds
from rvbuild.triage.minimal import smallest_case
from rvbuild.triage.model import Cluster, Kind, Occurrence, Triage
from rvbuild.triage.occurrences import (
    known_count,
    occurrences,
    project_of,
    ran_on,
    vlen_of,
)
from rvbuild.triage.reach import reach_of
from rvbuild.triage.reading import References

Group = tuple[str, str, tuple[str, ...], tuple[str, ...]]


def triage(reports: Sequence[TestReport], references: Mapping[str, References]) -> Triage:
    """Cluster all failures of reports, and compare CPUs, other reports and references."""
    by_test: dict[tuple[str, str], list[Occurrence]] = {}
    for occurrence in occurrences(reports):
        key = (project_of(occurrence.wheel), occurrence.test)
        by_test.setdefault(key, []).append(occurrence)
    groups: dict[Group, list[Occurrence]] = {}
    found: dict[Group, Kind | None] = {}
    for (wheel, test), failed in by_test.items():
        kind = _kind(failed)
        passed = _passed(reports, wheel, test, failed)
        where = tuple(dict.fromkeys(each.cpu for each in failed))
        group = (wheel, kind.name if kind else _normal(failed[0].message), where, passed)
        groups.setdefault(group, []).extend(failed)
        found[group] = kind
    lengths = _lengths(reports)
    clusters = [
        _cluster(found[group], group, group_failures, lengths, references)
        for group, group_failures in groups.items()
    ]
    ordered = sorted(clusters, key=lambda each: -len(each.occurrences))
    return Triage(tuple(ordered), known_count(reports))


def _kind(failed: Sequence[Occurrence]) -> Kind | None:
    told = (kind_of(each.message, each.text, kinds()) for each in failed)
    return next((kind for kind in told if kind is not None), None)


def _normal(message: str) -> str:
    """Drop what differs from test to test: numbers and quoted names."""
    first = message.strip().partition("\n")[0]
    return "".join("#" if char.isdigit() else char for char in first)[:120]


def _passed(
    reports: Sequence[TestReport], wheel: str, test: str, failed: Sequence[Occurrence]
) -> tuple[str, ...]:
    wrong = {each.cpu for each in failed}
    check = test.partition(": ")[0]
    return tuple(cpu for cpu in ran_on(reports, wheel, check) if cpu not in wrong)


def _lengths(reports: Sequence[TestReport]) -> dict[str, int | None]:
    return {
        result.cpu: vlen_of(result.cpu, report.emulator)
        for report in reports
        for result in report.results
    }


def _cluster(
    kind: Kind | None,
    group: Group,
    failures: Sequence[Occurrence],
    lengths: Mapping[str, int | None],
    references: Mapping[str, References],
) -> Cluster:
    _, _, failed, passed = group
    reach = reach_of({cpu: lengths[cpu] for cpu in failed}, {cpu: lengths[cpu] for cpu in passed})
    return Cluster(
        kind=kind,
        reach=reach,
        occurrences=tuple(failures),
        smallest=smallest_case(failures),
        elsewhere=_elsewhere(failures, references),
    )


def _elsewhere(failures: Sequence[Occurrence], references: Mapping[str, References]) -> str:
    tests = {each.test.partition(": ")[2] for each in failures} - {""}
    told = []
    for name, outcomes in references.items():
        seen = [outcomes[test] for test in tests if test in outcomes]
        if not seen:
            told.append(f"`{name}` has none of these tests")
            continue
        wrong = sum(outcome in ("failed", "error") for outcome in seen)
        verdict = "the package itself is at fault" if wrong == len(seen) else ""
        if not wrong:
            verdict = "it is a matter of riscv64"
        told.append(
            f"{wrong} of {len(seen)} fail in `{name}` too" + (f": {verdict}" if verdict else "")
        )
    return "; ".join(told)
