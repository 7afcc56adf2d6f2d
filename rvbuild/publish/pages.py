"""Pages of a simple index, as values and as HTML and JSON text. Reading them back is `listing`'s.

The forms are PEP 503 (HTML), 691 and 700 (JSON), 658 and 714 (metadata beside the wheel).
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

JSON_TYPE = "application/vnd.pypi.simple.v1+json"
HTML_TYPE = "application/vnd.pypi.simple.v1+html"
API_VERSION = "1.1"


@dataclass(frozen=True, slots=True)
class Link:
    """One file on a project's page; `url` may be relative to the page, `size` is in bytes."""

    file_name: str
    url: str
    sha256: str | None = None
    size: int | None = None
    requires_python: str | None = None
    metadata_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class ProjectPage:
    """The files of a project, in the order in which the page lists them."""

    project: str
    versions: tuple[str, ...]
    links: tuple[Link, ...]


def project_html(page: ProjectPage) -> str:
    """Write a project's page as HTML."""
    title = f"Links for {page.project}"
    return _html(title, (_anchor(link) for link in page.links))


def project_json(page: ProjectPage) -> str:
    """Write a project's page as JSON."""
    return _json(
        {
            "name": page.project,
            "versions": list(page.versions),
            "files": [_file(link) for link in page.links],
        }
    )


def root_html(projects: Iterable[str]) -> str:
    """Write the page that lists all projects as HTML."""
    anchors = (f'<a href="{escape(name)}/">{escape(name)}</a>' for name in projects)
    return _html("Simple index", anchors)


def root_json(projects: Iterable[str]) -> str:
    """Write the page that lists all projects as JSON."""
    return _json({"projects": [{"name": name} for name in projects]})


def _html(title: str, anchors: Iterable[str]) -> str:
    body = "".join(f"    {anchor}<br>\n" for anchor in anchors)
    return (
        "<!DOCTYPE html>\n"
        '<html lang="en">\n'
        "  <head>\n"
        '    <meta charset="utf-8">\n'
        f'    <meta name="pypi:repository-version" content="{API_VERSION}">\n'
        f"    <title>{escape(title)}</title>\n"
        "  </head>\n"
        f"  <body>\n{body}  </body>\n"
        "</html>\n"
    )


def _anchor(link: Link) -> str:
    fragment = f"#sha256={link.sha256}" if link.sha256 else ""
    attributes = [f'href="{escape(link.url + fragment)}"']
    if link.requires_python:
        attributes.append(f'data-requires-python="{escape(link.requires_python)}"')
    if link.metadata_sha256:
        # The second name is the one that installers older than PEP 714 look for.
        attributes += [
            f'data-core-metadata="sha256={link.metadata_sha256}"',
            f'data-dist-info-metadata="sha256={link.metadata_sha256}"',
        ]
    return f"<a {' '.join(attributes)}>{escape(link.file_name)}</a>"


def _file(link: Link) -> dict[str, object]:
    file: dict[str, object] = {
        "filename": link.file_name,
        "url": link.url,
        "hashes": {"sha256": link.sha256} if link.sha256 else {},
    }
    if link.size is not None:
        file["size"] = link.size
    if link.requires_python:
        file["requires-python"] = link.requires_python
    if link.metadata_sha256:
        # Only this name: some pips of 2023 fail on the older key in JSON, see PEP 714.
        file["core-metadata"] = {"sha256": link.metadata_sha256}
    return file


def _json(content: dict[str, object]) -> str:
    return json.dumps({"meta": {"api-version": API_VERSION}, **content}, indent=1) + "\n"
