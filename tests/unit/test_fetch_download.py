"""Fetching pinned files from servers and caches that are as they are in the world."""

import errno
import gzip
import os
import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from rvbuild.errors import SourceError
from rvbuild.events import Silent
from rvbuild.fetch import DebianFile, PypiFile, Remote, Url, fetch
from tests.conftest import Recorder
from tests.fetch_site import (
    Reply,
    Site,
    gzip_of,
    network_of,
    remote_of,
    running_site,
    sha256,
    tar_of,
)

TREE = tar_of({"demo-1.0/setup.py": b"print('hello')\n" * 400})
PINNED = gzip_of(TREE)
REGZIPPED = gzip_of(TREE, level=1)
HTML = b"\n<!DOCTYPE html><html><body>Please log in</body></html>"


@pytest.fixture
def site() -> Iterator[Site]:
    with running_site() as running:
        yield running


def failure(remote: Remote, downloads: Path, attempts: int = 1) -> SourceError:
    with pytest.raises(SourceError) as caught:
        fetch(remote, network_of(attempts), downloads, Silent())
    return caught.value


def test_a_file_lies_below_its_sha256(site: Site, tmp_path: Path) -> None:
    remote = remote_of(PINNED, site.serve("/demo.tar.gz", Reply(PINNED)))
    path = fetch(remote, network_of(), tmp_path, Silent())
    assert path == tmp_path / remote.sha256[:2] / remote.sha256 / "demo-1.0.tar.gz"
    assert path.read_bytes() == PINNED


def test_a_cached_file_is_not_asked_for_again(
    site: Site, tmp_path: Path, recorder: Recorder
) -> None:
    remote = remote_of(PINNED, site.serve("/demo.tar.gz", Reply(PINNED)))
    first = fetch(remote, network_of(), tmp_path, recorder)
    second = fetch(remote, network_of(), tmp_path, recorder)
    assert first == second
    assert site.asked == ["/demo.tar.gz"]
    detail = f"{len(PINNED)} bytes"
    assert recorder.of("finished") == [("demo-1.0.tar.gz", "fetch", detail)]


def test_regenerated_archive_is_kept_aside_and_the_mirror_asked(site: Site, tmp_path: Path) -> None:
    assert gzip.decompress(REGZIPPED) == gzip.decompress(PINNED)
    primary = site.serve("/primary.tar.gz", Reply(REGZIPPED))
    mirror = site.serve("/mirror.tar.gz", Reply(PINNED))
    path = fetch(remote_of(PINNED, primary, mirror), network_of(), tmp_path, Silent())
    assert path.read_bytes() == PINNED
    aside = path.with_name(f"demo-1.0.tar.gz.other-{sha256(REGZIPPED)[:12]}")
    assert aside.read_bytes() == REGZIPPED


def test_other_bytes_everywhere_tell_expected_actual_size_and_place(
    site: Site, tmp_path: Path
) -> None:
    primary = site.serve("/primary.tar.gz", Reply(REGZIPPED))
    remote = remote_of(PINNED, primary, site.address + "/gone.tar.gz")
    error = failure(remote, tmp_path)
    folder = tmp_path / remote.sha256[:2] / remote.sha256
    aside = folder / f"demo-1.0.tar.gz.other-{sha256(REGZIPPED)[:12]}"
    assert error.message == "cannot fetch `demo-1.0.tar.gz`"
    assert error.causes == (
        (
            f"{primary}: other bytes: expected sha256 {sha256(PINNED)}, got {sha256(REGZIPPED)}, "
            f"{len(REGZIPPED)} bytes (kept at {aside})"
        ),
        f"{site.address}/gone.tar.gz: 404 not found",
    )
    assert error.hint is not None
    assert "kept file" in error.hint
    assert aside.read_bytes() == REGZIPPED
    assert not (folder / "demo-1.0.tar.gz").exists()


