"""A local web server that answers as it is told to, and the values that fetching tests share."""

import gzip
import hashlib
import io
import tarfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

from rvbuild.fetch import Network, Remote, Url


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer; `declared` is the Content-Length where it is a lie, `pause_seconds` per half."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    declared: int | None = None
    pause_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Site:
    """A running server: answers by path, of which the last one repeats, and what was asked."""

    address: str
    replies: dict[str, list[Reply]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def serve(self, path: str, *replies: Reply) -> str:
        """Answer `path` with `replies` in turn; give its address."""
        self.replies[path] = list(replies)
        return self.address + path


@contextmanager
def running_site() -> Iterator[Site]:
    """Run a server on a free local port."""

    class Handler(_Handler):
        site: ClassVar[Site]

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Handler.site = Site(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield Handler.site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    site: ClassVar[Site]

    def do_GET(self) -> None:
        self.site.asked.append(self.path)
        replies = self.site.replies.get(self.path, [Reply(status=404)])
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        length = len(reply.body) if reply.declared is None else reply.declared
        if "Transfer-Encoding" not in reply.headers:
            self.send_header("Content-Length", str(length))
        self.end_headers()
        half = len(reply.body) // 2
        try:
            for part in (reply.body[:half], reply.body[half:]):
                self.wfile.write(part)
                time.sleep(reply.pause_seconds)
        except ConnectionError:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the original
        """Say nothing."""


def network_of(attempts: int = 1, timeout_seconds: float = 5.0) -> Network:
    """Give a network without indexes and mirrors that does not wait between attempts."""
    return Network((), (), attempts=attempts, timeout_seconds=timeout_seconds, backoff_seconds=0.0)


def sha256(data: bytes) -> str:
    """Hash bytes."""
    return hashlib.sha256(data).hexdigest()


def remote_of(data: bytes, *addresses: str, file_name: str = "demo-1.0.tar.gz") -> Remote:
    """Pin `data` under a file name, at some addresses."""
    return Remote(file_name, sha256(data), tuple(Url(address) for address in addresses))


def tar_of(files: dict[str, bytes]) -> bytes:
    """Make an uncompressed tar of files with fixed times."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            info.mtime = 1_700_000_000
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def gzip_of(data: bytes, level: int = 9) -> bytes:
    """Compress without a time; other levels give other bytes of the same content."""
    return gzip.compress(data, compresslevel=level, mtime=0)
