"""Whether a pinned file could be fetched, found out without fetching it."""

from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime

import requests

from rvbuild.errors import SourceError
from rvbuild.fetch.address import local_path, shown
from rvbuild.fetch.attempts import OriginError, as_origin_error, refuse_status
from rvbuild.fetch.model import Network, Remote
from rvbuild.fetch.origins import Absent, candidates


@dataclass(frozen=True, slots=True)
class Found:
    """The address that has a file, without its secrets, and the server's clock where it told."""

    address: str
    server_time: datetime | None = None


def locate(remote: Remote, network: Network) -> Found:
    """Find the first address that has a file; raise `SourceError` with what each one said."""
    causes: list[str] = []
    for candidate in candidates(remote, network):
        if isinstance(candidate, Absent):
            causes.append(candidate.reason)
            continue
        try:
            return Found(shown(candidate), _ask(candidate, network))
        except OriginError as error:
            causes.append(f"{shown(candidate)}: {error}")
    raise SourceError(f"`{remote.file_name}` cannot be reached", causes=causes)


def _ask(address: str, network: Network) -> datetime | None:
    path = local_path(address)
    if path is not None:
        if not path.is_file():
            raise OriginError("not found")
        return None
    try:
        response = requests.head(
            address,
            timeout=network.timeout_seconds,
            allow_redirects=True,
            verify=network.verify,
        )
    except requests.RequestException as error:
        raise as_origin_error(error) from error
    refuse_status(response)
    return _moment(response.headers.get("Date", ""))


def _moment(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else None
