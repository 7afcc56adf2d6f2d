import json
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from rvbuild.errors import UsageError
from rvbuild.plan import (
    Inputs,
    Plan,
    Request,
    State,
    graph_dot,
    graph_text,
    make_plan,
    plan_as_json,
)
from rvbuild.recipe.model import Recipe
from rvbuild.target import Floor

DATA = Path(__file__).parents[1] / "data" / "plans"


class Shelf:
    """The recipes of the test data."""

    def __init__(self) -> None:
        entries = yaml.safe_load((DATA / "recipes.yaml").read_text(encoding="utf-8"))
        self.by_name = {
            name: Recipe.model_validate({"name": name, **entry}) for name, entry in entries.items()
        }

    def find(self, name: str, version: str | None = None) -> Recipe:
        if name not in self.by_name or version not in {None, self.by_name[name].version}:
            raise UsageError(f"there is no recipe `{name}`")
        return self.by_name[name]


def plan(*names: str) -> Plan:
    inputs = Inputs(
        toolchain="clang-22",
        sysroot="glibc-2.31",
        pythons={"3.13": "kit-3.13", "3.14": "kit-3.14"},
        patches={("openblas", "vlen.patch"): "patch-1"},
    )
    return make_plan(Request(names, ("3.13", "3.14"), Floor(2, 31)), Shelf(), inputs)


def golden(name: str) -> str:
    return (DATA / name).read_text(encoding="utf-8")


def test_the_tree_shows_every_job_and_draws_each_part_once() -> None:
    assert graph_text(plan("scipy", "numpy", "pyyaml")) == golden("tree.txt")


def test_a_part_that_was_drawn_is_only_named() -> None:
    single = make_plan(
        Request(("scipy",), ("3.13",), Floor(2, 31)),
        Shelf(),
        Inputs("t", "s", pythons={"3.13": "k"}, patches={("openblas", "vlen.patch"): "p"}),
    )
    shelf = Shelf()
    user = {"name": "pandas", "version": "3", "license": "BSD-3-Clause"}
    user |= {"sources": [{"pypi": "pandas", "sha256": "6" * 64}]}  # type: ignore[dict-item]
    pandas = Recipe.model_validate({**user, "requires": {"target": ["numpy", "scipy"]}})
    shelf.by_name["pandas"] = pandas
    made = make_plan(
        Request(("pandas",), ("3.13",), Floor(2, 31)),
        shelf,
        Inputs("t", "s", pythons={"3.13": "k"}, patches={("openblas", "vlen.patch"): "p"}),
    )
    assert "numpy-2.5.5:cp313 (see above)" in graph_text(made)
    assert "(see above)" not in graph_text(single)


def test_dot_marks_what_was_asked_for() -> None:
    assert graph_dot(plan("scipy", "pyyaml")) == golden("graph.dot")


@pytest.mark.skipif(shutil.which("dot") is None, reason="graphviz is not here")
def test_dot_is_understood_by_graphviz() -> None:
    text = graph_dot(plan("scipy"))
    subprocess.run(["dot", "-Tsvg"], input=text, text=True, capture_output=True, check=True)


def test_json_carries_inputs_and_states() -> None:
    states = {
        "libyaml-0.2.5:library": State("cached", expected_seconds=4.5),
        "pyyaml-6.0.3:cp313": State("resumes", "build", 60.0),
    }
    text = json.dumps(plan_as_json(plan("pyyaml"), states), indent=2) + "\n"
    assert text == golden("plan.json")


def test_json_tells_what_was_skipped_and_why() -> None:
    inputs = Inputs("t", "s", pythons={"3.13": "k"}, patches={("openblas", "vlen.patch"): "p"})
    made = make_plan(Request(("scipy",), ("3.11", "3.13"), Floor(2, 31)), Shelf(), inputs)
    reason = "`numpy` builds for Python `>=3.12`"
    expected = [{"recipe": "scipy", "python": "3.11", "reason": reason}]
    assert plan_as_json(made, {})["skipped"] == expected
