"""Pin files: which packages, by sha256, a tree is made of. Written by `tools/pin.py`."""

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from rvbuild.document import fault, read_document, validate
from rvbuild.errors import MissingToolError
from rvbuild.fetch import DebianFile, Origin, PypiFile, Remote
from rvbuild.recipe.text import PoolPath, Sha256


class Pin(BaseModel):
    """One package: a file of the Debian pool, or a wheel of a project on PyPI."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    debian: PoolPath | None = None
    pypi: str | None = None
    file: str | None = None
    sha256: Sha256

    @model_validator(mode="after")
    def _check_origin(self) -> Self:
        if (self.debian is None) == (self.pypi is None):
            raise fault("a pin names one of `debian` and `pypi`")
        if (self.pypi is None) != (self.file is None):
            raise fault("`pypi` and `file` go together: a project and its wheel")
        return self

    @property
    def remote(self) -> Remote:
        """The file to fetch."""
        origin: Origin
        if self.debian is not None:
            origin = DebianFile(self.debian)
            return Remote(self.debian.rsplit("/", 1)[-1], self.sha256, (origin,))
        name = self.file or ""
        origin = PypiFile(self.pypi or "", name)
        return Remote(name, self.sha256, (origin,))


class PinnedTree(BaseModel):
    """The packages of one tree, and glob patterns of the members that are unpacked from them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    pins: tuple[Pin, ...] = Field(min_length=1)


class PinFile(BaseModel):
    """All trees of a pin file by name, which ends in `-x86_64` and the like where hosts differ."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    description: str = ""
    trees: dict[str, PinnedTree]

    def tree(self, name: str) -> PinnedTree:
        """Give a tree; raise `MissingToolError` when there is none, as on an unknown host."""
        if name not in self.trees:
            raise MissingToolError(
                f"there is no `{name}` among the pins of `{self.name}`",
                hint=f"it is pinned for {', '.join(sorted(self.trees))}",
            )
        return self.trees[name]


def load_pins(path: Path) -> PinFile:
    """Read a pin file; raise `RecipeError` with every problem in it."""
    return validate(read_document(path), PinFile)
