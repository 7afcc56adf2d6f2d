"""Containers under bad conditions, for real: one clear error, nothing left, and it works again."""

import os
import signal
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import pytest
from docker import APIClient
from docker.errors import DockerException
from requests.exceptions import RequestException

from rvbuild.errors import MissingToolError
from rvbuild.executor import Command
from rvbuild.executor.container import ContainerExecutor
from rvbuild.executor.daemon import Daemon, connect
from rvbuild.image import provide_base
from rvbuild.kit import Supplies
from tests.integration.conftest import PINS
from tests.integration.test_recipes import rvbuild

pytestmark = [pytest.mark.needs("docker", "binfmt"), pytest.mark.timeout(2400)]
# A machine that nobody emulates here: ELF of 64 bits, for EM_MMIX.
ALIEN = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHI", 2, 80, 1) + bytes(40)
SMALL_BYTES = 1_000_000
# Long enough to be seen as left over by its odd number, and to be gone only when it was ended.
SLEEP = "sleep 86417"


@pytest.fixture(scope="module")
def image(supplies: Supplies) -> str:
    return provide_base(connect(), PINS, supplies)


def shell(folder: Path, script: str) -> Command:
    return Command(("/bin/sh", "-c", script), folder, network=False)


def test_a_program_for_no_machine_here_is_told(image: str, tmp_path: Path) -> None:
    (tmp_path / "alien").write_bytes(ALIEN)
    (tmp_path / "alien").chmod(0o755)
    executor = ContainerExecutor(connect(), image, (tmp_path,))
    with pytest.raises(MissingToolError, match="cannot be executed in the container") as refused:
        executor.run(Command((str(tmp_path / "alien"),), tmp_path, network=False))
    assert "exec format error" in refused.value.causes[0]
    assert "binfmt_misc" in (refused.value.hint or "")


def test_an_image_that_the_kernel_cannot_start_is_told(tmp_path: Path) -> None:
    (tmp_path / "root/bin").mkdir(parents=True)
    (tmp_path / "root/bin/sh").write_bytes(ALIEN)
    (tmp_path / "root/bin/sh").chmod(0o755)
    name = "rvbuild/alien:test"
    subprocess.run(["tar", "-cf", "alien.tar", "-C", "root", "bin"], cwd=tmp_path, check=True)
    words = ["docker", "import", "--platform", "linux/riscv64", str(tmp_path / "alien.tar"), name]
    subprocess.run(words, check=True, capture_output=True)
    try:
        executor = ContainerExecutor(connect(), name, (tmp_path,))
        with pytest.raises(MissingToolError, match="cannot run riscv64 programs") as refused:
            executor.run(shell(tmp_path, "true"))
        assert "binfmt_misc" in (refused.value.hint or "")
    finally:
        subprocess.run(["docker", "rmi", "--force", name], check=True, capture_output=True)


def test_an_image_without_the_pythons_is_told_with_all_that_it_lacks(
    image: str, supplies: Supplies, tmp_path: Path
) -> None:
    cache = supplies.places.cache
    done = rvbuild(cache, tmp_path, "image", "verify", image)
    assert done.returncode == 4
    assert f"error: image `{image}` is not fit to build wheels in" in done.stderr
    missing = "cause: Python 3.13: program `/opt/python/cp313-cp313/bin/python` was not found"
    assert missing in done.stderr
    assert done.stdout == ""


@pytest.mark.needs("root")
def test_a_full_disk_is_seen_and_what_frees_it_helps(image: str, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    size = f"size={SMALL_BYTES}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", size, "none", str(disk)], check=True)
    try:
        executor = ContainerExecutor(connect(), image, (disk,))
        full = executor.run(shell(disk, "set -e; head -c 9000000 /dev/zero > big; echo past"))
        assert (full.ok, full.output.splitlines()[-1].lower()) == (
            False,
            "head: error writing 'standard output': no space left on device",
        )
        (disk / "big").unlink()
        assert executor.run(shell(disk, "echo x > small")).ok
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@dataclass(slots=True)
class Engine:
    """A daemon of our own, which a test may kill; `folder` holds all that it keeps."""

    folder: Path
    process: "subprocess.Popen[bytes]" = field(init=False)

    def start(self) -> Daemon:
        """Start it, and give the connection once it answers."""
        words = ["dockerd", "--iptables=false", "--bridge=none", f"--host=unix://{self.folder}/s"]
        words += [f"--{name}={self.folder / name}" for name in ("data-root", "exec-root")]
        words += [f"--pidfile={self.folder}/pid"]
        self.begin(words)
        while True:
            # It gives its own containerd 15 seconds, which a busy machine may not have.
            if self.process.poll() is not None:
                self.begin(words)
            with suppress(DockerException, RequestException):
                return Daemon(APIClient(f"unix://{self.folder}/s", version="auto", timeout=600))
            time.sleep(0.2)

    def begin(self, words: list[str]) -> None:
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=log)

    def kill(self) -> None:
        """End it as a machine's memory killer would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def engine() -> Iterator[Engine]:
    # The path of a socket has to be short.
    with TemporaryDirectory(prefix="rvb", ignore_cleanup_errors=True) as folder:
        found = Engine(Path(folder))
        yield found
        found.process.terminate()
        found.process.wait()
        # What a killed one had mounted stays mounted.
        told = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
        places = [line.split()[1] for line in told if line.split()[1].startswith(f"{folder}/")]
        for place in sorted(places, key=len, reverse=True):
            subprocess.run(["umount", "--lazy", place], check=False)


def running(words: str) -> list[int]:
    """List the processes of this machine that were started by some words."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            told = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if entry.name.isdigit() and int(entry.name) != os.getpid() and words in told:
                found.append(int(entry.name))
    return found


@pytest.mark.needs("root", "dockerd")
def test_a_daemon_that_is_killed_leaves_nothing_and_the_next_one_goes_on(
    engine: Engine, supplies: Supplies, tmp_path: Path
) -> None:
    daemon = engine.start()
    executor = ContainerExecutor(daemon, provide_base(daemon, PINS, supplies), (tmp_path,))
    failures: list[MissingToolError] = []

    def build() -> None:
        try:
            executor.run(shell(tmp_path, f"echo > begun; {SLEEP}; echo > done"))
        except MissingToolError as error:
            failures.append(error)

    thread = Thread(target=build)
    thread.start()
    while not (tmp_path / "begun").exists():
        assert thread.is_alive(), failures
        time.sleep(0.1)
    assert running(SLEEP) != []
    engine.kill()
    thread.join()
    (failure,) = failures
    assert failure.message == "the Docker daemon went away while a command ran"
    assert "start the daemon" in (failure.hint or "")
    while running(SLEEP):
        time.sleep(0.1)
    assert not (tmp_path / "done").exists()
    with pytest.raises(MissingToolError, match="cannot make a container"):
        executor.run(shell(tmp_path, "true"))
    again = ContainerExecutor(engine.start(), executor.image, (tmp_path,))
    assert again.run(shell(tmp_path, "echo > done")).ok
    while again.daemon.client.containers(all=True):
        time.sleep(0.1)
