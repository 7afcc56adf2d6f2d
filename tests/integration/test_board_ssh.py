"""A board over ssh: a real sshd on the loopback, whose programs are riscv64 ones under QEMU."""

import getpass
import shlex
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from rvbuild import testing
from rvbuild.emulator import Emulator
from rvbuild.errors import MissingToolError
from rvbuild.pythons import Interpreter
from rvbuild.recipe import model as recipe
from rvbuild.target import cpus
from rvbuild.testing.meeting import met
from tests.integration.test_testing_wheels import bench_in, make_wheel, only

pytestmark = pytest.mark.needs("qemu", "sshd", "ssh")

CHIP = cpus()["vlen256"]
CONFIGURATION = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
PidFile {folder}/sshd.pid
AuthorizedKeysFile {folder}/known.pub
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
Subsystem sftp internal-sftp
Match LocalPort {port}
  ForceCommand {folder}/shell
"""
CLIENT = """\
Host *
  IdentityFile {folder}/{key}
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/hosts
  StrictHostKeyChecking {checking}
  ForwardAgent no
"""
# What a board's login shell would run; sftp is a program of sshd's own there too.
SHELL = """\
#!/bin/sh
export HOME={folder}/home PATH={folder}/programs:/usr/bin:/bin
unset XDG_CACHE_HOME
case "$SSH_ORIGINAL_COMMAND" in
  internal-sftp) exec {sftp} ;;
  *) exec sh -c "$SSH_ORIGINAL_COMMAND" ;;
