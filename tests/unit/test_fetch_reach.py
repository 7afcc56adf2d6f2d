"""Whether a pinned file could be fetched: asked of each place in turn, and not fetched."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from rvbuild.errors import SourceError
from rvbuild.fetch import DebianFile, Network, Remote, Url
from rvbuild.fetch.reach import locate

REMOTE = Remote("a.deb", "0" * 64, (DebianFile("pool/a.deb"),))


@pytest.fixture
def asked() -> list[str]:
    return []


@pytest.fixture
def mirror(tmp_path: Path, asked: list[str]) -> Iterator[str]:
    (tmp_path / "pool").mkdir()
    (tmp_path / "pool/a.deb").write_bytes(b"a package")

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            asked.append(f"{self.command} {self.path}")

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(tmp_path)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_first_place_that_has_it_is_named(mirror: str, asked: list[str]) -> None:
    network = Network((), (f"{mirror}/nowhere", mirror.replace("//", "//me:secret@")))

    found = locate(REMOTE, network)

    assert found.address == f"{mirror}/pool/a.deb"
    assert found.server_time is not None
    assert abs((found.server_time - datetime.now(UTC)).total_seconds()) < 60
    assert all(line.startswith("HEAD ") for line in asked)


def test_every_reason_is_told(mirror: str, tmp_path: Path) -> None:
    network = Network((), (f"{mirror}/nowhere",), offline_folder=tmp_path / "pool/..")

    with pytest.raises(SourceError, match="cannot be reached") as caught:
        locate(Remote("b.deb", "0" * 64, (DebianFile("pool/b.deb"),)), network)

    assert len(caught.value.causes) == 2
    assert "404" in caught.value.causes[1]


def test_files_need_no_server(tmp_path: Path) -> None:
    (tmp_path / "a.deb").write_bytes(b"")
    there = Remote("a.deb", "0" * 64, (Url((tmp_path / "a.deb").as_uri()),))
    gone = Remote("b.deb", "0" * 64, (Url((tmp_path / "b.deb").as_uri()),))

    assert locate(there, Network((), ())).server_time is None
    with pytest.raises(SourceError) as caught:
        locate(gone, Network((), ()))
    assert "not found" in caught.value.causes[0]
