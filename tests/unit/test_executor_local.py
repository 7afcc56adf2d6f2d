"""The local executor against real, small processes that misbehave in every way we know of."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from rvbuild.errors import MissingToolError
from rvbuild.executor import Command, Completed
from rvbuild.executor.environment import own_environment, passthrough
from rvbuild.executor.local import LocalExecutor, network_isolation_works
from rvbuild.executor.output import KEPT_BYTES

SEARCH = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
FOREIGN_ELF = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\x00\xff\x00" + bytes(44)


def command(
    tmp_path: Path, program: str, *, timeout: float | None = 20, network: bool = True
) -> Command:
    return Command(
        (sys.executable, "-c", program),
        tmp_path,
        SEARCH,
        timeout_seconds=timeout,
        grace_seconds=0.3,
        network=network,
    )


def run(tmp_path: Path, program: str, *, timeout: float | None = 20) -> Completed:
    return LocalExecutor().run(command(tmp_path, program, timeout=timeout))


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def pids(folder: Path) -> list[int]:
    found = [int(path.name) for path in folder.glob("[0-9]*")]
    assert found, "the command did not start what it should have left behind"
    return found


def test_cpu_time_and_memory_of_all_processes_are_counted(tmp_path: Path) -> None:
    busy = "import os\nhold = bytearray(60 << 20)\nwhile os.times().user < 0.3: pass"
    program = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {busy!r}])"
    used = run(tmp_path, program).used
    assert used.cpu_seconds >= 0.3
    assert 60 <= used.peak_mb < 1000


def test_output_is_merged_logged_and_told(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "job.log"
    lines: list[str] = []
    program = (
        "import sys; print('out', flush=True); print('err', file=sys.stderr); print('end', end='')"
    )
    for _ in range(2):
        completed = LocalExecutor().run(command(tmp_path, program), log, lines.append)
    assert completed.ok
    assert completed.output == "out\nerr\nend"
    assert lines == ["out", "err", "end"] * 2
    assert log.read_text() == "out\nerr\nend" * 2


def test_bytes_that_are_no_text_do_not_stop_a_run(tmp_path: Path) -> None:
    completed = run(tmp_path, "import sys; sys.stdout.buffer.write(b'a\\xffb\\n')")
    assert completed.output == "a\ufffdb\n"


def test_memory_is_bounded_and_the_log_complete(tmp_path: Path) -> None:
    log = tmp_path / "log"
    program = "for i in range(120000): print('line', i)"
    completed = LocalExecutor().run(command(tmp_path, program), log)
    assert len(completed.output) <= KEPT_BYTES
    assert completed.output.startswith("line ")
    assert completed.tail(1) == ("line 119999",)
    assert len(log.read_text().splitlines()) == 120000


def test_a_line_without_end_is_told_in_pieces(tmp_path: Path) -> None:
    lines: list[str] = []
    LocalExecutor().run(command(tmp_path, "print('x' * 500000, end='')"), None, lines.append)
    assert len(lines) > 1
    assert sum(map(len, lines)) == 500000


def test_nothing_is_inherited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEAK", "yes")
    completed = run(tmp_path, "import os; print(sorted(set(os.environ) - {'LC_CTYPE'}))")
    assert completed.output == "['PATH', 'RVBUILD_RUN']\n"


def test_it_runs_in_the_folder_and_a_session_of_its_own(tmp_path: Path) -> None:
    completed = run(tmp_path, "import os; print(os.getcwd(), os.getsid(0) == os.getpid())")
    assert completed.output == f"{tmp_path} True\n"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGILL, signal.SIGSEGV])
def test_the_signal_that_ended_it_is_told(tmp_path: Path, number: signal.Signals) -> None:
    completed = run(tmp_path, f"import os; os.kill(os.getpid(), {int(number)})")
    assert (completed.signal, completed.exit_code) == (number, 128 + number)
    assert not completed.timed_out
    assert not completed.ok


def test_an_exit_code_is_kept(tmp_path: Path) -> None:
    completed = run(tmp_path, "raise SystemExit(77)")
    assert (completed.exit_code, completed.signal, completed.ok) == (77, None, False)


def test_a_polite_end_is_asked_for_first(tmp_path: Path) -> None:
    program = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (print('bye', flush=True), sys.exit(3)))\n"
        "print('up', flush=True); time.sleep(60)"
    )
    completed = run(tmp_path, program, timeout=0.6)
    assert completed.timed_out
    assert completed.output == "up\nbye\n"
    assert completed.exit_code == 3


def test_a_deaf_command_is_killed(tmp_path: Path) -> None:
    program = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    begin = time.monotonic()
    completed = run(tmp_path, program, timeout=0.5)
    assert (completed.timed_out, completed.signal) == (True, signal.SIGKILL)
    assert time.monotonic() - begin < 8


def test_a_command_that_never_stops_writing_meets_its_limit(tmp_path: Path) -> None:
    completed = run(tmp_path, "while True: print('y' * 1000)", timeout=0.5)
    assert completed.timed_out
    assert completed.seconds < 8


# What each leaves behind: a deaf child that holds stdout, in the ways children escape.
LEAVE = """
import os, signal, sys, time
{escape}
if os.fork() == 0:
    {child}
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    open(os.path.join({folder!r}, str(os.getpid())), 'w').close()
    time.sleep(60)
    os._exit(0)
