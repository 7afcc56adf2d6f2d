"""Repairing made wheels with the real patchelf and auditwheel."""

import dataclasses
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rvbuild.audit import Repair, audit_wheel, repair_wheel
from rvbuild.elf import ElfFacts, read_elf
from rvbuild.errors import AuditError, MissingToolError
from rvbuild.target import Floor
from rvbuild.wheel import read_wheel, unpack_wheel
from tests.audit_samples import FLOOR, MODULE, POLICY, SYSROOT, Sample, codes, sample

UNREPAIRED = "cp313-cp313-linux_riscv64"
REPAIRED = "demo-1.0-cp313-cp313-manylinux_2_31_riscv64.whl"
EPOCH_SECONDS = 1700000000


@pytest.fixture(scope="session")
def patchelf() -> Path:
    """Find patchelf beside the Python that runs the tests, or on PATH."""
    found = shutil.which("patchelf", path=str(Path(sys.executable).parent)) or shutil.which(
        "patchelf"
    )
    if found is None:
        pytest.skip("`patchelf` is not here")
    return Path(found)


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """Give a job's library folder with libinner.so.1 in it."""
    folder = tmp_path / "prefix"
    folder.mkdir()
    (folder / "libinner.so.1").write_bytes(sample("libinner.so.1"))
    return folder


@pytest.fixture
def repair(tmp_path: Path, prefix: Path, patchelf: Path) -> Repair:
    """Give a repair for the oldest floor."""
    return Repair(
        floor=FLOOR,
        library_folders=(prefix, SYSROOT),
        destination=tmp_path / "out",
        patchelf=patchelf,
        epoch_seconds=EPOCH_SECONDS,
    )


def facts_inside(wheel: Path, folder: Path) -> dict[str, ElfFacts]:
    unpack_wheel(wheel, folder)
    shared = sorted(path for path in folder.rglob("*") if ".so" in path.name)
    return {path.relative_to(folder).as_posix(): read_elf(path) for path in shared}


def test_tags_a_wheel_that_needs_nothing(tmp_path: Path, repair: Repair) -> None:
    path = Sample({MODULE: sample("extension.so")}, tag=UNREPAIRED).write(tmp_path)
    repaired = repair_wheel(path, repair)
    assert repaired == tmp_path / "out" / REPAIRED
    assert audit_wheel(repaired, POLICY).findings == ()
    (member,) = [each for each in read_wheel(repaired).members if each.name == MODULE]
    assert member.size == len(sample("extension.so"))


def test_grafts_from_the_given_folders(tmp_path: Path, repair: Repair) -> None:
    path = Sample({MODULE: sample("outer.so")}, tag=UNREPAIRED).write(tmp_path)
    repaired = repair_wheel(path, repair)
    report = audit_wheel(repaired, POLICY)
    assert codes(report) == set()
    assert codes(report, "warning") == set()
    inside = facts_inside(repaired, tmp_path / "inside")
    (grafted,) = [name for name in inside if name.startswith("demo.libs/libinner-")]
    assert inside[grafted].soname == Path(grafted).name
    assert Path(grafted).name in inside[MODULE].needed
    assert inside[MODULE].rpath == ("$ORIGIN/../demo.libs",)
    assert all(load.congruent for facts in inside.values() for load in facts.loads)


def test_texts_do_not_tell_where_they_were_built(tmp_path: Path, repair: Repair) -> None:
    text = b'commands = "/cache/kits/clang -I/cache/work/demo/prefix/include"\n'
    table = b"\0/cache/work/demo\0"
    members = {MODULE: sample("extension.so"), "demo/config.py": text, "demo/table.bin": table}
    path = Sample(members, tag=UNREPAIRED).write(tmp_path)
    places = {
        "/cache": "/rvbuild/cache",
        "/cache/work/demo": "/rvbuild",
        "/cache/kits": "/rvbuild/kits",
    }
    repaired = repair_wheel(path, dataclasses.replace(repair, places=places))
    unpack_wheel(repaired, tmp_path / "inside")
    written = (tmp_path / "inside/demo/config.py").read_bytes()
    assert written == b'commands = "/rvbuild/kits/clang -I/rvbuild/prefix/include"\n'
    # What has zeros in it is no text, and a changed length could break it.
    assert (tmp_path / "inside/demo/table.bin").read_bytes() == table
    assert audit_wheel(repaired, POLICY).findings == ()


