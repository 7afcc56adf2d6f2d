"""The sanity probe: a toolchain compiles, links and runs C, C++ and RVV before a job trusts it."""

from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory

from rvbuild.errors import MissingToolError
from rvbuild.events import Watcher, step
from rvbuild.executor import Command, Executor
from rvbuild.target import cpus
from rvbuild.toolchain.model import Toolchain

PROBE_CPU = "vlen256"
# Source file, further flags, and what the program prints when all is well.
PROBES = (
    ("probe.c", ("-pthread",), "c 16"),
    ("probe.cc", (), "c++ 2"),
    ("probe-rvv.c", ("-march=rv64gcv",), "rvv 32"),
)
TIMEOUT_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Executors:
    """Who compiles a probe, which may be a container, and who runs it by the emulator."""

    compiling: Executor
    running: Executor


def probe_toolchain(
    toolchain: Toolchain, emulator: Path, executors: Executors, watch: Watcher
) -> None:
    """Compile, link and run each probe, once for a toolchain; raise `MissingToolError`."""
    mark = probe_mark(toolchain.folder.parent)
    if mark.is_file():
        return
    with (
        step(watch, f"toolchain-{toolchain.family}-{toolchain.version}", "probe"),
        TemporaryDirectory(prefix="probe-", dir=toolchain.folder.parent) as folder,
    ):
        for source, flags, expected in PROBES:
            _probe(toolchain, source, flags, Path(folder), executors.compiling)
            _check(toolchain, emulator, Path(folder), expected, executors.running)
    mark.touch()


def probe_mark(folder: Path) -> Path:
    """Name the file that says that the toolchain in a folder was probed."""
    return folder / "probed"


def _probe(
    toolchain: Toolchain, source: str, flags: tuple[str, ...], folder: Path, executor: Executor
) -> None:
    text = resources.files("rvbuild").joinpath(f"data/toolchain/{source}").read_text("utf-8")
    (folder / source).write_text(text, encoding="utf-8")
    compiler = toolchain.cxx if source.endswith(".cc") else toolchain.c
    words = (str(compiler), "-O2", *flags, source, "-o", "probe")
    environment = {"PATH": "/usr/bin:/bin", "TMPDIR": str(folder)}
    done = executor.run(Command(words, folder, environment, TIMEOUT_SECONDS))
    if not done.ok:
        raise MissingToolError(
            f"{toolchain.family} {toolchain.version} cannot compile `{source}`",
            hint="use `--toolchain clang`; RVV 1.0 takes GCC 14 or clang 17",
            tail=done.tail(),
        )


def _check(
    toolchain: Toolchain, emulator: Path, folder: Path, expected: str, executor: Executor
) -> None:
    words = (str(emulator), "-L", str(toolchain.sysroot), "-cpu", cpus()[PROBE_CPU].qemu, "./probe")
    done = executor.run(Command(words, folder, {}, TIMEOUT_SECONDS))
    if done.output.strip() != expected:
        raise MissingToolError(
            f"what {toolchain.family} {toolchain.version} compiled does not run right under QEMU",
            causes=[f"expected `{expected}`, got `{done.output.strip()}`"],
        )
