"""Serving a folder with a static simple index over HTTP, for a desk, a test or a small network."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath
from shutil import copyfileobj
from threading import Thread
from urllib.parse import quote, unquote, urlsplit

from rvbuild.errors import PublishError
from rvbuild.publish.pages import HTML_TYPE, JSON_TYPE

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".metadata": "text/plain; charset=utf-8",
}
_IDLE_SECONDS = 60


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a request gets: a file with its type, or a status alone."""

    status: HTTPStatus
    file: Path | None = None
    content_type: str = "text/plain"
    location: str | None = None


@contextmanager
def serve(folder: Path, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Serve what lies below `folder` until the block ends; give the address, slash at its end.

    Port 0 takes a free one. Raises `PublishError` when the folder is not there or the address
    cannot be had. Links that lead out of the folder are not followed.
    """
    root = folder.resolve()
    if not root.is_dir():
        raise PublishError(f"`{folder}` is not a folder")
    try:
        server = ThreadingHTTPServer((host, port), partial(_Handler, root))
    except (OSError, OverflowError) as error:
        raise PublishError(f"cannot listen on `{host}:{port}`", causes=(str(error),)) from error
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://{host}:{server.server_address[1]}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    """Answers GET and HEAD; `http.server` wants a subclass."""

    protocol_version = "HTTP/1.1"
    timeout = _IDLE_SECONDS

    def __init__(self, root: Path, *arguments: object) -> None:
        self.root = root
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """Send a file; a client that goes away meanwhile is nobody's error."""
        with suppress(ConnectionError):
            self._send(with_body=True)

    def do_HEAD(self) -> None:
        """Send what GET would, without the body."""
        self._send(with_body=False)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        """Say nothing; a caller that wants to know asks a proxy."""

    def _send(self, *, with_body: bool) -> None:
        answer = _answer(self.root, self.path, self.headers.get("Accept", ""))
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Vary", "Accept")
        if answer.location is not None:
            self.send_header("Location", answer.location)
        if answer.file is None:
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        with answer.file.open("rb") as stream:
            self.send_header("Content-Length", str(answer.file.stat().st_size))
            self.end_headers()
            if with_body:
                copyfileobj(stream, self.wfile)


def _answer(root: Path, target: str, accept: str) -> _Answer:
    path = unquote(urlsplit(target).path)
    place = _place(root, path)
    if place is None:
        return _Answer(HTTPStatus.NOT_FOUND)
    if place.is_dir() and path.endswith("/"):
        return _page(place, accept)
    if place.is_dir():
        # One slash in front, since two would name another host.
        location = f"/{quote(path.strip('/'))}/"
        return _Answer(HTTPStatus.MOVED_PERMANENTLY, location=location)
    if path.endswith("/"):
        return _Answer(HTTPStatus.NOT_FOUND)
    return _Answer(HTTPStatus.OK, place, _file_type(place))


def _place(root: Path, path: str) -> Path | None:
    """Find what a path names, None when that is nothing, hidden or outside of `root`."""
    names = [name for name in path.split("/") if name]
    if "\0" in path or any(name.startswith(".") for name in names):
        return None
    try:
        place = root.joinpath(*names).resolve()
        exists = place.is_dir() or place.is_file()
    except (OSError, RuntimeError):  # a name that is too long, a link that leads to itself
        return None
    return place if exists and place.is_relative_to(root) else None


def _page(folder: Path, accept: str) -> _Answer:
    """Choose between the pages of a folder by what the client would rather have."""
    quality = _qualities(accept)
    html = max(quality.get(name, 0.0) for name in (HTML_TYPE, "text/html", "*/*"))
    page, content_type = folder / "index.html", "text/html; charset=utf-8"
    if quality.get(JSON_TYPE, 0.0) >= html and quality.get(JSON_TYPE, 0.0) > 0:
        page, content_type = folder / "index.json", JSON_TYPE
    elif quality.get(HTML_TYPE, 0.0) > quality.get("text/html", 0.0):
        content_type = HTML_TYPE
    return (
        _Answer(HTTPStatus.OK, page, content_type)
        if page.is_file()
        else _Answer(HTTPStatus.NOT_FOUND)
    )


def _qualities(accept: str) -> dict[str, float]:
    """Read an Accept header into media types and how much each is wanted, 0 to 1."""
    qualities: dict[str, float] = {}
    for entry in accept.split(","):
        name, *parameters = (part.strip().lower() for part in entry.split(";"))
        quality = next((part[2:] for part in parameters if part.startswith("q=")), "1")
        try:
            qualities[name] = float(quality)
        except ValueError:
            qualities[name] = 0.0
    # The unversioned `latest` is the JSON of today.
    latest = qualities.get("application/vnd.pypi.simple.latest+json", 0.0)
    qualities[JSON_TYPE] = max(qualities.get(JSON_TYPE, 0.0), latest)
    return qualities


def _file_type(file: Path) -> str:
    return _TYPES.get(PurePosixPath(file.name).suffix, "application/octet-stream")
