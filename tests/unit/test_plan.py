from pathlib import Path

import pytest
import yaml

from rvbuild.errors import MissingToolError, NothingSelectedError, UsageError
from rvbuild.plan import Inputs, Plan, Request, make_plan
from rvbuild.recipe.model import Mode, Recipe
from rvbuild.target import Floor

DATA = Path(__file__).parents[1] / "data" / "plans"
INPUTS = Inputs(
    toolchain="clang-22",
    sysroot="glibc-2.31",
    emulator="qemu-10",
    pythons={version: f"kit-{version}" for version in ("3.11", "3.12", "3.13", "3.13t", "3.14")},
    patches={("openblas", "vlen.patch"): "patch-1"},
)


class Shelf:
    """Recipes in memory; of a doubled name the first is the default."""

    def __init__(self, *recipes: Recipe) -> None:
        self.recipes = recipes

    def find(self, name: str, version: str | None = None) -> Recipe:
        for recipe in self.recipes:
            if recipe.name == name and version in {None, recipe.version}:
                return recipe
        raise UsageError(f"there is no recipe `{name}`", hint="did you mean `numpy`?")


def sample() -> dict[str, Recipe]:
    entries = yaml.safe_load((DATA / "recipes.yaml").read_text(encoding="utf-8"))
    return {name: Recipe.model_validate({"name": name, **entries[name]}) for name in entries}


def make(name: str, **fields: object) -> Recipe:
    source = {"pypi": name, "sha256": "0" * 64}
    data = {"name": name, "version": "1", "license": "MIT", "sources": [source], **fields}
    return Recipe.model_validate(data)


def plan(*names: str, pythons: tuple[str, ...] = ("3.13",), mode: Mode = "cross") -> Plan:
    request = Request(names, pythons, Floor(2, 31), mode)
    return make_plan(request, Shelf(*sample().values()), INPUTS)


def plan_of(*recipes: Recipe, names: tuple[str, ...] = ()) -> Plan:
    request = Request(names or (recipes[0].name,), ("3.13",), Floor(2, 31))
    return make_plan(request, Shelf(*recipes), INPUTS)


def ids(made: Plan) -> list[str]:
    return [job.id for job in made.jobs]


def test_a_wheel_has_one_job_for_each_python_and_one_for_each_library() -> None:
    made = plan("pyyaml", pythons=("3.14", "3.13t", "3.13"))
    assert ids(made) == [
        "libyaml-0.2.5:library",
        "pyyaml-6.0.3:cp313",
        "pyyaml-6.0.3:cp313t",
        "pyyaml-6.0.3:cp314",
    ]
    assert made.requested == ("pyyaml-6.0.3:cp313", "pyyaml-6.0.3:cp313t", "pyyaml-6.0.3:cp314")


def test_jobs_stand_above_all_they_need() -> None:
    made = plan("scipy")
    assert [(job.id, job.level, job.needs) for job in made.jobs] == [
        ("openblas-0.3.34:library", 0, ()),
        ("numpy-2.5.5:cp313", 1, ("openblas-0.3.34:library",)),
        ("scipy-1.18.0:cp313", 2, ("numpy-2.5.5:cp313", "openblas-0.3.34:library")),
    ]


def test_the_order_of_names_and_pythons_does_not_matter() -> None:
    one = plan("scipy", "pyyaml", pythons=("3.13", "3.12"))
    other = plan("PyYAML", "SciPy", "scipy", pythons=("3.12", "3.13", "3.12"))
    assert one.jobs == other.jobs


def test_every_job_comes_after_what_it_needs() -> None:
    seen: set[str] = set()
    for job in plan("scipy", "pyyaml", "numpy", pythons=("3.12", "3.13", "3.14")).jobs:
        assert seen.issuperset(job.needs)
        seen.add(job.id)


def test_a_python_that_something_below_refuses_is_skipped_with_the_reason() -> None:
    made = plan("scipy", pythons=("3.11", "3.12"))
    assert made.requested == ("scipy-1.18.0:cp312",)
    (skip,) = made.skipped
    assert (skip.name, skip.python) == ("scipy", "3.11")
    assert skip.reason == "`numpy` builds for Python `>=3.12`"
    assert not [job for job in made.jobs if job.python == "3.11"]


def test_no_python_left_is_nothing_selected_with_every_reason() -> None:
    with pytest.raises(NothingSelectedError) as caught:
        plan("numpy", pythons=("3.10", "3.11"))
    assert caught.value.exit_code == 3
    assert caught.value.causes == (
        "Python 3.10: `numpy` builds for Python `>=3.12`",
        "Python 3.11: `numpy` builds for Python `>=3.12`",
    )


