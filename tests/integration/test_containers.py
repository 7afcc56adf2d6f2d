"""Containers of riscv64 for real: what a command in one sees, how it ends, and what is left."""

import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path

import pytest
import yaml

from rvbuild.emulator import install_emulator
from rvbuild.errors import MissingToolError
from rvbuild.executor import Command, Completed
from rvbuild.executor.container import ContainerExecutor
from rvbuild.executor.daemon import Daemon, connect
from rvbuild.executor.environment import index_environment
from rvbuild.fetch import fetch
from rvbuild.image import provide_base
from rvbuild.kit import Supplies
from rvbuild.pipeline.modes import named_files
from rvbuild.pythons import install_build_python
from rvbuild.recipe.catalogue import Catalogue
from rvbuild.recipe.model import PypiSource
from rvbuild.sources.remote import remote_of
from rvbuild.wheel import read_wheel
from tests.build_samples import write_tree
from tests.integration.conftest import PINS
from tests.integration.test_recipes import rvbuild

# Emulated builds on a busy machine take as long as they take.
pytestmark = [pytest.mark.needs("docker", "binfmt"), pytest.mark.timeout(2400)]
ROOT = Path(__file__).parents[2]
# Runs a command in a container until somebody ends this program.
PROGRAM = """\
import signal
import sys
from pathlib import Path
from rvbuild.executor import Command
from rvbuild.executor.container import ContainerExecutor
from rvbuild.executor.daemon import connect

# A shell's background job begins with interrupts ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
folder = Path(sys.argv[2])
executor = ContainerExecutor(connect(), sys.argv[1], (folder,))
executor.run(Command(("/bin/sh", "-c", "echo > begun; sleep 60; echo > done"), folder))
"""
PACKAGE = {
    "pyproject.toml": '[build-system]\nrequires = ["setuptools"]\n'
    'build-backend = "setuptools.build_meta"\n[project]\nname = "tiny"\nversion = "1.0"\n',
    "setup.py": "from setuptools import Extension, setup\n"
    'setup(ext_modules=[Extension("tiny", ["tiny.c"])])\n',
    "tiny.c": "#include <Python.h>\n"
    'static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "tiny", NULL, -1, NULL};\n'
    "PyMODINIT_FUNC PyInit_tiny(void) { return PyModule_Create(&module); }\n",
}


@pytest.fixture(scope="module")
def daemon() -> Daemon:
    return connect()


@pytest.fixture(scope="module")
def image(daemon: Daemon, supplies: Supplies) -> str:
    return provide_base(daemon, PINS, supplies)


@pytest.fixture
def executor(daemon: Daemon, image: str, tmp_path: Path) -> ContainerExecutor:
    return ContainerExecutor(daemon, image, (tmp_path,))


def shell(
    executor: ContainerExecutor, folder: Path, script: str, timeout: float | None = None
) -> Completed:
    words = ("/bin/sh", "-c", script)
    return executor.run(Command(words, folder, {}, timeout, 0.5, network=False))


