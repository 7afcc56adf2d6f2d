"""The output of one running command: all of it in a log, its end in memory, its lines told."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

KEPT_BYTES = 200_000
LONGEST_LINE_BYTES = 64_000


@dataclass(slots=True)
class Output:
    """Takes bytes as they come; a lifetime that owns the open log file."""

    log: Path | None
    on_line: Callable[[str], None] | None
    _file: BinaryIO | None = None
    _kept: bytearray = field(default_factory=bytearray)
    _begun: bytearray = field(default_factory=bytearray)
    _cut: bool = False

    def __enter__(self) -> Self:
        if self.log is not None:
            self.log.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.log.open("ab", buffering=0)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()

    def write(self, data: bytes) -> None:
        """Take the next bytes."""
        if self._file is not None:
            self._file.write(data)
        self._kept += data
        if len(self._kept) > 2 * KEPT_BYTES:
            del self._kept[:-KEPT_BYTES]
            self._cut = True
        self._tell(data)

    def _tell(self, data: bytes) -> None:
        if self.on_line is None:
            return
        *whole, rest = (self._begun + data).split(b"\n")
        for line in whole:
            self.on_line(_text(line))
        # A progress bar may never end its line.
        if len(rest) > LONGEST_LINE_BYTES:
            self.on_line(_text(rest))
            rest = bytearray()
        self._begun = bytearray(rest)

    def finish(self) -> str:
        """Tell the last, unended line and give the kept end of the output as text."""
        if self.on_line is not None and self._begun:
            self.on_line(_text(self._begun))
            self._begun = bytearray()
        kept = bytes(self._kept[-KEPT_BYTES:])
        if self._cut or len(self._kept) > KEPT_BYTES:
            _, newline, after = kept.partition(b"\n")
            kept = after if newline else kept
        return kept.decode(errors="replace")


def _text(line: bytes | bytearray) -> str:
    return line.decode(errors="replace").rstrip("\r")
