"""What a wheel is put together from, as CycloneDX inside it (PEP 770): sources, libraries, grafts.

No dates and no serial numbers, so that the same wheel has the same bytes.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import quote, urlsplit

from rvbuild.plan import Job
from rvbuild.recipe.model import DebianSource, GitSource, PypiSource, Recipe, Source
from rvbuild.sources.remote import fill_version

SPECIFICATION = "1.6"
Component = dict[str, object]

_FILE = re.compile(
    r"(?P<name>.+?)[-_]v?(?P<version>\d.*?)(?:\.(?:orig|debian))?\.(?:tar\.\w+|zip|tgz)"
)


@dataclass(frozen=True, slots=True)
class Bill:
    """What is known of a wheel: its job, the sha256s its source tree was made of, what is below.

    `prefix` is where the libraries below lie; what is grafted from elsewhere is of the `sysroot`.
    """

    job: Job
    used: frozenset[str]
    libraries: tuple[Job, ...]
    prefix: Path
    sysroot: str


def is_composed(recipe: Recipe) -> bool:
    """Say whether a recipe's wheel is made of several projects' sources, and has to tell them."""
    return recipe.kind == "wheel" and bool(recipe.extra_sources)


def sbom_text(bill: Bill, grafted: Mapping[str, Path]) -> str:
    """Write the document of a wheel; `grafted` are the files of its grafted libraries by name."""
    recipe = bill.job.recipe
    purl = f"pkg:pypi/{quote(recipe.name)}@{quote(recipe.version)}"
    main = _component(recipe.name, recipe.version, purl)
    parts = [*_sources(recipe, bill.used), *_libraries(bill), *_grafts(bill, grafted)]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": SPECIFICATION,
        "version": 1,
        "metadata": {"component": main, "tools": {"components": [_tool()]}},
        "components": parts,
        "dependencies": [{"ref": purl, "dependsOn": [part["bom-ref"] for part in parts]}],
    }
    return json.dumps(document, indent=1) + "\n"


def _tool() -> Component:
    return {"type": "application", "name": "rvbuild"}


def _component(name: str, version: str, reference: str) -> Component:
    found: Component = {"type": "library", "bom-ref": reference, "name": name}
    found |= {"version": version} if version else {}
    return found | ({"purl": reference} if reference.startswith("pkg:") else {})


def _sources(recipe: Recipe, used: frozenset[str]) -> Iterator[Component]:
    """Tell the sources a tree was made of: the main one, and each extra one with its folder."""
    yield from _source(recipe.sources, recipe.version, used, "source")
    for extra in recipe.extra_sources:
        told = list(_source(extra.sources, recipe.version, used, extra.into))
        if told:
            yield from told
        else:
            # The main source had it already; it does not say of which version.
            words = f"in `{extra.into}` of the source"
            name = PurePosixPath(extra.into).name
            yield _component(name, "", extra.into) | {"description": words}


def _source(
    alternatives: Iterable[Source], version: str, used: frozenset[str], place: str
) -> Iterator[Component]:
    filled = (fill_version(each, version) for each in alternatives)
    taken = (each for each in filled if each.sha256 is None or each.sha256 in used)
    for source in list(taken)[:1]:
        yield _described(source, version) | {"description": place}


def _described(source: Source, version: str) -> Component:
    name, its_version = _named(source, version)
    known = f"{quote(name)}@{quote(its_version)}"
    if isinstance(source, GitSource):
        address = quote(f"git+{source.git}@{source.commit}", safe="")
        return _component(name, its_version, f"pkg:generic/{known}?vcs_url={address}")
    if isinstance(source, DebianSource):
        found = _component(name, its_version, f"pkg:deb/debian/{known}?arch=source")
    elif isinstance(source, PypiSource):
        found = _component(name, its_version, f"pkg:pypi/{known}")
    else:
        address = quote(source.url, safe="")
        found = _component(name, its_version, f"pkg:generic/{known}?download_url={address}")
    return found | {"hashes": [{"alg": "SHA-256", "content": source.sha256}]}


def _named(source: Source, version: str) -> tuple[str, str]:
    if isinstance(source, GitSource):
        return PurePosixPath(urlsplit(source.git).path).name.removesuffix(".git"), source.tag
    if isinstance(source, DebianSource):
        text = source.debian
    else:
        text = source.pypi if isinstance(source, PypiSource) else urlsplit(source.url).path
    name = PurePosixPath(text).name
    told = _FILE.fullmatch(name)
    return (told["name"], told["version"]) if told else (name, version)


def _libraries(bill: Bill) -> Iterator[Component]:
    """Tell the libraries of our own recipes, each with what it was made of in turn."""
    for job in bill.libraries:
        recipe = job.recipe
        extra = (each for part in recipe.extra_sources for each in part.sources)
        # Which of the alternatives was taken, the library's own record has.
        parts = [
            _described(fill_version(each, recipe.version), recipe.version)
            for each in (*recipe.sources, *extra)
        ]
        reference = f"pkg:generic/{quote(recipe.name)}@{quote(recipe.version)}"
        known = _component(recipe.name, recipe.version, reference)
        known["properties"] = [{"name": "rvbuild:key", "value": job.key}]
        yield known | {"components": parts}


def _grafts(bill: Bill, grafted: Mapping[str, Path]) -> Iterator[Component]:
    """Tell the grafted libraries that none of our recipes built."""
    for name, path in grafted.items():
        if path.is_relative_to(bill.prefix):
            continue
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        found = _component(name, "", f"{bill.sysroot}/{name}")
        found |= {"description": f"of the sysroot {bill.sysroot}"}
        yield found | {"hashes": [{"alg": "SHA-256", "content": digest}]}
