"""Putting wheels where the riscv64 runtime imports them, by pip inside that runtime."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from rvbuild.errors import CheckError
from rvbuild.target import BASELINE_ISA, cpus
from rvbuild.testing.model import Bench, CpuResult
from rvbuild.testing.program import Program, command_for, reproduction
from rvbuild.testing.requirements import (
    decided,
    download,
    facts_of,
    parse_requirements,
    run_requirements,
)
from rvbuild.testing.verdict import judge

INSTALL_SECONDS = 1800
REFUSED_TAGS = "is not a supported wheel on this platform"


@dataclass(frozen=True, slots=True)
class Installed:
    """Where the installed modules lie, our wheels' before the others'."""

    paths: tuple[Path, ...]


def install_wheels(wheels: tuple[Path, ...], requires: tuple[str, ...], bench: Bench) -> Installed:
    """Install wheels and all that they and `requires` ask for below the bench's workspace.

    The wheels go in by pip under QEMU, which proves that pip on riscv64 takes their tags; what
    they ask for is fetched on the build machine. Raises `CheckError` when either does not work.
    """
    site, needs = _folders(bench)
    # pip leaves alone what lies at its target, and an older wheel would be tested.
    for folder in (site, needs):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    if wheels:
        _install_in_runtime(wheels, site, bench)
    facts = facts_of(bench)
    wanted = [text for wheel in wheels for text in run_requirements(wheel, facts)]
    wanted += decided(parse_requirements(requires), facts)
    if not wanted:
        return Installed((site,))
    # In a folder of its own, so that nothing fetched can take the place of a wheel under test.
    download(wheels, tuple(dict.fromkeys(wanted)), needs, bench)
    return Installed((site, needs))


def installed_before(bench: Bench) -> Installed:
    """Say where the modules lie that were installed into the bench's workspace."""
    return Installed(tuple(path for path in _folders(bench) if path.is_dir()))


def _folders(bench: Bench) -> tuple[Path, Path]:
    return bench.workspace / "site", bench.workspace / "requirements"


def _install_in_runtime(wheels: tuple[Path, ...], site: Path, bench: Bench) -> None:
    arguments = (
        f"{bench.runtime.interpreter.pip}/pip",
        *("install", "--isolated", "--no-index", "--no-deps", "--no-compile"),
        *("--disable-pip-version-check", "--root-user-action", "ignore"),
        *("--target", str(site), *(str(wheel) for wheel in wheels)),
    )
    program = Program(arguments, (), bench.workspace, bench.workspace, INSTALL_SECONDS)
    baseline = cpus()[BASELINE_ISA]
    command = command_for(program, baseline, bench.runtime)
    log = bench.workspace / "install.log"
    log.unlink(missing_ok=True)
    completed = bench.executor.run(command, log, lambda line: bench.watch.line(bench.job, line))
    if completed.ok:
        return
    refused = [line for line in completed.output.splitlines() if REFUSED_TAGS in line]
    raise CheckError(
        "pip in the riscv64 runtime does not install the wheel",
        causes=refused or [judge(completed, baseline, INSTALL_SECONDS).explanation],
        hint="run `rvbuild audit` on the wheel" if refused else None,
        log=log,
        tail=completed.tail(),
        reproduce=reproduction(command),
    )


def not_installed(error: CheckError, seconds: float) -> CpuResult:
    """Make the result of a wheel that could not be installed."""
    return CpuResult(
        cpu=BASELINE_ISA,
        check="install",
        status="failed",
        seconds=seconds,
        explanation="; ".join([error.message, *error.causes]),
        log=error.log,
        reproduce=error.reproduce or "",
    )
