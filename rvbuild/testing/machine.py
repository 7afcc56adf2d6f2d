"""The machines that wheels are run on without our emulator: how they are reached, what they are."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from rvbuild.errors import UsageError
from rvbuild.executor import Completed
from rvbuild.target import Cpu

RunnerKind = Literal["qemu", "board", "local", "container"]

PORTS = range(1, 65_536)
CONNECT_SECONDS = 15
# ssh's own exit code when there is no connection; what runs there is kept from using it.
NO_CONNECTION = 255
NO_ROUTE = (
    *("Could not resolve hostname", "No route to host", "Connection refused"),
    *("Connection timed out", "Network is unreachable", "Connection closed by", "Connection reset"),
)
STRANGER = ("Host key verification failed", "REMOTE HOST IDENTIFICATION HAS CHANGED")


class Reach(Protocol):
    """A way to a machine: over ssh, into a container, or none where it is this one.

    `environment` is what the programs may see that reach it. `emulated` is True where the machine
    is as slow as one of ours under QEMU.
    """

    @property
    def kind(self) -> RunnerKind:
        """Which way it is."""

    @property
    def name(self) -> str:
        """The machine as it was asked for."""

    @property
    def environment(self) -> Mapping[str, str]:
        """What the programs may see that reach it."""

    @property
    def emulated(self) -> bool:
        """Whether it is as slow as an emulated one."""

    def shell(self, text: str) -> tuple[str, ...]:
        """Give the words that run a line of shell there."""

    def copy(self, source: str, target: str) -> tuple[str, ...]:
        """Give the words that copy a file; the side that is there begins with `:`."""

    def trouble(self, completed: Completed) -> tuple[str, str]:
        """Say what is wrong with the way by how its program ended, and the next move."""


@dataclass(frozen=True, slots=True)
class Board:
    """An address of ssh, such as `user@host`; `environment` is what ssh itself may see.

    `configuration` stands in for the user's own file of ssh.
    """

    address: str
    port: int | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    configuration: Path | None = None

    @property
    def kind(self) -> RunnerKind:
        """A board."""
        return "board"

    @property
    def name(self) -> str:
        """The address as it was given."""
        return self.address if self.port is None else f"{self.address}:{self.port}"

    @property
    def emulated(self) -> bool:
        """Boards are real, as far as can be known."""
        return False

    def shell(self, text: str) -> tuple[str, ...]:
        """Give the words that run a line of shell there."""
        port = () if self.port is None else ("-p", str(self.port))
        return ("ssh", *self._options(), *port, "-T", self.address, f"sh -c {shlex.quote(text)}")

    def copy(self, source: str, target: str) -> tuple[str, ...]:
        """Give the words that copy a file; the side that is there begins with `:`."""
        port = () if self.port is None else ("-P", str(self.port))
        ends = (f"{self.address}{end}" if end.startswith(":") else end for end in (source, target))
        return ("scp", "-q", *self._options(), *port, *ends)

    def trouble(self, completed: Completed) -> tuple[str, str]:
        """Say why there is no connection, and what to try."""
        text = completed.output
        port = "" if self.port is None else f" -p {self.port}"
        if any(words in text for words in STRANGER):
            return f"board `{self.name}` is not among the hosts that ssh knows", (
                f"look at its key once by `ssh{port} {self.address}`"
            )
        if "Permission denied" in text or "Too many authentication failures" in text:
            return f"board `{self.name}` does not let you in", (
                f"put your key there by `ssh-copy-id{port} {self.address}`; "
                "no password is asked for"
            )
        if completed.timed_out or any(words in text for words in NO_ROUTE):
            return f"there is no way to board `{self.name}`", f"try `ssh{port} {self.address}`"
        return f"the connection to board `{self.name}` failed", f"try `ssh{port} {self.address}`"

    def _options(self) -> tuple[str, ...]:
        own = () if self.configuration is None else ("-F", str(self.configuration))
        # Nobody is there to answer a question.
        return (*own, "-o", "BatchMode=yes", "-o", f"ConnectTimeout={CONNECT_SECONDS}")


def parse_board(text: str, environment: Mapping[str, str]) -> Board:
    """Read `user@host`, `host` or either with `:port`; raise `UsageError`."""
    address, colon, port = text.rpartition(":")
    if not colon:
        address, port = text, ""
    host = address.rpartition("@")[2]
    wrong_port = bool(colon) and not (port.isdigit() and int(port) in PORTS)
    # What begins with a dash would be an option of ssh.
    if not host or address.startswith("-") or host.startswith("-") or wrong_port or " " in text:
        raise UsageError(f"`{text}` is not the address of a board", hint="write it like `me@board`")
    return Board(address, int(port) if port else None, environment)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a board says of itself; `vlen` in bits, 0 for no vector unit of version 1.0.

    `hwprobe` holds key and value of `riscv_hwprobe`, empty where the kernel does not have it.
    """

    kernel: str
    libc: str
    python: str
    isa: str
    model: str
    page_size: int
    vlen: int
    processors: int
    hwprobe: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine that was met: a folder of ours on it, the words that start Python there, its facts.

    `copied` is True when that Python is the runtime that was copied there.
    """

    reach: Reach
    folder: str
    python: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]
    copied: bool
    facts: Facts

    @property
    def cpu(self) -> Cpu:
        """The machine as a CPU that wheels are run on; QEMU knows nothing of it."""
        facts = self.facts
        return Cpu(self.reach.name, facts.model or "a board", "", facts.isa, facts.vlen)

    @property
    def title(self) -> str:
        """The machine in one line for reports."""
        facts = self.facts
        parts = (facts.model, facts.isa, f"VLEN {facts.vlen}" if facts.vlen else "no vector unit")
        where = "copied runtime" if self.copied else f"its own Python {facts.python}"
        told = ", ".join(part for part in (*parts, f"Linux {facts.kernel}", where) if part)
        return f"{self.reach.kind} {self.reach.name} ({told})"
