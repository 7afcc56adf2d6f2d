"""Unpacking under one policy: what is kept, what is levelled, what is refused."""

import io
import os
import random
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from rvbuild.errors import SourceError
from rvbuild.sources.unpack import unpack

Entry = tuple[tarfile.TarInfo, bytes]


def entry(
    name: str,
    content: bytes = b"",
    kind: bytes = tarfile.REGTYPE,
    target: str = "",
    mode: int = 0o644,
) -> Entry:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    info.type = kind
    info.linkname = target
    info.mode = mode
    info.mtime = 1_600_000_000
    info.uid = info.gid = 12345
    return info, content


def tar(path: Path, *entries: Entry, compression: str = "gz") -> Path:
    with tarfile.open(path, f"w:{compression}") as archive:  # type: ignore[call-overload]
        for info, content in entries:
            archive.addfile(info, io.BytesIO(content))
    return path


def reason(archive: Path, destination: Path, limit_bytes: int = 10_000) -> str:
    with pytest.raises(SourceError) as caught:
        unpack(archive, destination, limit_bytes)
    assert caught.value.message == f"cannot unpack `{archive.name}`"
    assert not destination.exists()
    assert [path.name for path in destination.parent.iterdir()] == [archive.name]
    return caught.value.causes[0]


@pytest.mark.parametrize("compression", ["", "gz", "bz2", "xz"])
def test_every_compression_whatever_the_name_says(compression: str, tmp_path: Path) -> None:
    archive = tar(tmp_path / "demo.zip", entry("demo-1/a/b", b"text"), compression=compression)
    top = unpack(archive, tmp_path / "out")
    assert top == tmp_path / "out" / "demo-1"
    assert (top / "a" / "b").read_bytes() == b"text"


def test_without_a_single_top_folder_the_destination_is_given(tmp_path: Path) -> None:
    archive = tar(tmp_path / "a.tar", entry("one"), entry("two/three"))
    assert unpack(archive, tmp_path / "out") == tmp_path / "out"
    single = tar(tmp_path / "b.tar", entry("one"))
    assert unpack(single, tmp_path / "file") == tmp_path / "file"


def test_modes_are_levelled_and_times_kept(tmp_path: Path) -> None:
    archive = tar(
        tmp_path / "a.tar",
        entry("d", kind=tarfile.DIRTYPE, mode=0o500),
        entry("d/program", b"x", mode=0o6711),
        entry("d/file", b"x", mode=0o666),
        entry("d/secret", b"x", mode=0o000),
    )
    old = os.umask(0o077)
    try:
        top = unpack(archive, tmp_path / "out")
    finally:
        os.umask(old)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in [top, *top.iterdir()]}
    assert modes == {"d": 0o755, "program": 0o755, "file": 0o644, "secret": 0o644}
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o755
    assert {path.stat().st_mtime for path in [top, *top.iterdir()]} == {1_600_000_000}
    assert {path.stat().st_uid for path in top.iterdir()} == {os.getuid()}


def test_implied_folders_have_the_same_mode_whatever_the_umask(tmp_path: Path) -> None:
    archive = tar(tmp_path / "a.tar", entry("a/b/c", b"x"))
    old = os.umask(0o077)
    try:
        top = unpack(archive, tmp_path / "out")
    finally:
        os.umask(old)
    assert {path.stat().st_mode & 0o777 for path in (top, top / "b")} == {0o755}


def test_links_inside_are_kept(tmp_path: Path) -> None:
    archive = tar(
        tmp_path / "a.tar",
        entry("d/link", kind=tarfile.SYMTYPE, target="../d/file"),
        entry("d/gone", kind=tarfile.SYMTYPE, target="nothing"),
        entry("d/file", b"x", mode=0o755),
        entry("d/hard", kind=tarfile.LNKTYPE, target="d/file"),
    )
    top = unpack(archive, tmp_path / "out")
    assert (top / "link").readlink() == Path("../d/file")
    assert (top / "gone").is_symlink()
    assert (top / "hard").read_bytes() == b"x"
    assert (top / "hard").stat().st_ino != (top / "file").stat().st_ino
    assert (top / "hard").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("name", ["/etc/x", "../x", "a/../../x", "a/..", "a/../b"])
