"""Wheel files: reading good and bad ones, RECORD, deterministic packing, extension suffixes."""

import os
import stat
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from packaging.tags import parse_tag

from rvbuild.errors import AuditError
from rvbuild.wheel import (
    extension_problem,
    linkable_libraries,
    pack_wheel,
    read_wheel,
    unpack_wheel,
    verify_record,
)
from rvbuild.wheel.record import record_row

NAME = "Demo_Pkg-1.0-cp313-cp313-manylinux_2_31_riscv64.whl"
INFO = "Demo_Pkg-1.0.dist-info"
METADATA = """\
Metadata-Version: 2.4
Name: demo-pkg
Version: 1.0
Requires-Python: >=3.11
Requires-Dist: numpy>=2

Text.
"""
WHEEL = """\
Wheel-Version: 1.0
Generator: made by hand
Root-Is-Purelib: false
Tag: cp313-cp313-manylinux_2_31_riscv64
"""
TRIPLE = "riscv64-linux-gnu"


@dataclass
class Draft:
    """A wheel in the making; RECORD is written from the files unless it is one of them."""

    name: str = NAME
    files: dict[str, bytes] = field(
        default_factory=lambda: {
            "demo/__init__.py": b"VALUE = 1\n",
            f"{INFO}/METADATA": METADATA.encode(),
            f"{INFO}/WHEEL": WHEEL.encode(),
        }
    )

    def write(self, folder: Path) -> Path:
        rows = [",".join(record_row(name, data)) for name, data in self.files.items()]
        record = "\n".join([*rows, f"{INFO}/RECORD,,"]).encode()
        with zipfile.ZipFile(folder / self.name, "w") as archive:
            for name, data in ({f"{INFO}/RECORD": record} | self.files).items():
                archive.writestr(name, data)
        return folder / self.name


def test_libraries_that_others_link_with_are_neither_modules_nor_grafted(tmp_path: Path) -> None:
    draft = Draft()
    names = ["demo/lib/libdemo.so", "demo/lib/libmore.so.2", "demo.libs/libgrafted-1a2b.so.0"]
    names += ["demo/_core.cpython-313-riscv64-linux-gnu.so", "demo/_fast.abi3.so", "demo/a.socket"]
    draft.files |= dict.fromkeys(names, b"")
    assert linkable_libraries(draft.write(tmp_path)) == ("libdemo.so", "libmore.so.2")


def test_reads_a_wheel(tmp_path: Path) -> None:
    wheel = read_wheel(Draft().write(tmp_path))
    assert (wheel.name, wheel.version, wheel.build) == ("demo-pkg", "1.0", "")
    assert wheel.platforms == ("manylinux_2_31_riscv64",)
    assert wheel.inner_tags == wheel.tags
    assert not wheel.root_is_purelib
    assert wheel.metadata.requires_python == ">=3.11"
    assert wheel.metadata.requires_dist == ("numpy>=2",)
    assert wheel.metadata.problems == ()
    assert wheel.size == wheel.path.stat().st_size
    assert {member.name for member in wheel.members} >= {"demo/__init__.py", f"{INFO}/RECORD"}
    assert verify_record(wheel) == ()


def test_says_where_members_are_installed(tmp_path: Path) -> None:
    wheel = read_wheel(Draft().write(tmp_path))
    assert str(wheel.installed_path("demo/a.so")) == "demo/a.so"
    assert str(wheel.installed_path("Demo_Pkg-1.0.data/platlib/demo/a.so")) == "demo/a.so"
    assert wheel.installed_path("Demo_Pkg-1.0.data/scripts/tool") is None
    assert wheel.is_pure_path("Demo_Pkg-1.0.data/purelib/demo/a.so")
    assert not wheel.is_pure_path("demo/a.so")


def set_metadata(text: str | bytes) -> Callable[[Draft], None]:
    data = text if isinstance(text, bytes) else text.encode()

    def change(draft: Draft) -> None:
        draft.files[f"{INFO}/METADATA"] = data

    return change


def rename(name: str) -> Callable[[Draft], None]:
    def change(draft: Draft) -> None:
        draft.name = name

    return change


