from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from rvbuild import plan as planning
from rvbuild.errors import UsageError
from rvbuild.plan import Change, Inputs, Job, Request, make_plan
from rvbuild.plan.key import Situation, inputs_of
from rvbuild.recipe.model import Build, Mode, Recipe
from rvbuild.target import Floor, cpus

DATA = Path(__file__).parents[1] / "data" / "plans"
SHA = "9" * 64
INPUTS = Inputs(
    toolchain="clang-22",
    sysroot="glibc-2.31",
    emulator="qemu-10",
    tools="make-4",
    environment="path",
    pythons={"3.12": "kit-3.12", "3.13": "kit-3.13"},
    patches={("a", "fix.patch"): "patch-1", ("openblas", "vlen.patch"): "patch-2"},
)
LIBRARY = {
    "name": "z",
    "version": "1",
    "kind": "library",
    "license": "MIT",
    "sources": [{"pypi": "z", "sha256": "7" * 64}],
}
WHEEL: dict[str, object] = {
    "name": "a",
    "version": "1",
    "license": "MIT",
    "sources": [{"url": "https://example.org/a.tar.gz", "sha256": "8" * 64}],
    "patches": ["fix.patch"],
    "requires": {"libraries": ["z"], "build": ["cython"]},
    "build": {"options": ["-Dx=1"], "environment": {"B": "2", "A": "1"}, "cflags": ["-O2"]},
}


class Two:
    """The recipe under test and the library below it."""

    def __init__(self, wheel: Recipe, library: Recipe) -> None:
        self.by_name = {"a": wheel, "z": library}

    def find(self, name: str, version: str | None = None) -> Recipe:
        assert version is None
        return self.by_name[name]


def job(
    wheel: dict[str, object] | None = None,
    library: dict[str, object] | None = None,
    inputs: Inputs = INPUTS,
    request: Request | None = None,
) -> Job:
    shelf = Two(
        Recipe.model_validate({**WHEEL, **(wheel or {})}),
        Recipe.model_validate({**LIBRARY, **(library or {})}),
    )
    return make_plan(request or asked(), shelf, inputs).jobs[-1]


def asked(python: str = "3.13", floor: Floor | None = None, mode: Mode = "cross") -> Request:
    return Request(("a",), (python,), floor or Floor(2, 31), mode)


def built(**fields: object) -> dict[str, object]:
    return {"build": fields}


def test_a_key_is_a_sha256_and_the_same_every_time() -> None:
    assert len(job().key) == 64
    assert job().key == job().key == planning.key_of(job().inputs)


def test_the_order_of_inputs_does_not_matter() -> None:
    inputs = job().inputs
    assert planning.key_of(dict(reversed(list(inputs.items())))) == job().key


def test_inputs_are_sorted_and_named_for_people() -> None:
    names = list(job().inputs)
    assert names == sorted(names)
    assert job().inputs["source[0].sha256"] == "8" * 64
    assert job().inputs["patch fix.patch"] == "patch-1"
    assert job().inputs["python 3.13"] == "kit-3.13"
    assert job().inputs["recipe.build.options"] == '["-Dx=1"]'
    assert {"toolchain", "sysroot", "emulator", "schema", "needs z-1:library"} <= set(names)


