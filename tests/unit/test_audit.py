"""Auditing made wheels: every kind of lie or leak is found, named, and nothing else is."""

import dataclasses
import json
import struct
import zipfile
from pathlib import Path

import pytest

from rvbuild.audit import AuditReport, Policy, audit_wheel, render_report, report_as_json
from rvbuild.audit.identity import extensions_beyond_baseline
from rvbuild.errors import AuditError
from rvbuild.target import Floor
from tests.audit_samples import FLOOR, INFO, MODULE, POLICY, SYSROOT, Sample, codes, found, sample

EXTENSION = sample("extension.so")
GOOD = {"demo/__init__.py": b"", MODULE: EXTENSION}


def audit(sample_: Sample, folder: Path, policy: Policy = POLICY) -> AuditReport:
    return audit_wheel(sample_.write(folder), policy)


def test_a_good_wheel_has_no_findings(tmp_path: Path) -> None:
    report = audit(Sample(GOOD), tmp_path)
    assert report.findings == ()
    assert report.ok
    assert [binary.member for binary in report.binaries] == [MODULE]


def test_a_pure_wheel_has_no_findings(tmp_path: Path) -> None:
    report = audit(Sample({"demo.py": b""}, tag="py3-none-any", purelib=True), tmp_path)
    assert report.findings == ()


@pytest.mark.parametrize(
    ("name", "member", "code", "words"),
    [
        ("x86-64.so", "demo/other.so", "wrong-machine", "little-endian x86_64"),
        ("x86-64.so", "demo/bin/tool", "wrong-machine", "not riscv64"),
        ("x86-64.so", "demo-1.0.data/scripts/tool", "wrong-machine", "not riscv64"),
        ("debug.o", "demo/left.o", "wrong-machine", "not riscv64"),
        ("powerpc.so", "demo/other.so", "wrong-machine", "32-bit big-endian ppc"),
        ("soft.o", "demo/soft.o", "wrong-float-abi", "soft float ABI"),
        ("soft.o", "demo/data.bin", "wrong-float-abi", "soft float ABI"),
    ],
)
def test_every_elf_member_has_to_be_of_the_target(
    name: str, member: str, code: str, words: str, tmp_path: Path
) -> None:
    report = audit(Sample({**GOOD, member: sample(name)}), tmp_path)
    assert codes(report) == {code}
    finding = found(report, code)
    assert finding.member == member
    assert words in finding.message


def test_looks_into_archives(tmp_path: Path) -> None:
    content = sample("soft.o")
    header = f"{'soft.o/':<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(content):<10}`\n".encode()
    report = audit(Sample({**GOOD, "demo/lib.a": b"!<arch>\n" + header + content}), tmp_path)
    assert found(report, "wrong-float-abi").member == "demo/lib.a(soft.o)"


@pytest.mark.parametrize(
    ("member", "data", "severity"),
    [
        ("demo/broken.so", EXTENSION[:500], "error"),
        ("demo/lib.so.1", b"INPUT(libother.so)", "error"),
        ("demo/data.o", b"text", "warning"),
    ],
)
def test_finds_code_that_is_not_readable(
    member: str, data: bytes, severity: str, tmp_path: Path
) -> None:
    report = audit(Sample({**GOOD, member: data}), tmp_path)
    (finding,) = report.findings
    assert (finding.member, finding.severity) == (member, severity)
    assert finding.code in {"unreadable-elf", "not-elf"}


def test_a_stray_object_is_a_warning(tmp_path: Path) -> None:
    report = audit(Sample({**GOOD, "demo/left.o": sample("vector.o")}), tmp_path)
    assert report.ok
    assert codes(report, "warning") == {"stray-object"}


@pytest.mark.parametrize(
    ("platform", "code"),
    [
        ("linux_riscv64", "not-repaired"),
        ("manylinux2014_riscv64", "undefined-tag"),
        ("manylinux_2_30_riscv64", "undefined-tag"),
        ("musllinux_1_2_riscv64", "undefined-tag"),
        ("manylinux_2_31_riscv64.manylinux2014_riscv64", "undefined-tag"),
        ("linux_x86_64", "wrong-platform"),
        ("manylinux_2_39_riscv64", "tag-above-floor"),
        ("any", "elf-in-any"),
        ("manylinux_2_31_riscv64.manylinux_2_39_riscv64", None),
    ],
)
def test_judges_platform_tags(platform: str, code: str | None, tmp_path: Path) -> None:
    report = audit(Sample(GOOD, tag=f"cp313-cp313-{platform}"), tmp_path)
    assert codes(report) == ({code} if code else set())