def add(name: str, data: bytes = b"") -> Callable[[Draft], None]:
    def change(draft: Draft) -> None:
        draft.files[name] = data

    return change


def remove(name: str) -> Callable[[Draft], None]:
    def change(draft: Draft) -> None:
        del draft.files[name]

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (rename("demo.whl"), "not the file name of a wheel"),
        (rename(NAME.replace("1.0", "one")), "not the file name of a wheel"),
        (rename(NAME.replace("1.0", "2.0")), "is about"),
        (rename("other-1.0-cp313-cp313-manylinux_2_31_riscv64.whl"), "is about"),
        (remove(f"{INFO}/METADATA"), "has no `Demo_Pkg-1.0.dist-info/METADATA`"),
        (remove(f"{INFO}/WHEEL"), "has no `Demo_Pkg-1.0.dist-info/WHEEL`"),
        (add("other-1.0.dist-info/METADATA"), "2 `.dist-info` folders"),
        (add(f"{INFO}/WHEEL", b"Wheel-Version: 2.0\n"), "wheel version `2.0`"),
        (add(f"{INFO}/WHEEL", b"\xff"), "not UTF-8"),
        (add("../escape.py"), "outside of itself"),
        (add("/etc/passwd"), "outside of itself"),
        (set_metadata(METADATA.replace("Name:", "Name: other\nName:")), "METADATA"),
        (set_metadata(METADATA.replace("2.4", "9.9")), "METADATA"),
        (set_metadata(METADATA.replace("Version: 1.0\n", "Version: 1.1\n")), "is about"),
        (set_metadata(METADATA.replace("numpy>=2", "numpy=>2")), "METADATA"),
        (set_metadata(METADATA.replace(">=3.11", "three")), "METADATA"),
        (set_metadata(METADATA.encode() + b"\xff"), "is not UTF-8"),
        (set_metadata(b""), "METADATA"),
    ],
)
def test_refuses_what_cannot_be_installed(
    change: Callable[[Draft], None], reason: str, tmp_path: Path
) -> None:
    draft = Draft()
    change(draft)
    with pytest.raises(AuditError, match=reason):
        read_wheel(draft.write(tmp_path))


def test_names_the_field_that_is_given_twice(tmp_path: Path) -> None:
    draft = Draft()
    set_metadata(METADATA.replace("Name:", "Name: other\nName:"))(draft)
    with pytest.raises(AuditError) as caught:
        read_wheel(draft.write(tmp_path))
    assert "field `name` is given 2 times" in caught.value.causes


def test_keeps_faults_that_installers_live_with(tmp_path: Path) -> None:
    draft = Draft()
    early = METADATA.replace("2.4", "2.1").replace(
        "Requires-Python", "License-Expression: MIT\nLicense-File: LICENSE\nRequires-Python"
    )
    set_metadata(early)(draft)
    (problem,) = read_wheel(draft.write(tmp_path)).metadata.problems
    assert "license-expression" in problem
    assert "2.1" in problem


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 and nothing", b"<html></html>"])
def test_refuses_files_that_are_no_archive(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_bytes(data)
    with pytest.raises(AuditError, match="cannot read"):
        read_wheel(path)


def test_refuses_damaged_members(tmp_path: Path) -> None:
    path = Draft().write(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"VALUE = 1", b"VALUE = 2"))
    with pytest.raises(AuditError, match=r"`demo/__init__.py` in .* is damaged"):
        verify_record(read_wheel(path))


@pytest.mark.parametrize(
    ("old", "new", "member", "reason"),
    [
        ("demo/__init__.py,sha256=", "demo/__init__.py,md5=", "demo/__init__.py", "has no sha256"),
        ("demo/__init__.py,sha256=", "demo/__init__.py,sha256=A", "demo/__init__.py", "the sha256"),
        (",10\n", ",11\n", "demo/__init__.py", "10 bytes"),
        ("demo/__init__.py", "demo/other.py", "demo/__init__.py", "not listed"),
        ("demo/__init__.py", "demo/other.py", "demo/other.py", "not in the wheel"),
    ],
)
def test_finds_a_record_that_is_not_true(
    old: str, new: str, member: str, reason: str, tmp_path: Path
) -> None:
    draft = Draft()
    rows = [",".join(record_row(name, data)) for name, data in draft.files.items()]
    record = "\n".join([*rows, f"{INFO}/RECORD,,", ""])
    assert old in record
    draft.files[f"{INFO}/RECORD"] = record.replace(old, new).encode()
    problems = {
        each.member: each.message for each in verify_record(read_wheel(draft.write(tmp_path)))
    }
    assert reason in problems[member]