def test_a_page_for_people_is_not_a_file(site: Site, tmp_path: Path) -> None:
    page = site.serve("/page", Reply(HTML, headers={"Content-Type": "text/html"}))
    error = failure(remote_of(PINNED, page), tmp_path)
    assert error.causes == (f"{page}: HTML page instead of a file (HTTP 200)",)
    assert not list(tmp_path.rglob("*other*"))


def test_a_pinned_page_is_a_file(site: Site, tmp_path: Path) -> None:
    remote = remote_of(HTML, site.serve("/page", Reply(HTML)), file_name="page.html")
    assert fetch(remote, network_of(), tmp_path, Silent()).read_bytes() == HTML


def test_a_truncated_body_is_told_with_both_sizes(site: Site, tmp_path: Path) -> None:
    cut = site.serve("/cut.tar.gz", Reply(PINNED[:100], declared=len(PINNED)))
    error = failure(remote_of(PINNED, cut), tmp_path)
    assert error.causes == (f"{cut}: truncated: 100 of {len(PINNED)} bytes",)
    assert not list(tmp_path.rglob("*.part"))


def test_a_truncated_body_is_fetched_again_from_its_start(site: Site, tmp_path: Path) -> None:
    cut = Reply(PINNED[:100], declared=len(PINNED))
    remote = remote_of(PINNED, site.serve("/cut.tar.gz", cut, Reply(PINNED)))
    assert fetch(remote, network_of(2), tmp_path, Silent()).read_bytes() == PINNED


def test_a_broken_chunked_body_is_told(site: Site, tmp_path: Path) -> None:
    chunk = b"5\r\nhello\r\n"
    broken = site.serve("/broken", Reply(chunk, headers={"Transfer-Encoding": "chunked"}))
    (cause,) = failure(remote_of(PINNED, broken), tmp_path).causes
    assert cause == f"{broken}: truncated: connection broke after 5 bytes"


def test_missing_files_are_not_asked_for_twice(site: Site, tmp_path: Path) -> None:
    error = failure(remote_of(PINNED, site.address + "/none"), tmp_path, attempts=3)
    assert error.causes == (f"{site.address}/none: 404 not found",)
    assert site.asked == ["/none"]


def test_a_redirect_is_followed(site: Site, tmp_path: Path) -> None:
    site.serve("/real.tar.gz", Reply(PINNED))
    moved = site.serve("/moved", Reply(status=302, headers={"Location": "/real.tar.gz"}))
    path = fetch(remote_of(PINNED, moved), network_of(), tmp_path, Silent())
    assert path.read_bytes() == PINNED


