"""Project pages of Python package indexes, over http, https or as files; JSON or HTML."""

import requests
from packaging.utils import canonicalize_name
from pypi_simple import (
    DistributionPackage,
    NoSuchProjectError,
    ProjectPage,
    PyPISimple,
    UnsupportedContentTypeError,
    UnsupportedRepoVersionError,
)

from rvbuild.fetch.address import below, local_path
from rvbuild.fetch.attempts import OriginError, as_origin_error, refuse_status, with_attempts
from rvbuild.fetch.model import Network


class NoProjectError(OriginError):
    """An index answers, and does not have the project."""


def project_page(project: str, index: str, network: Network) -> tuple[DistributionPackage, ...]:
    """List the files that `index` has of `project`; raise `OriginError` when it cannot tell."""
    name = canonicalize_name(project)
    if local_path(index) is not None:
        return _read_page(name, index)
    return with_attempts(network, lambda: _get_page(name, index, network))


def _read_page(name: str, index: str) -> tuple[DistributionPackage, ...]:
    address = below(index, f"{name}/index.html")
    path = local_path(address)
    if path is None or not path.is_file():
        raise NoProjectError("not found")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise OriginError(str(error)) from error
    return tuple(ProjectPage.from_html(name, text, base_url=address).packages)


def _get_page(name: str, index: str, network: Network) -> tuple[DistributionPackage, ...]:
    try:
        with requests.Session() as session, PyPISimple(index, session=session) as client:
            session.verify = network.verify
            page = client.get_project_page(name, timeout=network.timeout_seconds)
    except NoSuchProjectError as error:
        raise NoProjectError("404 not found") from error
    except requests.HTTPError as error:
        if error.response is not None:
            refuse_status(error.response)
        raise as_origin_error(error) from error
    except requests.RequestException as error:
        raise as_origin_error(error) from error
    except (UnsupportedContentTypeError, UnsupportedRepoVersionError, ValueError) as error:
        raise OriginError(f"not a page of a package index: {error}") from error
    return tuple(page.packages)