def test_a_missing_library_is_named_with_its_member(tmp_path: Path, repair: Repair) -> None:
    path = Sample({MODULE: sample("outer.so")}, tag=UNREPAIRED).write(tmp_path)
    with pytest.raises(AuditError, match="none of the library folders") as caught:
        repair_wheel(path, dataclasses.replace(repair, library_folders=(SYSROOT,)))
    assert caught.value.causes == (f"`{MODULE}` needs `libinner.so.1`",)
    assert not list(repair.destination.glob("*"))


@pytest.mark.parametrize("way", ["rpath", "environment"])
def test_never_takes_a_library_of_this_machine(
    way: str,
    tmp_path: Path,
    repair: Repair,
    patched: Callable[..., bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = tmp_path / "usr" / "lib"
    machine.mkdir(parents=True)
    (machine / "libinner.so.1").write_bytes(sample("libinner.so.1"))
    module = sample("outer.so")
    if way == "rpath":
        module = patched(module, "--set-rpath", str(machine))
    else:
        monkeypatch.setenv("LD_LIBRARY_PATH", str(machine))
        monkeypatch.setenv("AUDITWHEEL_LD_LIBRARY_PATH", str(machine))
    path = Sample({MODULE: module}, tag=UNREPAIRED).write(tmp_path)
    with pytest.raises(AuditError, match="none of the library folders"):
        repair_wheel(path, dataclasses.replace(repair, library_folders=(SYSROOT,)))


def test_prefers_the_first_folder_and_skips_other_machines(tmp_path: Path, repair: Repair) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "libinner.so.1").write_bytes(sample("x86-64.so"))
    path = Sample({MODULE: sample("outer.so")}, tag=UNREPAIRED).write(tmp_path)
    folders = (foreign, *repair.library_folders)
    repaired = repair_wheel(path, dataclasses.replace(repair, library_folders=folders))
    assert all(
        facts.machine == "EM_RISCV" for facts in facts_inside(repaired, tmp_path / "i").values()
    )


@pytest.fixture
def patched(tmp_path: Path, patchelf: Path) -> Callable[..., bytes]:
    """Give a function that runs patchelf over bytes."""

    def run(data: bytes, *words: str) -> bytes:
        file = tmp_path / "patched.so"
        file.write_bytes(data)
        file.chmod(0o755)
        code = os.spawnv(os.P_WAIT, patchelf, [str(patchelf), *words, str(file)])  # noqa: S606 - a fixed program
        assert code == 0
        return file.read_bytes()

    return run


def test_takes_leaking_search_paths_out(
    tmp_path: Path, repair: Repair, patched: Callable[..., bytes]
) -> None:
    leaking = patched(sample("extension.so"), "--set-rpath", "/build/lib:$ORIGIN/../demo.libs")
    path = Sample({MODULE: leaking}, tag=UNREPAIRED).write(tmp_path)
    inside = facts_inside(repair_wheel(path, repair), tmp_path / "inside")
    assert inside[MODULE].runpath == ("$ORIGIN/../demo.libs",)
    assert inside[MODULE].rpath == ()


def test_the_same_wheel_gives_the_same_bytes(
    tmp_path: Path, repair: Repair, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Sample({MODULE: sample("outer.so")}, tag=UNREPAIRED).write(tmp_path)
    first = repair_wheel(path, repair).read_bytes()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    before = os.umask(0o077)
    try:
        other = dataclasses.replace(repair, destination=tmp_path / "other")
        second = repair_wheel(path, other).read_bytes()
    finally:
        os.umask(before)
    assert first == second
    assert os.environ["SOURCE_DATE_EPOCH"] == "1"


def test_newer_symbols_are_listed(tmp_path: Path, repair: Repair) -> None:
    members = {MODULE: sample("extension.so"), "demo/bin/tool": sample("newer-program")}
    path = Sample(members, tag=UNREPAIRED).write(tmp_path)
    with pytest.raises(AuditError, match="manylinux_2_31_riscv64") as caught:
        repair_wheel(path, repair)
    text = "\n".join(caught.value.causes)
    assert "`demo/bin/tool` needs `GLIBC_2.33` of `libc.so.6` for `stat`" in text
    assert "`pthread_create`" in text


def test_a_newer_floor_keeps_the_older_tag_where_it_fits(tmp_path: Path, repair: Repair) -> None:
    newer = dataclasses.replace(repair, floor=Floor(2, 35))
    old = Sample({MODULE: sample("extension.so")}, tag=UNREPAIRED).write(tmp_path)
    assert read_wheel(repair_wheel(old, newer)).platforms == (
        "manylinux_2_31_riscv64",
        "manylinux_2_35_riscv64",
    )
    new = Sample({MODULE: sample("newer.so")}, tag=UNREPAIRED).write(tmp_path)
    assert read_wheel(repair_wheel(new, newer)).platforms == (
        "manylinux_2_34_riscv64",
        "manylinux_2_35_riscv64",
    )


def test_bundles_an_allowed_library_when_asked(tmp_path: Path, repair: Repair) -> None:
    path = Sample({MODULE: sample("atomic-linked.so")}, tag=UNREPAIRED).write(tmp_path)
    assert codes(audit_wheel(repair_wheel(path, repair), POLICY), "warning") == {"libatomic"}
    bundling = dataclasses.replace(repair, bundle=("libatomic.so.1",))
    report = audit_wheel(repair_wheel(path, bundling), POLICY)
    assert codes(report, "warning") == set()
    assert any(each.member.startswith("demo.libs/libatomic-") for each in report.binaries)


def test_a_library_of_another_wheel_is_left_alone(tmp_path: Path, repair: Repair) -> None:
    path = Sample({MODULE: sample("outer.so")}, tag=UNREPAIRED).write(tmp_path)
    repaired = repair_wheel(path, dataclasses.replace(repair, brought=("libinner.so.*",)))
    assert len(audit_wheel(repaired, POLICY).binaries) == 1


def test_links_to_libpython_are_dropped(
    tmp_path: Path, repair: Repair, patched: Callable[..., bytes]
) -> None:
    module = patched(sample("extension.so"), "--add-needed", "libpython3.13.so.1.0")
    path = Sample({MODULE: module}, tag=UNREPAIRED).write(tmp_path)
    inside = facts_inside(repair_wheel(path, repair), tmp_path / "inside")
    assert inside[MODULE].needed == ("libc.so.6",)


def test_pure_wheels_pass_untouched(tmp_path: Path, repair: Repair) -> None:
    path = Sample({"demo.py": b""}, tag="py3-none-any", purelib=True).write(tmp_path)
    repaired = repair_wheel(path, repair)
    assert repaired.read_bytes() == path.read_bytes()
    assert repair_wheel(repaired, repair) == repaired


def test_objects_alone_make_a_platform_wheel(tmp_path: Path, repair: Repair) -> None:
    path = Sample({"demo/left.o": sample("vector.o")}, tag=UNREPAIRED).write(tmp_path)
    assert repair_wheel(path, repair).name == REPAIRED


@pytest.mark.parametrize(
    ("members", "tag", "reason"),
    [
        ({MODULE: "extension.so", "demo/b.so": "x86-64.so"}, UNREPAIRED, "not riscv64"),
        ({MODULE: "extension.so"}, "cp313-cp313-linux_x86_64", "which is not riscv64"),
        ({MODULE: "extension.so"}, "py3-none-any", "tagged for any machine"),
        ({"demo-1.0.data/purelib/a.so": "extension.so"}, UNREPAIRED, "among pure Python modules"),
    ],
)
def test_refuses_what_no_repair_can_mend(
    members: dict[str, str], tag: str, reason: str, tmp_path: Path, repair: Repair
) -> None:
    files = {member: sample(name) for member, name in members.items()}
    with pytest.raises(AuditError, match="cannot repair") as caught:
        repair_wheel(Sample(files, tag=tag).write(tmp_path), repair)
    assert any(reason in cause for cause in caught.value.causes)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("patchelf 0.18.0", "patchelf 0.18"),
        ("patchelf 0.12", "too old"),
        ("something else", "does not answer"),
    ],
)
def test_refuses_a_patchelf_not_to_be_trusted(
    answer: str, reason: str, tmp_path: Path, repair: Repair
) -> None:
    fake = tmp_path / "patchelf"
    fake.write_text(f"#!/bin/sh\necho {answer}\n")
    fake.chmod(0o755)
    path = Sample({MODULE: sample("extension.so")}, tag=UNREPAIRED).write(tmp_path)
    with pytest.raises(MissingToolError, match=reason):
        repair_wheel(path, dataclasses.replace(repair, patchelf=fake))
    with pytest.raises(MissingToolError, match="cannot run"):
        repair_wheel(path, dataclasses.replace(repair, patchelf=tmp_path / "none"))


