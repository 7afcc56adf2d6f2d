"""The job that makes the programs of a library's tests, as one more library above the first."""

from collections.abc import Mapping
from dataclasses import replace

from rvbuild.plan.key import key_of
from rvbuild.plan.model import Job
from rvbuild.recipe.model import Build, Expect, Recipe, Requires

TESTS = "tests"


def library_tests(job: Job, digests: Mapping[str, str]) -> Job | None:
    """Give the job of a library's test programs; None where it has none.

    It stands on the library and on all that the library does; `digests` are of the files that the
    programs are made of. Which of them are run, and how, changes nothing of it.
    """
    programs = job.recipe.test.programs
    if programs is None or job.python is not None:
        return None
    made = programs.model_dump_json(exclude={"run"})
    inputs = {f"needs {job.id}": job.key, "recipe.test.programs": made}
    inputs |= {f"check {name}": digest for name, digest in digests.items()}
    return replace(
        job,
        id=f"{job.recipe.label}:{TESTS}",
        recipe=_recipe(job.recipe),
        key=key_of(inputs),
        inputs=dict(sorted(inputs.items())),
        needs=(job.id,),
        level=job.level + 1,
    )


def makes_tests(job: Job) -> bool:
    """Say whether a job makes the programs of a library's tests."""
    return job.id.endswith(f":{TESTS}")


def _recipe(recipe: Recipe) -> Recipe:
    programs = recipe.test.programs
    if programs is None:
        return recipe
    changed: dict[str, object] = {
        "requires": Requires(libraries=(recipe.name,), tools=programs.tools),
        "build": Build(system="script", script=programs.build),
        "extra_sources": (*recipe.extra_sources, *programs.extra_sources),
        "expect": Expect(),
    }
    if not programs.source:
        changed |= dict.fromkeys(("sources", "patches", "required_paths", "only"), ())
        changed["extra_sources"] = programs.extra_sources
    return recipe.model_copy(update=changed)
