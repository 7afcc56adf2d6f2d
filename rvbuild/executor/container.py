"""Runs each command in a container of its own, without network where asked, as the calling user.

A command's processes end with its container. When rvbuild or the daemon is gone, the container sees
its input close, or a pipe in a shared folder, and ends everything in it.
"""

import os
import secrets
import select
import signal
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from rvbuild.errors import MissingToolError
from rvbuild.executor import Command, Completed
from rvbuild.executor.daemon import NO_BINFMT, Binding, Daemon, Wish, foreign, talking
from rvbuild.executor.local import NOT_EXECUTABLE, SIGNAL_BASE, exec_format_error
from rvbuild.executor.output import Output

POLL_SECONDS = 0.1
CHUNK_BYTES = 65_536
# Docker's stream format: one byte of stream number, three of nothing, four of length.
HEADER = struct.Struct(">BxxxI")
CONTROL = 2
LAST_SIGNAL = 64
PIPE_MODE = 0o600


@dataclass(frozen=True, slots=True)
class ContainerExecutor:
    """Runs commands in containers of `image`; setting `stop` interrupts all that are running.

    `folders` are seen and written at their own paths, as is a command's folder; `readable` are seen
    by commands with network, for what pip is configured by. `environment` is added to each command.
    """

    daemon: Daemon
    image: str
    folders: tuple[Path, ...]
    readable: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    stop: threading.Event = field(default_factory=threading.Event)

    def run(
        self,
        command: Command,
        log: Path | None = None,
        on_line: Callable[[str], None] | None = None,
    ) -> Completed:
        """Run to the end or the time limit; append output to `log`, give each line to `on_line`.

        Raises `MissingToolError` when image or program are not there or cannot be executed, and
        when the daemon goes away meanwhile.
        """
        if not command.cwd.is_dir():
            raise MissingToolError(f"the folder `{command.cwd}` to run in does not exist")
        begin = time.monotonic()
        with Output(log, on_line) as output:
            with _running(self, command) as session:
                timed_out = _follow(session, command, output, self.stop)
            text = output.finish()
        return _completed(session, command, text, time.monotonic() - begin, timed_out=timed_out)


@dataclass(slots=True)
class Session:
    """A container under way: its socket, the bytes not taken apart yet, and what it told of itself.

    The command's output comes on the first stream; the second belongs to the init program.
    """

    daemon: Daemon
    container: str
    descriptor: int
    pending: bytearray = field(default_factory=bytearray)
    told: bytearray = field(default_factory=bytearray)
    ended: bool = False

    @property
    def words(self) -> list[str]:
        """What the init program said of the command's end."""
        lines = self.told.decode(errors="replace").splitlines()
        # Before its own, the shell may say `Killed` or the like.
        return lines[-1].split() if lines else []


@contextmanager
def _lifeline(folder: Path) -> Iterator[str]:
    """Give the path of a pipe that closes with the block or with rvbuild, whatever the daemon does.

    A daemon that is killed leaves its containers running, and their input open. The path is empty
    where the folder takes no pipes: then there is the input alone.
    """
    path = folder / f".alive-{os.getpid()}-{secrets.token_hex(4)}"
    try:
        os.mkfifo(path, PIPE_MODE)
        # For reading too: else this waits for a reader.
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        yield ""
        return
    try:
        yield str(path)
    finally:
        # In this order: who comes late finds nothing to wait for.
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _wish(executor: ContainerExecutor, command: Command, alive: str) -> Wish:
    folders = [*executor.folders]
    if not any(command.cwd.is_relative_to(folder) for folder in folders):
        folders.append(command.cwd)
    readable = executor.readable if command.network else ()
    script = resources.files("rvbuild").joinpath("data/executor/init.sh").read_text("utf-8")
    return Wish(
        image=executor.image,
        words=("/bin/sh", "-c", script, "init", alive, *command.argv),
        environment={**executor.environment, **command.environment},
        folder=command.cwd,
        user=f"{os.getuid()}:{os.getgid()}",
        network=command.network,
        bindings=(
            *(Binding(path, writable=True) for path in folders),
            *(Binding(path) for path in readable),
        ),
    )


