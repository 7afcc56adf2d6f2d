"""Two wheels held against each other: every kind of difference is named, with its member."""

import struct
import zipfile
from pathlib import Path

import pytest

from rvbuild.audit.difference import Difference, compare_wheels
from rvbuild.errors import AuditError
from tests.audit_samples import INFO, MODULE, Sample, sample
from tests.cli_samples import Desk

EXTENSION = sample("extension.so")
GOOD = {"demo/__init__.py": b"a = 1\nb = 2\n", MODULE: EXTENSION}


def written(folder: Path, members: dict[str, bytes]) -> Path:
    folder.mkdir()
    return Sample(members).write(folder)


def compared(tmp_path: Path, left: dict[str, bytes], right: dict[str, bytes]) -> dict[str, str]:
    found = compare_wheels(written(tmp_path / "a", left), written(tmp_path / "b", right))
    return {each.member or "": "; ".join(each.reasons) for each in found}


def elf(sections: dict[str, bytes]) -> bytes:
    """Make an ELF file that has nothing but sections."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name in (*sections, ".shstrtab"))
    body, rows, offset = b"", [bytes(64)], 64
    for name, data in (*sections.items(), (".shstrtab", names)):
        index = names.index(b"\0" + name.encode() + b"\0") + 1
        rows.append(struct.pack("<IIQQQQIIQQ", index, 1, 0, 0, offset, len(data), 0, 0, 1, 0))
        body, offset = body + data, offset + len(data)
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    head += struct.pack(
        "<HHIQQQIHHHHHH", 3, 243, 1, 0, 0, offset, 5, 64, 56, 0, 64, len(rows), len(rows) - 1
    )
    return head + body + b"".join(rows)


def test_the_same_wheels_differ_in_nothing(tmp_path: Path) -> None:
    assert compared(tmp_path, GOOD, GOOD) == {}


def test_members_of_one_alone_and_texts(tmp_path: Path) -> None:
    other = {"demo/__init__.py": b"a = 1\nb = 3\n", MODULE: EXTENSION, "demo/more.py": b""}
    assert compared(tmp_path, GOOD, other) == {
        "demo/more.py": "is only in the second",
        "demo/__init__.py": "line 2: `b = 2` and `b = 3`",
        f"{INFO}/RECORD": "follows from the other differences",
    }


def test_the_order_of_members(tmp_path: Path) -> None:
    other = dict(reversed(GOOD.items()))
    found = compared(tmp_path, GOOD, other)
    assert found[""] == "the members are in another order"


def test_dates_and_modes(tmp_path: Path) -> None:
    paths = []
    for name, year, mode in (("a", 2020, 0o644), ("b", 2026, 0o664)):
        path = tmp_path / f"{name}.whl"
        paths.append(path)
        with zipfile.ZipFile(path, "w") as archive:
            entry = zipfile.ZipInfo("x.py", (year, 2, 2, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, b"")
    (found,) = compare_wheels(*paths)
    assert found == Difference(
        "x.py",
        (
            "date: `2020-02-02 00:00:00` and `2026-02-02 00:00:00`",
            "mode: `100644` and `100664`",
        ),
    )


@pytest.mark.parametrize(
    ("left", "right", "reason"),
    [
        (
            {".comment": b"clang 22\0"},
            {".comment": b"GCC 14\0"},
            "compiler: `clang 22` and `GCC 14`",
        ),
        (
            {".rodata": b"/home/a/x.c\0same\0"},
            {".rodata": b"/home/b/x.c\0same\0"},
            "paths in `.rodata`: `/home/a/x.c` and `/home/b/x.c`",
        ),
        (
            {".symtab": b"a" * 24 + b"b" * 24},
            {".symtab": b"b" * 24 + b"a" * 24},
            "order of symbols",
        ),
        ({".strtab": b"\0one\0two\0"}, {".strtab": b"\0two\0one\0"}, "order of names in `.strtab`"),
        ({".text": b"1234"}, {".text": b"12345"}, "section `.text`: 4 and 5 bytes"),
        ({".note.gnu.build-id": b"a"}, {".note.gnu.build-id": b"b"}, "build id, which follows"),
        ({".text": b"", ".debug_info": b"x"}, {".text": b""}, "that one has alone: `.debug_info`"),
    ],
)
def test_binaries_differ_by_section(
    tmp_path: Path, left: dict[str, bytes], right: dict[str, bytes], reason: str
) -> None:
    found = compared(tmp_path, {"a.so": elf(left)}, {"a.so": elf(right)})
    assert reason in found["a.so"]


def test_gaps_and_damage_are_named_too(tmp_path: Path) -> None:
    whole = elf({".text": b"1234"})
    changed = bytearray(whole)
    changed[24] = 7
    assert (
        "headers or gaps" in compared(tmp_path, {"a.so": whole}, {"a.so": bytes(changed)})["a.so"]
    )
    (tmp_path / "more").mkdir()
    cut = compared(tmp_path / "more", {"a.so": whole}, {"a.so": whole[:70]})["a.so"]
    assert "`a.so` is not a readable ELF file" in cut


def test_data_that_is_no_text(tmp_path: Path) -> None:
    found = compared(tmp_path, {"x.bin": b"ab\0d"}, {"x.bin": b"ab\0e"})
    assert found["x.bin"] == "byte 3 of 4 and 4"


def test_what_is_no_wheel_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_bytes(b"no zip")
    (tmp_path / "b.whl").write_bytes(b"none either")
    with pytest.raises(AuditError):
        compare_wheels(tmp_path / "a.whl", tmp_path / "b.whl")


def test_the_command_fails_for_wheels_that_differ(desk: Desk, tmp_path: Path) -> None:
    one = written(tmp_path / "a", GOOD)
    other = written(tmp_path / "b", {**GOOD, "demo/__init__.py": b"a = 2\n"})
    same = desk.run("diff", str(one), str(one))
    assert (same.code, same.out) == (0, "")
    assert "byte for byte" in same.err
    ended = desk.run("diff", str(one), str(other))
    assert ended.code == 7
    assert "demo/__init__.py\n  line 1: `a = 1` and `a = 2`\n" in ended.out
    document = desk.run("diff", "--json", str(one), str(other)).document
    assert (document["schema"], document["same"]) == ("rvbuild.diff/1", False)
    assert desk.run("diff", str(one), "nowhere.whl").code == 2
