"""`rvbuild patches`: the patches of recipes and what upstream knows of them."""

from typing import TYPE_CHECKING, Annotated

import typer

from rvbuild.cli.invocation import JsonOption, emit, emit_json, settings, tell
from rvbuild.cli.selection import catalogue
from rvbuild.cli.usage import command_group
from rvbuild.errors import RvbuildError, SourceError

if TYPE_CHECKING:
    from rvbuild.recipe.catalogue import Catalogue
    from rvbuild.recipe.model import Recipe

SCHEMA = "rvbuild.patches/1"

app = command_group("The patches of recipes, and what upstream knows of them.")


@app.callback()
def begin() -> None:
    """Keep `status` a command of its own, as it is the only one."""


@app.command("status")
def show_status(
    context: typer.Context,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Recipes; none means all.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List patches and what upstream knows of them. One that does not say fails."""
    from rvbuild.cli.report import table

    recipes = catalogue(settings(context))
    problems: list[str] = []
    rows = [
        (recipe.label, patch.value, _status(recipe, patch.value, recipes, problems))
        for recipe in (recipes.find(name) for name in names or recipes.names())
        for patch in recipe.patches
    ]
    if as_json:
        keys = ("recipe", "patch", "status")
        listed = [dict(zip(keys, row, strict=True)) for row in rows]
        emit_json({"schema": SCHEMA, "patches": listed})
    elif rows:
        emit(table([("recipe", "patch", "upstream"), *rows]))
    else:
        tell(context, "no recipe has a patch")
    if problems:
        raise SourceError("some patches do not say what upstream knows of them", causes=problems)


def _status(recipe: "Recipe", patch: str, recipes: "Catalogue", problems: list[str]) -> str:
    from rvbuild.sources.upstream import require_upstream_status

    try:
        return require_upstream_status(recipes.patch_path(recipe, patch))
    except RvbuildError as error:
        problems.append(error.message)
        return "unknown"