def test_names_that_lead_out_are_refused(name: str, tmp_path: Path) -> None:
    assert reason(tar(tmp_path / "a.tar", entry(name, b"x")), tmp_path / "out") == (
        f"`{name}` leads out of the folder"
    )


SYM, HARD = tarfile.SYMTYPE, tarfile.LNKTYPE
BAD_LINKS: dict[str, list[Entry]] = {
    "absolute": [entry("l", kind=SYM, target="/etc/passwd")],
    "up": [entry("d/l", kind=SYM, target="../../x")],
    "empty": [entry("l", kind=SYM, target="")],
    "chain": [
        entry("d/e/up", kind=SYM, target=".."),
        entry("d/out", kind=SYM, target="e/up/../../x"),
    ],
    "chain before its part": [
        entry("d/out", kind=SYM, target="e/up/../../x"),
        entry("d/e/up", kind=SYM, target=".."),
    ],
    "written through": [entry("l", kind=SYM, target="d"), entry("d/a"), entry("l/x", b"x")],
    "written over": [entry("l", kind=SYM, target="/etc/x"), entry("l/x", b"x")],
    "hard to nothing": [entry("l", kind=HARD, target="x")],
    "hard to absolute": [entry("l", kind=HARD, target="/etc/passwd")],
    "hard to up": [entry("l", kind=HARD, target="../a.tar")],
    "hard to a link": [
        entry("s", kind=SYM, target="x"),
        entry("x"),
        entry("l", kind=HARD, target="s"),
    ],
}


@pytest.mark.parametrize("name", BAD_LINKS)
def test_links_that_lead_out_are_refused(name: str, tmp_path: Path) -> None:
    text = reason(tar(tmp_path / "a.tar", *BAD_LINKS[name]), tmp_path / "out")
    assert any(word in text for word in ("leads", "lies behind", "which is no file"))


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, b"Z"])
def test_devices_and_unknown_kinds_are_refused(kind: bytes, tmp_path: Path) -> None:
    text = reason(tar(tmp_path / "a.tar", entry("dev", kind=kind)), tmp_path / "out")
    assert text == "`dev` is a device, a pipe or of an unknown kind"


def test_of_two_members_the_later_counts(tmp_path: Path) -> None:
    archive = tar(
        tmp_path / "a.tar",
        entry("d/x", b"first"),
        entry("d/x", b"second"),
        entry("d/l", kind=SYM, target="/etc/passwd"),
        entry("d/l", b"file"),
    )
    top = unpack(archive, tmp_path / "out")
    assert (top / "x").read_bytes() == b"second"
    assert (top / "l").read_bytes() == b"file"


@pytest.mark.parametrize(
    "entries",
    [
        [entry("a", b"x"), entry("a/b", b"x")],
        [entry("a/b", b"x"), entry("a", b"x")],
        [entry("a/b", b"x"), entry("a", kind=SYM, target="c")],
    ],
)
def test_a_file_is_no_folder(entries: list[Entry], tmp_path: Path) -> None:
    assert "a" in reason(tar(tmp_path / "a.tar", *entries), tmp_path / "out")


def test_bombs_stop_at_the_limit(tmp_path: Path) -> None:
    archive = tar(tmp_path / "a.tar.gz", entry("a", b"\0" * 6_000), entry("b", b"\0" * 6_000))
    assert reason(archive, tmp_path / "out") == "it holds more than 10000 bytes"
    assert unpack(archive, tmp_path / "out", 12_000) == tmp_path / "out"


def test_hard_links_count_towards_the_limit(tmp_path: Path) -> None:
    links = [entry(f"l{number}", kind=HARD, target="a") for number in range(3)]
    archive = tar(tmp_path / "a.tar", entry("a", b"\0" * 4_000), *links)
    assert reason(archive, tmp_path / "out") == "it holds more than 10000 bytes"