@pytest.mark.parametrize(
    "change",
    [
        {"description": "new words"},
        {"license": "BSD-3-Clause"},
        {"python": ">=3.11"},
        {"resources": {"cores": 8, "memory_mb": 9000, "compiler_mb": 1400}},
        {"expect": {"files": ["a/*.so"]}},
        {"required_paths": ["setup.py"]},
        {"checks": [{"run": ["true"], "prints": "", "reason": "why"}]},
        {"test": {"cpus": ["rva23"], "imports": ["a"]}},
        {"sources": [{"url": "https://mirror.example.org/other.tar.gz", "sha256": "8" * 64}]},
        {"sources": [{"pypi": "a", "sha256": "8" * 64}]},
        {
            "build": {
                "options": ["-Dx=1", {"value": "-Dold=1", "when": {"python": "<3.13"}}],
                "environment": {"A": "1", "B": "2"},
                "cflags": ["-O2"],
            }
        },
        {"patches": ["fix.patch", {"value": "new.patch", "when": {"floor": ">=2.39"}}]},
        {"requires": {"libraries": ["z"], "build": [{"value": "cython", "when": {}}]}},
    ],
)
def test_what_does_not_reach_the_result_keeps_the_key(change: dict[str, object]) -> None:
    assert planning.explain(job(change), job().inputs) == ()
    assert job(change).key == job().key


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"version": "2"}, "recipe.version"),
        ({"sources": [{"pypi": "a", "sha256": SHA}]}, "source[0].sha256"),
        ({"only": ["openmp"]}, "source.only"),
        (
            {"extra_sources": [{"into": "x", "sources": [{"pypi": "x", "sha256": SHA}]}]},
            "extra_source[0].into",
        ),
        ({"extra_sources": [{"into": "x", "sources": [{"pypi": "x", "sha256": SHA}]}]}, "sbom"),
        ({"requires": {"libraries": ["z"], "build": ["cython>=3"]}}, "recipe.requires.build"),
        ({"requires": {"libraries": ["z"], "tools": ["bison"]}}, "recipe.requires.tools"),
        ({"requires": {"build": ["cython"]}}, "needs z-1:library"),
        ({"patches": []}, "patch fix.patch"),
        (built(system="meson"), "recipe.build.system"),
        (built(directory="python"), "recipe.build.directory"),
        (built(options=["-Dx=2"]), "recipe.build.options"),
        (built(targets=["libs"]), "recipe.build.targets"),
        (built(install=["install-libs"]), "recipe.build.install"),
        (built(environment={"A": "2"}), "recipe.build.environment"),
        (built(cflags=["-O3"]), "recipe.build.cflags"),
        (built(cxxflags=["-O3"]), "recipe.build.cxxflags"),
        (built(ldflags=["-s"]), "recipe.build.ldflags"),
        (built(before=[{"run": ["true"]}]), "recipe.build.before"),
        (built(script=[{"run": ["true"]}]), "recipe.build.script"),
        (built(split_symbols="true"), "recipe.build.split_symbols"),
    ],
)
def test_what_reaches_the_result_changes_the_key(change: dict[str, object], name: str) -> None:
    changed = job(change)
    assert changed.key != job().key
    assert name in {each.name for each in planning.explain(changed, job().inputs)}


def test_every_field_of_a_build_is_tried_above() -> None:
    tried = {"system", "directory", "options", "targets", "install", "environment"}
    tried |= {"cflags", "cxxflags", "ldflags", "before", "script", "split_symbols"}
    assert set(Build.model_fields) == tried


def test_every_field_of_a_recipe_was_thought_of() -> None:
    # A field that is new here has to be put into the key, or be left out for a reason.
    in_key = {"name", "version", "kind", "sources", "only", "extra_sources", "patches"}
    in_key |= {"requires", "build"}
    # In the keys of what is built above it.
    in_key |= {"stand_in"}
    left_out = {"license", "description", "python", "required_paths", "resources", "expect", "test"}
    left_out |= {"checks"}
    assert set(Recipe.model_fields) == in_key | left_out


@pytest.mark.parametrize(
    ("inputs", "name"),
    [
        (replace(INPUTS, toolchain="clang-23"), "toolchain"),
        (replace(INPUTS, sysroot="other"), "sysroot"),
        (replace(INPUTS, emulator="other"), "emulator"),
        (replace(INPUTS, tools="other"), "tools"),
        (replace(INPUTS, environment="other"), "environment"),
        (replace(INPUTS, pythons={"3.13": "other"}), "python 3.13"),
        (replace(INPUTS, patches={("a", "fix.patch"): "other"}), "patch fix.patch"),
    ],
)
def test_what_lies_around_a_job_changes_the_key(inputs: Inputs, name: str) -> None:
    changed = job(inputs=inputs)
    assert changed.key != job().key
    assert name in {change.name for change in planning.explain(changed, job().inputs)}


def test_what_stands_in_for_a_wheel_counts_for_what_is_built_against_it() -> None:
    inputs = replace(INPUTS, stand_ins={"t": "one", "u": "two"})
    situation = Situation("3.13", Floor(2, 31), "cross")
    above = Recipe.model_validate({**WHEEL, "requires": {"target": ["t"]}})
    itself = Recipe.model_validate({**WHEEL, "name": "t", "patches": []})
    found = inputs_of(above, situation, inputs, {})
    assert {name: found[name] for name in found if "stand-in" in name} == {"stand-in t": "one"}
    assert not any("stand-in" in name for name in inputs_of(itself, situation, inputs, {}))


def test_another_python_does_not_matter_to_a_job() -> None:
    other = replace(INPUTS, pythons={**INPUTS.pythons, "3.12": "other"})
    assert job(inputs=other).key == job().key


