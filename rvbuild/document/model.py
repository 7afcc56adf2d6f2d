"""What a YAML file says: plain data of text, lists and mappings, and where each piece stands."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from rvbuild.errors import Problem

Data: TypeAlias = "str | list[Data] | dict[str, Data]"
# The keys and indices that lead to a value; () is the whole document.
Route: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a file, both counted from 1; columns count characters."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a value and its key begin (lists and the top have no keys) and how they are written."""

    value: Position
    key: Position | None = None
    plain_value: bool = False
    plain_key: bool = False
    empty: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """The lines of one file, out of which problems quote."""

    file: Path
    lines: tuple[str, ...]

    def excerpt(self, position: Position) -> str:
        """Give the line at `position`, with one stand-in for each character a terminal may obey."""
        if position.line > len(self.lines):
            return ""
        line = self.lines[position.line - 1]
        return "".join(
            char if char.isprintable() or char == "\t" else "\N{REPLACEMENT CHARACTER}"
            for char in line
        )

    def problem(
        self, position: Position, message: str, hint: str | None = None, severity: str = "error"
    ) -> Problem:
        """Make a problem that quotes the line at `position`."""
        excerpt = self.excerpt(position)
        return Problem(self.file, position.line, position.column, message, excerpt, hint, severity)


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML mapping as plain data, with the position of every key and value.

    `faults` are those that left the rest of the tree readable, such as a key that is given twice.
    """

    page: Page
    data: dict[str, Data]
    marks: Mapping[Route, Mark]
    faults: tuple[Problem, ...] = ()

    def find(self, route: Route) -> "Data | None":
        """Give the value at `route`, or None where there is none."""
        value: Data = self.data
        for step in route:
            match value, step:
                case dict(), str() if step in value:
                    value = value[step]
                case list(), int() if step < len(value):
                    value = value[step]
                case _:
                    return None
        return value

    def text(self, route: Route) -> str | None:
        """Give the text at `route`, or None where there is no text."""
        value = self.find(route)
        return value if isinstance(value, str) else None

    def children(self, route: Route) -> Iterator[Route]:
        """Give the routes of a list's entries or a mapping's values, in the order of the file."""
        value = self.find(route)
        if isinstance(value, list):
            yield from ((*route, index) for index in range(len(value)))
        elif isinstance(value, dict):
            yield from ((*route, key) for key in value)

    def nearest(self, route: Route) -> Route:
        """Shorten `route` until something stands there."""
        while route not in self.marks:
            route = route[:-1]
        return route

    def value_position(self, route: Route) -> Position:
        """Say where the value at `route` begins, or what is nearest above it."""
        return self.marks[self.nearest(route)].value

    def key_position(self, route: Route) -> Position:
        """Say where the key of `route` begins; a list's entry has none, so its value counts."""
        mark = self.marks[self.nearest(route)]
        return mark.key or mark.value

    def problem(
        self,
        route: Route,
        message: str,
        *,
        hint: str | None = None,
        at_key: bool = False,
        severity: str = "error",
    ) -> Problem:
        """Make a problem of the value at `route`, or of its key."""
        place = self.key_position(route) if at_key else self.value_position(route)
        return self.page.problem(place, message, hint, severity)
