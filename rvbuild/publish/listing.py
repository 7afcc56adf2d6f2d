"""Reading the pages of a simple index, whoever wrote them, into links. Knows no network."""

from html.parser import HTMLParser
from pathlib import PurePosixPath
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rvbuild.errors import PublishError
from rvbuild.publish.pages import Link


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore")

    filename: str
    url: str
    hashes: dict[str, str] = {}
    size: int | None = None
    requires_python: str | None = Field(default=None, alias="requires-python")
    core_metadata: bool | dict[str, str] = Field(default=False, alias="core-metadata")


class _Project(BaseModel):
    files: tuple[_File, ...]


class _Named(BaseModel):
    name: str


class _Root(BaseModel):
    projects: tuple[_Named, ...]


class _Anchors(HTMLParser):
    """Collects the attributes of every link, and the base that they are relative to."""

    def __init__(self) -> None:
        super().__init__()
        self.base = ""
        self.anchors: list[dict[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what a link or a base says."""
        values = {name: value or "" for name, value in attrs}
        if tag == "a" and "href" in values:
            self.anchors.append(values)
        elif tag == "base" and not self.base:
            self.base = values.get("href", "")


def read_html(text: str) -> tuple[Link, ...]:
    """Read the files that a project's HTML page lists."""
    parser = _Anchors()
    parser.feed(text)
    parser.close()
    return tuple(_from_anchor(parser.base, anchor) for anchor in parser.anchors)


def read_json(text: str) -> tuple[Link, ...]:
    """Read the files that a project's JSON page lists; raise `PublishError` for anything else."""
    try:
        project = _Project.model_validate_json(text)
    except ValidationError as error:
        raise PublishError("a project's JSON page is malformed", causes=_reasons(error)) from error
    return tuple(_from_file(file) for file in project.files)


def read_root(text: str) -> tuple[str, ...]:
    """Read the projects of a JSON root page; raise `PublishError` for another document."""
    try:
        root = _Root.model_validate_json(text)
    except ValidationError as error:
        raise PublishError("the index's JSON page is malformed", causes=_reasons(error)) from error
    return tuple(project.name for project in root.projects)


def _from_anchor(base: str, anchor: dict[str, str]) -> Link:
    url, fragment = urldefrag(urljoin(base, anchor["href"]))
    metadata = anchor.get("data-core-metadata", anchor.get("data-dist-info-metadata", ""))
    return Link(
        file_name=PurePosixPath(unquote(urlsplit(url).path)).name,
        url=url,
        sha256=_sha256(fragment),
        requires_python=anchor.get("data-requires-python"),
        metadata_sha256=_sha256(metadata),
    )


def _from_file(file: _File) -> Link:
    metadata = file.core_metadata if isinstance(file.core_metadata, dict) else {}
    return Link(
        file_name=file.filename,
        url=file.url,
        sha256=_lower(file.hashes.get("sha256")),
        size=file.size,
        requires_python=file.requires_python,
        metadata_sha256=_lower(metadata.get("sha256")),
    )


def _sha256(text: str) -> str | None:
    for part in text.split("&"):
        algorithm, _, digest = part.partition("=")
        if algorithm == "sha256" and digest:
            return digest.lower()
    return None


def _lower(digest: str | None) -> str | None:
    return digest.lower() if digest else None


def _reasons(error: ValidationError) -> tuple[str, ...]:
    return tuple(
        f"{'.'.join(str(part) for part in item['loc']) or 'document'}: {item['msg']}"
        for item in error.errors()
    )
