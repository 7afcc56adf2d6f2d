"""Testing a wheel file, whoever made it. Nothing of that is stored."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.tags import compatible_tags, cpython_tags

from rvbuild.errors import UsageError
from rvbuild.pipeline.model import House, Options
from rvbuild.pipeline.proof import chosen_cpus, newest_runtime_for, runtime_for, suite_source
from rvbuild.pipeline.trial import Subject, try_on_cpus, try_on_machine, wanted_tests
from rvbuild.recipe.catalogue import Catalogue
from rvbuild.recipe.model import Recipe, Test
from rvbuild.target import Floor, compatible_platforms, python_tag
from rvbuild.testing import Bench, CpuResult, Place, Runtime, TestReport
from rvbuild.testing.known_data import Circumstances
from rvbuild.testing.made_up import made_up_tests
from rvbuild.wheel import Wheel, read_wheel

NEWER = re.compile(r"version `(GLIBCXX|CXXABI|GCC)_[0-9.]+' not found")
OLDER_RUNTIME = "not tried: the wheel needs a newer libstdc++ than there is"


@dataclass(frozen=True, slots=True)
class LooseWheel:
    """A wheel file with the Python and the tests to try it with.

    `recipe` is where the tests come from, None when they are made up; `folders` hold wheels that
    it may need.
    """

    path: Path
    python: str
    tests: Test
    recipe: Recipe | None = None
    folders: tuple[Path, ...] = ()


def prove_file(
    loose: LooseWheel, options: Options, house: House, place: Place | None = None
) -> TestReport:
    """Run a wheel file's tests on each CPU, or on a machine."""
    tests = wanted_tests(loose.tests, options, loose.path.name)
    label = "-".join(loose.path.name.split("-")[:2])
    job = f"{label}:{python_tag(loose.python)}"
    source = None if loose.recipe is None else suite_source(loose.recipe, tests, house)
    wheel = read_wheel(loose.path)
    bench = Bench(
        runtime=fitting_runtime(wheel, loose.python, options.floor, house),
        executor=house.executor,
        workspace=house.places.work / f"test-{job.replace(':', '-')}",
        watch=house.watch,
        job=job,
        wheel_folders=loose.folders,
        environment=house.environment,
        source=source,
        portion=options.portion,
    )
    around = Circumstances(wheel.name, wheel.version, options.floor)
    subject = Subject(loose.path, tests, around, bench)
    if place is not None:
        return try_on_machine(subject, place, house, again=options.again)
    report = try_on_cpus(subject, chosen_cpus(tests, options), options, house)
    return excuse_newer(report, wheel, options.floor)


def keeps_to(wheel: Wheel, floor: Floor) -> bool:
    """Say whether a wheel promises to run on a floor."""
    return any(platform in compatible_platforms(floor) for platform in wheel.platforms)


def fitting_runtime(wheel: Wheel, python: str, floor: Floor, house: House) -> Runtime:
    """Choose the oldest libraries that a wheel promises to run with, of those that there are."""
    if keeps_to(wheel, floor):
        return runtime_for(python, floor, house)
    return newest_runtime_for(python, house)


def excuse_newer(report: TestReport, wheel: Wheel, floor: Floor) -> TestReport:
    """Skip what the newest runtime is too old for, where the wheel's own tag says that it may be.

    A wheel that promises no more than a newer one is not to be called wrong for that, nor right.
    """
    if keeps_to(wheel, floor):
        return report
    excused = tuple(map(_excused, report.results))
    if excused == report.results:
        return report
    # That it could be installed proves nothing by itself.
    return replace(report, results=tuple(each for each in excused if each.check != "install"))


def _excused(result: CpuResult) -> CpuResult:
    found = NEWER.search(result.explanation)
    if result.status != "failed" or found is None:
        return result
    return replace(result, status="skipped", explanation=f"{OLDER_RUNTIME}: {found[0]}")


def choose_tests(wheel: Wheel, catalogue: Catalogue) -> tuple[Test, Recipe | None]:
    """Give the tests of the recipe of that name, or made-up ones that import what there is.

    The suite of another version is left out: its tests are of other sources.
    """
    if not catalogue.has(wheel.name):
        return made_up_tests(wheel), None
    if wheel.version in catalogue.versions(wheel.name):
        recipe = catalogue.find(wheel.name, wheel.version)
        return recipe.test, recipe
    return catalogue.find(wheel.name).test.model_copy(update={"suite": None}), None


def fitting_pythons(wheel: Wheel, versions: tuple[str, ...]) -> tuple[str, ...]:
    """Choose those Pythons, like `3.13`, that take a wheel's tags; its platform does not count."""
    return tuple(version for version in versions if wheel.tags & _tags(wheel, version))


def _tags(wheel: Wheel, version: str) -> set[object]:
    numbers = tuple(int(part) for part in version.rstrip("t").split("."))
    taken: set[object] = set(
        cpython_tags(numbers, abis=[python_tag(version)], platforms=wheel.platforms)
    )
    return taken | set(compatible_tags(numbers, python_tag(version).rstrip("t"), wheel.platforms))


def require_python(wheel: Wheel, asked: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    """Choose the Pythons to try a wheel with: of those asked for, else the newest that is known.

    Raises `UsageError` when none takes the wheel.
    """
    fitting = fitting_pythons(wheel, asked) or fitting_pythons(wheel, known)[-1:]
    if not fitting:
        raise UsageError(
            f"no known Python takes `{wheel.file_name}`",
            hint=f"there are kits for {', '.join(known)}",
        )
    return fitting
