"""The record of a suite on demand: a line for each test that started or ended, as it happened."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from rvbuild.testing.junit import SEVERITY, Outcome, TestOutcome, plain_name


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of a test, under pytest's own name for it."""

    test: str
    outcome: Literal["listed", "started"] | Outcome
    message: str = ""
    seconds: float = 0.0


LINE = TypeAdapter(Told)


def read_record(path: Path) -> tuple[Told, ...]:
    """Read a record as far as it was written; empty where there is none."""
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return ()
    return tuple(_read(lines))


def _read(lines: Iterable[bytes]) -> Iterator[Told]:
    for line in lines:
        try:
            yield LINE.validate_json(line)
        except ValidationError:
            # The last line of a process that was killed while it wrote.
            continue


def write_record(path: Path, told: Iterable[Told]) -> None:
    """Write a record anew, in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.part")
    partial.write_bytes(b"".join(LINE.dump_json(each) + b"\n" for each in told))
    partial.replace(path)


def tell(path: Path, told: Iterable[Told]) -> None:
    """Add to a record."""
    with path.open("ab") as record:
        # Whatever a killed process was writing ends here.
        record.write(b"\n" + b"".join(LINE.dump_json(each) + b"\n" for each in told))


def ended(told: Iterable[Told]) -> dict[str, Told]:
    """Give the tests that came to an end, by name, with the last that was told of each."""
    return {each.test: each for each in told if each.outcome in SEVERITY}


def running(told: Iterable[Told]) -> str | None:
    """Name the test that started last, if it has not ended."""
    at = None
    for each in told:
        at = each.test if each.outcome == "started" else None
    return at


def outcomes(told: Iterable[Told]) -> tuple[TestOutcome, ...]:
    """Give what was told in the names of reports."""
    found = ((each, _end(each)) for each in told)
    return tuple(
        TestOutcome(plain_name(each.test), end, each.message) for each, end in found if end
    )


def _end(told: Told) -> Outcome | None:
    match told.outcome:
        case "listed" | "started":
            return None
        case outcome:
            return outcome
