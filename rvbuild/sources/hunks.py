"""Where the hunks of one change fit the lines of one file: every line exactly, or not at all."""

from collections.abc import Sequence
from dataclasses import dataclass

from rvbuild.sources.change import Hunk


class MisfitError(Exception):
    """A change does not fit; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A file's new content; `displaced` when a hunk was found at another line than it says."""

    content: bytes
    displaced: bool


def apply_hunks(content: bytes, hunks: Sequence[Hunk]) -> Fitted:
    """Apply hunks in order, with no fuzz; raise `MisfitError` for the first that does not fit.

    A hunk may lie at other lines than it says when that place is the only one.
    """
    lines = split_lines(content)
    result: list[bytes] = []
    done = 0
    shift = 0
    displaced = False
    for number, hunk in enumerate(hunks, 1):
        expected = _expected(hunk) + shift
        found = _find(lines, hunk, done, expected, number)
        result += lines[done:found]
        result += hunk.new
        done = found + len(hunk.old)
        shift += found - expected
        displaced = displaced or found != _expected(hunk)
    return Fitted(b"".join(result + lines[done:]), displaced)


def split_lines(content: bytes) -> list[bytes]:
    """Split at line feeds alone, and keep them."""
    lines = [line + b"\n" for line in content.split(b"\n")]
    last = lines.pop().removesuffix(b"\n")
    return [*lines, last] if last else lines


def _expected(hunk: Hunk) -> int:
    # Of a hunk that only adds, the number is that of the line above it.
    return hunk.old_start - 1 if hunk.old else hunk.old_start


def _find(lines: Sequence[bytes], hunk: Hunk, done: int, expected: int, number: int) -> int:
    name = f"hunk {number} at line {hunk.old_start}"
    if hunk.at_start and hunk.old_start > 1:
        raise MisfitError(f"{name} has no line of context above it")
    if expected in (places := _places(lines, hunk, done)):
        return expected
    if len(places) == 1:
        return places[0]
    if places:
        raise MisfitError(f"{name} fits at {len(places)} other places")
    raise MisfitError(f"{name} does not fit{_line_ends(lines, hunk, done)}")


def _places(lines: Sequence[bytes], hunk: Hunk, done: int) -> list[int]:
    old = list(hunk.old)
    last = len(lines) - len(old)
    places = range(done, last + 1)
    if hunk.at_start:
        places = range(done, min(1, last + 1))
    if hunk.at_end:
        places = range(max(last, places.start), places.stop)
    # The first line alone tells nearly all places apart, without a copy of each.
    return [
        place
        for place in places
        if not old or (lines[place] == old[0] and lines[place : place + len(old)] == old)
    ]


def _line_ends(lines: Sequence[bytes], hunk: Hunk, done: int) -> str:
    def plain(line: bytes) -> bytes:
        return line.replace(b"\r\n", b"\n")

    old = tuple(plain(line) for line in hunk.old)
    bare = Hunk(old, (), hunk.old_start, hunk.new_start, hunk.at_start, hunk.at_end)
    if _places([plain(line) for line in lines], bare, done):
        return ": its line ends are others (CRLF and LF)"
    return ""
