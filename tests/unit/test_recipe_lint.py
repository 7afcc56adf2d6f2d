"""Advice on recipes: what other readers would misread, what is missing, what has expired."""

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from rvbuild.document import render_problem
from rvbuild.recipe.lint import lint_recipe

DATA = Path(__file__).parents[1] / "data" / "recipes"
TODAY = date(2026, 6, 1)


@pytest.mark.parametrize("name", ["advice", "mixed"])
def test_advice_has_its_words_and_places(name: str) -> None:
    path = DATA / "advice" / f"{name}.yaml"
    problems = [replace(found, file=Path(path.name)) for found in lint_recipe(path, TODAY)]
    drawn = "".join(render_problem(problem) + "\n" for problem in problems)
    assert drawn == path.with_suffix(".txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "path", sorted((DATA / "right").rglob("*.yaml")), ids=lambda path: path.stem
)
def test_good_recipes_need_no_advice(path: Path) -> None:
    assert lint_recipe(path, TODAY) == ()


def test_a_known_failure_holds_through_its_last_day() -> None:
    path = DATA / "advice" / "advice.yaml"

    def expired(today: date) -> int:
        return sum("expired" in problem.message for problem in lint_recipe(path, today))

    assert (expired(date(2025, 12, 31)), expired(TODAY), expired(date(2026, 6, 2))) == (0, 1, 2)


def test_what_cannot_be_read_is_an_error_only(tmp_path: Path) -> None:
    (found,) = lint_recipe(tmp_path / "missing.yaml")
    assert found.severity == "error"


def test_a_file_that_is_no_yaml_is_an_error_only() -> None:
    (found,) = lint_recipe(DATA / "wrong" / "tabs.yaml")
    assert (found.severity, found.line) == ("error", 4)


@pytest.mark.parametrize(
    "path", sorted((DATA / "wrong").glob("*.yaml")), ids=lambda path: path.stem
)
def test_errors_stay_errors_beside_advice(path: Path) -> None:
    assert any(problem.severity == "error" for problem in lint_recipe(path, TODAY))
