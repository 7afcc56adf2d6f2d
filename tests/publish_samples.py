"""Made wheels and a small index with planned faults, for the tests of publishing."""

import hashlib
import zipfile
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from rvbuild.publish.indexes import IndexTarget


def metadata_of(name: str, version: str, *more: str) -> bytes:
    """Write METADATA with further header lines."""
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *more]
    return ("\n".join(lines) + "\n").encode()


def make_wheel(
    folder: Path,
    file_name: str,
    *,
    metadata: bytes | None = None,
    payload: str = "",
) -> Path:
    """Make an installable wheel with one module named like the project; same input, same bytes."""
    name, version, *_, python, abi, platform = file_name.removesuffix(".whl").split("-")
    tags = "\n".join(f"Tag: {python}-{abi}-{each}" for each in platform.split("."))
    if metadata is None:
        metadata = metadata_of(name, version)
    info = f"{name}-{version}.dist-info"
    wheel = f"Wheel-Version: 1.0\nGenerator: made\nRoot-Is-Purelib: true\n{tags}\n"
    members = {
        f"{name}.py": f"version = {version!r}\npayload = {payload!r}\n".encode(),
        f"{info}/METADATA": metadata,
        f"{info}/WHEEL": wheel.encode(),
    }
    record = "".join(f"{path},{_record_hash(data)},{len(data)}\n" for path, data in members.items())
    members[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / file_name
    with zipfile.ZipFile(path, "w") as archive:
        for member, data in members.items():
            archive.writestr(zipfile.ZipInfo(member), data)
    return path


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _record_hash(data: bytes) -> str:
    digest = urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    return f"sha256={digest}"


@dataclass(frozen=True, slots=True)
class Fault:
    """How one upload goes wrong: what is stored, what is answered, or that nothing is (status 0).

    `early` answers before the file was read.
    """

    status: int = 0
    store: bool = False
    early: bool = False
    text: str | bytes = ""
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class FakeIndex:
    """What the server holds, what it was sent, and what goes wrong next."""

    address: str
    files: dict[str, bytes] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    uploads: list[str] = field(default_factory=list)
    seen: list[tuple[str, str]] = field(default_factory=list)
    hashes: bool = True
    fallback: str = ""

    @property
    def target(self) -> IndexTarget:
        return IndexTarget("fake", f"{self.address}upload/", f"{self.address}simple/")

    def hold(self, path: Path) -> None:
        self.files[path.name] = path.read_bytes()


@contextmanager
def fake_index() -> Iterator[FakeIndex]:
    """Run a small index on the loopback interface."""
    index = FakeIndex("")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            _take_upload(index, self)

        def do_GET(self) -> None:
            _give(index, self)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    index.address = f"http://127.0.0.1:{server.server_address[1]}/"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield index
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _take_upload(index: FakeIndex, request: BaseHTTPRequestHandler) -> None:
    if index.faults and index.faults[0].early:
        index.uploads.append("unread")
        request.close_connection = True
        _answer(request, index.faults.pop(0))
        return
    body = request.rfile.read(int(request.headers["Content-Length"]))
    head = f"Content-Type: {request.headers['Content-Type']}\r\n\r\n".encode()
    parts = BytesParser().parsebytes(head + body).get_payload()
    assert isinstance(parts, list)
    for part in parts:
        assert isinstance(part, Message)
        name = part.get_filename()
        if name is None:
            continue
        index.uploads.append(name)
        index.seen.append(("POST", request.headers.get("Authorization", "")))
        data = part.get_payload(decode=True)
        assert isinstance(data, bytes)
        fault = index.faults.pop(0) if index.faults else Fault(200, store=True)
        if fault.store:
            index.files[name] = data
        _answer(request, fault)


def _answer(request: BaseHTTPRequestHandler, fault: Fault) -> None:
    if not fault.status:
        request.close_connection = True
        return
    body = fault.text.encode() if isinstance(fault.text, str) else fault.text
    request.send_response(fault.status)
    for name, value in fault.headers:
        request.send_header(name, value)
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    request.wfile.write(body)


def _give(index: FakeIndex, request: BaseHTTPRequestHandler) -> None:
    index.seen.append((request.path, request.headers.get("Authorization", "")))
    if request.path.startswith("/files/"):
        data = index.files[request.path.removeprefix("/files/")]
        _answer(request, Fault(200, text=data))
        return
    project = request.path.removeprefix("/simple/").strip("/")
    names = [name for name in index.files if name.split("-")[0].replace("_", "-") == project]
    if not names:
        location = (("Location", f"{index.fallback}{project}/"),)
        _answer(request, Fault(302, headers=location) if index.fallback else Fault(404))
        return
    links = "".join(f'<a href="{_link(index, name)}">{name}</a>' for name in names)
    _answer(request, Fault(200, text=links, headers=(("Content-Type", "text/html"),)))


def _link(index: FakeIndex, name: str) -> str:
    digest = hashlib.sha256(index.files[name]).hexdigest()
    return f"../../files/{name}" + (f"#sha256={digest}" if index.hashes else "")
