from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from rvbuild.errors import PublishError
from rvbuild.publish.index import build_index
from rvbuild.publish.pages import HTML_TYPE, JSON_TYPE
from rvbuild.publish.serve import serve
from tests.publish_samples import make_wheel

WHEEL = "zed-2.0-py3-none-any.whl"


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    folder = tmp_path / "dist"
    make_wheel(folder, WHEEL)
    build_index(folder)
    (tmp_path / "secret").write_text("secret")
    (folder / "out").symlink_to(tmp_path / "secret")
    (folder / ".hidden").write_text("hidden")
    with serve(folder) as address:
        yield address


def _get(address: str, path: str, accept: str = "", method: str = "GET") -> HTTPResponse:
    connection = HTTPConnection(urlsplit(address).netloc, timeout=10)
    # Neither http.client nor this test may tidy the path up.
    connection.putrequest(method, path, skip_host=False, skip_accept_encoding=True)
    if accept:
        connection.putheader("Accept", accept)
    connection.endheaders()
    return connection.getresponse()


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        ("", "text/html; charset=utf-8"),
        ("text/html", "text/html; charset=utf-8"),
        ("*/*", "text/html; charset=utf-8"),
        (JSON_TYPE, JSON_TYPE),
        (f"{JSON_TYPE}, {HTML_TYPE};q=0.2, text/html;q=0.01", JSON_TYPE),
        (f"{JSON_TYPE};q=0.1, text/html;q=0.9", "text/html; charset=utf-8"),
        (f"{JSON_TYPE};q=0, */*;q=0.1", "text/html; charset=utf-8"),
        (f"{JSON_TYPE};q=word", "text/html; charset=utf-8"),
        (HTML_TYPE, HTML_TYPE),
        ("application/vnd.pypi.simple.latest+json", JSON_TYPE),
    ],
)
def test_the_page_is_what_was_asked_for(address: str, accept: str, content_type: str) -> None:
    answer = _get(address, "/simple/zed/", accept)

    assert answer.status == 200
    assert answer.headers["Content-Type"] == content_type
    assert answer.headers["Vary"] == "Accept"
    assert answer.read().startswith(b"{" if "json" in content_type else b"<!DOCTYPE html>")


@pytest.mark.parametrize(
    "path",
    [
        "/../secret",
        "/%2e%2e/secret",
        "/simple/..%2f..%2f../secret",
        "/out",
        "/.hidden",
        "/nothing",
        "/%00",
        "/" + WHEEL + "/",
        "/simple/zed/nothing/",
        "//" + "x" * 300,
    ],
)
def test_nothing_outside_is_given(address: str, path: str) -> None:
    answer = _get(address, path)

    assert answer.status == 404
    assert answer.read() == b""


def test_a_folder_without_slash_is_sent_on(address: str) -> None:
    answer = _get(address, "/simple/zed")

    assert (answer.status, answer.headers["Location"]) == (301, "/simple/zed/")


def test_sending_on_stays_on_this_host(address: str) -> None:
    answer = _get(address, "//simple//zed")

    assert answer.status == 301
    assert answer.headers["Location"].startswith("/simple/")


def test_the_root_lists_no_files(address: str) -> None:
    assert _get(address, "/").status == 404


def test_head_has_the_length_and_no_body(address: str, tmp_path: Path) -> None:
    answer = _get(address, f"/{WHEEL}", method="HEAD")

    assert answer.headers["Content-Length"] == str((tmp_path / "dist" / WHEEL).stat().st_size)
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.read() == b""


def test_a_port_that_is_taken_is_a_clear_error(address: str, tmp_path: Path) -> None:
    port = urlsplit(address).port
    assert port is not None
    with pytest.raises(PublishError, match="cannot listen"), serve(tmp_path, port=port):
        pass


def test_a_missing_folder_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(PublishError, match="not a folder"), serve(tmp_path / "none"):
        pass


def test_the_port_is_free_again_afterwards(tmp_path: Path) -> None:
    with serve(tmp_path) as address:
        port = urlsplit(address).port
    assert port is not None
    with serve(tmp_path, port=port) as again:
        assert again == address
