"""Known failures as data: `known-failures/PACKAGE.yaml` beside a folder of recipes.

Which of them hold for a version, a floor and a runner is decided here; what they mean for a suite
is `known`'s.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version
from pydantic import Field

from rvbuild.document import inspect_document, validate
from rvbuild.recipe.model import Frozen, KnownFailure, Test
from rvbuild.recipe.text import FloorSpecifier, Name, Specifier
from rvbuild.target import Floor
from rvbuild.testing.machine import RunnerKind

FOLDER = "known-failures"


class KnownEntry(KnownFailure):
    """A known failure of some versions of a package, on some runners and floors."""

    versions: Specifier = Field(default="", description="versions it is known of; empty means all")
    runner: RunnerKind | None = None
    floor: FloorSpecifier | None = None


class KnownFile(Frozen):
    """All that is known to fail of one package."""

    package: Name
    failures: tuple[KnownEntry, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What is tested, and how: entries have conditions on these."""

    package: str
    version: str
    floor: Floor
    runner: RunnerKind = "qemu"


def read_known(path: Path) -> KnownFile:
    """Read a file of known failures; raise `RecipeError` with every problem."""
    document = inspect_document(path)
    stated = document.text(("package",))
    problems = []
    if stated is not None and stated != path.stem:
        message = f"the file of `{stated}` is to be called `{stated}.yaml`"
        problems.append(document.page.problem(document.value_position(("package",)), message))
    return validate(document, KnownFile, problems)


def with_known(tests: Test, around: Circumstances, recipe_folders: Iterable[Path]) -> Test:
    """Add what is known of a package to its tests; what the tests say themselves goes first."""
    entries = [*tests.known_failures]
    stated = {entry.test for entry in entries}
    for folder in recipe_folders:
        path = folder.parent / FOLDER / f"{around.package}.yaml"
        if path.is_file():
            found = (entry for entry in read_known(path).failures if holds(entry, around))
            entries += [_plain(entry) for entry in found if entry.test not in stated]
    return tests.model_copy(update={"known_failures": tuple(entries)})


def holds(entry: KnownEntry, around: Circumstances) -> bool:
    """Say whether every condition of an entry but that on CPUs holds."""
    if entry.runner is not None and entry.runner != around.runner:
        return False
    if entry.floor is not None:
        floor = str(around.floor).replace("_", ".")
        if not SpecifierSet(entry.floor).contains(floor):
            return False
    try:
        version = Version(around.version)
    except InvalidVersion:
        return not entry.versions
    return SpecifierSet(entry.versions).contains(version, prereleases=True)


def _plain(entry: KnownEntry) -> KnownFailure:
    return KnownFailure.model_validate(entry.model_dump(exclude={"versions", "runner", "floor"}))
