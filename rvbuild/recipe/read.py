"""Reading a recipe from its file, with every problem at once and in its place."""

from pathlib import Path

from rvbuild.document import inspect_document, validate
from rvbuild.recipe.model import Recipe
from rvbuild.recipe.rules import rule_problems


def read_recipe(path: Path) -> Recipe:
    """Read the recipe `NAME.yaml` or `NAME/VERSION.yaml`.

    Raises `RecipeError` with all problems: those of YAML, those of single values, and those of
    values that do not go together.
    """
    document = inspect_document(path)
    return validate(document, Recipe, tuple(rule_problems(document)))
