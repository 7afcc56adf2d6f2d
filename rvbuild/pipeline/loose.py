"""Testing a wheel file, whoever made it. Nothing of that is stored."""

from dataclasses import dataclass
from pathlib import Path

from packaging.tags import compatible_tags, cpython_tags

from rvbuild.errors import UsageError
from rvbuild.pipeline.model import House, Options
from rvbuild.pipeline.proof import chosen_cpus, runtime_for, suite_source
from rvbuild.recipe.catalogue import Catalogue
from rvbuild.recipe.model import Recipe, Test
from rvbuild.target import python_tag
from rvbuild.testing import Bench, TestReport, check_wheel
from rvbuild.wheel import Wheel
from rvbuild.wheel.modules import top_modules


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


def prove_file(loose: LooseWheel, options: Options, house: House) -> TestReport:
    """Run a wheel file's tests on each CPU."""
    tests = loose.tests if options.suites else loose.tests.model_copy(update={"suite": None})
    label = "-".join(loose.path.name.split("-")[:2])
    job = f"{label}:{python_tag(loose.python)}"
    name = f"test {job}"
    source = None if loose.recipe is None else suite_source(loose.recipe, tests, house)
    bench = Bench(
        runtime=runtime_for(loose.python, options.floor, house),
        executor=house.executor,
        workspace=house.places.work / name.replace(" ", "-").replace(":", "-"),
        watch=house.watch,
        job=job,
        wheel_folders=loose.folders,
        environment=house.environment,
        source=source,
    )
    with house.store.lock(name):
        return check_wheel(loose.path, tests, chosen_cpus(tests, options), bench)


def choose_tests(wheel: Wheel, catalogue: Catalogue) -> tuple[Test, Recipe | None]:
    """Give the tests of the recipe of that name, or made-up ones that import what there is.

    The suite of another version is left out: its tests are of other sources.
    """
    if not catalogue.has(wheel.name):
        return Test(imports=top_modules(wheel)), None
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
