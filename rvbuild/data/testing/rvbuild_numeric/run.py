"""Walking a plan: every case of every entry, and the smallest case that goes wrong."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from .case import Operation, Outcome, examine
from .families import operations_of

# For finding the smallest wrong case of an entry, between the sizes that it names.
SEARCH_SECONDS = 20.0

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Entry:
    """What a recipe declares of a family; without dtypes all are meant."""

    family: str
    dtypes: tuple[str, ...]
    sizes: tuple[int, ...]
    tolerance: int


def read_plan(path: Path) -> tuple[Entry, ...]:
    """Read entries from a JSON list of objects."""
    return tuple(
        Entry(
            family=each["family"],
            dtypes=tuple(each["dtypes"]),
            sizes=tuple(each["sizes"]),
            tolerance=each["tolerance"],
        )
        for each in json.loads(path.read_text(encoding="utf-8"))
    )


def run_entry(entry: Entry, tell: Tell) -> dict[str, object]:
    """Run an entry's cases and search the smallest wrong one; `tell` hears each case's name."""
    begin = time.monotonic()
    outcomes = []
    for operation, dtype, size in _cases(entry):
        tell(f"{entry.family}:{operation.name}:{dtype}:{size}")
        outcomes.append(examine(operation, dtype, size, entry.tolerance))
    wrong = sorted((each for each in outcomes if not each.ok), key=lambda each: each.size)
    smallest = _smallest(entry, wrong[0], tell) if wrong else None
    return {
        "seconds": round(time.monotonic() - begin, 3),
        "smallest": _brief(smallest) if smallest else None,
        "cases": [_brief(outcome) for outcome in outcomes],
    }


def _brief(outcome: Outcome) -> dict[str, object]:
    """Leave out what says nothing: there are thousands of cases."""
    named = {field.name: getattr(outcome, field.name) for field in fields(outcome)}
    said = {name: value for name, value in named.items() if value not in (0, "0", "")}
    return {**said, "size": outcome.size}


def _cases(entry: Entry) -> Iterator[tuple[Operation, str, int]]:
    for operation in operations_of(entry.family):
        for dtype in operation.dtypes:
            if not entry.dtypes or dtype in entry.dtypes:
                for size in entry.sizes:
                    yield operation, dtype, size


def _smallest(entry: Entry, wrong: Outcome, tell: Tell) -> Outcome:
    """Try sizes from 0 up to the one that went wrong, as long as there is time."""
    operation = find_operation(entry.family, wrong.operation)
    end = time.monotonic() + SEARCH_SECONDS
    for size in range(wrong.size):
        if size in entry.sizes:
            continue
        tell(f"{entry.family}:{operation.name}:{wrong.dtype}:{size}")
        outcome = examine(operation, wrong.dtype, size, entry.tolerance)
        if not outcome.ok:
            return outcome
        if time.monotonic() > end:
            break
    return wrong


def find_operation(family: str, name: str) -> Operation:
    """Give an operation by name; `ValueError` when there is none."""
    for operation in operations_of(family):
        if operation.name == name:
            return operation
    raise ValueError(f"there is no operation `{family}:{name}`")


def run_case(name: str, entries: Sequence[Entry]) -> Outcome:
    """Run the one case that a name such as `products:matmul:float64:17` means.

    Its tolerance is that of the plan's first entry of the family and dtype; `ValueError` is raised
    for other names.
    """
    family, operation, dtype, size = name.split(":")
    tolerances = [
        entry.tolerance
        for entry in entries
        if entry.family == family and (not entry.dtypes or dtype in entry.dtypes)
    ]
    if not tolerances:
        raise ValueError(f"the plan has no `{family}` of `{dtype}`")
    return examine(find_operation(family, operation), dtype, int(size), tolerances[0])