@contextmanager
def _running(executor: ContainerExecutor, command: Command) -> Iterator[Session]:
    shared = executor.folders[0] if executor.folders else command.cwd
    with _lifeline(shared) as alive, _started(executor, _wish(executor, command, alive)) as session:
        yield session


@contextmanager
def _started(executor: ContainerExecutor, wish: Wish) -> Iterator[Session]:
    daemon = executor.daemon
    container = daemon.create(wish)
    ended = False
    try:
        with talking(f"cannot run a command in image `{executor.image}`"):
            wanted = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
            stream = daemon.client.attach_socket(container, wanted)
            with stream:
                session = Session(daemon, container, stream.fileno())
                daemon.client.start(container)
                yield session
                ended = session.ended
    finally:
        if not ended:
            daemon.end(container)


def _follow(session: Session, command: Command, output: Output, stop: threading.Event) -> bool:
    """Read until the container has ended; say whether it had to be told to."""
    limit = command.timeout_seconds
    end = None if limit is None else time.monotonic() + limit
    if _read_until(session, end, output, stop):
        return False
    session.daemon.end(session.container, signal.SIGTERM)
    if not _read_until(session, time.monotonic() + command.grace_seconds, output, stop):
        session.daemon.end(session.container)
    return True


def _read_until(session: Session, end: float | None, output: Output, stop: threading.Event) -> bool:
    """Read until the container has ended (True) or the moment `end` has come (False)."""
    poll = select.poll()
    poll.register(session.descriptor, select.POLLIN)
    while True:
        if poll.poll(POLL_SECONDS * 1000):
            data = os.read(session.descriptor, CHUNK_BYTES)
            if not data:
                session.ended = True
                return True
            _take(session, data, output)
        if stop.is_set():
            raise KeyboardInterrupt
        if end is not None and time.monotonic() >= end:
            return False


def _take(session: Session, data: bytes, output: Output) -> None:
    """Take whole frames out of what came, each to where its stream belongs."""
    session.pending += data
    while len(session.pending) >= HEADER.size:
        number, size = HEADER.unpack_from(session.pending)
        if len(session.pending) < HEADER.size + size:
            return
        frame = bytes(session.pending[HEADER.size : HEADER.size + size])
        del session.pending[: HEADER.size + size]
        if number == CONTROL:
            session.told += frame
        else:
            output.write(frame)


def _completed(
    session: Session, command: Command, text: str, seconds: float, *, timed_out: bool
) -> Completed:
    match session.words:
        case ["exit", code]:
            number = int(code)
        case ["missing"]:
            raise MissingToolError(f"program `{command.argv[0]}` was not found in the container")
        case _ if timed_out:
            number = SIGNAL_BASE + signal.SIGKILL
        case words:
            raise _lost(session.daemon, " ".join(words))
    if number == NOT_EXECUTABLE and exec_format_error(text):
        raise MissingToolError(
            f"program `{command.argv[0]}` cannot be executed in the container",
            causes=["exec format error: it, or a program it starts, was made for another machine"],
            hint=NO_BINFMT,
            tail=text.splitlines()[-40:],
        )
    killed = number - SIGNAL_BASE if SIGNAL_BASE < number <= SIGNAL_BASE + LAST_SIGNAL else None
    return Completed(number, killed, timed_out, seconds, text)


def _lost(daemon: Daemon, told: str) -> MissingToolError:
    """Make the error of a container that ended without saying how its command did."""
    if (cause := foreign("its `/bin/sh` did not start", [told])) is not None:
        return cause
    if not daemon.answers():
        return MissingToolError(
            "the Docker daemon went away while a command ran",
            hint="start the daemon anew; then the same command goes on where it was",
        )
    return MissingToolError(
        "the container ended before its command did",
        causes=[told or "somebody removed it"],
        hint="the same command goes on where it was",
    )
