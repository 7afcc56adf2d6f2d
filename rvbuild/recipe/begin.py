"""The first text of a recipe, to be completed by hand."""

from dataclasses import dataclass

import yaml

from rvbuild.document import meaning_elsewhere
from rvbuild.recipe.text import normalise

_UNFOLDED = 1_000_000


@dataclass(frozen=True, slots=True)
class Release:
    """What an index tells of one release: its sdist, its metadata and what its build requires."""

    name: str
    version: str
    file_name: str
    sha256: str
    license: str = ""
    description: str = ""
    build_requires: tuple[str, ...] = ()


def begin_recipe(release: Release) -> str:
    """Write a recipe that `read_recipe` takes; a licence that is unknown becomes `NOASSERTION`."""
    name = normalise(release.name)
    file_name = release.file_name.replace(f"-{release.version}.", "-{version}.")
    description = " ".join(release.description.split())
    lines = [
        f"name: {_scalar(name)}",
        f"version: {_quoted(release.version)}",
        f"license: {_scalar(' '.join(release.license.split()) or 'NOASSERTION')}",
        f"description: {_scalar(description)}" if description else "",
        "sources:",
        f"  - pypi: {_scalar(file_name)}",
        f"    sha256: {_quoted(release.sha256)}",
        *_requires(release.build_requires),
        f"test: {{imports: [{_scalar(name.replace('-', '_'))}]}}",
    ]
    return "".join(f"{line}\n" for line in lines if line)


def _requires(requirements: tuple[str, ...]) -> list[str]:
    if not requirements:
        return []
    entries = [f"    - {_quoted(requirement)}" for requirement in requirements]
    return ["requires:", "  build:", *entries]


def _scalar(text: str) -> str:
    """Write text plain where every YAML reader takes it as text, quoted elsewhere."""
    plain = yaml.safe_dump(text, allow_unicode=True, width=_UNFOLDED).splitlines()[0]
    if plain == text and meaning_elsewhere(text) is None and not set(text) & set("[]{},"):
        return text
    return _quoted(text)


def _quoted(text: str) -> str:
    dumped = yaml.safe_dump(text, default_style='"', allow_unicode=True, width=_UNFOLDED)
    return dumped.strip()
