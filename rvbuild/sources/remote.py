"""From what a recipe says of a file to what `fetch` is asked for."""

from pathlib import PurePosixPath
from typing import assert_never
from urllib.parse import unquote, urlsplit

from packaging.utils import InvalidSdistFilename, canonicalize_name, parse_sdist_filename
from packaging.version import InvalidVersion

from rvbuild.errors import SourceError
from rvbuild.fetch import DebianFile, PypiFile, Remote, Url
from rvbuild.recipe.model import DebianSource, GitSource, PypiSource, Source, UrlSource

FileSource = PypiSource | UrlSource | DebianSource
_SDIST_ENDINGS = (".tar.gz", ".zip", ".tgz", ".tar.bz2", ".tar.xz")


def fill_version(source: Source, version: str) -> Source:
    """Put the recipe's version in the place of `{version}`."""
    match source:
        case PypiSource():
            return source.model_copy(update={"pypi": _filled(source.pypi, version)})
        case UrlSource():
            return source.model_copy(update={"url": _filled(source.url, version)})
        case DebianSource():
            return source.model_copy(update={"debian": _filled(source.debian, version)})
        case GitSource():
            names = {"git": _filled(source.git, version), "tag": _filled(source.tag, version)}
            return source.model_copy(update=names)
        case _:
            assert_never(source)


def remote_of(source: FileSource, version: str) -> Remote:
    """Say what to fetch; `version` is that of an sdist named by its project alone.

    Raises `SourceError` for an sdist's file name that is none.
    """
    match source:
        case PypiSource():
            project, file_name = _sdist(source.pypi, version)
            return Remote(file_name, source.sha256, (PypiFile(project, file_name),))
        case UrlSource():
            file_name = unquote(PurePosixPath(urlsplit(source.url).path).name).replace("/", "_")
            return Remote(file_name or "source", source.sha256, (Url(source.url),))
        case DebianSource():
            file_name = PurePosixPath(source.debian).name
            return Remote(file_name, source.sha256, (DebianFile(source.debian),))
        case _:
            assert_never(source)


def _filled(text: str, version: str) -> str:
    return text.replace("{version}", version)


def _sdist(text: str, version: str) -> tuple[str, str]:
    """Give project and file name; of a project, the file is found by its sha256 if not by name."""
    if not text.endswith(_SDIST_ENDINGS):
        return text, f"{canonicalize_name(text).replace('-', '_')}-{version}.tar.gz"
    if not text.endswith((".tar.gz", ".zip")):
        return text.rpartition("-")[0], text
    try:
        return parse_sdist_filename(text)[0], text
    except (InvalidSdistFilename, InvalidVersion) as error:
        raise SourceError(f"`{text}` is not the file name of an sdist") from error
