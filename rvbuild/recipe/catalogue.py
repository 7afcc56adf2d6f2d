"""The folders that recipes and their patches are found in, searched in order.

A recipe is `NAME.yaml`; further versions are `NAME/VERSION.yaml`. In sibling folders lie patches
(`patches/NAME/`), what a library's tests are made of (`checks/NAME/`), and what stands in for a
wheel where others are built (`stand-ins/NAME/`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.version import InvalidVersion, Version

from rvbuild.document import nearest
from rvbuild.errors import UsageError
from rvbuild.recipe.model import Recipe, normalise
from rvbuild.recipe.read import read_recipe


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Recipe folders; where two have the same name, the first one's is taken."""

    folders: tuple[Path, ...]

    def names(self) -> tuple[str, ...]:
        """List the names of all recipes, sorted."""
        found = {path.stem for folder in self.folders for path in folder.glob("*.yaml")}
        found |= {path.parent.name for folder in self.folders for path in folder.glob("*/*.yaml")}
        return tuple(sorted(found))

    def has(self, name: str) -> bool:
        """Say whether there is a recipe of that name."""
        return any(_files(folder, normalise(name)) for folder in self.folders)

    def versions(self, name: str) -> tuple[str, ...]:
        """List the versions of a name, the default first; raises as `find` for unknown names."""
        versions = [read_recipe(path).version for path in self._all_files(name)]
        return tuple(dict.fromkeys(versions))

    def path(self, name: str, version: str | None = None) -> Path:
        """Give the file of a recipe; raises as `find`."""
        files = self._all_files(name)
        if version is None:
            return files[0]
        for file in files:
            if _is_version(file, version):
                return file
        known = ", ".join(f"`{known}`" for known in self.versions(name))
        raise UsageError(
            f"there is no recipe of `{normalise(name)}` in version `{version}`",
            hint=f"there is {known}",
        )

    def find(self, name: str, version: str | None = None) -> Recipe:
        """Read a recipe: in the named version, or `NAME.yaml`, or else the highest version.

        Raises `UsageError` with the nearest three names, or the versions that there are;
        `RecipeError` when the file cannot be used.
        """
        return read_recipe(self.path(name, version))

    def patch_path(self, recipe: Recipe, file_name: str) -> Path:
        """Give a patch of a recipe; raises `UsageError` when no folder has it."""
        return self._beside("patches", "patch", recipe, file_name)

    def check_path(self, recipe: Recipe, file_name: str) -> Path:
        """Give a file that a library's tests are made of; raises `UsageError` as `patch_path`."""
        return self._beside("checks", "test file", recipe, file_name)

    def stand_in_path(self, recipe: Recipe) -> Path:
        """Give the folder that stands in for a recipe's package; raises `UsageError`."""
        folders = self._siblings("stand-ins", recipe)
        for folder in folders:
            if folder.is_dir():
                return folder
        raise UsageError(
            f"what stands in for `{recipe.name}` is missing",
            causes=[f"there is no `{folder}`" for folder in folders],
        )

    def _beside(self, kind: str, word: str, recipe: Recipe, file_name: str) -> Path:
        folders = self._siblings(kind, recipe)
        for folder in folders:
            if (folder / file_name).is_file():
                return folder / file_name
        there = [path.name for folder in folders for path in folder.glob("*")]
        raise UsageError(
            f"{word} `{file_name}` of `{recipe.name}` is missing",
            causes=[f"it is not in `{folder}`" for folder in folders],
            hint=_nearest(file_name, there),
        )

    def _siblings(self, kind: str, recipe: Recipe) -> list[Path]:
        return [folder.parent / kind / recipe.name for folder in self.folders]

    def _all_files(self, name: str) -> tuple[Path, ...]:
        normal = normalise(name)
        files = tuple(file for folder in self.folders for file in _files(folder, normal))
        if not files:
            raise UsageError(
                f"there is no recipe of `{normal}`", hint=_nearest(normal, self.names())
            )
        return files


def _files(folder: Path, name: str) -> tuple[Path, ...]:
    """List a name's files in one folder, the default first, then from the highest version down."""
    if not name or "/" in name:
        return ()
    return tuple(_own_file(folder, name)) + tuple(
        sorted((folder / name).glob("*.yaml"), key=_version_order, reverse=True)
    )


def _own_file(folder: Path, name: str) -> Iterator[Path]:
    file = folder / f"{name}.yaml"
    if file.is_file():
        yield file


def _version_order(file: Path) -> tuple[bool, Version, str]:
    try:
        return True, Version(file.stem), file.stem
    except InvalidVersion:
        return False, Version("0"), file.stem


def _is_version(file: Path, version: str) -> bool:
    # `NAME/VERSION.yaml` says its version itself; only `NAME.yaml` has to be opened.
    if file.stem == version:
        return True
    return read_recipe(file).version == version


def _nearest(word: str, words: tuple[str, ...] | list[str]) -> str | None:
    close = ", ".join(f"`{name}`" for name in nearest(word, words))
    return f"the nearest are {close}" if close else None
