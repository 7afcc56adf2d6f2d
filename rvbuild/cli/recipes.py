"""`rvbuild recipe`: checking recipes, beginning new ones, listing them, their schema."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rvbuild.cli.invocation import (
    JsonOption,
    emit,
    emit_json,
    invocation,
    network,
    settings,
    tell,
    watcher,
)
from rvbuild.cli.selection import catalogue, recipe_files
from rvbuild.cli.usage import command_group
from rvbuild.errors import Problem, RecipeError, UsageError

if TYPE_CHECKING:
    from rvbuild.cli.settings import Settings

LINT_SCHEMA = "rvbuild.lint/1"
LIST_SCHEMA = "rvbuild.recipes/1"

app = command_group("Check, begin and list recipes.")


@app.command("lint")
def lint_recipes(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH|NAME", help="Files, folders or names; none means all."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check recipes: errors fail, warnings are advice. With --json prints all of them."""
    from rvbuild.recipe.lint import lint_recipe

    files = recipe_files(words or (), catalogue(settings(context)))
    problems = [problem for file in files for problem in lint_recipe(file)]
    errors = [problem for problem in problems if problem.severity == "error"]
    if as_json:
        emit_json({"schema": LINT_SCHEMA, "problems": [_as_json(each) for each in problems]})
    else:
        _draw_advice(context, problems)
    if errors:
        raise RecipeError(f"{len(errors)} errors in {_recipes(files)}", () if as_json else errors)
    tell(context, f"no errors in {_recipes(files)}")


@app.command("schema")
def show_schema() -> None:
    """Print the JSON Schema by which editors check recipes."""
    from rvbuild.recipe.schema import schema_text

    emit(schema_text().rstrip("\n"))


@app.command("list")
def list_recipes(context: typer.Context, as_json: JsonOption = False) -> None:
    """List the recipes: name, version, kind, description."""
    from rvbuild.cli.report import table

    recipes = catalogue(settings(context))
    found = []
    problems: list[Problem] = []
    for name in recipes.names():
        try:
            found.append(recipes.find(name))
        except RecipeError as error:
            problems += error.problems
    rows = [(one.name, one.version, one.kind, one.description) for one in found]
    if as_json:
        keys = ("name", "version", "kind", "description")
        listed = [dict(zip(keys, row, strict=True)) for row in rows]
        emit_json({"schema": LIST_SCHEMA, "recipes": listed})
    elif rows:
        emit(table(rows))
    if problems:
        raise RecipeError(f"{len(recipes.names()) - len(found)} recipes cannot be read", problems)


@app.command("new")
def begin_new_recipe(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The project's name.")],
    version: Annotated[
        str | None, typer.Option(metavar="VERSION", help="Not the newest release but this one.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The recipe folder to put it into.")
    ] = None,
) -> None:
    """Begin a recipe from a project's sdist on the package index. Prints the new file."""
    from rvbuild.cli.release import find_release
    from rvbuild.recipe.begin import begin_recipe
    from rvbuild.recipe.model import normalise

    chosen = settings(context)
    path = _new_folder(chosen, folder) / f"{normalise(name)}.yaml"
    if path.exists():
        raise UsageError(f"`{path}` exists already", hint="name another folder with `--folder`")
    with watcher(context, chosen) as watch:
        release = find_release(name, version, network(chosen), chosen.places, watch)
    text = begin_recipe(release)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise UsageError(f"`{path}` cannot be written") from error
    emit(str(path))


def _new_folder(chosen: "Settings", folder: Path | None) -> Path:
    if folder is not None:
        return folder
    return chosen.recipes[0] if chosen.recipes else Path("recipes")


def _draw_advice(context: typer.Context, problems: list[Problem]) -> None:
    from rvbuild.document import render_problem

    if invocation(context).quiet:
        return
    for problem in problems:
        if problem.severity != "error":
            typer.echo(render_problem(problem), err=True)


def _as_json(problem: Problem) -> dict[str, str | int | None]:
    return {
        "file": str(problem.file),
        "line": problem.line,
        "column": problem.column,
        "severity": problem.severity,
        "message": problem.message,
        "hint": problem.hint,
    }


def _recipes(files: tuple[Path, ...]) -> str:
    return f"{len(files)} recipe{'' if len(files) == 1 else 's'}"
