"""Uploading to a real pypiserver, and pip and uv installing from it and from static indexes."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socketserver import ThreadingMixIn
from threading import Thread
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import pytest

from rvbuild.errors import PublishError
from rvbuild.events import Silent
from rvbuild.publish.connection import Patience
from rvbuild.publish.credentials import Credentials, find
from rvbuild.publish.index import build_index
from rvbuild.publish.indexes import IndexTarget
from rvbuild.publish.serve import serve
from rvbuild.publish.upload import publish
from rvbuild.target import Floor, compatible_platforms
from tests.publish_samples import make_wheel, metadata_of, sha256

pytestmark = pytest.mark.needs("pypiserver")

USER = Credentials("packager", "opensesame")
PATIENCE = Patience(attempts=2, pause_seconds=0.1, timeout_seconds=20)
TOP = "rvtop-1.0-py3-none-any.whl"
BELOW = "rvbelow-1.0-py3-none-any.whl"
NATIVE = "rvnative-1.0+rv.1-cp313-cp313-manylinux_2_35_riscv64.whl"


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        pass


class _Threads(ThreadingMixIn, WSGIServer):
    daemon_threads = True


@contextmanager
def pypiserver_index(folder: Path, hash_algorithm: str = "sha256") -> Iterator[IndexTarget]:
    """Run pypiserver, which takes uploads of one user and sends nobody on to another index."""
    import pypiserver

    app = pypiserver.app(
        roots=[folder],
        authenticate=["update"],
        auther=lambda user, password: (user, password) == (USER.username, USER.password),
        hash_algo=hash_algorithm,
        disable_fallback=True,
    )
    server = make_server("127.0.0.1", 0, app, _Threads, _Quiet)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}/"
    try:
        yield IndexTarget("private", address, f"{address}simple/")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    folder = tmp_path / "packages"
    folder.mkdir()
    return folder


@pytest.fixture
def wheels(tmp_path: Path) -> tuple[Path, Path]:
    """Make two wheels, of which the first needs the second."""
    needs = metadata_of("rvtop", "1.0", "Requires-Dist: rvbelow", "Requires-Python: >=3.8")
    folder = tmp_path / "dist"
    return make_wheel(folder, TOP, metadata=needs), make_wheel(folder, BELOW)


@pytest.mark.parametrize("hash_algorithm", ["sha256", "md5"])
def test_upload_again_changed_and_another(
    packages: Path, wheels: tuple[Path, Path], tmp_path: Path, hash_algorithm: str
) -> None:
    top, below = wheels
    changed = make_wheel(tmp_path / "changed", TOP, payload="changed")
    with pypiserver_index(packages, hash_algorithm) as index:
        first = publish([top], index, USER, Silent(), PATIENCE)
        again = publish([top], index, USER, Silent(), PATIENCE)
        with pytest.raises(PublishError) as caught:
            publish([changed, below], index, USER, Silent(), PATIENCE)

    assert [each.state for each in first + again] == ["uploaded", "already there"]
    assert sha256(changed) in caught.value.causes[0]
    assert (packages / TOP).read_bytes() == top.read_bytes()
    assert (packages / BELOW).read_bytes() == below.read_bytes()


def test_pypiserver_says_duplicate_in_a_way_we_know(
    packages: Path, wheels: tuple[Path, Path]
) -> None:
    """The listing is of another, empty server, so that the upload itself meets the duplicate."""
    top, _ = wheels
    empty = packages.parent / "empty"
    empty.mkdir()
    with pypiserver_index(packages) as index, pypiserver_index(empty) as other:
        publish([top], index, USER, Silent(), PATIENCE)
        blind = IndexTarget("blind", index.url, other.simple_url)
        with pytest.raises(PublishError) as caught:
            publish([top], blind, USER, Silent(), PATIENCE)

    assert "says that it has this file and does not list it" in caught.value.causes[0]


def test_metadata_2_4_arrives(packages: Path, tmp_path: Path) -> None:
    metadata = metadata_of("rvtop", "1.0", "License-Expression: MIT").replace(b"2.1", b"2.4", 1)
    wheel = make_wheel(tmp_path, TOP, metadata=metadata)
    with pypiserver_index(packages) as index:
        (published,) = publish([wheel], index, USER, Silent(), PATIENCE)

    assert published.state == "uploaded"


def test_credentials_of_environment_and_netrc(
    packages: Path, wheels: tuple[Path, Path], tmp_path: Path
) -> None:
    top, below = wheels
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login packager password opensesame\n")
    environment = {
        "RVBUILD_PRIVATE_USERNAME": "packager",
        "RVBUILD_PRIVATE_PASSWORD": "opensesame",
    }
    with pypiserver_index(packages) as index:
        ours = find("private", index.url, environment)
        publish([top], index, ours, Silent(), PATIENCE)
        netrc = find("private", index.url, {"HOME": str(tmp_path)})
        publish([below], index, netrc, Silent(), PATIENCE)

    assert sorted(path.name for path in packages.iterdir()) == [BELOW, TOP]


@pytest.mark.parametrize("credentials", [None, Credentials("packager", "wrong-password")])
def test_wrong_credentials_are_told(
    packages: Path,
    wheels: tuple[Path, Path],
    credentials: Credentials | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NETRC", os.devnull)
    with pypiserver_index(packages) as index, pytest.raises(PublishError) as caught:
        publish(wheels, index, credentials, Silent(), PATIENCE)

    assert "RVBUILD_PRIVATE_PASSWORD" in (caught.value.hint or "")
    assert not any("wrong-password" in cause for cause in caught.value.causes)
    assert list(packages.iterdir()) == []


def _run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run pip or uv without this machine's configuration."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_CACHE_DIR": "1",
        "UV_NO_CONFIG": "1",
        "UV_CACHE_DIR": str(folder / "uv-cache"),
        "NO_PROXY": "127.0.0.1",
    }
    return subprocess.run(
        [sys.executable, "-m", *command],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def _install(tool: str, address: str, folder: Path) -> None:
    """Install the upper wheel, and with it the lower one, into a folder of its own."""
    target = folder / f"with-{tool}"
    command = ["pip"] if tool == "pip" else ["uv", "pip"]
    options = [] if tool == "pip" else ["--python", sys.executable]
    done = _run(
        folder,
        *(*command, "install", "--target", str(target), "--index-url", address, *options, "rvtop"),
    )
    assert done.returncode == 0, done.stderr
    assert (target / "rvtop.py").is_file()
    assert (target / "rvbelow.py").is_file()


@pytest.mark.needs("uv")
@pytest.mark.parametrize("tool", ["pip", "uv"])
def test_install_from_pypiserver(
    packages: Path, wheels: tuple[Path, Path], tmp_path: Path, tool: str
) -> None:
    with pypiserver_index(packages) as index:
        publish(wheels, index, USER, Silent(), PATIENCE)
        _install(tool, index.simple_url, tmp_path)


@pytest.mark.needs("uv")
@pytest.mark.parametrize("tool", ["pip", "uv"])
def test_install_from_a_static_index_that_is_served(
    wheels: tuple[Path, Path], tmp_path: Path, tool: str
) -> None:
    build_index(wheels[0].parent)
    with serve(wheels[0].parent) as address:
        _install(tool, f"{address}simple/", tmp_path)


@pytest.mark.needs("uv")
@pytest.mark.parametrize("tool", ["pip", "uv"])
def test_install_from_a_static_index_in_a_folder(
    wheels: tuple[Path, Path], tmp_path: Path, tool: str
) -> None:
    report = build_index(wheels[0].parent)
    _install(tool, report.destination.as_uri(), tmp_path)


def test_installers_check_the_hash_of_the_page(wheels: tuple[Path, Path], tmp_path: Path) -> None:
    report = build_index(wheels[0].parent)
    make_wheel(wheels[1].parent, BELOW, payload="other bytes")

    done = _run(
        tmp_path,
        *("pip", "install", "--target", str(tmp_path / "t"), "rvbelow"),
        *("--index-url", report.destination.as_uri()),
    )

    assert done.returncode != 0
    assert "THESE PACKAGES DO NOT MATCH THE HASHES" in done.stderr


@pytest.mark.parametrize(("floor", "found"), [("2_41", [NATIVE]), ("2_31", [])])
def test_a_riscv64_wheel_is_found_by_the_whole_list_of_tags(
    tmp_path: Path, floor: str, found: list[str]
) -> None:
    """The wheel wants glibc 2.35; `--platform` stands for itself alone, so all are listed."""
    got = tmp_path / "got"
    got.mkdir()
    report = build_index(make_wheel(tmp_path / "dist", NATIVE).parent)
    platforms = [f"--platform={tag}" for tag in compatible_platforms(Floor.parse(floor))]

    done = _run(
        tmp_path,
        *("pip", "download", "--only-binary=:all:", "--python-version=3.13", *platforms),
        *("--index-url", report.destination.as_uri(), "--dest", str(got), "rvnative"),
    )

    assert [path.name for path in got.iterdir()] == found, done.stderr
