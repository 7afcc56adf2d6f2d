"""What words of a command line stand for: wheels of files and folders, recipes of the catalogue."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rvbuild.errors import MissingToolError, NothingSelectedError, UsageError

if TYPE_CHECKING:
    from rvbuild.cli.settings import Settings
    from rvbuild.recipe.catalogue import Catalogue


def existing(path: Path) -> Path:
    """Give back a path that exists; raises `UsageError` for one that does not."""
    if not path.exists():
        raise UsageError(f"`{path}` does not exist")
    return path


def select_wheels(paths: Sequence[Path]) -> tuple[Path, ...]:
    """List the wheels that paths name, each once; a folder stands for every wheel below it.

    Raises `UsageError` for a path that is no wheel and `NothingSelectedError` for folders without.
    """
    from rvbuild.publish.index import find_wheels

    found: dict[Path, None] = {}
    for path in paths:
        if existing(path).is_dir():
            found |= dict.fromkeys(find_wheels(path))
        elif path.suffix == ".whl":
            found[path] = None
        else:
            raise UsageError(f"`{path}` is not a wheel")
    if not found:
        raise NothingSelectedError("there are no wheels in what was named")
    return tuple(found)


def catalogue(chosen: "Settings") -> "Catalogue":
    """Put the recipe folders in order: those of the settings, then what comes with rvbuild.

    Raises `UsageError` for a folder of the settings that does not exist.
    """
    from rvbuild.places import builtin_folder
    from rvbuild.recipe.catalogue import Catalogue

    for folder in chosen.recipes:
        if not folder.is_dir():
            raise UsageError(
                f"recipe folder `{folder}` does not exist",
                causes=(f"it was given by {chosen.origins['recipes']}",),
            )
    try:
        builtin = [builtin_folder("recipes")]
    except MissingToolError:
        # Somebody with recipes of their own can work without ours.
        if not chosen.recipes:
            raise
        builtin = []
    return Catalogue((*chosen.recipes, *builtin))


def recipe_files(words: Sequence[str], recipes: "Catalogue") -> tuple[Path, ...]:
    """List the recipe files that words name, each once; no words stand for the whole catalogue.

    A word is a file, a folder of recipes or a name, which stands for all its versions. Raises
    `UsageError` for a word that is none of these, and `NothingSelectedError` for none at all.
    """
    found: dict[Path, None] = {}
    if not words:
        for folder in recipes.folders:
            found |= dict.fromkeys(_below(folder))
    for word in words:
        found |= dict.fromkeys(_files_of(word, recipes))
    if not found:
        raise NothingSelectedError("there are no recipes in what was named")
    return tuple(found)


def _files_of(word: str, recipes: "Catalogue") -> list[Path]:
    from rvbuild.recipe.model import normalise

    path = Path(word)
    if path.suffix in (".yaml", ".yml") or "/" in word:
        return _below(path) if existing(path).is_dir() else [path]
    if path.is_dir() and not recipes.has(word):
        return _below(path)
    name = normalise(word)
    files = [recipes.path(word)]
    for folder in recipes.folders:
        files += [path for path in [folder / f"{name}.yaml"] if path.is_file()]
        files += sorted((folder / name).glob("*.yaml"))
    return files


def _below(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.yaml"))