def test_an_existing_destination_is_not_mixed_with(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_bytes(b"")
    with pytest.raises(SourceError, match="cannot write"):
        unpack(tar(tmp_path / "a.tar", entry("a")), tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"]


NO_ARCHIVES = [b"", b"hello", b"\x1f\x8b", b"PK\x03\x04", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0"]


@pytest.mark.parametrize("data", NO_ARCHIVES)
def test_what_is_no_archive_is_said(data: bytes, tmp_path: Path) -> None:
    archive = tmp_path / "a.tar.gz"
    archive.write_bytes(data)
    assert reason(archive, tmp_path / "out")


def test_a_cut_archive_is_damaged(tmp_path: Path) -> None:
    noise = random.Random(1).randbytes(5_000)  # noqa: S311 - bytes that do not compress
    archive = tar(tmp_path / "a.tar.gz", entry("a", noise))
    archive.write_bytes(archive.read_bytes()[:2_000])
    assert reason(archive, tmp_path / "out").startswith("damaged or no archive: ")


def test_damage_anywhere_is_never_another_exception(tmp_path: Path) -> None:
    chance = random.Random(2)  # noqa: S311 - the same faults every time
    tar_bytes = tar(tmp_path / "a", entry("d/a", b"x" * 99), compression="").read_bytes()
    zip_bytes = make_zip(tmp_path / "b", lambda z: z.writestr("d/a", b"x" * 99)).read_bytes()
    archive = tmp_path / "c"
    for number in range(300):
        data = bytearray(tar_bytes if number % 2 else zip_bytes)
        for _ in range(3):
            data[chance.randrange(min(len(data), 600))] = chance.randrange(256)
        archive.write_bytes(data)
        try:
            unpack(archive, tmp_path / f"out-{number}", 10_000)
        except SourceError:
            assert not (tmp_path / f"out-{number}").exists()


def make_zip(path: Path, fill: Callable[[zipfile.ZipFile], None]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        fill(archive)
    return path


def zip_entry(name: str, mode: int = 0) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, (2020, 9, 13, 12, 26, 40))
    info.external_attr = mode << 16
    return info


def test_zip_files_follow_the_same_policy(tmp_path: Path) -> None:
    def fill(archive: zipfile.ZipFile) -> None:
        archive.writestr(zip_entry("demo/"), b"")
        archive.writestr(zip_entry("demo/program", stat.S_IFREG | 0o4755), b"x")
        archive.writestr(zip_entry("demo/file"), b"x")
        archive.writestr(zip_entry("demo/link", stat.S_IFLNK | 0o777), b"file")

    top = unpack(make_zip(tmp_path / "demo.whl", fill), tmp_path / "out")
    assert top.name == "demo"
    assert stat.S_IMODE((top / "program").stat().st_mode) == 0o755
    assert stat.S_IMODE((top / "file").stat().st_mode) == 0o644
    assert (top / "file").stat().st_mtime == 1_600_000_000
    assert (top / "link").readlink() == Path("file")


@pytest.mark.parametrize(
    ("name", "mode", "content"),
    [
        ("../x", 0, b""),
        ("/x", 0, b""),
        ("x", stat.S_IFLNK | 0o777, b"../x"),
        ("x", stat.S_IFLNK | 0o777, b"/etc/passwd"),
        ("x", stat.S_IFIFO | 0o644, b""),
        ("x", stat.S_IFREG | 0o644, b"x" * 20_000),
    ],
)
def test_zip_files_are_refused_alike(name: str, mode: int, content: bytes, tmp_path: Path) -> None:
    archive = make_zip(
        tmp_path / "a.zip", lambda archive: archive.writestr(zip_entry(name, mode), content)
    )
    assert reason(archive, tmp_path / "out")


def test_a_wrong_checksum_in_a_zip_is_damage(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a.zip", lambda archive: archive.writestr("a", b"content"))
    archive.write_bytes(archive.read_bytes().replace(b"content", b"kontent"))
    assert "CRC" in reason(archive, tmp_path / "out")


@pytest.mark.parametrize("top", ["", "demo-1/"])
def test_only_what_is_asked_for_is_unpacked(top: str, tmp_path: Path) -> None:
    names = ("a/one", "a/deep/two", "ab/three", "b/a/four", "c", "d/five", "d/six")
    archive = tar(tmp_path / "demo.tar", *(entry(f"{top}{name}", b"x") for name in names))
    root = unpack(archive, tmp_path / "out", only=("a", "c", "d/six"))
    there = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    assert there - {"b/a/four"} == {"a/one", "a/deep/two", "c", "d/six"}


def test_what_is_not_asked_for_may_not_break_the_policy_either(tmp_path: Path) -> None:
    archive = tar(tmp_path / "demo.tar", entry("demo/a", b"x"), entry("../b", b"x"))
    with pytest.raises(SourceError):
        unpack(archive, tmp_path / "out", only=("a",))
