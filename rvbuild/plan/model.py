"""The values of planning: what is asked for, what jobs read, and the ordered jobs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from rvbuild.recipe.model import Mode, Recipe
from rvbuild.target import Floor


class Recipes(Protocol):
    """Where recipes come from, such as folders of files or a default for a name on an index."""

    def find(self, name: str, version: str | None = None) -> Recipe:
        """Give the recipe of a normalised name; raise `UsageError` when there is none."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asks for: `names` like `numpy` or `numpy==2.5.5`, `pythons` like `3.13`."""

    names: tuple[str, ...]
    pythons: tuple[str, ...]
    floor: Floor
    mode: Mode = "cross"


@dataclass(frozen=True, slots=True)
class Inputs:
    """Content digests of what jobs read besides their recipes; an empty one is not read.

    `pythons` are by minor version such as `3.13`, `patches` by recipe name and patch file, `asked`
    by the name of a tool that only the recipes naming it read, `stand_ins` by the recipe that is
    stood in for.
    """

    toolchain: str
    sysroot: str
    emulator: str = ""
    tools: str = ""
    environment: str = ""
    pythons: Mapping[str, str] = field(default_factory=dict)
    patches: Mapping[tuple[str, str], str] = field(default_factory=dict)
    asked: Mapping[str, str] = field(default_factory=dict)
    stand_ins: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Job:
    """One wheel for one Python, or one library (`python` is None).

    `inputs` is all that `key` hashes, by names a person understands; `needs` are ids of jobs one or
    more levels below, and level 0 needs nothing.
    """

    id: str
    recipe: Recipe
    python: str | None
    mode: Mode
    floor: Floor
    key: str
    inputs: Mapping[str, str]
    needs: tuple[str, ...]
    level: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """A wheel that was asked for and is left out for one Python, and why."""

    name: str
    python: str
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Jobs in an order in which they can run; `requested` are the ids that were asked for."""

    jobs: tuple[Job, ...]
    requested: tuple[str, ...]
    skipped: tuple[Skipped, ...] = ()

    def job(self, job_id: str) -> Job:
        """Give one job by its id; raise `KeyError` for an id that is not in the plan."""
        return self.by_id[job_id]

    @property
    def by_id(self) -> Mapping[str, Job]:
        """All jobs by id, in order."""
        return {job.id: job for job in self.jobs}
