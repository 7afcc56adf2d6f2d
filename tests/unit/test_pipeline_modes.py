"""Where each mode builds, what containers may see, and how modes keep apart in keys."""

import os
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

from rvbuild.errors import MissingToolError
from rvbuild.events import Silent
from rvbuild.executor.container import ContainerExecutor
from rvbuild.executor.daemon import Daemon, ImageFacts
from rvbuild.executor.local import LocalExecutor
from rvbuild.fetch import Network
from rvbuild.pipeline import House, Options, modes
from rvbuild.pipeline.inputs import plan_inputs
from rvbuild.pipeline.modes import build_house, build_machine, build_root, named_files
from rvbuild.places import Places
from rvbuild.recipe.catalogue import Catalogue
from rvbuild.recipe.model import Mode
from rvbuild.target import Floor
from rvbuild.testing import BinfmtState

PINS = Path(__file__).parents[2] / "sysroots"
TEMPLATE = Path(modes.__file__).parents[1] / "data/toolchain/native.sh"
RISCV_ELF = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\x00\xf3\x00" + bytes(44)


def options(mode: Mode, *, container: bool = True) -> Options:
    return Options((), ("3.13",), Floor(2, 31), mode, container=container)


def house(folder: Path, host: str = "x86_64", **environment: str) -> House:
    (folder / "cache").mkdir(exist_ok=True)
    return House(
        places=Places(folder / "cache"),
        network=Network((), (), offline=True),
        watch=Silent(),
        executor=LocalExecutor(),
        catalogue=Catalogue((folder,)),
        pins=PINS,
        host=host,
        environment=environment,
    )


