"""The job of a library's test programs: what it stands on, and what its key follows."""

from rvbuild.plan import Job, explain
from rvbuild.plan.programs import library_tests, makes_tests
from tests.build_samples import job_of, recipe_of

PROGRAMS: dict[str, list[object]] = {
    "files": ["dot.c"],
    "tools": ["gfortran"],
    "build": [{"run": ["cc", "{checks}/dot.c"]}],
    "run": [{"name": "dot", "command": ["dot"]}],
}


def library(**programs: object) -> Job:
    fields = {
        "kind": "library",
        "build": {"system": "make", "options": ["X=1"]},
        "requires": {"libraries": ["below"], "tools": ["cc"]},
        "expect": {"files": ["lib/libdemo.so"]},
        "test": {"programs": {**PROGRAMS, **programs}},
    }
    return job_of(recipe_of("demo", **fields), None)


def made(job: Job, digest: str = "d") -> Job:
    tests = library_tests(job, {"dot.c": digest})
    assert tests is not None
    return tests


def test_it_is_a_library_above_the_library() -> None:
    job = library()
    tests = made(job)
    assert tests.id == "demo-1.0:tests"
    assert makes_tests(tests)
    assert not makes_tests(job)
    assert (tests.needs, tests.level) == ((job.id,), 1)
    recipe = tests.recipe
    assert recipe.requires.libraries == ("demo",)
    assert recipe.requires.tools == ("gfortran",)
    assert (recipe.build.system, recipe.build.options) == ("script", ())
    assert recipe.build.script[0].run == ("cc", "{checks}/dot.c")
    assert recipe.expect.files == ()


def test_its_key_follows_the_library_and_how_it_is_made() -> None:
    job = library()
    before = made(job)
    assert made(library()).key == before.key
    other = job_of(job.recipe, None, key="0" * 64)
    changed = (made(other), made(job, "e"), made(library(build=[{"run": ["true"]}])))
    assert len({before.key, *(each.key for each in changed)}) == 4
    assert [change.name for change in explain(changed[1], before.inputs)] == ["check dot.c"]


def test_it_may_do_without_the_sources_of_the_library() -> None:
    recipe = made(library(source="false")).recipe
    assert (recipe.sources, recipe.patches, recipe.extra_sources) == ((), (), ())


def test_which_programs_are_run_changes_no_key() -> None:
    more = [*PROGRAMS["run"], {"name": "more", "command": ["dot", "64"]}]
    assert made(library(run=more)).key == made(library()).key


def test_what_has_no_programs_has_no_such_job() -> None:
    assert library_tests(job_of(recipe_of("demo", kind="library"), None), {}) is None
    assert library_tests(job_of(recipe_of("demo")), {}) is None