def test_a_redirect_to_a_local_file_is_refused(site: Site, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(PINNED)
    moved = site.serve("/moved", Reply(status=302, headers={"Location": secret.as_uri()}))
    failure(remote_of(PINNED, moved), tmp_path / "downloads")


def test_a_slow_body_is_waited_for(site: Site, tmp_path: Path) -> None:
    slow = site.serve("/slow", Reply(PINNED, pause_seconds=0.3))
    network = network_of(timeout_seconds=2)
    assert fetch(remote_of(PINNED, slow), network, tmp_path, Silent()).read_bytes() == PINNED


def test_a_stalled_body_is_given_up(site: Site, tmp_path: Path) -> None:
    stalled = site.serve("/stalled", Reply(PINNED, pause_seconds=1.0))
    with pytest.raises(SourceError) as caught:
        fetch(remote_of(PINNED, stalled), network_of(timeout_seconds=0.2), tmp_path, Silent())
    (cause,) = caught.value.causes
    assert cause == f"{stalled}: stalled: nothing for 0.2 s"


def test_a_busy_server_is_asked_again(site: Site, tmp_path: Path) -> None:
    moment = format_datetime(datetime.now(UTC) - timedelta(seconds=5), usegmt=True)
    busy = [
        Reply(status=503, headers={"Retry-After": "0"}),
        Reply(status=429, headers={"Retry-After": moment}),
    ]
    remote = remote_of(PINNED, site.serve("/busy", *busy, Reply(PINNED)))
    network = replace(network_of(3), backoff_seconds=30.0)
    assert fetch(remote, network, tmp_path, Silent()).read_bytes() == PINNED
    assert len(site.asked) == 3


def test_a_failing_server_is_given_up_after_all_attempts(site: Site, tmp_path: Path) -> None:
    broken = site.serve("/broken", Reply(status=500))
    error = failure(remote_of(PINNED, broken), tmp_path, attempts=3)
    assert error.causes == (f"{broken}: 500 internal server error",)
    assert len(site.asked) == 3


def test_nobody_listening_is_a_cause(tmp_path: Path) -> None:
    with running_site() as gone:
        address = gone.address
    (cause,) = failure(remote_of(PINNED, address + "/x"), tmp_path).causes
    assert cause == f"{address}/x: no connection: Connection refused"


def test_a_content_encoding_does_not_change_the_bytes(site: Site, tmp_path: Path) -> None:
    labelled = site.serve("/x.tar.gz", Reply(PINNED, headers={"Content-Encoding": "gzip"}))
    path = fetch(remote_of(PINNED, labelled), network_of(), tmp_path, Silent())
    assert path.read_bytes() == PINNED


def test_passwords_and_tokens_are_not_shown(site: Site, tmp_path: Path) -> None:
    host = site.address.removeprefix("http://")
    remote = remote_of(PINNED, f"http://user:word@{host}/none?token=abc")
    (cause,) = failure(remote, tmp_path).causes
    assert cause == f"{site.address}/none: 404 not found"


@pytest.mark.parametrize("address", ["ftp://example.invalid/x", "/etc/passwd", "file:x", "http:/"])
def test_other_addresses_are_refused(address: str, tmp_path: Path) -> None:
    (cause,) = failure(remote_of(PINNED, address), tmp_path).causes
    assert "not an http, https or file address" in cause


def test_file_addresses_work(tmp_path: Path) -> None:
    (tmp_path / "a b.tar.gz").write_bytes(PINNED)
    gone = (tmp_path / "gone").as_uri()
    remote = remote_of(PINNED, gone, (tmp_path / "a b.tar.gz").as_uri())
    path = fetch(remote, network_of(), tmp_path / "downloads", Silent())
    assert path.read_bytes() == PINNED
    assert (tmp_path / "a b.tar.gz").read_bytes() == PINNED
    (cause,) = failure(remote_of(b"else", gone), tmp_path / "downloads").causes
    assert cause == f"{gone}: no such file or directory"


def test_mirrors_come_before_the_original(site: Site, tmp_path: Path) -> None:
    site.serve("/mirror/one/demo.tar.gz", Reply(REGZIPPED))
    origin = site.serve("/files/demo.tar.gz", Reply(PINNED))
    mirror = (site.address + "/files/", site.address + "/mirror/one/")
    network = replace(network_of(), mirrors=(mirror,))
    path = fetch(remote_of(PINNED, origin), network, tmp_path, Silent())
    assert path.read_bytes() == PINNED
    assert site.asked == ["/mirror/one/demo.tar.gz", "/files/demo.tar.gz"]


def test_debian_files_come_from_the_mirrors_in_order(site: Site, tmp_path: Path) -> None:
    site.serve("/two/debian/pool/d.deb", Reply(PINNED))
    roots = (site.address + "/one/debian", site.address + "/two/debian/")
    remote = Remote("d.deb", sha256(PINNED), (DebianFile("pool/d.deb"),))
    network = replace(network_of(), debian_mirrors=roots)
    assert fetch(remote, network, tmp_path, Silent()).read_bytes() == PINNED
    assert site.asked == ["/one/debian/pool/d.deb", "/two/debian/pool/d.deb"]


def test_without_a_debian_mirror_the_hint_names_the_variable(tmp_path: Path) -> None:
    error = failure(Remote("d.deb", sha256(b""), (DebianFile("pool/d.deb"),)), tmp_path)
    assert error.causes == ("pool/d.deb: no Debian mirror is configured",)
    assert error.hint == "set `RVBUILD_DEBIAN_MIRROR` to the root of a Debian mirror"


def test_the_offline_folder_comes_first(site: Site, tmp_path: Path) -> None:
    folder = tmp_path / "offline"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "demo-1.0.tar.gz").write_bytes(PINNED)
    network = replace(network_of(), offline_folder=folder)
    remote = remote_of(PINNED, site.serve("/demo", Reply(PINNED)))
    assert fetch(remote, network, tmp_path / "downloads", Silent()).read_bytes() == PINNED
    assert site.asked == []


