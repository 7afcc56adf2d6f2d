"""What a suite on demand came to on one CPU, against what is known to fail."""

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from rvbuild.recipe.model import Test
from rvbuild.testing.junit import TestOutcome, plain_name
from rvbuild.testing.kept import Kept, chosen
from rvbuild.testing.known import Sifted, sift
from rvbuild.testing.model import CpuResult, Portion
from rvbuild.testing.part import Desk, log_of
from rvbuild.testing.record import Told, outcomes, write_record

CHECK = "suite"


def judge_kept(kept: Kept, tests: Test, portion: Portion, desk: Desk) -> CpuResult:
    """Make one result of what came of the tests that are wanted."""
    told = _relevant(kept, portion)
    write_record(kept.outcomes, told)
    found = outcomes(told)
    today = datetime.now(tz=UTC).date()
    sifted = sift(found, tests.known_failures, kept.cpu.name, today, whole=portion.whole)
    first = _first(told, sifted)
    return CpuResult(
        cpu=kept.cpu.name,
        check=CHECK,
        status="passed" if found and first is None else "failed",
        seconds=sum(each.seconds for each in told),
        explanation=_words(found, sifted),
        log=_log(kept, first),
        reproduce="" if first is None else desk.again(first.test, kept.folder / "list"),
        failures=sifted.failures,
        flags=sifted.flags,
        outcomes=kept.outcomes,
    )


def _relevant(kept: Kept, portion: Portion) -> tuple[Told, ...]:
    ended = kept.ended()
    every = kept.tests()
    wanted = [ended[test] for test in chosen(every, portion) if test in ended]
    if not portion.whole:
        return tuple(wanted)
    # A process may end wrongly after its last test.
    others = [ended[name] for name in ended.keys() - set(every)]
    return (*kept.problems(), *wanted, *others)


def _first(told: tuple[Told, ...], sifted: Sifted) -> Told | None:
    unknown = {failure.test for failure in sifted.unknown}
    return next((each for each in told if plain_name(each.test) in unknown), None)


def _words(found: tuple[TestOutcome, ...], sifted: Sifted) -> str:
    if not found:
        return "no test of the suite is meant"
    if sifted.unknown:
        first = sifted.unknown[0].test
        return f"{len(sifted.unknown)} of {len(found)} tests failed, first `{first}`"
    count = Counter(each.outcome for each in found)
    parts = [f"{len(found)} tests"]
    if count["skipped"]:
        parts.append(f"{count['skipped']} skipped")
    if sifted.failures:
        parts.append(f"{len(sifted.failures)} known failures")
    return ", ".join(parts)


def _log(kept: Kept, first: Told | None) -> Path | None:
    if first is None:
        return None
    logs = (log_of(record.parent) for record in kept.records_of(first.test))
    return next((log for log in logs if log.exists()), log_of(kept.folder / "list"))
