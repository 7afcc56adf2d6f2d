"""Where a recipe's sources come from, as values: four kinds, told apart by the key they have."""

from typing import Annotated

from pydantic import Discriminator, Field, Tag

from rvbuild.document import Flag, did_you_mean
from rvbuild.recipe.frozen import Frozen
from rvbuild.recipe.text import Address, Commit, PoolPath, RelativePath, Sha256, SourceText


class PypiSource(Frozen):
    """An sdist on the Python package index that pip is configured for."""

    pypi: SourceText = Field(description="project name, or the sdist's file name")
    sha256: Sha256


class UrlSource(Frozen):
    """A file at an address."""

    url: Address
    sha256: Sha256


class GitSource(Frozen):
    """A commit of a git repository; `sha256`, where given, is of the exported tree."""

    git: SourceText
    tag: SourceText
    commit: Commit
    submodules: Flag = False
    sha256: Sha256 | None = None


class DebianSource(Frozen):
    """A file of the Debian pool, such as `pool/main/liby/libyaml/libyaml_0.2.5.orig.tar.gz`."""

    debian: PoolPath
    sha256: Sha256


_SOURCES: dict[str, type[Frozen]] = {
    "pypi": PypiSource,
    "url": UrlSource,
    "git": GitSource,
    "debian": DebianSource,
}


def _source_kind(value: object) -> str | None:
    """Name the kind of source by the key it has, or nearly has."""
    if not isinstance(value, dict):
        return type(value).__name__
    for key, kind in _SOURCES.items():
        if key in value:
            return kind.__name__
    close = [did_you_mean(key, value) for key in _SOURCES]
    found = [kind for kind, slip in zip(_SOURCES.values(), close, strict=True) if slip]
    return found[0].__name__ if found else None


# The union's members are told apart before they are checked, so that only one of them complains.
Source = Annotated[
    Annotated[PypiSource, Tag("PypiSource")]
    | Annotated[UrlSource, Tag("UrlSource")]
    | Annotated[GitSource, Tag("GitSource")]
    | Annotated[DebianSource, Tag("DebianSource")],
    Discriminator(
        _source_kind,
        custom_error_type="fault",
        custom_error_message="a source is a mapping with one of the keys "
        "`pypi`, `url`, `git` and `debian`",
    ),
]


class ExtraSource(Frozen):
    """Something more, unpacked into a folder of the source tree."""

    into: RelativePath
    sources: tuple[Source, ...] = Field(min_length=1)
    unless: RelativePath | None = Field(
        default=None, description="a path of the main source that makes it needless"
    )
    strip: Flag = Field(default=True, description="drop the archive's single top folder")
