"""HTTP to an index: sending a wheel with twine, getting a page, waiting between attempts."""

import hashlib
import io
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from logging import NullHandler, getLogger
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from twine.package import PackageFile
from twine.repository import Repository

from rvbuild.publish.credentials import Credentials

NO_ANSWER = 0
_REDIRECTS = 5
# pypiserver and the public index say that it exists, GitLab that its name is taken.
_DUPLICATE = re.compile(r"already (exists?|(been )?taken)", re.IGNORECASE)
_EXCERPT = 300
_CHUNK = 1 << 20
_FILE_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to try: attempts for each wheel, and seconds to wait between them and for an answer.

    A pause doubles with each attempt; what the server asks for by `Retry-After` is honoured up to
    `longest_pause_seconds`.
    """

    attempts: int = 4
    pause_seconds: float = 2.0
    longest_pause_seconds: float = 300.0
    timeout_seconds: float = 300.0

    def wait(self, attempt: int, asked_seconds: float | None) -> None:
        """Sleep after the attempt of that number, counted from 0."""
        pause = self.pause_seconds * 2**attempt if asked_seconds is None else asked_seconds
        time.sleep(min(pause, self.longest_pause_seconds))


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: `status` is 0 when nothing did; `text` is short and free of passwords."""

    status: int
    text: str
    retry_after_seconds: float | None = None

    @property
    def accepted(self) -> bool:
        """The server says that it took the file."""
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES

    @property
    def undecided(self) -> bool:
        """The file may or may not have been stored, and another attempt makes sense."""
        return (
            self.status in {NO_ANSWER, HTTPStatus.TOO_MANY_REQUESTS}
            or self.status >= HTTPStatus.INTERNAL_SERVER_ERROR
        )

    @property
    def duplicate(self) -> bool:
        """The server says that it has a file of that name."""
        return self.status == HTTPStatus.CONFLICT or (
            self.status == HTTPStatus.BAD_REQUEST and _DUPLICATE.search(self.text) is not None
        )

    def __str__(self) -> str:
        status = f"answered {self.status}" if self.status else "gave no answer"
        return f"{status}: {self.text}" if self.text else status


class _Patient(HTTPAdapter):
    """Gives every request a time limit; requests has no other place for a default."""

    def __init__(self, timeout_seconds: float) -> None:
        super().__init__()
        self.timeout_seconds = timeout_seconds

    def send(self, request: requests.PreparedRequest, **options: object) -> requests.Response:  # type: ignore[override]
        """Send with the time limit."""
        options["timeout"] = self.timeout_seconds
        return super().send(request, **options)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Connection:
    """An open way to one index."""

    repository: Repository
    credentials: Credentials | None

    def send(self, package: PackageFile) -> Answer:
        """Upload a file once; whatever happens comes back as an answer."""
        try:
            with _quiet():
                response = self.repository.upload(package, max_redirects=1)
        except (requests.exceptions.SSLError, requests.exceptions.InvalidURL) as error:
            return Answer(HTTPStatus.BAD_REQUEST, self.clean(str(error)))
        except requests.RequestException as error:
            return Answer(NO_ANSWER, self.clean(str(error)))
        text = response.text or response.reason
        if response.is_redirect:
            text = f"it sends uploads on to {response.headers['Location']}"
        asked = _retry_after(response.headers.get("Retry-After", ""))
        return Answer(response.status_code, self.clean(text), asked)

    def get(self, url: str, accept: str) -> requests.Response | None:
        """Get a page; None when the server sends us on to another host.

        Some private indexes send on to a public one what they do not have, and that one's files are
        not this index's. Raises `requests`' errors.
        """
        headers = {"Accept": accept, "Cache-Control": "no-cache"}
        for _ in range(_REDIRECTS):
            response = self.repository.session.get(url, headers=headers, allow_redirects=False)
            if not response.is_redirect:
                return response
            following = urljoin(url, response.headers["Location"])
            if not _same_place(url, following):
                return None
            url = following
        raise requests.TooManyRedirects(f"more than {_REDIRECTS} redirects")

    def hash_file(self, url: str, page: str) -> str:
        """Compute the sha256 of a file that the page at `page` names; raises `requests`' errors.

        Credentials are sent only to where the page itself came from.
        """
        with requests.Session() as stranger:
            session = self.repository.session if _same_place(page, url) else stranger
            digest = hashlib.sha256()
            with session.get(url, stream=True, timeout=_FILE_SECONDS) as response:
                response.raise_for_status()
                for chunk in response.iter_content(_CHUNK):
                    digest.update(chunk)
            return digest.hexdigest()

    def clean(self, text: str) -> str:
        """Make a server's or a library's text one short line without markup or password."""
        plain = " ".join(
            re.sub(r"<(style|script|title).*?</\1>|<[^>]*>", " ", text, flags=re.DOTALL).split()
        )
        masked = plain if self.credentials is None else self.credentials.mask(plain)
        return masked[:_EXCERPT]


@contextmanager
def connect(url: str, credentials: Credentials | None, patience: Patience) -> Iterator[Connection]:
    """Open the way to an index and close it at the end."""
    user, password = (None, None)
    if credentials is not None:
        user, password = _wire(credentials.username), _wire(credentials.password)
    repository = Repository(url, user, password, disable_progress_bar=True)
    for scheme in ("http://", "https://"):
        repository.session.mount(scheme, _Patient(patience.timeout_seconds))
    try:
        yield Connection(repository, credentials)
    finally:
        repository.close()


def _same_place(url: str, following: str) -> bool:
    """Say whether both are one server, or the second the encrypted side of the first's host."""
    here, there = urlsplit(url), urlsplit(following)
    if (here.scheme, here.netloc) == (there.scheme, there.netloc):
        return True
    return here.hostname == there.hostname and (here.scheme, there.scheme) == ("http", "https")


def _wire(text: str) -> str:
    # requests encodes as latin-1, and its failure to do so would show the password.
    return text.encode().decode("latin-1")


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep twine from writing to the terminal: it prints what it uploads and logs each 5xx."""
    silence = NullHandler()
    log = getLogger("twine")
    log.addHandler(silence)
    try:
        with redirect_stdout(io.StringIO()):
            yield
    finally:
        log.removeHandler(silence)


def _retry_after(header: str) -> float | None:
    """Read seconds or a date into seconds from now."""
    if header.isdigit():
        return float(header)
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
