"""What all tests share: outside tools they may ask for, and a watcher that remembers."""

import os
import platform
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec

import pytest
from hypothesis import settings

from rvbuild.events import Progress
from rvbuild.executor.local import network_isolation_works
from rvbuild.testing import binfmt_state

REQUIRE = "RVBUILD_REQUIRE"
TARGET = "riscv64"
# `--hypothesis-profile=minute` looks for faults in reading files for about that long.
settings.register_profile("minute", max_examples=3000)


@dataclass(slots=True)
class Recorder:
    """A watcher that keeps what it is told, in order."""

    events: list[tuple[str, ...]] = field(default_factory=list)
    durations: list[float] = field(default_factory=list)

    def started(self, job: str, step: str) -> None:
        self.events.append(("started", job, step))

    def finished(self, job: str, step: str, seconds: float, detail: str) -> None:
        self.durations.append(seconds)
        self.events.append(("finished", job, step, detail))

    def failed(self, job: str, step: str, seconds: float) -> None:
        self.durations.append(seconds)
        self.events.append(("failed", job, step))

    def line(self, job: str, text: str) -> None:
        self.events.append(("line", job, text))

    def progress(self, job: str, progress: Progress) -> None:
        self.events.append(("progress", job, f"{progress.done}/{progress.total}"))

    def note(self, job: str, text: str) -> None:
        self.events.append(("note", job, text))

    def of(self, kind: str) -> list[tuple[str, ...]]:
        """Give the events of one kind, without their kind."""
        return [event[1:] for event in self.events if event[0] == kind]


@pytest.fixture
def recorder() -> Recorder:
    """Give a fresh watcher that records."""
    return Recorder()


def _docker() -> bool:
    if shutil.which("docker") is None:
        return False
    asked = subprocess.run(["docker", "info"], capture_output=True, check=False, timeout=30)
    return asked.returncode == 0


def _qemu() -> bool:
    # The emulator comes from pinned packages, which exist for these machines.
    return platform.machine() in ("x86_64", "aarch64", TARGET)


def _binfmt() -> bool:
    state = binfmt_state()
    return platform.machine() == TARGET or (state.registered and state.enabled and state.fixed)


CHECKS: dict[str, Callable[[], bool]] = {
    "binfmt": _binfmt,
    "docker": _docker,
    "qemu": _qemu,
    "root": lambda: os.geteuid() == 0,
    "userns": network_isolation_works,
}


def tool_is_here(tool: str) -> bool:
    """Say whether a tool is here: by its own check, as a program, or as a module."""
    check = CHECKS.get(tool)
    if check is not None:
        return check()
    return shutil.which(tool) is not None or find_spec(tool) is not None


def is_required(tool: str, required: str) -> bool:
    """Say whether `required`, a list with commas or `all`, names the tool."""
    names = {name.strip() for name in required.split(",")}
    return bool(names & {tool, "all"})


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose tools are missing, or fail it when they had to be there."""
    for marker in item.iter_markers("needs"):
        for tool in marker.args:
            if tool_is_here(tool):
                continue
            if is_required(tool, os.environ.get(REQUIRE, "")):
                pytest.fail(f"`{tool}` is missing and {REQUIRE} names it", pytrace=False)
            pytest.skip(f"`{tool}` is not here")
