"""What is known of a file's code and what is concluded from it, as frozen values."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Literal

Verdict = Literal["baseline", "dispatched", "leaks"]
Status = Literal["named", "checks", "inherits", "by pointer", "reads", "unseen", "leak"]
VectorVersion = Literal["1.0", "0.7.1"]


@dataclass(frozen=True, slots=True)
class Region:
    """A run of executable bytes; `trusted` when a section says that it is code."""

    address: int
    data: bytes
    trusted: bool

    @property
    def end(self) -> int:
        """The address behind the last byte."""
        return self.address + len(self.data)


@dataclass(frozen=True, slots=True)
class Function:
    """A run of code with one entry, at `start`; no `names` where all are stripped.

    `rooted` is False for what lies before the first known entry of a region.
    """

    start: int
    end: int
    names: tuple[str, ...] = ()
    exported: bool = False
    rooted: bool = True

    @property
    def label(self) -> str:
        """The name to show."""
        return self.names[0] if self.names else f"{self.start:#x}"


@dataclass(frozen=True, slots=True)
class Layout:
    """How the code of a file is divided: where functions start and end, and what they are called.

    `unrooted` are starts that nothing is known to lead to, `data` are (start, end) of what is no
    code though it is among it, `starters` the addresses that run when the file is loaded with why,
    `slots` the places that the loader fills with the address of an import, `filled` those that it
    fills with an address of the file, `indirect` the entries that the loader asks which function to
    take.
    """

    starts: Sequence[int]
    ends: Sequence[int]
    names: Mapping[int, Sequence[str]] = field(default_factory=dict)
    exported: AbstractSet[int] = frozenset()
    unrooted: AbstractSet[int] = frozenset()
    data: tuple[tuple[int, int], ...] = ()
    mapped: bool = False
    starters: Mapping[int, str] = field(default_factory=dict)
    slots: Mapping[int, str] = field(default_factory=dict)
    filled: Mapping[int, int] = field(default_factory=dict)
    indirect: tuple[int, ...] = ()

    def function(self, index: int) -> Function:
        """Describe one function."""
        start = self.starts[index]
        return Function(
            start,
            self.ends[index],
            tuple(self.names.get(start, ())),
            exported=start in self.exported,
            rooted=start not in self.unrooted,
        )

    def covering(self, address: int) -> int:
        """Give the index of the last function that begins at or before an address; -1 for none."""
        return bisect_right(self.starts, address) - 1

    def function_at(self, address: int) -> int | None:
        """Give the index of the function that has an address."""
        index = bisect_right(self.starts, address) - 1
        return index if index >= 0 and address < self.ends[index] else None


@dataclass(frozen=True, slots=True)
class FunctionIsa:
    """What one function has beyond rv64gc: instructions by extension, `first` the address of one.

    `split` counts reads of single registers out of a group that was loaded as a whole, which is
    right for one vector length only, unless the whole register is meant. `registers_only` is true
    for one that only reads the vector unit's control registers.
    """

    function: Function
    extensions: Mapping[str, int]
    first: int
    vector: VectorVersion | None = None
    split: int = 0
    registers_only: bool = False
    status: Status = "unseen"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Leak:
    """Code beyond rv64gc that runs without anybody having asked the processor."""

    function: str
    extensions: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class IsaFacts:
    """The instruction set of one ELF file: what it claims, what is there, and what guards that.

    `extensions` counts instructions beyond rv64gc, `guards` says how the processor is asked,
    `families` counts functions by the pattern of names that says when they are called, `doubted`
    counts words that could be such instructions and were taken for data, as nothing leads there.
    """

    claimed: str | None
    verdict: Verdict
    extensions: Mapping[str, int] = field(default_factory=dict)
    functions: tuple[FunctionIsa, ...] = ()
    guards: tuple[str, ...] = ()
    families: Mapping[str, int] = field(default_factory=dict)
    leaks: tuple[Leak, ...] = ()
    doubted: int = 0

    @property
    def vector(self) -> frozenset[VectorVersion]:
        """The versions of vector instructions that are there."""
        return frozenset(each.vector for each in self.functions if each.vector is not None)

    @property
    def leaked(self) -> frozenset[str]:
        """The extensions that a processor needs in order to load and call the file at all."""
        return frozenset(extension for leak in self.leaks for extension in leak.extensions)


def is_vector(extension: str) -> bool:
    """Say whether an extension is of the vector unit."""
    return extension == "v" or extension.startswith("zv")
