"""Recipes by name: from the catalogue, else a default one for a project of the Python index."""

from dataclasses import dataclass, field

from rvbuild.errors import RvbuildError, SourceError, UsageError
from rvbuild.events import Watcher
from rvbuild.fetch import Network
from rvbuild.fetch.index import SdistChoice, sdist
from rvbuild.recipe.catalogue import Catalogue
from rvbuild.recipe.model import PypiSource, Recipe, Test, normalise


@dataclass(frozen=True, slots=True)
class OpenCatalogue:
    """The catalogue, open to any name: implements `plan.Recipes`, and remembers what it made up."""

    catalogue: Catalogue
    network: Network
    watch: Watcher
    pythons: tuple[str, ...]
    made: dict[tuple[str, str | None], Recipe] = field(default_factory=dict)

    def find(self, name: str, version: str | None = None) -> Recipe:
        """Give a recipe; raise `UsageError` when neither catalogue nor index has the name."""
        normal = normalise(name)
        if self.catalogue.has(normal):
            return self.catalogue.find(normal, version)
        if (normal, version) not in self.made:
            self.made[normal, version] = self._make(normal, version)
        return self.made[normal, version]

    def _make(self, name: str, version: str | None) -> Recipe:
        try:
            chosen = sdist(name, version, self.network)
        except (UsageError, SourceError) as error:
            raise _unknown(name, self.catalogue, error) from error
        self.watch.note(
            f"{name}-{chosen.version}",
            f"no recipe for `{name}`: built from its sdist with the default one",
        )
        return default_recipe(name, chosen)


def default_recipe(name: str, chosen: SdistChoice) -> Recipe:
    """Make the recipe of a project nobody has written one for: PEP 517, and no imports known."""
    return Recipe(
        name=name,
        version=chosen.version,
        license="unknown",
        description="made up from the package index",
        sources=(PypiSource(pypi=chosen.remote.file_name, sha256=chosen.remote.sha256),),
        test=Test(),
    )


def _unknown(name: str, catalogue: Catalogue, error: RvbuildError) -> RvbuildError:
    """Say it as the kind of failure that it is, with the near names of the catalogue."""
    hint = None
    try:
        catalogue.path(name)
    except UsageError as unknown:
        hint = unknown.hint
    causes = [error.message, *error.causes]
    message = f"nothing to build `{name}` from"
    return type(error)(message, causes=causes, hint=hint or error.hint)
