"""What a patch wants: changes of files as values, read from unified and git diffs.

Reads only; whether and where a change fits a tree is `patch`'s.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from unidiff.errors import UnidiffParseError
from unidiff.patch import Hunk as ParsedHunk
from unidiff.patch import PatchedFile, PatchSet

from rvbuild.errors import SourceError

DEV_NULL = "/dev/null"
_EXECUTABLE = "100755"
_PLAIN_MODES = {None, "100644", _EXECUTABLE}
_DIFF_START = re.compile(r"^(diff --git |--- )", re.MULTILINE)
_HUNK_LINE = re.compile(r"^@@ ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Hunk:
    """One place of a file: lines before and after, and the 1-based line they start at.

    `at_start` and `at_end` say that it has no lines of context there, so that it holds only at
    the start or the end of a file.
    """

    old: tuple[bytes, ...]
    new: tuple[bytes, ...]
    old_start: int
    new_start: int
    at_start: bool
    at_end: bool

    def reversed(self) -> "Hunk":
        """Give the hunk that takes this one back."""
        return Hunk(self.new, self.old, self.new_start, self.old_start, self.at_start, self.at_end)


@dataclass(frozen=True, slots=True)
class Change:
    """One file's change: None for `old` makes it, None for `new` deletes it, other names move it.

    `executable` is what the mode becomes, None to leave it; `was_executable` what it was.
    """

    old: str | None
    new: str | None
    hunks: tuple[Hunk, ...]
    was_executable: bool | None = None
    executable: bool | None = None

    @property
    def path(self) -> str:
        """The file to name in messages."""
        return self.new or self.old or ""

    def reversed(self) -> "Change":
        """Give the change that takes this one back."""
        hunks = tuple(hunk.reversed() for hunk in self.hunks)
        return Change(self.new, self.old, hunks, self.executable, self.was_executable)


def read_changes(patch: Path) -> tuple[Change, ...]:
    """Read every change of a patch; paths lose their first folder, as with `-p1`.

    Raises `SourceError` for what cannot be applied exactly: binary changes, links, lost lines.
    """
    # Latin-1 keeps every byte as it is, whatever the encoding of the files.
    text = _read(patch)
    try:
        parsed = PatchSet(text)
    except UnidiffParseError as error:
        raise _refused(patch, " ".join(str(error).split())) from error
    if not parsed:
        raise _refused(patch, "it changes no file")
    _refuse_lost_lines(patch, text, parsed)
    return tuple(_change(patch, file) for file in parsed)


def _read(patch: Path) -> str:
    try:
        return patch.read_bytes().decode("latin-1")
    except OSError as error:
        raise SourceError(f"cannot read patch `{patch}`", causes=[str(error.strerror)]) from error


def _refused(patch: Path, reason: str) -> SourceError:
    return SourceError(f"patch `{patch.name}` cannot be used", causes=[reason])


def _refuse_lost_lines(patch: Path, text: str, parsed: PatchSet) -> None:
    """Refuse what the parser would pass over as comment, such as a hunk longer than it says."""
    start = _DIFF_START.search(text)
    hunks = [hunk for file in parsed for hunk in file]
    headers = len(_HUNK_LINE.findall(text, start.start() if start else 0))
    if headers != len(hunks):
        raise _refused(patch, f"{headers} lines start with `@@`, of which {len(hunks)} are hunks")
    lines = text.split("\n")
    for hunk in hunks:
        after = max((line.diff_line_no or 0 for line in hunk), default=0)
        while after < len(lines) and lines[after].startswith("\\"):
            after += 1
        follower = lines[after] if after < len(lines) else ""
        if follower.startswith(("+", "-", " ")) and not follower.startswith(("--- ", "-- ")):
            raise _refused(patch, f"line {after + 1} belongs to no hunk")


def _change(patch: Path, file: PatchedFile) -> Change:
    old, new = _names(patch, file)
    if file.is_binary_file:
        raise _refused(patch, f"`{new or old}` is a binary change")
    for mode in (file.source_mode, file.target_mode):
        if mode not in _PLAIN_MODES:
            raise _refused(patch, f"`{new or old}` is a link or a submodule")
    return Change(
        old,
        new,
        tuple(_hunk(hunk) for hunk in file),
        None if file.source_mode is None else file.source_mode == _EXECUTABLE,
        None if file.target_mode is None else file.target_mode == _EXECUTABLE,
    )


def _names(patch: Path, file: PatchedFile) -> tuple[str | None, str | None]:
    moves = dict(_moves([str(line).rstrip("\n") for line in file.patch_info or ()]))
    if "copy from" in moves:
        raise _refused(patch, f"`{moves['copy from']}` is copied; make the patch without `-C`")
    if moves:
        old_name, new_name = moves.get("rename from", ""), moves.get("rename to", "")
        return _inside(patch, _unquoted(old_name)), _inside(patch, _unquoted(new_name))
    old = _stripped(patch, file.source_file)
    new = _stripped(patch, file.target_file)
    # A plain diff of `x.orig` and `x` is no renaming.
    return (new if old and new else old), new


def _moves(info: list[str]) -> Iterator[tuple[str, str]]:
    for line in info:
        for key in ("rename from", "rename to", "copy from"):
            if line.startswith(f"{key} "):
                yield key, line[len(key) + 1 :]


def _unquoted(name: str) -> str:
    """Undo git's quoting of unusual bytes in names."""
    if len(name) > 1 and name[0] == name[-1] == '"':
        return name[1:-1].encode("latin-1").decode("unicode_escape")
    return name


def _stripped(patch: Path, name: str) -> str | None:
    name = _unquoted(name)
    if name == DEV_NULL:
        return None
    first, slash, rest = name.partition("/")
    if not (first and slash and rest):
        raise _refused(patch, f"`{name}` does not start with a folder such as `a/` or `b/`")
    return _inside(patch, rest)


def _inside(patch: Path, name: str) -> str:
    if name.endswith("\r"):
        raise _refused(patch, "its own lines end in CRLF; files would not match exactly")
    path = os.fsdecode(name.encode("latin-1"))
    parts = path.split("/")
    if not path or path.startswith("/") or "\0" in path or {"", ".", "..", ".git"} & set(parts):
        raise _refused(patch, f"`{path}` leads out of the source tree")
    return path


def _hunk(parsed: ParsedHunk) -> Hunk:
    kinds: list[str] = []
    lines: list[bytes] = []
    for line in parsed:
        if line.line_type == "\\":
            lines[-1] = lines[-1].removesuffix(b"\n")
        elif line.line_type in {" ", "+", "-"}:
            kinds.append(line.line_type)
            lines.append(str(line.value).encode("latin-1"))
    both = list(zip(kinds, lines, strict=True))
    return Hunk(
        tuple(value for kind, value in both if kind != "+"),
        tuple(value for kind, value in both if kind != "-"),
        parsed.source_start,
        parsed.target_start,
        at_start=not kinds or kinds[0] != " ",
        at_end=not kinds or kinds[-1] != " ",
    )
