"""A plan as JSON, with what the store knows about each of its jobs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rvbuild.plan.model import Job, Plan

SCHEMA = "rvbuild.plan/1"


@dataclass(frozen=True, slots=True)
class State:
    """Whether a job is done: `step` is where a stopped one goes on; seconds are of earlier runs."""

    kind: Literal["cached", "to build", "resumes"]
    step: str | None = None
    expected_seconds: float | None = None


def plan_as_json(plan: Plan, states: Mapping[str, State]) -> dict[str, object]:
    """Turn a plan into plain data; a job without a state counts as to build."""
    unknown = State("to build")
    return {
        "schema": SCHEMA,
        "requested": list(plan.requested),
        "jobs": [_job(job, states.get(job.id, unknown)) for job in plan.jobs],
        "skipped": [
            {"recipe": skip.name, "python": skip.python, "reason": skip.reason}
            for skip in plan.skipped
        ],
    }


def _job(job: Job, state: State) -> dict[str, object]:
    return {
        "id": job.id,
        "recipe": job.recipe.name,
        "version": job.recipe.version,
        "kind": job.recipe.kind,
        "python": job.python,
        "mode": job.mode,
        "floor": str(job.floor),
        "level": job.level,
        "key": job.key,
        "needs": list(job.needs),
        "inputs": dict(job.inputs),
        "state": state.kind,
        "step": state.step,
        "expected_seconds": state.expected_seconds,
    }
