"""A recipe's checks: what programs of the build machine have to say before anything is compiled."""

from pathlib import Path

from rvbuild.build.model import Bench, Workshop
from rvbuild.build.surroundings import base_environment, command, placeholders
from rvbuild.errors import BuildError, MissingToolError
from rvbuild.recipe.model import Check
from rvbuild.recipe.placeholder import fill

NOT_FOUND = 127
SHOWN_LINES = 3


def run_checks(workshop: Workshop, bench: Bench) -> None:
    """Run a job's checks; raise `MissingToolError` or `BuildError` at the first that fails."""
    values = placeholders(workshop, bench)
    for check in bench.job.recipe.checks:
        words = tuple(fill(word, values) for word in check.run)
        _hold(workshop, bench, check, words, fill(check.prints, values))


def _hold(
    workshop: Workshop, bench: Bench, check: Check, words: tuple[str, ...], wanted: str
) -> None:
    name = Path(words[0]).name
    asked = command(words, bench.source, base_environment(workshop, bench))
    done = workshop.executor.run(asked, bench.log)
    if done.ok and wanted in done.output:
        return
    if done.exit_code == NOT_FOUND:
        raise MissingToolError(
            f"`{bench.job.id}` has no `{name}`",
            causes=[check.reason],
            log=bench.log,
            hint=f"name `{name}` in `requires.tools` of `{bench.job.recipe.name}`",
        )
    said = " / ".join(done.output.splitlines()[:SHOWN_LINES]) or "nothing"
    raise BuildError(
        f"`{' '.join((name, *words[1:]))}` says `{said}` and not `{wanted}`",
        causes=[check.reason],
        log=bench.log,
        hint=f"correct `checks` of `{bench.job.recipe.name}`, or take the version that it names",
        reproduce=f"rvbuild shell {bench.job.id}",
    )
