"""One address to one file on disk: the bytes as the server holds them, counted and hashed."""

import hashlib
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import requests
import urllib3

from rvbuild.fetch.address import local_path
from rvbuild.fetch.attempts import OriginError, PassingError, as_origin_error, refuse_status
from rvbuild.fetch.cache import write_chunk
from rvbuild.fetch.model import Network

CHUNK_BYTES = 1 << 17
_HTML_STARTS = (b"<!doctype html", b"<html", b"<head", b"<?xml version")


@dataclass(frozen=True, slots=True)
class Transferred:
    """What arrived: its sha256, its size in bytes, and whether it reads like a page for people."""

    sha256: str
    size: int
    html: bool


def transfer(address: str, target: BinaryIO, network: Network) -> Transferred:
    """Write what `address` holds into `target`, from its start.

    Raises `OriginError` where the address fails and `SourceError` where the disk does.
    """
    target.seek(0)
    target.truncate()
    path = local_path(address)
    chunks = _file_chunks(path) if path is not None else _http_chunks(address, network)
    digest = hashlib.sha256()
    size = 0
    start = b""
    with closing(chunks):
        for chunk in chunks:
            start = start or chunk[:512]
            digest.update(chunk)
            size += len(chunk)
            write_chunk(target, chunk)
    html = start.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_HTML_STARTS)
    return Transferred(digest.hexdigest(), size, html)


def _file_chunks(path: Path) -> Generator[bytes, None, None]:
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(CHUNK_BYTES):
                yield chunk
    except OSError as error:
        raise OriginError((error.strerror or str(error)).lower()) from error


def _http_chunks(address: str, network: Network) -> Generator[bytes, None, None]:
    # `identity` and no decoding: a server that labels a .tar.gz with a content encoding must not
    # make other bytes of it.
    headers = {"Accept-Encoding": "identity", "User-Agent": "rvbuild"}
    try:
        with requests.get(
            address,
            verify=network.verify,
            headers=headers,
            stream=True,
            timeout=network.timeout_seconds,
        ) as response:
            refuse_status(response)
            yield from _body(response, network)
    except requests.RequestException as error:
        raise as_origin_error(error) from error


def _body(response: requests.Response, network: Network) -> Generator[bytes, None, None]:
    length = response.headers.get("Content-Length", "")
    expected = int(length) if length.isdigit() else None
    got = 0
    try:
        for chunk in response.raw.stream(CHUNK_BYTES, decode_content=False):
            got += len(chunk)
            yield chunk
    except urllib3.exceptions.ReadTimeoutError as error:
        raise PassingError(f"stalled: nothing for {network.timeout_seconds:g} s") from error
    except (urllib3.exceptions.HTTPError, ConnectionError) as error:
        raise PassingError(_broken(got, expected, error)) from error
    if expected is not None and got < expected:
        raise PassingError(f"truncated: {got} of {expected} bytes")


def _broken(got: int, expected: int | None, error: Exception) -> str:
    if isinstance(error, urllib3.exceptions.IncompleteRead) and isinstance(error.partial, int):
        got = error.partial
    if expected is None:
        return f"truncated: connection broke after {got} bytes"
    return f"truncated: {got} of {expected} bytes"
