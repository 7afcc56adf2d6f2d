"""Runs commands on this machine, in a session of their own, without network where asked.

Does not build environments, and judges no ending but that of a program which cannot start.
"""

import errno
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from rvbuild.errors import MissingToolError
from rvbuild.executor import Command, Completed, Usage
from rvbuild.executor.output import Output
from rvbuild.executor.processes import MARK, collect, end_all, new_mark

CHUNK_BYTES = 65_536
# Together more than a pipe can hold, so that nothing of an ended command is left behind.
CHUNKS = 32
POLL_SECONDS = 0.1
NOT_EXECUTABLE = 126
SIGNAL_BASE = 128
EXEC_FORMAT_TEXTS = ("Exec format error", "cannot execute binary file")


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """Runs commands as children of this process; setting `stop` interrupts all that are running.

    A run that `stop` ends raises `KeyboardInterrupt` in the thread it was called in.
    """

    stop: threading.Event = field(default_factory=threading.Event)

    def run(
        self,
        command: Command,
        log: Path | None = None,
        on_line: Callable[[str], None] | None = None,
    ) -> Completed:
        """Run to the end or the time limit; append output to `log`, give each line to `on_line`.

        Lines arrive in the calling thread. Raises `MissingToolError` when the program does not
        exist, may not be executed, or is for another machine.
        """
        program = _find(command)
        begin = time.monotonic()
        with Output(log, on_line) as output:
            with _running(command, program) as child:
                timed_out = _follow(child.process, command, output, self.stop)
            text = output.finish()
        seconds, status = time.monotonic() - begin, child.process.returncode
        completed = _completed(status, seconds, text, child.used, timed_out=timed_out)
        if completed.exit_code == NOT_EXECUTABLE and exec_format_error(text):
            raise _foreign(program, log, completed.tail())
        return completed


def exec_format_error(output: str) -> bool:
    """Say whether output tells of a program that was made for another machine."""
    return any(text in output for text in EXEC_FORMAT_TEXTS)


@cache
def network_isolation_works() -> bool:
    """Say whether the kernel lets this user run commands without network; found out once."""
    command = Command((sys.executable, "-I", "-S", "-c", ""), Path("/"), network=False)
    try:
        with _spawned(command, Path(sys.executable), new_mark(), isolated=True) as process:
            return process.wait() == 0
    except MissingToolError:
        return False


def _completed(
    status: int, seconds: float, text: str, used: Usage, *, timed_out: bool
) -> Completed:
    if status < 0:
        return Completed(SIGNAL_BASE - status, -status, timed_out, seconds, text, used)
    return Completed(status, None, timed_out, seconds, text, used)


def _find(command: Command) -> Path:
    name = command.argv[0]
    if not command.cwd.is_dir():
        raise MissingToolError(f"the folder `{command.cwd}` to run `{name}` in does not exist")
    if "/" in name:
        return command.cwd / name
    path = command.environment.get("PATH", os.defpath)
    found = shutil.which(name, path=path)
    if found is None:
        raise MissingToolError(f"program `{name}` was not found", causes=[f"searched in `{path}`"])
    return command.cwd / found


@dataclass(slots=True)
class _Child:
    """A command under way; what it used is known when it has ended."""

    process: subprocess.Popen[bytes]
    used: Usage = field(default_factory=Usage)


@contextmanager
def _running(command: Command, program: Path) -> Iterator[_Child]:
    mark = new_mark()
    isolated = not command.network and network_isolation_works()
    with _spawned(command, program, mark, isolated=isolated) as process:
        child = _Child(process)
        try:
            yield child
        finally:
            end_all(process.pid, mark)
            child.used = collect(process)


@contextmanager
def _spawned(
    command: Command, program: Path, mark: str, *, isolated: bool
) -> Iterator[subprocess.Popen[bytes]]:
    try:
        process = (_spawn_isolated if isolated else _spawn)(command, program, mark)
    except OSError as error:
        raise _unstartable(program, error) from error
    try:
        yield process
    finally:
        if process.stdout is not None:
            process.stdout.close()