while not any(name.isdigit() for name in os.listdir({folder!r})):
    time.sleep(0.01)
print('done', flush=True)
{end}
"""
ESCAPES = {
    "same group": "pass",
    "group of its own": "os.setpgid(0, 0)",
    "session of its own": "os.setsid()",
    "twice forked": "os.setsid(); os.fork() and os._exit(0)",
}


@pytest.mark.parametrize("child", ESCAPES.values(), ids=ESCAPES.keys())
def test_an_orphan_that_holds_the_output_neither_hangs_nor_stays(
    tmp_path: Path, child: str
) -> None:
    begin = time.monotonic()
    completed = run(
        tmp_path, LEAVE.format(escape="", child=child, folder=str(tmp_path), end="os._exit(0)")
    )
    assert completed.ok
    assert completed.output == "done\n"
    assert time.monotonic() - begin < 8
    assert not [pid for pid in pids(tmp_path) if alive(pid)]


def test_children_of_a_hung_command_are_gone(tmp_path: Path) -> None:
    program = LEAVE.format(
        escape="", child="os.setsid()", folder=str(tmp_path), end="time.sleep(60)"
    )
    assert run(tmp_path, program, timeout=1.5).timed_out
    assert not [pid for pid in pids(tmp_path) if alive(pid)]


def test_a_child_with_another_environment_in_the_same_session_is_gone(tmp_path: Path) -> None:
    child = f"touch {tmp_path}/$$; exec sleep 60"
    program = (
        "import os, subprocess, time\n"
        f"subprocess.Popen(['/bin/sh', '-c', {child!r}], env={{}}, process_group=0)\n"
        f"while not [n for n in os.listdir({str(tmp_path)!r}) if n.isdigit()]: time.sleep(0.01)"
    )
    assert run(tmp_path, program).ok
    assert not [pid for pid in pids(tmp_path) if alive(pid)]


def test_a_bystander_lives_on(tmp_path: Path) -> None:
    bystander = os.posix_spawn("/bin/sleep", ["sleep", "60"], {})
    try:
        assert run(tmp_path, "print(1)").ok
        assert alive(bystander)
    finally:
        os.kill(bystander, signal.SIGKILL)
        os.waitpid(bystander, 0)


def test_an_interrupt_while_a_line_is_told_leaves_nobody(tmp_path: Path) -> None:
    def interrupt(line: str) -> None:
        raise KeyboardInterrupt

    program = LEAVE.format(
        escape="", child="os.setsid()", folder=str(tmp_path), end="time.sleep(60)"
    )
    with pytest.raises(KeyboardInterrupt):
        LocalExecutor().run(command(tmp_path, program), None, interrupt)
    assert not [pid for pid in pids(tmp_path) if alive(pid)]


def test_stop_interrupts_a_run_from_another_thread(tmp_path: Path) -> None:
    executor = LocalExecutor()
    timer = threading.Timer(0.5, executor.stop.set)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        executor.run(command(tmp_path, "import time; time.sleep(60)"))
    timer.join()


def test_runs_at_the_same_time_do_not_end_each_other(tmp_path: Path) -> None:
    ends: list[Completed] = []
    executor = LocalExecutor()
    long = command(tmp_path, "import time; time.sleep(1); print('whole')")
    thread = threading.Thread(target=lambda: ends.append(executor.run(long)))
    thread.start()
    for _ in range(5):
        assert executor.run(command(tmp_path, "print(1)")).ok
    thread.join()
    assert ends[0].ok
    assert ends[0].output == "whole\n"


@pytest.mark.parametrize("network", [True, False])
class TestProgramsThatCannotStart:
    def start(self, argv: tuple[str, ...], cwd: Path, *, network: bool) -> MissingToolError:
        with pytest.raises(MissingToolError) as caught:
            LocalExecutor().run(Command(argv, cwd, SEARCH, network=network))
        return caught.value

    def test_not_found(self, tmp_path: Path, *, network: bool) -> None:
        error = self.start(("no-such-program",), tmp_path, network=network)
        assert "`no-such-program` was not found" in error.message
        assert SEARCH["PATH"] in error.causes[0]

    def test_not_there(self, tmp_path: Path, *, network: bool) -> None:
        error = self.start(("./configure",), tmp_path, network=network)
        assert error.causes == ("no such file or directory",)

    def test_not_executable(self, tmp_path: Path, *, network: bool) -> None:
        (tmp_path / "configure").write_text("#!/bin/sh\n")
        error = self.start(("./configure",), tmp_path, network=network)
        assert error.causes == ("permission denied",)

    def test_interpreter_missing(self, tmp_path: Path, *, network: bool) -> None:
        (tmp_path / "configure").write_text("#!/nowhere/sh\n")
        (tmp_path / "configure").chmod(0o755)
        error = self.start(("./configure",), tmp_path, network=network)
        assert "interpreter" in error.causes[0]

    def test_made_for_another_machine(self, tmp_path: Path, *, network: bool) -> None:
        (tmp_path / "probe").write_bytes(FOREIGN_ELF)
        (tmp_path / "probe").chmod(0o755)
        error = self.start(("./probe",), tmp_path, network=network)
        assert "another machine" in error.causes[0]
        assert error.hint is not None
        assert "binfmt" in error.hint

    def test_made_for_another_machine_and_started_by_a_shell(
        self, tmp_path: Path, *, network: bool
    ) -> None:
        (tmp_path / "probe").write_bytes(FOREIGN_ELF)
        (tmp_path / "probe").chmod(0o755)
        script = ("bash", "-c", "./probe; exit 126")
        error = self.start(script, tmp_path, network=network)
        assert "another machine" in error.causes[0]
        assert "Exec format error" in error.tail[-1]

    def test_folder_missing(self, tmp_path: Path, *, network: bool) -> None:
        error = self.start(("true",), tmp_path / "gone", network=network)
        assert "gone" in error.message


CONNECT = """
import socket, threading
server = socket.create_server(('127.0.0.1', 0))
socket.create_connection(server.getsockname(), timeout=2).close()
print('loopback', [name for _, name in socket.if_nameindex()])
"""


@pytest.mark.needs("userns")
def test_without_network_only_the_loopback_is_left(tmp_path: Path) -> None:
    completed = LocalExecutor().run(command(tmp_path, CONNECT, network=False))
    assert completed.output.startswith("loopback ['lo'")
    assert "eth" not in completed.output


@pytest.mark.needs("userns")
def test_without_network_the_user_stays_the_same(tmp_path: Path) -> None:
    program = "import os; print(os.getuid(), os.getgid()); open('made', 'w')"
    completed = LocalExecutor().run(command(tmp_path, program, network=False))
    assert completed.output == f"{os.getuid()} {os.getgid()}\n"
    assert (tmp_path / "made").stat().st_uid == os.getuid()


@pytest.mark.needs("userns")
def test_without_network_orphans_are_gone_too(tmp_path: Path) -> None:
    program = LEAVE.format(escape="", child="os.setsid()", folder=str(tmp_path), end="os._exit(0)")
    assert LocalExecutor().run(command(tmp_path, program, network=False)).ok
    assert not [pid for pid in pids(tmp_path) if alive(pid)]


def test_where_isolation_does_not_work_the_command_runs_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rvbuild.executor.local.network_isolation_works", lambda: False)
    completed = LocalExecutor().run(command(tmp_path, "print('ran')", network=False))
    assert completed.output == "ran\n"


def test_the_probe_answers_alike_twice() -> None:
    assert network_isolation_works() is network_isolation_works()


def test_a_run_within_a_run_carries_both_marks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RVBUILD_RUN", "outer")
    completed = run(tmp_path, "import os; print(os.environ['RVBUILD_RUN'])")
    assert completed.output.startswith("outer:")


def test_passthrough_takes_what_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERE", "1")
    monkeypatch.setenv("OTHER", "2")
    assert passthrough(own_environment(), ["HERE", "ABSENT"]) == {"HERE": "1"}


@pytest.mark.needs("userns")
def test_a_command_ends_with_a_killed_rvbuild(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from rvbuild.executor import Command;"
        "from rvbuild.executor.local import LocalExecutor;"
        f"LocalExecutor().run(Command(('/bin/sh', '-c', 'echo $$ > pid; exec sleep 60'),"
        f" Path({str(tmp_path)!r}), network=False))"
    )
    with subprocess.Popen([sys.executable, "-c", code]) as program:
        note = tmp_path / "pid"
        deadline = time.monotonic() + 20
        while not (note.exists() and note.read_text()) and time.monotonic() < deadline:
            time.sleep(0.05)
        child = Path("/proc") / note.read_text().strip()
        assert child.exists()
        program.kill()
    while child.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not child.exists()
