"""Checking a static index against the wheels it names. Changes nothing."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from rvbuild.errors import PublishError
from rvbuild.publish.distribution import hash_file, read_distribution
from rvbuild.publish.index import find_wheels, side_file
from rvbuild.publish.listing import read_html, read_json, read_root
from rvbuild.publish.pages import Link


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with an index: the file it is about and what is wrong."""

    file: Path
    problem: str


def verify_index(folder: Path, destination: Path | None = None) -> tuple[Finding, ...]:
    """Check every page, hash, size and METADATA file of an index, and that no wheel is left out.

    Each wheel is read and hashed anew. Raises `PublishError` when there is no index.
    """
    folder = folder.resolve()
    target = (destination or folder / "simple").resolve()
    findings: list[Finding] = []
    listed: set[str] = set()
    for project in _projects(target):
        links = _links(target / project, findings)
        listed.update(link.file_name for link in links)
        for link in links:
            findings += _check(target / project, link)
    findings += [
        Finding(wheel, "is on no page") for wheel in find_wheels(folder) if wheel.name not in listed
    ]
    return tuple(findings)


def _projects(target: Path) -> tuple[str, ...]:
    page = target / "index.json"
    try:
        return read_root(page.read_text(encoding="utf-8"))
    except OSError as error:
        raise PublishError(
            f"there is no index in `{target}`", hint="write one with `rvbuild index build`"
        ) from error


def _links(page_folder: Path, findings: list[Finding]) -> tuple[Link, ...]:
    """Read both pages of a project; what differs between them is a finding."""
    pages: list[tuple[Link, ...]] = []
    for name, read in (("index.json", read_json), ("index.html", read_html)):
        try:
            pages.append(read((page_folder / name).read_text(encoding="utf-8")))
        except (OSError, ValueError):
            findings.append(Finding(page_folder / name, "cannot be read"))
        except PublishError as error:
            findings.append(Finding(page_folder / name, error.message))
    if len(pages) == 2 and _essence(pages[0]) != _essence(pages[1]):  # noqa: PLR2004 - HTML and JSON
        findings.append(Finding(page_folder / "index.html", "does not list what `index.json` does"))
    return pages[0] if pages else ()


def _essence(links: tuple[Link, ...]) -> set[tuple[str, str, str | None, str | None, str | None]]:
    return {
        (each.file_name, each.url, each.sha256, each.requires_python, each.metadata_sha256)
        for each in links
    }


def _check(page_folder: Path, link: Link) -> list[Finding]:
    wheel = (page_folder / unquote(urlsplit(link.url).path)).resolve()
    if not wheel.is_file():
        return [Finding(wheel, "is listed and missing")]
    if hash_file(wheel) != link.sha256:
        return [Finding(wheel, "is not the file that was listed: its sha256 differs")]
    if link.size is not None and wheel.stat().st_size != link.size:
        return [Finding(wheel, "has another size than listed")]
    return _check_side_file(wheel, link)


def _check_side_file(wheel: Path, link: Link) -> list[Finding]:
    side = side_file(wheel)
    if not side.is_file():
        return [Finding(side, "is missing")]
    if hash_file(side) != link.metadata_sha256:
        return [Finding(side, "is not the file that was listed: its sha256 differs")]
    try:
        same = side.read_bytes() == read_distribution(wheel).metadata
    except PublishError as error:
        return [Finding(wheel, error.message)]
    return [] if same else [Finding(side, "is not the METADATA of its wheel")]