def test_a_platform_tag_needs_something_compiled(tmp_path: Path) -> None:
    report = audit(Sample({"demo.py": b""}, tag="py3-none-manylinux_2_31_riscv64"), tmp_path)
    assert codes(report) == {"no-elf"}


@pytest.mark.parametrize(
    ("member", "purelib"), [("demo-1.0.data/purelib/demo/a.so", False), ("demo/a.so", True)]
)
def test_code_does_not_belong_into_purelib(member: str, purelib: bool, tmp_path: Path) -> None:  # noqa: FBT001 - a case of the table
    report = audit(Sample({member: EXTENSION}, purelib=purelib), tmp_path)
    assert codes(report) == {"elf-in-purelib"}
    assert found(report, "elf-in-purelib").member == member


def test_name_and_inside_have_to_agree_on_tags(tmp_path: Path) -> None:
    report = audit(Sample(GOOD, inner_tag="cp313-cp313-linux_riscv64"), tmp_path)
    assert codes(report) == {"tag-mismatch"}


@pytest.mark.parametrize(
    "member",
    ["demo/a.cpython-313-x86_64-linux-gnu.so", "demo/a.cpython-314-riscv64-linux-gnu.so"],
)
def test_extension_names_have_to_fit_the_tag(member: str, tmp_path: Path) -> None:
    report = audit(Sample({member: EXTENSION}), tmp_path)
    assert codes(report) == {"extension-suffix"}


@pytest.mark.parametrize("member", ["newer.so", "newer-program"])
def test_names_symbols_above_the_floor(member: str, tmp_path: Path) -> None:
    report = audit(Sample({**GOOD, f"demo/{member}": sample(member)}), tmp_path)
    messages = [each.message for each in report.findings if each.code == "above-floor"]
    assert any("`GLIBC_2.33` of `libc.so.6` for `stat`" in message for message in messages)
    assert any("`pthread_create`" in message for message in messages)
    assert {each.member for each in report.findings} == {f"demo/{member}"}


def test_newer_symbols_are_fine_on_a_newer_floor(tmp_path: Path) -> None:
    newer = Sample({MODULE: sample("newer.so")}, tag="cp313-cp313-manylinux_2_34_riscv64")
    policy = Policy(Floor(2, 34))
    assert "above-floor" not in codes(audit(newer, tmp_path, policy))
    claim = dataclasses.replace(newer, tag="cp313-cp313-manylinux_2_31_riscv64")
    assert "above-floor" in codes(audit(claim, tmp_path, policy))


def test_a_sysroot_may_be_older_than_the_floor(tmp_path: Path) -> None:
    newer = Sample({MODULE: sample("newer.so")}, tag="cp313-cp313-manylinux_2_34_riscv64")
    policy = Policy(Floor(2, 34), libraries=(SYSROOT,))
    assert audit(newer, tmp_path, policy).findings == ()


def test_finds_undefined_symbols(tmp_path: Path) -> None:
    report = audit(Sample({MODULE: sample("atomic.so")}), tmp_path)
    finding = found(report, "undefined-symbol")
    assert "`__atomic_exchange_1`" in finding.message
    assert finding.hint == "link with `-latomic`"
    assert codes(report) == {"undefined-symbol"}


def test_knows_atomics_even_without_a_sysroot(tmp_path: Path) -> None:
    report = audit(Sample({MODULE: sample("atomic.so")}), tmp_path, Policy(FLOOR))
    assert codes(report) == {"undefined-symbol"}
    assert codes(report, "note") == {"symbols-unchecked"}


def test_libatomic_is_a_warning(tmp_path: Path) -> None:
    report = audit(Sample({MODULE: sample("atomic-linked.so")}), tmp_path)
    assert report.ok
    assert codes(report, "warning") == {"libatomic"}


