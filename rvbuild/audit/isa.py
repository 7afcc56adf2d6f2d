"""Whether the code of a file may run on every rv64gc machine; one board's answer is `board`'s."""

from collections.abc import Iterator

from rvbuild.audit.identity import extensions_beyond_baseline
from rvbuild.audit.model import Binary, Finding
from rvbuild.isa import FunctionIsa, IsaFacts
from rvbuild.target import BASELINE_ISA

HINT = (
    "compile it for rv64gc, or let code that asks riscv_hwprobe choose it; where it is chosen by "
    "something unusual, accept the finding by its code"
)
SHOWN = 3
# Fewer reads from the middle of a group may come of reading along addresses, not along jumps.
LEAST_SPLIT = 3


def check_isa(binary: Binary) -> Iterator[Finding]:
    """Find code beyond rv64gc that nobody checks for, and say what is there otherwise."""
    facts = binary.isa
    if facts is None:
        return
    if binary.loadable:
        yield from _leaks(binary.member, facts)
        yield from _unseen(binary.member, facts)
    reading = [each for each in facts.functions if each.status == "reads"]
    if reading:
        message = f"reads registers of the vector unit in {count(len(reading), 'function')}, "
        message += f"as unwinders do when they are asked to: {_names(reading)}"
        yield Finding("isa-registers", "note", binary.member, message)
    if facts.verdict != "baseline":
        yield Finding("isa-dispatched", "note", binary.member, _describe(facts))
    claimed = extensions_beyond_baseline(facts.claimed)
    if claimed and facts.verdict == "baseline":
        message = f"claims {', '.join(claimed)} and has no such instruction"
        yield Finding("isa-claim", "note", binary.member, message)
    yield from _vector_length(binary.member, facts)
    if facts.doubted:
        message = f"has {facts.doubted} words of data among code that could be such instructions"
        yield Finding("isa-doubt", "note", binary.member, message)


def _leaks(member: str, facts: IsaFacts) -> Iterator[Finding]:
    if facts.leaks:
        extensions = ", ".join(sorted(facts.leaked))
        shown = "; ".join(f"`{leak.function}` {leak.reason}" for leak in facts.leaks[:SHOWN])
        message = (
            f"uses {extensions} without asking whether the processor has it, "
            f"in {count(len(facts.leaks), 'function')}: {shown}"
        )
        yield Finding("isa-leak", "error", member, message, HINT)


def _unseen(member: str, facts: IsaFacts) -> Iterator[Finding]:
    unseen = [each for each in facts.functions if each.status == "unseen"]
    exported = [each for each in unseen if each.function.exported]
    if exported:
        message = (
            f"exports {count(len(exported), 'function')} with {_extensions(exported)} that no "
            f"check is seen for: {_names(exported)}"
        )
        yield Finding("isa-unguarded", "warning", member, message, HINT)
    hidden = [each for each in unseen if not each.function.exported]
    if hidden:
        message = f"calls {count(len(hidden), 'function')} with {_extensions(hidden)} directly, "
        message += f"where no check is seen: {_names(hidden)}"
        yield Finding("isa-unguarded", "note", member, message)


def _describe(facts: IsaFacts) -> str:
    parts = [f"{count} of {name}" for name, count in facts.extensions.items()]
    text = f"has instructions beyond {BASELINE_ISA} in {count(len(facts.functions), 'function')}"
    text += f" ({', '.join(parts)})"
    if "0.7.1" in facts.vector:
        text += ", vector code of the draft 0.7.1 among them"
    if facts.guards:
        text += f"; asks through {', '.join(facts.guards)}"
    if facts.families:
        text += "; named: " + ", ".join(f"{name} ({n})" for name, n in facts.families.items())
    return text


def _vector_length(member: str, facts: IsaFacts) -> Iterator[Finding]:
    split = sorted(
        (each for each in facts.functions if each.split >= LEAST_SPLIT),
        key=lambda each: -each.split,
    )
    if split:
        message = (
            f"takes register groups apart in {count(len(split), 'function')}, which may be right "
            f"for one vector length only: {_names(split)}"
        )
        hint = "test it at vector lengths above the one it was written for"
        yield Finding("isa-fixed-length", "note", member, message, hint)


def _extensions(functions: list[FunctionIsa]) -> str:
    return ", ".join(sorted({name for each in functions for name in each.extensions}))


def _names(functions: list[FunctionIsa]) -> str:
    names = ", ".join(f"`{each.function.label}`" for each in functions[:SHOWN])
    more = len(functions) - SHOWN
    return f"{names} and {more} more" if more > 0 else names


def count(number: int, noun: str) -> str:
    """Word a number of things."""
    return f"1 {noun}" if number == 1 else f"{number} {noun}s"