class Loaded(Daemon):
    """A daemon that has every image."""

    def image(self, name: str) -> ImageFacts | None:
        return ImageFacts(name, "riscv64", 1, {}, ())


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend an engine that has the base image, and a kernel that starts riscv64 programs."""
    monkeypatch.setattr(modes, "connect", lambda: Loaded(None))  # type: ignore[arg-type]
    monkeypatch.setattr(modes, "provide_base", lambda *_: "rvbuild/base:1")
    state = BinfmtState(registered=True, enabled=True, flags="POCF")
    monkeypatch.setattr(modes, "binfmt_state", lambda: state)


def test_across_and_on_the_bare_machine_nothing_changes(tmp_path: Path) -> None:
    here = house(tmp_path)
    assert build_house(options("cross"), here) is here
    board = house(tmp_path, "riscv64")
    assert build_house(options("native", container=False), board) is board
    assert build_root(options("native", container=False), board) == Path("/")


def test_native_is_refused_elsewhere(tmp_path: Path) -> None:
    for container in (True, False):
        with pytest.raises(MissingToolError, match="this machine is x86_64") as refused:
            build_house(options("native", container=container), house(tmp_path))
        assert "--emulated" in (refused.value.hint or "")


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(("mode", "host"), [("emulated", "x86_64"), ("native", "riscv64")])
def test_containers_see_the_cache_and_stop_with_the_house(
    tmp_path: Path, mode: Mode, host: str
) -> None:
    here = house(tmp_path, host)
    (tmp_path / "disk").mkdir()
    (tmp_path / "cache/kits").symlink_to(tmp_path / "disk")
    builder = build_house(options(mode), here)
    assert builder.host == "riscv64"
    assert isinstance(builder.executor, ContainerExecutor)
    assert builder.executor.folders == (tmp_path / "cache", tmp_path / "disk")
    assert builder.executor.stop is here.executor.stop
    assert isinstance(builder.executor.stop, threading.Event)
    assert builder.executor.environment["QEMU_CPU"].startswith("rv64")
    root = build_root(options(mode), here)
    assert root.parent == tmp_path / "cache/kits"
    assert root.name.startswith("image-base-riscv64-")


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    "state",
    [
        BinfmtState(registered=False),
        BinfmtState(registered=True, enabled=False, flags="F"),
        BinfmtState(registered=True, enabled=True, flags="OC"),
    ],
)
def test_a_kernel_that_cannot_is_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: BinfmtState
) -> None:
    monkeypatch.setattr(modes, "binfmt_state", lambda: state)
    with pytest.raises(MissingToolError, match="does not run riscv64 programs") as refused:
        build_house(options("emulated"), house(tmp_path))
    assert "binfmt_misc" in (refused.value.hint or "")


def test_files_of_pip_are_found_and_a_home_is_not(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".config/pip").mkdir(parents=True)
    (tmp_path / "bundle.pem").touch()
    (tmp_path / "wheels").mkdir()
    told = {
        "HOME": str(home),
        "PATH": str(tmp_path),
        "PIP_CERT": str(tmp_path / "bundle.pem"),
        "PIP_FIND_LINKS": f"file://{tmp_path}/wheels /nowhere",
        "PIP_INDEX_URL": "https://index.example/simple",
    }
    found = [path for path in named_files(told) if path.is_relative_to(tmp_path)]
    assert found == [tmp_path / "bundle.pem", home / ".config/pip", tmp_path / "wheels"]


def test_modes_have_keys_of_their_own(tmp_path: Path) -> None:
    here = house(tmp_path)
    across, emulated = (plan_inputs(options(mode), here, ()) for mode in ("cross", "emulated"))
    assert across.sysroot == emulated.sysroot
    assert across.toolchain != emulated.toolchain
    assert across.tools != emulated.tools
    assert across.pythons["3.13"] != emulated.pythons["3.13"]
    assert build_machine("cross", "x86_64") == "x86_64"


@pytest.mark.parametrize("wanted", [options("native"), options("native", container=False)])
def test_what_a_board_would_do_is_planned_anywhere(tmp_path: Path, wanted: Options) -> None:
    board, elsewhere = house(tmp_path, "riscv64"), house(tmp_path, "aarch64")
    there, here = (plan_inputs(wanted, each, ()) for each in (board, elsewhere))
    assert (there.toolchain, there.tools, there.pythons) == (
        here.toolchain,
        here.tools,
        here.pythons,
    )
    assert there.toolchain == plan_inputs(options("emulated"), elsewhere, ()).toolchain


def native(folder: Path, *words: str) -> list[str]:
    """Run the wrapper with a loader that only tells what it was given."""
    (folder / "sysroot/lib").mkdir(parents=True)
    loader = folder / "sysroot/lib/ld-linux-riscv64-lp64d.so.1"
    loader.write_text('#!/bin/sh\necho "$@"\n')
    loader.chmod(0o755)
    script = folder / "run"
    script.write_text(TEMPLATE.read_text().replace("@SYSROOT@", str(folder / "sysroot")))
    done = subprocess.run(
        ["/bin/sh", str(script), *words],
        env={"PATH": os.environ["PATH"], "RVBUILD_PREFIX": "/prefix"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.split()


def test_programs_of_the_sysroot_get_its_loader(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(RISCV_ELF + b"\0/lib/ld-linux-riscv64-lp64d.so.1\0")
    libraries = f"{tmp_path}/sysroot/usr/riscv64-linux-gnu/lib:/prefix/lib"
    assert native(tmp_path, str(program), "a") == [
        "--library-path",
        libraries,
        str(program),
        "a",
    ]


def test_everything_else_runs_as_it_is(tmp_path: Path) -> None:
    assert native(tmp_path, shutil.which("echo") or "echo", "a", "b") == ["a", "b"]
    shutil.rmtree(tmp_path / "sysroot")
    other = tmp_path / "other"
    # Its loader is one of a kit: the sysroot's libraries are too old for it.
    other.write_bytes(RISCV_ELF + b"\0/kits/lib/ld-linux-riscv64-lp64d.so.1\0")
    assert native(tmp_path, str(other)) == []
