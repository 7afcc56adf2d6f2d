"""Known failures against what a suite did: what is excused, and which entries are stale."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from rvbuild.recipe.model import KnownFailure
from rvbuild.testing.junit import TestOutcome, plain_name
from rvbuild.testing.model import Failure


@dataclass(frozen=True, slots=True)
class Sifted:
    """The failures, known ones with their reason, and remarks about the entries themselves."""

    failures: tuple[Failure, ...]
    flags: tuple[str, ...]

    @property
    def unknown(self) -> tuple[Failure, ...]:
        """The failures that nothing excuses."""
        return tuple(failure for failure in self.failures if failure.known is None)


def matches(pattern: str, test: str) -> bool:
    """Say whether a pattern means a test; `*` alone is special, and the whole name must fit."""
    literal = (re.escape(part) for part in plain_name(pattern).split("*"))
    return re.fullmatch(".*".join(literal), test, re.DOTALL) is not None


def sift(
    outcomes: Iterable[TestOutcome],
    known: Iterable[KnownFailure],
    cpu: str,
    today: date,
    *,
    whole: bool = True,
) -> Sifted:
    """Tell known from unknown failures on a CPU, and flag entries that are expired or untrue.

    That an entry means no test is flagged where the whole suite was run. An expired entry still
    excuses: a date must not break a build that nothing else has changed.
    """
    seen = tuple(outcomes)
    entries = tuple(entry for entry in known if not entry.cpus or cpu in entry.cpus)
    failed = (outcome for outcome in seen if outcome.outcome in ("failed", "error"))
    failures = tuple(
        Failure(outcome.test, outcome.message, _reason(outcome.test, entries)) for outcome in failed
    )
    flags = (flag for entry in entries for flag in _flags(entry, seen, today, whole=whole))
    return Sifted(failures, tuple(flags))


def _reason(test: str, entries: Iterable[KnownFailure]) -> str | None:
    for entry in entries:
        if matches(entry.test, test):
            return f"{entry.reason} ({entry.link})" if entry.link else entry.reason
    return None


def _flags(
    entry: KnownFailure, seen: Iterable[TestOutcome], today: date, *, whole: bool
) -> Iterable[str]:
    if date.fromisoformat(entry.expires) < today:
        yield f"known failure `{entry.test}` expired on {entry.expires}: {entry.reason}"
    outcomes = {outcome.outcome for outcome in seen if matches(entry.test, outcome.test)}
    if not outcomes and whole:
        yield f"known failure `{entry.test}` means no test of this suite"
    elif outcomes == {"passed"}:
        yield f"known failure `{entry.test}` passed: {entry.reason}"