def _spawn(command: Command, program: Path, mark: str) -> subprocess.Popen[bytes]:
    return _open(command, program, command.argv, mark, ())


def _spawn_isolated(command: Command, program: Path, mark: str) -> subprocess.Popen[bytes]:
    launcher = str(Path(__file__).with_name("isolated.py"))
    reading, writing = os.pipe()
    try:
        words = (sys.executable, "-I", "-S", launcher, str(writing), str(program), *command.argv)
        process = _open(command, Path(sys.executable), words, mark, (writing,))
        os.close(writing)
        writing = -1
        # The launcher's end closes itself when the command starts.
        problem = os.read(reading, 16)
    finally:
        os.close(reading)
        if writing >= 0:
            os.close(writing)
    if problem:
        with process:
            raise OSError(int(problem), os.strerror(int(problem)))
    return process


def _open(
    command: Command, program: Path, words: tuple[str, ...], mark: str, keep: tuple[int, ...]
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        words,
        executable=program,
        cwd=command.cwd,
        env={**command.environment, MARK: mark},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        pass_fds=keep,
    )


def _unstartable(program: Path, error: OSError) -> MissingToolError:
    if error.errno == errno.ENOEXEC:
        return _foreign(program, None, ())
    reason = (error.strerror or str(error)).lower()
    if error.errno == errno.ENOENT and program.exists():
        reason = "the interpreter or the loader that it names does not exist"
    return MissingToolError(f"program `{program}` cannot be started", causes=[reason])


def _foreign(program: Path, log: Path | None, tail: tuple[str, ...]) -> MissingToolError:
    return MissingToolError(
        f"program `{program}` cannot be executed on this machine",
        causes=["exec format error: it, or a program it starts, was made for another machine"],
        hint="run it through QEMU, or register `qemu-riscv64` with binfmt_misc",
        log=log,
        tail=tail,
    )


def _follow(
    process: subprocess.Popen[bytes], command: Command, output: Output, stop: threading.Event
) -> bool:
    """Read until the command itself has ended; say whether it had to be told to."""
    limit = command.timeout_seconds
    end = None if limit is None else time.monotonic() + limit
    if _read_until(process, end, output, stop):
        return False
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    _read_until(process, time.monotonic() + command.grace_seconds, output, stop)
    return True


def _read_until(
    process: subprocess.Popen[bytes], end: float | None, output: Output, stop: threading.Event
) -> bool:
    """Read until the command has ended (True) or the moment `end` has come (False).

    The end of the pipe is not waited for: an orphan may hold it open for ever.
    """
    while True:
        ended = _has_ended(process.pid)
        open_pipe = _read_available(process, output)
        if ended:
            return True
        if stop.is_set():
            raise KeyboardInterrupt
        if end is not None and time.monotonic() >= end:
            return False
        if open_pipe:
            _readable(process, POLL_SECONDS)
        else:
            time.sleep(POLL_SECONDS / 10)


def _has_ended(pid: int) -> bool:
    # The process is not collected here, so that its number stays its own until all is ended.
    options = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, pid, options) is not None


def _read_available(process: subprocess.Popen[bytes], output: Output) -> bool:
    """Take what lies in the pipe; say whether more may come."""
    # Bounded, or a command that never stops writing would never meet its time limit.
    for _ in range(CHUNKS):
        if not _readable(process, 0):
            return True
        data = os.read(_descriptor(process), CHUNK_BYTES)
        if not data:
            return False
        output.write(data)
    return True


def _readable(process: subprocess.Popen[bytes], seconds: float) -> bool:
    poll = select.poll()
    poll.register(_descriptor(process), select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def _descriptor(process: subprocess.Popen[bytes]) -> int:
    if process.stdout is None:
        raise ValueError("the output of the process was not asked for")
    return process.stdout.fileno()
