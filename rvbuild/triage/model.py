"""The values of triage: failures as they occurred, clusters of one kind, and their reach."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Where = Literal[
    "everywhere",
    "long vectors",
    "short vectors",
    "vector unit",
    "no vector unit",
    "some",
    "one CPU",
]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of failure out of the catalogue; `blame` is who is to blame for it as a rule."""

    name: str
    patterns: tuple[str, ...]
    cause: str
    fix: str
    blame: str
    link: str


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One failure on one CPU: of a single test of a suite, or of a whole check.

    `message` is what it says in a line or two, `text` all that its kind is told by; `vlen` in bits,
    None for a processor that is not known.
    """

    wheel: str
    runner: str
    cpu: str
    vlen: int | None
    test: str
    message: str
    text: str
    reproduce: str
    log: Path | None


@dataclass(frozen=True, slots=True)
class Reach:
    """On which CPUs a failure happens, of those that its test ran on, and what that says."""

    where: Where
    meaning: str
    failed: tuple[str, ...]
    passed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SmallCase:
    """A numeric case such as `products:matmul:float64:8`, with what was wrong of it."""

    name: str
    size: int
    cpu: str
    detail: str


@dataclass(frozen=True, slots=True)
class Cluster:
    """Failures of one kind (None for an unknown one) that happen on the same CPUs.

    `elsewhere` says how the same tests ended in the references, empty without any.
    """

    kind: Kind | None
    reach: Reach
    occurrences: tuple[Occurrence, ...]
    smallest: SmallCase | None = None
    elsewhere: str = ""

    @property
    def title(self) -> str:
        """The kind in words."""
        return self.kind.name.replace("-", " ") if self.kind else "of no known kind"

    @property
    def tests(self) -> tuple[str, ...]:
        """The tests that failed, each once."""
        return tuple(dict.fromkeys(each.test for each in self.occurrences))


@dataclass(frozen=True, slots=True)
class Triage:
    """All clusters, the largest reach first, and how many known failures were left aside."""

    clusters: tuple[Cluster, ...]
    known: int = 0
