"""One CI job for each job of a plan: its level, its runner, its command."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rvbuild.plan import Job, Plan
from rvbuild.recipe.model import Mode

SCHEMA = "rvbuild.matrix/1"
X86_RUNNER = "ubuntu-latest"
RISCV_RUNNER = "ubuntu-24.04-riscv"


@dataclass(frozen=True, slots=True)
class MatrixEntry:
    """A CI job; those of one level can run at once when all levels below are done.

    `python` is None for a library; `expected_seconds` is None when it was never built.
    """

    name: str
    recipe: str
    python: str | None
    mode: Mode
    level: int
    runner: str
    expected_seconds: float | None
    command: tuple[str, ...]

    @property
    def artifact(self) -> str:
        """The name as artifact stores take it, which refuse colons among others."""
        return re.sub(r"[^A-Za-z0-9.+_-]", "-", self.name)


def matrix_entries(
    plan: Plan, expected: Mapping[str, float] | None = None
) -> tuple[MatrixEntry, ...]:
    """Make the entries of a plan, in its order; `expected` are seconds by job id."""
    seconds = expected or {}
    return tuple(_entry(job, seconds.get(job.id)) for job in plan.jobs)


def matrix_as_json(entries: tuple[MatrixEntry, ...]) -> dict[str, object]:
    """Turn entries into plain data."""
    return {"schema": SCHEMA, "jobs": [_plain(entry) for entry in entries]}


def _entry(job: Job, seconds: float | None) -> MatrixEntry:
    return MatrixEntry(
        name=job.id,
        recipe=job.recipe.name,
        python=job.python,
        mode=job.mode,
        level=job.level,
        runner=RISCV_RUNNER if job.mode == "native" else X86_RUNNER,
        expected_seconds=seconds,
        command=_command(job),
    )


def _command(job: Job) -> tuple[str, ...]:
    # The version is named, since the plan may be of another one than a recipe's newest.
    what = f"{job.recipe.name}=={job.recipe.version}"
    where = (f"--{job.mode}", "--floor", str(job.floor))
    if job.python is None:
        return ("rvbuild", "build", what, *where)
    return ("rvbuild", "wheel", what, "--python", job.python, *where)


def _plain(entry: MatrixEntry) -> dict[str, object]:
    return {
        "name": entry.name,
        "recipe": entry.recipe,
        "python": entry.python,
        "mode": entry.mode,
        "level": entry.level,
        "runner": entry.runner,
        "expected_seconds": entry.expected_seconds,
        "command": list(entry.command),
    }