def test_offline_asks_nobody(site: Site, tmp_path: Path) -> None:
    network = replace(network_of(), offline=True, offline_folder=tmp_path)
    remote = remote_of(PINNED, site.serve("/demo", Reply(PINNED)))
    with pytest.raises(SourceError) as caught:
        fetch(remote, network, tmp_path / "downloads", Silent())
    assert caught.value.causes == (
        f"`demo-1.0.tar.gz` is not in `{tmp_path}`",
        "offline: nothing else is asked",
    )
    assert site.asked == []


def test_a_damaged_cached_file_is_moved_aside(
    site: Site, tmp_path: Path, recorder: Recorder
) -> None:
    remote = remote_of(PINNED, site.serve("/demo", Reply(PINNED)))
    path = fetch(remote, network_of(), tmp_path, Silent())
    path.write_bytes(b"half")
    assert fetch(remote, network_of(), tmp_path, recorder).read_bytes() == PINNED
    aside = path.with_name(f"demo-1.0.tar.gz.other-{sha256(b'half')[:12]}")
    assert aside.read_bytes() == b"half"
    assert recorder.of("note") == [
        ("demo-1.0.tar.gz", f"the cached file was damaged; it is kept at {aside}")
    ]


def test_an_untouched_time_of_other_bytes_is_found_by_size(site: Site, tmp_path: Path) -> None:
    remote = remote_of(PINNED, site.serve("/demo", Reply(PINNED)))
    path = fetch(remote, network_of(), tmp_path, Silent())
    facts = path.stat()
    path.write_bytes(PINNED[:-1])
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert fetch(remote, network_of(), tmp_path, Silent()).read_bytes() == PINNED


def test_a_copied_cache_is_hashed_and_not_fetched(site: Site, tmp_path: Path) -> None:
    remote = remote_of(PINNED, site.serve("/demo", Reply(PINNED)))
    path = fetch(remote, network_of(), tmp_path, Silent())
    os.utime(path, (1, 1))
    assert fetch(remote, network_of(), tmp_path, Silent()) == path
    assert site.asked == ["/demo"]


def test_partial_files_of_killed_runs_are_cleared(site: Site, tmp_path: Path) -> None:
    remote = remote_of(PINNED, site.serve("/demo", Reply(PINNED)))
    folder = tmp_path / remote.sha256[:2] / remote.sha256
    folder.mkdir(parents=True)
    (folder / ".demo-1.0.tar.gz.999.part").write_bytes(PINNED[:10])
    assert fetch(remote, network_of(), tmp_path, Silent()).read_bytes() == PINNED
    assert not list(folder.glob("*.part"))
    assert not list(folder.glob(".*.part"))


def test_two_at_once_fetch_once(site: Site, tmp_path: Path) -> None:
    remote = remote_of(PINNED, site.serve("/demo", Reply(PINNED, pause_seconds=0.1)))
    paths: list[Path] = []

    def run() -> None:
        paths.append(fetch(remote, network_of(), tmp_path, Silent()))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(paths) == 4
    assert site.asked == ["/demo"]


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)


def test_a_disk_that_takes_no_more_is_one_clear_error(site: Site, tmp_path: Path) -> None:
    data = os.urandom(300_000)
    first, second = (site.serve(path, Reply(data)) for path in ("/first", "/second"))
    with file_size_limit(100_000):
        error = failure(remote_of(data, first, second), tmp_path)
    reason = os.strerror(errno.EFBIG).lower()
    assert error.message == f"cannot write to the download cache: {reason}"
    assert error.hint is not None
    assert "`--cache`" in error.hint
    assert site.asked == ["/first"]
    assert not list(tmp_path.rglob(".*.part"))