def test_packs_the_same_bytes_whatever_the_folder(tmp_path: Path) -> None:
    source = Draft()
    source.files["demo/tool"] = b"#!python\n"
    path = source.write(tmp_path)
    packed = []
    for number, mask in enumerate((0o022, 0o077)):
        folder = tmp_path / str(number)
        before = os.umask(mask)
        try:
            unpack_wheel(path, folder)
        finally:
            os.umask(before)
        (folder / "demo/tool").chmod(0o755 & ~mask)
        (folder / INFO / "RECORD.jws").write_text("signature")
        os.utime(folder / "demo/tool", (number * 1000, number * 1000))
        destination = tmp_path / f"out{number}"
        destination.mkdir()
        packed.append(pack_wheel(folder, destination / NAME, 1700000000))
    assert packed[0].read_bytes() == packed[1].read_bytes()
    wheel = read_wheel(packed[0])
    assert verify_record(wheel) == ()
    assert {member.name for member in wheel.members if member.executable} == {"demo/tool"}
    with zipfile.ZipFile(packed[0]) as archive:
        names = archive.namelist()
        entry = archive.getinfo("demo/tool")
    assert names[-1] == f"{INFO}/RECORD"
    assert f"{INFO}/RECORD.jws" not in names
    assert entry.date_time == (2023, 11, 14, 22, 13, 20)
    assert stat.S_IMODE(entry.external_attr >> 16) == 0o755


def test_packs_dates_that_zip_does_not_have(tmp_path: Path) -> None:
    unpack_wheel(Draft().write(tmp_path), tmp_path / "folder")
    packed = pack_wheel(tmp_path / "folder", tmp_path / NAME, 0)
    with zipfile.ZipFile(packed) as archive:
        assert archive.infolist()[0].date_time == (1980, 1, 1, 0, 0, 0)


def test_refuses_members_that_exclude_each_other(tmp_path: Path) -> None:
    draft = Draft()
    draft.files["demo/__init__.py/inner.py"] = b""
    with pytest.raises(AuditError, match="cannot unpack"):
        unpack_wheel(draft.write(tmp_path), tmp_path / "folder")


@pytest.mark.parametrize(
    ("member", "tag", "reason"),
    [
        ("a/b.cpython-313-riscv64-linux-gnu.so", "cp313-cp313-linux_riscv64", None),
        ("a/b.cpython-313t-riscv64-linux-gnu.so", "cp313-cp313t-linux_riscv64", None),
        ("a/b.abi3.so", "cp311-abi3-linux_riscv64", None),
        ("a/b.abi3.so", "cp313-cp313-linux_riscv64", None),
        ("a/b.so", "cp313-cp313-linux_riscv64", None),
        ("a/b.cpython-313-x86_64-linux-gnu.so", "cp313-cp313-linux_riscv64", "x86_64-linux-gnu"),
        ("a/b.cpython-313-riscv64-linux-gnu.so", "cp314-cp314-linux_riscv64", "only `cp313`"),
        ("a/b.cpython-313-riscv64-linux-gnu.so", "cp313-cp313t-linux_riscv64", "only `cp313`"),
        ("a/b.cpython-313-riscv64-linux-gnu.so", "cp311-abi3-linux_riscv64", "only `cp313`"),
        ("a/b.cpython-313-riscv64-linux-gnu.so", "py3-none-linux_riscv64", "only `cp313`"),
        ("a/b.abi3.so", "cp313-cp313t-linux_riscv64", "free-threaded"),
    ],
)
def test_knows_which_python_loads_an_extension(member: str, tag: str, reason: str | None) -> None:
    problem = extension_problem(member, parse_tag(tag), TRIPLE)
    if reason is None:
        assert problem is None
    else:
        assert reason in str(problem)