def test_a_bill_of_materials_is_recorded_and_knows_the_grafts(
    tmp_path: Path, repair: Repair
) -> None:
    path = Sample({MODULE: sample("outer.so")}, tag=UNREPAIRED).write(tmp_path)
    asked = dataclasses.replace(repair, sbom=lambda grafted: f"{list(grafted)}\n")
    repaired = repair_wheel(path, asked)
    assert codes(audit_wheel(repaired, POLICY)) == set()
    unpack_wheel(repaired, tmp_path / "inside")
    document = tmp_path / "inside/demo-1.0.dist-info/sboms/rvbuild.cdx.json"
    assert document.read_text() == "['libinner.so.1']\n"


@pytest.mark.parametrize(
    ("member", "name", "debug"),
    [
        ("demo/more.so", "symbols.so", "demo/more.so.debug"),
        (MODULE, "outer.so", "grafted/libinner.so.1.debug"),
    ],
)
def test_symbols_of_members_and_grafts_are_kept_beside_the_wheel(
    member: str, name: str, debug: str, prefix: Path, repair: Repair
) -> None:
    folder = repair.destination.parent
    (prefix / "libinner.so.1").write_bytes(sample("symbols.so"))
    path = Sample({member: sample(name)}, tag=UNREPAIRED).write(folder)
    asked = dataclasses.replace(repair, symbols=folder / "symbols", destination=folder / "split")
    plain, split = repair_wheel(path, repair), repair_wheel(path, asked)
    assert codes(audit_wheel(split, POLICY)) == set()
    kept = [each.relative_to(folder / "symbols") for each in (folder / "symbols").rglob("*.*")]
    assert list(map(str, kept)) == [debug]
    before = list(facts_inside(plain, folder / "before").values())
    after = list(facts_inside(split, folder / "after").values())
    assert [facts.defined for facts in before] == [facts.defined for facts in after]
    assert any(facts.has_debug for facts in before)
    assert not any(facts.has_debug for facts in after)
    assert all(load.congruent for facts in after for load in facts.loads)
    assert split.stat().st_size < plain.stat().st_size


def test_a_program_in_scripts_finds_its_libraries(
    tmp_path: Path, repair: Repair, patched: Callable[..., bytes]
) -> None:
    program = patched(sample("outer.so"), "--set-soname", "tool")
    members = {MODULE: sample("extension.so"), "demo-1.0.data/scripts/tool": program}
    repaired = repair_wheel(Sample(members, tag=UNREPAIRED).write(tmp_path), repair)
    report = audit_wheel(repaired, POLICY)
    assert codes(report) == set()
    assert "demo.scripts/tool" in {binary.member for binary in report.binaries}
