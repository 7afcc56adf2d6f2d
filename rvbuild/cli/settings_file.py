"""Reads `rvbuild.toml`: which keys there are, of which type, and on which line each one stands.

What a value means is `settings`'.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from rvbuild.cli.spelling import did_you_mean
from rvbuild.errors import Problem, RecipeError, UsageError

Kind = Literal["text", "flag", "number", "list"]

KINDS: Mapping[str, Kind] = {
    "cache": "text",
    "jobs": "number",
    "pythons": "list",
    "floor": "text",
    "toolchain": "text",
    "cpus": "list",
    "color": "text",
    "offline": "flag",
    "offline_dir": "text",
    "dist": "text",
    "recipes": "list",
    "compiler_cache": "text",
}
INDEX_KINDS: Mapping[str, Kind] = {"url": "text", "simple": "text", "allowed": "list"}
INDEXES = "indexes"
SHAPES: Mapping[Kind, str] = {
    "text": "text in quotes",
    "flag": "`true` or `false`",
    "number": "a whole number",
    "list": "a list of texts in quotes",
}
TABLE = re.compile(r"^\s*\[([^\[\]]+)\]\s*(?:#.*)?$")
ENTRY = re.compile(r"""^\s*([A-Za-z0-9_."'-]+(?:\s*\.\s*[A-Za-z0-9_"'-]+)*)\s*=""")
SYNTAX = re.compile(r"^(.*) \(at (?:line (\d+), column (\d+)|end of document)\)$", re.DOTALL)
USER_INFO = re.compile(r"://[^/@\s]*@")
INDEX_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Given:
    """What somebody asked for: its words, where that stands, and the folder paths start from."""

    words: tuple[str, ...]
    origin: str
    folder: Path


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    lines: tuple[str, ...]

    def place(self, key: Key) -> tuple[int, int]:
        """Give line and column, counted from 1, of the longest part of `key` that has a line."""
        best, found = 0, (1, 1)
        for line, column, written in _written_keys(self.lines):
            if len(written) > best and written == key[: len(written)]:
                best, found = len(written), (line, column)
        return found

    def problem(self, key: Key, message: str, hint: str | None) -> Problem:
        """Say what is wrong with `key`."""
        return self.problem_at(*self.place(key), message, hint)

    def problem_at(self, line: int, column: int, message: str, hint: str | None) -> Problem:
        """Say what is wrong at a place."""
        excerpt = self.lines[line - 1] if line <= len(self.lines) else ""
        return Problem(self.path, line, column, message, masked(excerpt), hint)


def masked(text: str) -> str:
    """Hide users and passwords of the addresses in a text."""
    return USER_INFO.sub("://***@", text)


def read_settings_file(path: Path) -> dict[str, Given]:
    """Read what a file sets; an index's entries have keys such as `indexes.my.url`.

    Raises `RecipeError` with every problem at once, `UsageError` when it cannot be read.
    """
    text = _read(path)
    file = _File(path, tuple(text.splitlines()))
    document = _parse(text, file)
    problems: list[Problem] = []
    given: dict[str, Given] = {}
    for key, kind, value in _entries(document, file, problems):
        words = _words(value, kind)
        if words is None:
            problems.append(file.problem(key, *_mismatch(key, kind, value)))
            continue
        line, _ = file.place(key)
        given[".".join(key)] = Given(words, f"{path}:{line}", path.parent)
    if problems:
        raise RecipeError(f"`{path.name}` does not say what it has to", problems)
    return given


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"`{path}` cannot be read", causes=(str(error),)) from error


def _parse(text: str, file: _File) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = SYNTAX.match(str(error))
        message, line, column = found.groups() if found else (str(error), None, None)
        where = (int(line), int(column)) if line and column else (max(len(file.lines), 1), 1)
        problem = file.problem_at(*where, message[:1].lower() + message[1:], None)
        raise RecipeError(f"`{file.path.name}` is not TOML", (problem,)) from error


def _entries(
    document: Mapping[str, object], file: _File, problems: list[Problem]
) -> Iterator[tuple[Key, Kind, object]]:
    for name, value in document.items():
        if name == INDEXES:
            yield from _index_entries(value, file, problems)
        elif name in KINDS:
            yield (name,), KINDS[name], value
        else:
            problems.append(_unknown((name,), [*KINDS, INDEXES], file))


def _index_entries(
    indexes: object, file: _File, problems: list[Problem]
) -> Iterator[tuple[Key, Kind, object]]:
    if not isinstance(indexes, dict):
        problems.append(file.problem((INDEXES,), "`indexes` is a table of indexes", _TABLE_HINT))
        return
    for name, entries in indexes.items():
        if not isinstance(entries, dict) or not INDEX_NAME.fullmatch(name):
            message = f"`{name}` is not an index: its name takes letters, digits, `-` and `_`"
            problems.append(file.problem((INDEXES, name), message, _TABLE_HINT))
            continue
        for key, value in entries.items():
            if key not in INDEX_KINDS:
                problems.append(_unknown((INDEXES, name, key), INDEX_KINDS, file))
            elif key != "allowed" and _has_password(value):
                message = "an address is no place for a password"
                problems.append(file.problem((INDEXES, name, key), message, _PASSWORD_HINT))
            else:
                yield (INDEXES, name, key), INDEX_KINDS[key], value


_TABLE_HINT = 'write `[indexes.my]` and below it `url = "…"`'
_PASSWORD_HINT = "use the keyring, netrc or the index's environment variables"  # noqa: S105 - a sentence


def _unknown(key: Key, known: Mapping[str, Kind] | list[str], file: _File) -> Problem:
    return file.problem(key, f"there is no setting `{'.'.join(key)}`", did_you_mean(key[-1], known))


def _has_password(value: object) -> bool:
    try:
        return isinstance(value, str) and urlsplit(value).password is not None
    except ValueError:
        return False


def _words(value: object, kind: Kind) -> tuple[str, ...] | None:
    """Turn a value of the right type into words; None for the wrong type."""
    if isinstance(value, bool):
        return (str(value).lower(),) if kind == "flag" else None
    if isinstance(value, int):
        return (str(value),) if kind == "number" else None
    if isinstance(value, str):
        return (value,) if kind == "text" and value else None
    if kind == "list" and isinstance(value, list) and all(isinstance(one, str) for one in value):
        return tuple(value)
    return None


def _mismatch(key: Key, kind: Kind, value: object) -> tuple[str, str | None]:
    """Word the problem of a value of the wrong type and its hint."""
    numbers = value if isinstance(value, list) else [value]
    quote = kind in ("text", "list") and any(isinstance(one, int | float) for one in numbers)
    hint = "quote it: a number loses its zeros, `3.10` becomes `3.1`" if quote else None
    return f"`{'.'.join(key)}` has to be {SHAPES[kind]}", hint


def _written_keys(lines: tuple[str, ...]) -> Iterator[tuple[int, int, Key]]:
    """Give line, column and full key of everything that looks like a table or an entry."""
    table: Key = ()
    for number, line in enumerate(lines, start=1):
        if header := TABLE.match(line):
            table = _split(header.group(1))
            yield number, header.start(1) + 1, table
        elif entry := ENTRY.match(line):
            yield number, entry.start(1) + 1, (*table, *_split(entry.group(1)))


def _split(dotted: str) -> Key:
    return tuple(part.strip().strip("\"'") for part in dotted.split("."))
