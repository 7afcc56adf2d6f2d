"""The page on recipes: its examples are recipes, and it names every key and placeholder."""

import re
from pathlib import Path

import pytest

from rvbuild.recipe.lint import lint_recipe
from rvbuild.recipe.model import Frozen
from rvbuild.recipe.placeholder import PLACEHOLDERS

PAGE = (Path(__file__).parents[2] / "docs" / "recipes.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n(name: (\S+)\n.*?)```", PAGE, re.DOTALL)
RECIPE = "rvbuild.recipe"


@pytest.mark.parametrize(("text", "name"), EXAMPLES, ids=[name for _, name in EXAMPLES])
def test_examples_are_recipes_without_fault(tmp_path: Path, text: str, name: str) -> None:
    file = tmp_path / f"{name}.yaml"
    file.write_text(text, encoding="utf-8")
    assert [problem.message for problem in lint_recipe(file)] == []


def test_there_is_an_example_for_each_way_to_build() -> None:
    systems = {"autotools", "cmake", "make", "script"}
    assert systems <= {
        system for text, _ in EXAMPLES for system in re.findall(r"system: (\w+)", text)
    }


def test_every_key_is_told() -> None:
    models = [each for each in Frozen.__subclasses__() if each.__module__.startswith(RECIPE)]
    keys = {key for model in models for key in model.model_fields}
    assert [key for key in sorted(keys) if not re.search(rf"\b{key}\b", PAGE)] == []


def test_every_placeholder_is_told() -> None:
    assert [name for name in PLACEHOLDERS if f"`{{{name}}}`" not in PAGE] == []
