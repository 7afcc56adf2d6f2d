"""Running one command of a job: its output goes to the job's log, its failure becomes an error."""

import re
from dataclasses import replace
from pathlib import Path

from rvbuild.build.model import Bench, Workshop
from rvbuild.build.ninja import NinjaOutput
from rvbuild.build.surroundings import command
from rvbuild.errors import BuildError
from rvbuild.executor import Completed

SIGKILL = 9


def run(
    workshop: Workshop,
    bench: Bench,
    argv: tuple[str, ...],
    environment: dict[str, str],
    cwd: Path | None = None,
) -> Completed:
    """Run a command without network; raise `BuildError` with its last lines when it fails."""
    return _run(workshop, bench, argv, environment, cwd or bench.project, network=False)


def run_with_network(
    workshop: Workshop, bench: Bench, argv: tuple[str, ...], environment: dict[str, str]
) -> Completed:
    """Run a command that may reach the network, as for build requirements."""
    return _run(workshop, bench, argv, environment, bench.folder, network=True)


def _run(
    workshop: Workshop,
    bench: Bench,
    argv: tuple[str, ...],
    environment: dict[str, str],
    cwd: Path,
    *,
    network: bool,
) -> Completed:
    wanted = replace(command(argv, cwd, environment), network=network)
    heard = NinjaOutput()
    done = workshop.executor.run(
        wanted, bench.log, lambda line: _hear(line, heard, workshop, bench)
    )
    if not done.ok:
        failures = heard.failures
        raise BuildError(
            f"`{Path(argv[0]).name}` failed while building `{bench.job.id}`",
            causes=[explain(done), *heard.told()],
            tail=failures[0].lines if failures else done.tail(),
            log=bench.log,
            hint=hint(done, bench, "\n".join(line for each in failures for line in each.lines)),
            reproduce=f"rvbuild shell {bench.job.id}",
        )
    return done


def _hear(line: str, heard: NinjaOutput, workshop: Workshop, bench: Bench) -> None:
    before = heard.count
    progress = heard.read(line)
    workshop.watch.line(bench.job.id, line)
    if progress is not None:
        workshop.watch.progress(bench.job.id, progress)
    if before == 0 and heard.count == 1:
        # It may go on for an hour, and somebody may want to know now.
        words = f"`{heard.failures[0].target}` failed; everything else is still built"
        workshop.watch.note(bench.job.id, f"{words}, log: {bench.log}")


def explain(done: Completed) -> str:
    """Say in words how a command ended."""
    if done.timed_out:
        return f"it ran out of time after {done.seconds:.0f} s"
    if done.signal is not None or "Killed" in done.output[-2000:]:
        return f"it was killed by signal {done.signal or SIGKILL}"
    return f"it ended with exit code {done.exit_code}"


def hint(done: Completed, bench: Bench, failures: str = "") -> str | None:
    """Give the next move where the output tells it; `failures` is output that lies further up."""
    last = f"{failures}\n{done.output[-20000:]}"
    if done.signal == SIGKILL or "Killed" in f"{failures}\n{done.output[-2000:]}":
        resources = bench.job.recipe.resources
        memory = max(resources.memory_mb, bench.cores * resources.compiler_mb)
        return f"out of memory? {memory} MiB are planned for it; `--jobs 1` goes on where it was"
    if "No space left on device" in last:
        return "the disk is full: free some space or choose another place by `--cache`"
    if "is a folder of the build machine" in last:
        return "take the library from a recipe: name it in `requires.libraries`"
    if "asks for the build machine's processor" in last:
        return "remove `-march=native` by an option or a patch of the recipe"
    return _missing(last)


# How build systems and pip say that something is not there, or cannot be had together.
_ABSENT = (
    re.compile(r'ERROR: Dependency (?:lookup for )?"?([\w.+-]+)"? (?:not found|with method)'),
    re.compile(r"CMake Error[^\n]*\n\s+Could NOT find (\w+)"),
    re.compile(r"ERROR: (?:Problem encountered: )?No (BLAS|LAPACK) library detected"),
)
_CONFLICT = re.compile(r"ERROR: Cannot install (.+) because these package versions have conflict")


def _missing(output: str) -> str | None:
    conflict = _CONFLICT.search(output)
    if conflict is not None:
        wanted = conflict.group(1).replace(" and ", ", ")
        return f"the project and `requires.build` of the recipe exclude each other: {wanted}"
    for pattern in _ABSENT:
        absent = pattern.search(output)
        if absent is not None:
            return f"name the recipe that brings `{absent.group(1)}` in `requires.libraries`"
    return None