def containers(folder: Path) -> list[str]:
    """List the containers that see a folder: others may be at work on this machine."""
    words = ["docker", "ps", "--all", "--quiet", "--filter", f"volume={folder}"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()


def gone(folder: Path, seconds: float = 120) -> bool:
    """Say whether no container is left, which the daemon removes a moment after its end."""
    limit = time.monotonic() + seconds
    while containers(folder):
        if time.monotonic() > limit:
            return False
        time.sleep(0.1)
    return True


def test_a_command_runs_on_riscv64_as_the_caller(
    executor: ContainerExecutor, tmp_path: Path
) -> None:
    lines: list[str] = []
    script = "uname -m; pwd; id -u; echo err >&2; echo x > made; exit 5"
    words = ("/bin/sh", "-c", script)
    done = executor.run(Command(words, tmp_path, network=False), tmp_path / "log", lines.append)
    assert (done.exit_code, done.signal) == (5, None)
    assert lines == ["riscv64", str(tmp_path), str(os.getuid()), "err"]
    assert (tmp_path / "log").read_text().splitlines() == lines
    assert (tmp_path / "made").stat().st_uid == os.getuid()
    assert gone(tmp_path)


def test_only_what_is_given_is_seen(executor: ContainerExecutor, tmp_path: Path) -> None:
    done = shell(executor, tmp_path, f"ls {ROOT}; echo x > /etc/x; cat /proc/net/dev; env")
    assert "No such file or directory" in done.output
    assert "Read-only file system" in done.output
    assert [line for line in done.output.splitlines() if ":" in line and "eth" in line] == []
    assert "HOME=/root" not in done.output or os.getuid() == 0


def test_signals_and_missing_programs(executor: ContainerExecutor, tmp_path: Path) -> None:
    assert shell(executor, tmp_path, "kill -SEGV $$").signal == signal.SIGSEGV
    with pytest.raises(MissingToolError, match="`nowhere` was not found"):
        executor.run(Command(("nowhere",), tmp_path))


def test_time_runs_out_and_orphans_end_too(executor: ContainerExecutor, tmp_path: Path) -> None:
    done = shell(executor, tmp_path, "trap '' TERM; (sleep 60; echo > late) & echo begun; wait", 1)
    assert (done.timed_out, done.ok) == (True, False)
    assert gone(tmp_path)
    done = shell(executor, tmp_path, "(sleep 1; echo > late) & echo begun")
    assert done.ok
    time.sleep(1.5)
    assert not (tmp_path / "late").exists()


def test_an_interrupt_leaves_nothing(executor: ContainerExecutor, tmp_path: Path) -> None:
    threading.Timer(1, executor.stop.set).start()
    with pytest.raises(KeyboardInterrupt):
        shell(executor, tmp_path, "sleep 60")
    assert gone(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_container_ends_with_the_rvbuild_that_began_it(
    image: str, tmp_path: Path, number: signal.Signals
) -> None:
    words = [sys.executable, "-c", PROGRAM, image, str(tmp_path)]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL, cwd=ROOT) as process:
        while not (tmp_path / "begun").exists():
            assert process.poll() is None
            time.sleep(0.1)
        process.send_signal(number)
        process.wait()
    assert gone(tmp_path)
    assert not (tmp_path / "done").exists()


def test_a_container_that_is_taken_away_is_an_error(
    executor: ContainerExecutor, tmp_path: Path
) -> None:
    def take_away() -> None:
        while not (tmp_path / "begun").exists():
            time.sleep(0.1)
        words = ["docker", "rm", "--force", *containers(tmp_path)]
        subprocess.run(words, check=True, capture_output=True)

    thread = threading.Thread(target=take_away)
    thread.start()
    with pytest.raises(MissingToolError, match="ended before its command did"):
        shell(executor, tmp_path, "echo > begun; sleep 3600")
    thread.join()


def test_an_emulated_build_gives_the_bytes_of_one_across(
    supplies: Supplies, tmp_path: Path
) -> None:
    found = {}
    for mode in ("--cross", "--emulated"):
        (tmp_path / mode).mkdir()
        words = ("wheel", "markupsafe", "--python", "3.13", "--no-test", mode)
        done = rvbuild(supplies.places.cache, tmp_path / mode, *words)
        assert done.returncode == 0, done.stderr[-6000:]
        found[mode] = Path(done.stdout.strip())
    assert read_wheel(found["--cross"]).sha256 == read_wheel(found["--emulated"]).sha256
    assert rvbuild(supplies.places.cache, tmp_path, "diff", *map(str, found.values())).stdout == ""


@pytest.mark.needs("cibuildwheel")
def test_cibuildwheel_builds_in_the_image(supplies: Supplies, tmp_path: Path) -> None:
    cache = supplies.places.cache
    built = rvbuild(cache, tmp_path, "image", "build")
    assert built.returncode == 0, built.stderr[-6000:]
    verified = rvbuild(cache, tmp_path, "image", "verify")
    assert verified.returncode == 0, verified.stderr
    project = write_tree(tmp_path / "project", PACKAGE)
    outside = index_environment(dict(os.environ))
    volumes = " ".join(f"--volume={path}:{path}:ro" for path in named_files(outside))
    engine = f"docker; create_args: --network=host {volumes}; disable_host_mount: true"
    environment = {
        **os.environ,
        "CIBW_ARCHS": "riscv64",
        "CIBW_BUILD": "cp313-manylinux_riscv64",
        "CIBW_CONTAINER_ENGINE": engine,
        "CIBW_ENVIRONMENT_PASS_LINUX": " ".join(outside.keys() - {"HOME"}),
        "CIBW_MANYLINUX_RISCV64_IMAGE": built.stdout.strip(),
        "CIBW_TEST_COMMAND": "python -c 'import tiny'",
    }
    words = [sys.executable, "-m", "cibuildwheel", "--platform", "linux"]
    words += ["--output-dir", str(tmp_path / "wheels")]
    done = subprocess.run(
        words, cwd=project, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    (wheel,) = (tmp_path / "wheels").iterdir()
    assert wheel.name == "tiny-1.0-cp313-cp313-manylinux_2_31_riscv64.whl"


def test_the_image_of_another_machine_is_refused(daemon: Daemon, tmp_path: Path) -> None:
    if platform.machine() == "riscv64":
        pytest.skip("there is no other machine")
    name = "rvbuild/foreign:test"
    subprocess.run(["tar", "-cf", "empty.tar", "-T", os.devnull], cwd=tmp_path, check=True)
    words = ["docker", "import", str(tmp_path / "empty.tar"), name]
    subprocess.run(words, check=True, capture_output=True)
    try:
        done = rvbuild(tmp_path / "cache", tmp_path, "image", "verify", name)
        assert done.returncode == 2
        assert "and not for riscv64" in done.stderr
        shown = rvbuild(tmp_path / "cache", tmp_path, "image", "show", name, "--json")
        assert json.loads(shown.stdout)["architecture"] != "riscv64"
    finally:
        subprocess.run(["docker", "rmi", name], check=True, capture_output=True)


def riscv64_site(folder: Path) -> Path:
    """Have what rvbuild itself imports while it builds, as wheels for riscv64, in one folder."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [each for each in project["dependencies"] if not each.startswith("PyYAML")]
    platforms = [f"--platform=manylinux_2_{minor}_riscv64" for minor in range(41, 30, -1)]
    words = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder)]
    words += ["--only-binary=:all:", "--python-version=3.13", "--implementation=cp", *platforms]
    words += [f"--abi={abi}" for abi in ("cp313", "abi3", "none")]
    done = subprocess.run([*words, *wanted], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # Without its compiled part PyYAML is pure Python.
    pure = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(Path(yaml.__file__).parent, folder / "yaml", ignore=pure)
    return folder


def test_rvbuild_builds_natively_inside_riscv64(
    daemon: Daemon, image: str, supplies: Supplies, tmp_path: Path
) -> None:
    cache = supplies.places.cache
    crossing = ("wheel", "markupsafe", "--python", "3.13", "--no-test", "--dist", "across")
    found = rvbuild(cache, tmp_path, *crossing)
    assert found.returncode == 0, found.stderr[-6000:]
    for host in (platform.machine(), "riscv64"):
        program = install_build_python("3.13", host, PINS, supplies)
    install_emulator("riscv64", PINS, supplies)
    site = riscv64_site(tmp_path / "site")
    outside = index_environment(dict(os.environ))
    executor = ContainerExecutor(daemon, image, (cache, tmp_path), (ROOT, *named_files(outside)))
    # A store of its own, where nothing is built yet.
    own = tmp_path / "cache"
    own.mkdir()
    for name in ("kits", "downloads"):
        (own / name).symlink_to(cache / name)
    natively = ("--native", "--no-container", "--no-test", "--python", "3.13")
    words = (str(program), "-m", "rvbuild", "--cache", str(own), "wheel", "markupsafe", *natively)
    told = {"PYTHONPATH": f"{site}:{ROOT}", "RVBUILD_COMPILER_CACHE": "off", "PATH": "/usr/bin"}
    told |= {"PYTHONDONTWRITEBYTECODE": "1"}
    done = executor.run(Command(words, tmp_path, {**outside, **told}, timeout_seconds=2000))
    assert done.ok, done.output[-6000:]
    (native,) = (tmp_path / "dist").iterdir()
    assert read_wheel(native).sha256 == read_wheel(Path(found.stdout.strip())).sha256


def test_the_cross_image_builds_without_network(supplies: Supplies, tmp_path: Path) -> None:
    cache = supplies.places.cache
    built = rvbuild(cache, tmp_path, "image", "build", "--target", "cross", "--python", "3.13")
    assert built.returncode == 0, built.stderr[-6000:]
    name = built.stdout.strip()
    words = ("wheel", "markupsafe", "--python", "3.13", "--no-test")
    across = rvbuild(cache, tmp_path, *words, "--dist", "across")
    assert across.returncode == 0, across.stderr[-6000:]
    given = tmp_path / "given"
    given.mkdir()
    source = Catalogue((ROOT / "recipes",)).find("markupsafe").sources[0]
    assert isinstance(source, PypiSource)
    remote = remote_of(source, "")
    network, downloads = supplies.network, supplies.places.downloads
    shutil.copy(fetch(remote, network, downloads, supplies.watch), given / remote.file_name)
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(given)]
    subprocess.run([*pip, "setuptools"], check=True)
    inside = (*words, "--dist", "/given/dist")
    done = subprocess.run(
        [
            *("docker", "run", "--rm", "--network=none", f"--volume={given}:/given"),
            *("--env=RVBUILD_OFFLINE_DIR=/given", name, "rvbuild", "--offline", *inside),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-6000:]
    (wheel,) = (given / "dist").iterdir()
    assert read_wheel(wheel).sha256 == read_wheel(Path(across.stdout.strip())).sha256