esac
"""


@dataclass(frozen=True)
class Site:
    """A running sshd with its folder."""

    folder: Path
    port: int

    def board(self, *, key: str = "known", checking: str = "no") -> testing.Board:
        """Give the board as a user with a key reaches it."""
        path = self.folder / f"client-{key}-{checking}"
        path.write_text(CLIENT.format(folder=self.folder, key=key, checking=checking))
        environment = {"PATH": "/usr/bin:/bin"}
        return testing.Board(f"{getpass.getuser()}@127.0.0.1", self.port, environment, path)

    def put(self, name: str, text: str) -> None:
        """Put a program among those of the board."""
        path = self.folder / "programs" / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def wait_for(port: int) -> None:
    for _ in range(100):
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    pytest.fail("sshd did not come up")


@pytest.fixture
def site(tmp_path: Path, interpreter: Interpreter, emulator: Emulator) -> Iterator[Site]:
    folder = tmp_path / "sshd"
    (folder / "programs").mkdir(parents=True)
    (folder / "home").mkdir()
    found = Site(folder, free_port())
    for name in ("host", "known", "unknown"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(words, check=True)
    sftp = shutil.which("sftp-server", path="/usr/lib/openssh:/usr/libexec/openssh:/usr/lib/ssh")
    (folder / "shell").write_text(SHELL.format(folder=folder, sftp=sftp))
    (folder / "shell").chmod(0o755)
    (folder / "config").write_text(CONFIGURATION.format(folder=folder, port=found.port))
    python = (*emulator.words(CHIP, interpreter.root), str(interpreter.program))
    found.put(f"python{interpreter.version}", f'exec {shlex.join(python)} "$@"')
    found.put("uname", "echo riscv64")
    # sshd wants to be started by its whole path, and a folder that packages make at boot.
    sshd = shutil.which("sshd") or "/usr/sbin/sshd"
    with suppress(PermissionError):
        Path("/run/sshd").mkdir(exist_ok=True)
    daemon = subprocess.Popen([sshd, "-D", "-f", str(folder / "config"), "-E", f"{folder}/log"])
    try:
        wait_for(found.port)
        yield found
    finally:
        daemon.terminate()
        daemon.wait(timeout=10)


@pytest.fixture
def bench(tmp_path: Path, interpreter: Interpreter, emulator: Emulator) -> testing.Bench:
    return bench_in(tmp_path, interpreter, emulator)


def meet(board: testing.Board, bench: testing.Bench) -> None:
    with met(board, bench.runtime, bench.executor, bench.workspace):
        pass


SMOKE = """
import os, platform, subprocess, sys
import demo
assert platform.machine() == "riscv64"
assert not demo.__file__.startswith({here!r})
assert subprocess.run([sys.executable, "-c", "import demo"]).returncode == 0
print("answer", demo.answer)
open("left.txt", "w").write("fetched")
sys.exit(demo.code)
"""


@pytest.mark.parametrize("code", [0, 255])
def test_a_wheel_is_tried_on_a_board(
    tmp_path: Path, site: Site, bench: testing.Bench, code: int
) -> None:
    wheel = make_wheel(tmp_path, "demo", code=f"answer = 42\ncode = {code}\n")
    tests = recipe.Test(imports=("demo",), smoke=SMOKE.format(here=str(bench.workspace)))
    with met(site.board(), bench.runtime, bench.executor, bench.workspace) as machine:
        assert not machine.copied
        assert machine.facts.vlen == CHIP.vlen
        assert machine.facts.hwprobe
        at = replace(bench, machine=machine)
        report = testing.check_wheel(wheel, tests, (machine.cpu,), at)
        assert Path(machine.folder).is_dir()
    smoke = only(report, "smoke")
    assert smoke.log is not None
    assert "answer 42" in smoke.log.read_text()
    assert smoke.status == ("failed" if code else "passed"), smoke
    assert (smoke.log.parent / "left.txt").read_text() == "fetched"
    assert f"127.0.0.1:{site.port}" in report.emulator
    assert smoke.reproduce.startswith("ssh ")
    assert not Path(machine.folder).exists()


def test_a_crash_on_a_board_is_told_like_any_other(
    tmp_path: Path, site: Site, bench: testing.Bench
) -> None:
    wheel = make_wheel(tmp_path, "demo")
    crash = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    with met(site.board(), bench.runtime, bench.executor, bench.workspace) as machine:
        at = replace(bench, machine=machine)
        report = testing.check_wheel(wheel, recipe.Test(smoke=crash), (machine.cpu,), at)
    assert only(report, "smoke").status == "crashed"
    assert "segmentation fault" in only(report, "smoke").explanation


def test_a_time_limit_is_kept_on_the_board_too(
    tmp_path: Path, site: Site, bench: testing.Bench
) -> None:
    wheel = make_wheel(tmp_path, "demo")
    tests = recipe.Test(smoke="import time; time.sleep(600)", timeout_seconds=5)
    begin = time.monotonic()
    with met(site.board(), bench.runtime, bench.executor, bench.workspace) as machine:
        at = replace(bench, machine=machine)
        report = testing.check_wheel(wheel, tests, (machine.cpu,), at)
    assert only(report, "smoke").status == "timeout"
    assert time.monotonic() - begin < 60


def test_a_key_that_is_not_known_there(site: Site, bench: testing.Bench) -> None:
    with pytest.raises(MissingToolError, match="does not let you in"):
        meet(site.board(key="unknown"), bench)


def test_a_host_that_is_not_known_here(site: Site, bench: testing.Bench) -> None:
    with pytest.raises(MissingToolError, match="not among the hosts"):
        meet(site.board(checking="yes"), bench)


def test_nobody_listens(site: Site, bench: testing.Bench) -> None:
    with pytest.raises(MissingToolError, match="no way to board") as caught:
        meet(replace(site.board(), port=free_port()), bench)
    assert any("refused" in cause for cause in caught.value.causes)


def test_another_machine(site: Site, bench: testing.Bench) -> None:
    site.put("uname", "echo aarch64")
    with pytest.raises(MissingToolError, match="no riscv64 machine") as caught:
        meet(site.board(), bench)
    assert "aarch64" in caught.value.causes[0]


def test_a_python_that_does_not_run(
    site: Site, bench: testing.Bench, interpreter: Interpreter
) -> None:
    site.put(f"python{interpreter.version}", "echo broken >&2; exit 3")
    with pytest.raises(MissingToolError, match="no Python runs") as caught:
        meet(site.board(), bench)
    assert "broken" in caught.value.causes


def test_the_runtime_is_copied_once(
    site: Site, bench: testing.Bench, interpreter: Interpreter
) -> None:
    if not testing.binfmt_state().enabled:
        pytest.skip("`qemu-riscv64` is not registered with binfmt_misc")
    (site.folder / "programs" / f"python{interpreter.version}").unlink()
    with ExitStack() as stack:
        ways = [site.board()] * 2
        machines = [
            stack.enter_context(met(board, bench.runtime, bench.executor, bench.workspace))
            for board in ways
        ]
    assert all(machine.copied for machine in machines)
    assert len(list((site.folder / "home/.cache/rvbuild").glob("runtime-*"))) == 1