def test_floor_mode_and_python_change_the_key() -> None:
    requests = [asked(), asked("3.12"), asked(floor=Floor(2, 39)), asked(mode="native")]
    assert len({job(request=request).key for request in requests}) == len(requests)


def test_a_native_build_reads_no_emulator() -> None:
    other = replace(INPUTS, emulator="other")
    native = asked(mode="native")
    assert job(request=native).key == job(inputs=other, request=native).key


def test_a_change_below_changes_the_job_above() -> None:
    below = job(library={"build": {"cflags": ["-O3"]}})
    (change,) = planning.explain(below, job().inputs)
    assert change.name == "needs z-1:library"


def test_conditions_are_settled_before_hashing() -> None:
    def entry(value: str, **when: str) -> dict[str, object]:
        return {"value": value, "when": when}

    options = [
        entry("new", python=">=3.13"),
        entry("cross", mode="cross"),
        entry("far", floor=">2.31"),
    ]
    assert job(built(options=options)).inputs["recipe.build.options"] == '["new", "cross"]'
    old = job(built(options=options), request=asked("3.12", Floor(2, 39), "native"))
    assert old.inputs["recipe.build.options"] == '["far"]'


def test_patches_count_in_their_order() -> None:
    patches = {("a", "fix.patch"): "patch-1", ("a", "b.patch"): "patch-3"}
    inputs = replace(INPUTS, patches=patches)
    one = job({"patches": ["fix.patch", "b.patch"]}, inputs=inputs)
    assert job({"patches": ["b.patch", "fix.patch"]}, inputs=inputs).key != one.key


def test_a_patch_that_does_not_exist_is_named() -> None:
    with pytest.raises(UsageError) as caught:
        job({"patches": ["gone.patch"]})
    assert caught.value.message == "patch `gone.patch` of `a` does not exist"
    assert caught.value.hint == "put it into `patches/a/`"


def test_a_git_source_is_its_commit() -> None:
    source = {"git": "https://example.org/a.git", "tag": "v1", "commit": "a" * 40}
    one = job({"sources": [source]})
    assert one.inputs["source[0].commit"] == "a" * 40
    assert job({"sources": [{**source, "tag": "moved"}]}).key == one.key
    assert job({"sources": [{**source, "submodules": True}]}).key != one.key


def test_explain_tells_new_gone_and_changed_inputs() -> None:
    before = {**job().inputs, "sysroot": "old", "gone": "x"}
    del before["toolchain"]
    assert planning.explain(job(), before) == (
        Change("gone", "x", None),
        Change("sysroot", "old", "glibc-2.31"),
        Change("toolchain", None, "clang-22"),
    )


def test_without_an_earlier_run_everything_is_new() -> None:
    changes = planning.explain(job(), None)
    assert {change.name: change.after for change in changes} == dict(job().inputs)
    assert all(change.before is None for change in changes)


def test_a_test_key_follows_wheel_tests_cpus_and_runtime() -> None:
    chosen = (cpus()["rv64gc"], cpus()["vlen128"])
    tested = job({"test": {"imports": ["a"]}})
    expecting = job({"test": {"imports": ["a"]}, "expect": {"files": ["*.so"]}})
    reckoned = replace(chosen[0], qemu="rv64,v=true")
    keys = [
        planning.test_key(tested, SHA, chosen, "runtime"),
        planning.test_key(tested, "8" * 64, chosen, "runtime"),
        planning.test_key(tested, SHA, chosen[:1], "runtime"),
        planning.test_key(tested, SHA, (reckoned, chosen[1]), "runtime"),
        planning.test_key(tested, SHA, chosen, "other"),
        planning.test_key(job(), SHA, chosen, "runtime"),
        planning.test_key(expecting, SHA, chosen, "runtime"),
    ]
    assert len(set(keys)) == len(keys)
    assert keys[0] == planning.test_key(tested, SHA, chosen, "runtime")


def test_known_keys_stay_known() -> None:
    # Whoever changes these makes every result in every store useless: that needs a new schema.
    entries = yaml.safe_load((DATA / "recipes.yaml").read_text(encoding="utf-8"))
    recipe = Recipe.model_validate({"name": "openblas", **entries["openblas"]})
    shelf = Two(recipe, recipe)
    shelf.by_name["openblas"] = recipe
    request = Request(("openblas",), (), Floor(2, 31))
    (made,) = make_plan(request, shelf, INPUTS).jobs
    lines = [f"{name} = {value}" for name, value in made.inputs.items()]
    golden = (DATA / "openblas-inputs.txt").read_text(encoding="utf-8")
    assert "\n".join([*lines, f"key = {made.key}", ""]) == golden