def test_a_wheel_without_any_python_is_nothing_selected() -> None:
    with pytest.raises(NothingSelectedError, match="no Python was selected"):
        plan("numpy", pythons=())


def test_a_library_needs_no_python() -> None:
    (job,) = plan("libyaml", pythons=()).jobs
    assert (job.id, job.python) == ("libyaml-0.2.5:library", None)


def test_a_free_threaded_python_counts_as_its_release() -> None:
    made = plan("numpy", pythons=("3.13t",))
    assert ids(made)[-1] == "numpy-2.5.5:cp313t"
    assert '"cython>=3.1"' in made.jobs[-1].inputs["recipe.requires.build"]


@pytest.mark.parametrize("python", ["3.1.2", "313", "py313", "3.13 ", "2.7", ""])
def test_a_malformed_python_is_a_usage_error(python: str) -> None:
    with pytest.raises(UsageError, match="is not a Python version"):
        plan("numpy", pythons=(python,))


def test_pythons_are_sorted_as_numbers() -> None:
    made = plan_of(make("a"))
    assert made.requested == ("a-1:cp313",)
    request = Request(("a",), ("3.10", "3.9"), Floor(2, 31))
    inputs = Inputs("t", "s", pythons={"3.9": "a", "3.10": "b"})
    assert make_plan(request, Shelf(make("a")), inputs).requested == ("a-1:cp39", "a-1:cp310")


def test_a_version_can_be_chosen() -> None:
    recipes = (make("a", version="2"), make("a", version="1"))
    assert ids(plan_of(*recipes, names=("a",))) == ["a-2:cp313"]
    assert ids(plan_of(*recipes, names=("a==1", "a"))) == ["a-1:cp313", "a-2:cp313"]


@pytest.mark.parametrize("name", ["a>=1", "a==", "==1", "", "a b", "../a"])
def test_what_is_no_name_is_a_usage_error(name: str) -> None:
    with pytest.raises(UsageError, match="is not the name of a recipe"):
        plan(name)


def test_each_recipe_is_asked_for_once() -> None:
    class Counting(Shelf):
        asked: tuple[str, ...] = ()

        def find(self, name: str, version: str | None = None) -> Recipe:
            self.asked += (name,)
            return super().find(name, version)

    shelf = Counting(*sample().values())
    make_plan(Request(("scipy", "numpy"), ("3.12", "3.13"), Floor(2, 31)), shelf, INPUTS)
    assert sorted(shelf.asked) == ["numpy", "openblas", "scipy"]


def test_an_unknown_name_keeps_the_words_of_the_catalogue() -> None:
    with pytest.raises(UsageError) as caught:
        plan("numpi")
    assert caught.value.message == "there is no recipe `numpi`"
    assert caught.value.hint == "did you mean `numpy`?"


def test_an_unknown_requirement_says_who_needs_it() -> None:
    with pytest.raises(UsageError) as caught:
        plan_of(make("a", requires={"libraries": ["zlip"]}))
    assert caught.value.message == "there is no recipe `zlip`"
    assert caught.value.causes == ("`a` needs it",)


def test_a_circle_is_named_from_its_first_name() -> None:
    with pytest.raises(UsageError) as caught:
        plan_of(
            make("c", requires={"target": ["a"]}),
            make("a", requires={"target": ["b"]}),
            make("b", requires={"target": ["c"]}),
        )
    assert caught.value.message == (
        "recipes need each other in a circle: "
        "`a-1:cp313` needs `b-1:cp313` needs `c-1:cp313` needs `a-1:cp313`"
    )


def test_a_recipe_that_needs_itself_is_a_circle() -> None:
    with pytest.raises(UsageError, match="`a-1:cp313` needs `a-1:cp313`"):
        plan_of(make("a", requires={"target": ["a"]}))


def test_a_wheel_among_libraries_is_refused_and_the_other_way_round() -> None:
    with pytest.raises(UsageError) as caught:
        plan_of(make("a", requires={"libraries": ["b"]}), make("b"))
    assert caught.value.hint == "list it under `requires.target`"
    with pytest.raises(UsageError) as caught:
        plan_of(make("a", requires={"target": ["b"]}), make("b", kind="library"))
    assert caught.value.hint == "list it under `requires.libraries`"


def test_a_library_cannot_need_wheels() -> None:
    with pytest.raises(UsageError, match="asks for wheels"):
        plan_of(make("a", kind="library", requires={"target": ["b"]}), make("b"))


def test_a_python_that_no_kit_gives_is_a_missing_tool() -> None:
    with pytest.raises(MissingToolError, match=r"there is no Python 3\.15"):
        plan("pyyaml", pythons=("3.15",))
