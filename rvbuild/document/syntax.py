"""The faults that make a file no YAML at all, or YAML of a kind that is refused here."""

import re
from collections.abc import Iterator
from typing import Protocol

import yaml
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    NodeEvent,
    ScalarEvent,
)
from yaml.reader import ReaderError

from rvbuild.document.model import Page, Position
from rvbuild.errors import Problem

_DEEPEST = 30
# Escapes can name the halves of UTF-16, which no file can be written with.
_HALF = re.compile("[\ud800-\udfff]")
_STANDARD = "tag:yaml.org,2002:"
_QUOTE = "put quotes round text that begins with `{}`"
# What PyYAML says, and what to do about it.
_HINTS = (
    ("mapping values are not allowed", "check the indentation, or quote text that holds `: `"),
    ("expected chomping or indentation", _QUOTE.format(">` or `|")),
    ("expected alphabetic or numeric character", _QUOTE.format("*` or `&")),
    ("that cannot start any token", "put quotes round the text"),
    ("could not find expected ':'", "write `key: value`, with a space after the colon"),
    ("expected <block end>", "check the indentation, or " + _QUOTE.format("{`, `[` or `*")),
    ("expected ',' or", "close the bracket, or put quotes round the text"),
    ("unexpected end of stream", "close the quotes"),
)


class _Counted(Protocol):
    """A mark of PyYAML's, of which there are two kinds; both count from 0."""

    line: int
    column: int


def position(mark: _Counted | None) -> Position:
    """Turn PyYAML's mark into a position; none is the start of the file."""
    return Position(1, 1) if mark is None else Position(mark.line + 1, mark.column + 1)


def syntax_problem(page: Page, text: str, error: yaml.YAMLError) -> Problem:
    """Turn what PyYAML raised into a problem."""
    if isinstance(error, ReaderError):
        return _character_problem(page, text, error)
    if not isinstance(error, yaml.MarkedYAMLError):
        return page.problem(Position(1, 1), f"this is not YAML: {error}")
    place = position(error.problem_mark or error.context_mark)
    said = error.problem or error.context or "it cannot be read"
    if page.excerpt(place)[place.column - 1 : place.column] == "\t":
        return page.problem(
            place, "a tab stands where YAML takes spaces only", "indent with spaces"
        )
    hint = next((hint for words, hint in _HINTS if words in said), None)
    return page.problem(place, f"this is not YAML: {said}", hint)


def _character_problem(page: Page, text: str, error: ReaderError) -> Problem:
    before = text[: error.position]
    line = before.count("\n") + 1
    column = len(before) - (before.rfind("\n") + 1) + 1
    message = f"character U+{ord(text[error.position]):04X} is not allowed in YAML"
    return page.problem(
        Position(line, column), message, "remove it, or write it escaped in double quotes"
    )


def refused_parts(page: Page, text: str) -> Iterator[Problem]:
    """Find what YAML allows and documents here do not; raises `YAMLError` where it is not YAML."""
    depth = 0
    documents = 0
    for event in yaml.parse(text, Loader=yaml.BaseLoader):
        place = position(event.start_mark)
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if isinstance(event, CollectionStartEvent) and depth == _DEEPEST + 1:
            yield page.problem(place, f"this is nested more than {_DEEPEST} levels deep")
            return
        if isinstance(event, DocumentStartEvent):
            documents += 1
            if documents > 1:
                yield page.problem(
                    place,
                    "a second document begins here",
                    "one file holds one document: remove `---`",
                )
        if isinstance(event, NodeEvent):
            yield from _refused_node(page, event, place)


def _refused_node(page: Page, event: NodeEvent, place: Position) -> Iterator[Problem]:
    if isinstance(event, AliasEvent):
        yield page.problem(
            place,
            f"alias `*{event.anchor}` is not allowed",
            "write the value out, or put quotes round text that begins with `*`",
        )
    elif event.anchor is not None:
        yield page.problem(
            place,
            f"anchor `&{event.anchor}` is not allowed",
            "write the value out where it is needed, or put quotes round text that begins with `&`",
        )
    if isinstance(event, ScalarEvent) and _HALF.search(event.value):
        yield page.problem(
            place,
            "this text holds half of a character",
            "write the character itself, or `\\U` and 8 digits",
        )
    if isinstance(event, ScalarEvent | CollectionStartEvent) and event.tag is not None:
        yield page.problem(
            place,
            f"tag `{event.tag.replace(_STANDARD, '!!')}` is not allowed",
            "values have no tags here; put quotes round text that begins with `!`",
        )