def test_needed_libraries_have_to_come_along(tmp_path: Path) -> None:
    alone = {MODULE: sample("outer.so")}
    report = audit(Sample(alone), tmp_path)
    assert codes(report) == {"missing-library"}
    assert "`libinner.so.1`" in found(report, "missing-library").message
    brought = dataclasses.replace(POLICY, allowed_libraries=("libinner.so.*",))
    report = audit(Sample(alone), tmp_path, brought)
    assert codes(report) == set()
    assert "`inner_answer`" in found(report, "undefined-symbol").message


def test_a_library_inside_has_to_be_reached(tmp_path: Path) -> None:
    members = {MODULE: sample("outer.so"), "demo/libinner.so.1": sample("libinner.so.1")}
    report = audit(Sample(members), tmp_path)
    assert report.ok
    assert codes(report, "warning") == {"unreachable-library"}


def test_finds_misaligned_segments(tmp_path: Path) -> None:
    data = bytearray(EXTENSION)
    (start,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    loads = [start + size * i for i in range(count) if data[start + size * i] == 1]
    (address,) = struct.unpack_from("<Q", data, loads[-1] + 16)
    struct.pack_into("<Q", data, loads[-1] + 16, address + 0x800)
    report = audit(Sample({MODULE: bytes(data)}), tmp_path)
    assert "misaligned-load" in codes(report)


def test_finds_paths_of_the_build_machine(tmp_path: Path) -> None:
    policy = dataclasses.replace(POLICY, build_paths=("/build/work",))
    members = {MODULE: EXTENSION + b"/build/work/demo.c\0", "demo/note.txt": b"/build/work"}
    report = audit(Sample(members), tmp_path, policy)
    paths = [each for each in report.findings if each.code == "build-path"]
    assert {each.severity for each in paths} == {"warning"}
    assert [each.member for each in paths if each.hint] == [MODULE]
    assert {each.member for each in paths} == {MODULE, "demo/note.txt"}


def test_finds_a_stale_record(tmp_path: Path) -> None:
    path = Sample(GOOD).write(tmp_path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("demo/late.py", b"")
    finding = found(audit_wheel(path, POLICY), "record")
    assert (finding.member, finding.message) == ("demo/late.py", "is not listed in RECORD")


def test_finds_metadata_that_an_index_refuses(tmp_path: Path) -> None:
    metadata = "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\nLicense-Expression: MIT\n"
    report = audit(Sample(GOOD, metadata=metadata), tmp_path)
    assert found(report, "metadata").member == f"{INFO}/METADATA"


def test_damage_beyond_reporting_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="METADATA"):
        audit(Sample(GOOD, metadata="nonsense"), tmp_path)


def test_accepted_findings_become_notes(tmp_path: Path) -> None:
    policy = dataclasses.replace(POLICY, accept=("undefined-symbol",))
    report = audit(Sample({MODULE: sample("atomic.so")}), tmp_path, policy)
    assert report.ok
    assert codes(report, "note") == {"undefined-symbol"}


def test_reports_as_json_and_text(tmp_path: Path) -> None:
    report = audit(Sample({MODULE: sample("atomic.so")}), tmp_path)
    values = json.loads(json.dumps(report_as_json(report)))
    assert values["schema"] == "rvbuild.audit/1"
    assert values["ok"] is False
    assert values["findings"][0]["code"] == "undefined-symbol"
    assert values["binaries"][0]["needed"] == ["libc.so.6"]
    lines = render_report(report).splitlines()
    assert lines[0].endswith("does not keep to manylinux_2_31_riscv64")
    assert lines[1].startswith(f"  error[undefined-symbol]: `{MODULE}` needs")
    assert lines[2] == "    hint: link with `-latomic`"


def test_libraries_of_other_machines_do_not_count(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "libc.so.6").write_bytes(sample("x86-64.so"))
    policy = dataclasses.replace(POLICY, libraries=(foreign, SYSROOT))
    assert audit(Sample(GOOD), tmp_path, policy).findings == ()


def test_reads_arch_strings() -> None:
    assert extensions_beyond_baseline("rv64i2p1_m2p0_a2p1_f2p2_d2p2_c2p0_zicsr2p0") == ()
    assert extensions_beyond_baseline("rv64i2p1_v1p0_zvl128b1p0") == ("v", "zvl128b")
    assert extensions_beyond_baseline(None) == ()