def test_a_cache_that_cannot_be_made_is_one_clear_error(site: Site, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    error = failure(remote_of(PINNED, site.serve("/x", Reply(PINNED))), tmp_path / "file")
    assert error.message == "cannot write to the download cache: not a directory"
    assert site.asked == []


@pytest.mark.parametrize("name", ["", "..", "a/b", "/etc/passwd"])
def test_names_with_folders_are_refused(name: str, tmp_path: Path) -> None:
    error = failure(Remote(name, sha256(b""), ()), tmp_path)
    assert error.message == f"`{name}` is not a file name"


def test_a_pin_has_to_be_a_sha256(tmp_path: Path) -> None:
    assert "is not a sha256" in failure(Remote("x", "../../x", ()), tmp_path).message


def test_no_origin_is_said(tmp_path: Path) -> None:
    assert failure(Remote("x", sha256(b""), ()), tmp_path).causes == ("no origin is given",)


def page_of(*files: tuple[str, str, bytes]) -> Reply:
    links = "".join(
        f'<a href="{href}#sha256={sha256(data)}">{name}</a>' for name, href, data in files
    )
    return Reply(links.encode(), headers={"Content-Type": "text/html"})


def test_python_files_are_found_over_every_index(site: Site, tmp_path: Path) -> None:
    site.serve("/two/demo-pack/", page_of(("demo_pack-1.0.tar.gz", "../../f/d.tar.gz", PINNED)))
    site.serve("/f/d.tar.gz", Reply(PINNED))
    indexes = (site.address + "/one/", site.address + "/two")
    network = replace(network_of(), pypi_indexes=indexes)
    # The name in the pin is spelled otherwise; the bytes tell which file it is.
    origin = PypiFile("Demo.Pack", "demo-pack-1.0.tar.gz")
    remote = Remote("demo-pack-1.0.tar.gz", sha256(PINNED), (origin,))
    assert fetch(remote, network, tmp_path, Silent()).read_bytes() == PINNED
    assert site.asked == ["/one/demo-pack/", "/two/demo-pack/", "/f/d.tar.gz"]


def test_python_files_that_no_index_has_are_told_for_each(site: Site, tmp_path: Path) -> None:
    site.serve("/two/demo/", page_of(("demo-2.0.tar.gz", "x", b"")))
    indexes = (site.address + "/one", site.address + "/two", (tmp_path / "three").as_uri())
    network = replace(network_of(), pypi_indexes=indexes)
    remote = Remote("demo-1.0.tar.gz", sha256(PINNED), (PypiFile("demo", "demo-1.0.tar.gz"),))
    with pytest.raises(SourceError) as caught:
        fetch(remote, network, tmp_path, Silent())
    assert caught.value.causes == (
        f"{indexes[0]}: project `demo`: 404 not found",
        f"{indexes[1]}: `demo-1.0.tar.gz` is not among the 1 files of `demo`",
        f"{indexes[2]}: project `demo`: not found",
    )


def test_find_links_come_before_the_indexes(site: Site, tmp_path: Path) -> None:
    (tmp_path / "demo-1.0.tar.gz").write_bytes(PINNED)
    network = replace(network_of(), pypi_indexes=(site.address,), find_links=(tmp_path,))
    remote = Remote("demo-1.0.tar.gz", sha256(PINNED), (PypiFile("demo", "demo-1.0.tar.gz"),))
    assert fetch(remote, network, tmp_path / "downloads", Silent()).read_bytes() == PINNED
    assert site.asked == []


def test_origins_are_tried_in_order(site: Site, tmp_path: Path) -> None:
    url = Url(site.serve("/x", Reply(PINNED)))
    remote = Remote("x", sha256(PINNED), (DebianFile("pool/x"), url))
    assert fetch(remote, network_of(), tmp_path, Silent()).read_bytes() == PINNED
