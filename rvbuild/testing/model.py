"""The values of testing: where wheels are run, what came of each check, and the whole report."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import ClassVar, Literal

from rvbuild.emulator import Emulator
from rvbuild.events import Watcher
from rvbuild.executor import Executor
from rvbuild.pythons import Interpreter
from rvbuild.testing.machine import Machine

SCHEMA = 1

INSTALL = "install"

Status = Literal["passed", "failed", "crashed", "timeout", "skipped"]


@dataclass(frozen=True, slots=True)
class Runtime:
    """A riscv64 Python under QEMU; `libraries` are folders of shared objects beside its root's own.

    The sysroot's libstdc++ and libgfortran come in that way, when a wheel needs them.
    """

    interpreter: Interpreter
    emulator: Emulator
    libraries: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Portion:
    """What is wanted of a suite: shard `(3, 16)` of its tests, of these those `text` means."""

    shard: tuple[int, int] | None = None
    text: str = ""

    @property
    def whole(self) -> bool:
        """True when it is all of the suite."""
        return self.shard is None and not self.text


@dataclass(frozen=True, slots=True)
class Bench:
    """Where and with what wheels are tried; `workspace` is a folder that is ours to fill.

    `wheels` are our own wheels of what the tested one needs, `wheel_folders` where more of them
    lie. `environment` is for the build machine's pip alone: index settings and proxies. `source` is
    the source tree a suite takes files from. `total_seconds` limits all checks together. `machine`
    is a board that runs them in QEMU's place. With `resume` CPUs that an earlier run finished are
    not run again. `stop` ends what runs in other threads. `portion` is what is wanted of a suite on
    demand; None means checks without it.
    """

    runtime: Runtime
    executor: Executor
    workspace: Path
    watch: Watcher
    job: str
    wheels: tuple[Path, ...] = ()
    wheel_folders: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    source: Path | None = None
    jobs: int = 1
    total_seconds: float | None = None
    machine: Machine | None = None
    resume: bool = False
    stop: Event | None = None
    portion: Portion | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """One test of a suite that failed; `known` is the reason when it was expected to."""

    test: str
    message: str
    known: str | None = None


@dataclass(frozen=True, slots=True)
class CpuResult:
    """What came of one check on one CPU; `flags` are things to look at that fail nothing.

    `outcomes` is a file with a line of JSON for each test of a suite on demand.
    """

    cpu: str
    check: str
    status: Status
    seconds: float
    explanation: str = ""
    log: Path | None = None
    reproduce: str = ""
    failures: tuple[Failure, ...] = ()
    flags: tuple[str, ...] = ()
    outcomes: Path | None = None

    @property
    def ok(self) -> bool:
        """True unless it went wrong; a skipped check says why in its explanation."""
        return self.status in ("passed", "skipped")


@dataclass(frozen=True, slots=True)
class TestReport:
    """All results of one wheel file."""

    __test__: ClassVar[bool] = False

    wheel: str
    sha256: str
    python: str
    emulator: str
    results: tuple[CpuResult, ...]
    schema: int = SCHEMA

    @property
    def ok(self) -> bool:
        """True when something of the wheel ran and passed, and nothing went wrong."""
        # That it could be installed proves nothing by itself.
        passed = any(
            result.status == "passed" and result.check != INSTALL for result in self.results
        )
        return passed and all(result.ok for result in self.results)


def report_of(wheel: Path, bench: Bench, results: tuple[CpuResult, ...]) -> TestReport:
    """Make the report of a wheel that was tried on a bench."""
    machine, python = bench.machine, bench.runtime.interpreter.full_version
    emulated = f"qemu-{bench.runtime.emulator.version}"
    return TestReport(
        wheel=wheel.name,
        sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
        python=python if machine is None else machine.facts.python,
        emulator=emulated if machine is None else machine.title,
        results=results,
    )
