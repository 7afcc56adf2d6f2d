"""The instruction set in an audit: findings, the answer for a board, SARIF, and the commands."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rvbuild.audit import (
    AuditReport,
    BoardAnswer,
    answer_board,
    audit_wheel,
    render_answer,
    report_as_json,
    reports_as_sarif,
)
from rvbuild.target import boards
from tests.audit_samples import MODULE, POLICY, Sample, codes, found
from tests.cli_samples import Desk
from tests.isa_samples import sample

NAMED = "demo/demo.so"


def audited(name: str, folder: Path) -> AuditReport:
    return audit_wheel(Sample({NAMED: sample(name)}).write(folder), POLICY)


def isa_codes(report: AuditReport, severity: str) -> set[str]:
    return {code for code in codes(report, severity) if code.startswith("isa-")}


def answer(name: str, board: str, folder: Path) -> BoardAnswer:
    report = audited(name, folder)
    return answer_board(report.binaries, report.findings, boards()[board])


@pytest.mark.parametrize("name", ["constructor.so", "module.so", "vector.so", "address.so"])
def test_a_leak_is_an_error(name: str, tmp_path: Path) -> None:
    report = audited(name, tmp_path)
    assert not report.ok
    assert isa_codes(report, "error") == {"isa-leak"}
    leak = found(report, "isa-leak")
    assert leak.member == NAMED
    assert leak.hint is not None


def test_instructions_are_not_read_where_nobody_asks(tmp_path: Path) -> None:
    path = Sample({NAMED: sample("module.so")}).write(tmp_path)
    report = audit_wheel(path, replace(POLICY, instructions=False))
    assert [binary.isa for binary in report.binaries] == [None]
    assert isa_codes(report, "error") | isa_codes(report, "note") == set()


def test_a_leak_names_function_and_reason(tmp_path: Path) -> None:
    message = found(audited("module.so", tmp_path), "isa-leak").message
    assert "uses v without asking whether the processor has it, in 1 function" in message
    assert "runs as import of `module`: `PyInit_module` → `0x" in message


@pytest.mark.parametrize("name", ["guarded.so", "hwprobe.so", "clones.so", "split.so"])
def test_dispatched_code_is_a_note(name: str, tmp_path: Path) -> None:
    report = audited(name, tmp_path)
    assert isa_codes(report, "error") | isa_codes(report, "warning") == set()
    assert "has instructions beyond rv64gc" in found(report, "isa-dispatched").message


def test_an_exported_function_without_a_check_is_a_warning_where_others_check(
    tmp_path: Path,
) -> None:
    report = audited("mixed.so", tmp_path)
    assert isa_codes(report, "error") == set()
    finding = found(report, "isa-unguarded")
    assert finding.severity == "warning"
    assert "exports 1 function with v that no check is seen for: `unchecked`" in finding.message


def test_a_claim_without_code_is_a_note(tmp_path: Path) -> None:
    data = sample("plain.so").replace(b"rv64i2p1_m2p0_", b"rv64i2p1_v1p0_")
    report = audit_wheel(Sample({NAMED: data}).write(tmp_path), POLICY)
    assert isa_codes(report, "error") == set()
    assert found(report, "isa-claim").message == "claims v and has no such instruction"


def test_clean_code_is_not_spoken_of(tmp_path: Path) -> None:
    assert isa_codes(audited("plain.so", tmp_path), "note") == set()


def test_groups_taken_apart_are_a_note_that_names_the_function(tmp_path: Path) -> None:
    finding = found(audited("split.so", tmp_path), "isa-fixed-length")
    assert finding.severity == "note"
    assert "1 function" in finding.message
    assert "`product_ZVL256B`" in finding.message


def test_reading_registers_of_the_vector_unit_is_a_note(tmp_path: Path) -> None:
    report = audited("registers.so", tmp_path)
    assert isa_codes(report, "note") == {"isa-registers"}
    assert isa_codes(report, "error") | isa_codes(report, "warning") == set()


def test_data_that_was_left_out_is_a_note(tmp_path: Path) -> None:
    assert "4 words" in found(audited("island.so", tmp_path), "isa-doubt").message


def test_code_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    data = bytearray(sample("plain.so"))
    data[54] = 57
    report = audit_wheel(Sample({NAMED: bytes(data)}).write(tmp_path), POLICY)
    assert "unreadable-elf" in codes(report)


def test_the_report_holds_what_was_found(tmp_path: Path) -> None:
    report = report_as_json(audited("constructor.so", tmp_path))
    (binary,) = json.loads(json.dumps(report))["binaries"]
    instructions = binary["instructions"]
    assert instructions["verdict"] == "leaks"
    assert instructions["extensions"] == {"v": 1}
    assert instructions["leaks"][0]["reason"] == "runs as constructor"


@pytest.mark.parametrize(
    ("name", "board", "verdict", "words"),
    [
        ("plain.so", "k1", "scalar", "there is no vector code in it"),
        ("guarded.so", "k1", "vector", "has vector code for it in 1 function"),
        ("guarded.so", "jh7110", "scalar", "of RVV 1.0, which the board does not have"),
        ("guarded.so", "th1520", "scalar", "asks HWCAP only"),
        ("hwprobe.so", "th1520", "scalar", "of RVV 1.0, which the board does not have"),
        ("vector.so", "jh7110", "no", "needs v and does not ask for it"),
        ("vector.so", "th1520", "no", "needs v and does not ask for it"),
        ("vector.so", "k1", "vector", "has vector code for it"),
        ("address.so", "fu740", "no", "needs zba"),
        ("address.so", "jh7110", "scalar", "there is no vector code in it"),
        ("split.so", "k230", "scalar", ""),
        ("split.so", "k1", "vector", "in 2 functions"),
        ("split.so", "x280", "vector", "kernels for VLEN 256 that take register groups apart"),
        ("draft.so", "d1", "vector", "has vector code for it in 1 function"),
        ("draft.so", "k1", "scalar", "of RVV 0.7.1"),
    ],
)
def test_answers_for_a_board(
    name: str, board: str, verdict: str, words: str, tmp_path: Path
) -> None:
    given = answer(name, board, tmp_path)
    assert (given.runs, given.uses_vector) == (verdict != "no", verdict == "vector")
    assert words in "\n".join(given.reasons)


def test_a_foreign_file_runs_on_no_board(tmp_path: Path) -> None:
    data = (Path(__file__).parent.parent / "data" / "elf" / "x86-64.so").read_bytes()
    report = audit_wheel(Sample({MODULE: data}).write(tmp_path), POLICY)
    assert not answer_board(report.binaries, report.findings, boards()["k1"]).runs


def test_the_answer_tells_caveats(tmp_path: Path) -> None:
    text = render_answer(answer("guarded.so", "th1520", tmp_path))
    assert text.startswith("  runs on th1520 (T-Head TH1520, four C910 cores), does not use its")
    assert "caveat: kernels before 6.4 have no riscv_hwprobe" in text


def test_sarif_points_at_wheel_and_member(tmp_path: Path) -> None:
    log = json.loads(json.dumps(reports_as_sarif([audited("module.so", tmp_path)], "1.2")))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("rvbuild audit", "1.2")
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in {"error", "warning", "note"}
        assert result["message"]["text"]
    (leak,) = [each for each in run["results"] if each["ruleId"] == "isa-leak"]
    (location,) = leak["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"].endswith(".whl")
    assert location["logicalLocations"][0]["fullyQualifiedName"] == NAMED


def test_the_command_answers_for_a_board_and_writes_sarif(desk: Desk, tmp_path: Path) -> None:
    wheel = Sample({NAMED: sample("guarded.so")}).write(tmp_path)
    ended = desk.run("audit", str(wheel), "--board", "bpi-f3", "--sarif", "findings.sarif")
    assert "runs on k1 (SpacemiT K1, eight X60 cores), uses its vector unit" in ended.out
    assert json.loads((tmp_path / "findings.sarif").read_text())["version"] == "2.1.0"
    values = json.loads(desk.run("audit", str(wheel), "--board", "bpi-f3", "--json").out)
    assert values["reports"][0]["on"]["uses_vector"] is True


def test_an_unknown_board_is_answered_with_near_ones(desk: Desk, tmp_path: Path) -> None:
    wheel = Sample({NAMED: sample("plain.so")}).write(tmp_path)
    ended = desk.run("audit", str(wheel), "--board", "bpi-f4")
    assert ended.code == 2
    assert "there is no board `bpi-f4`" in ended.err
    assert "bpi-f3" in ended.err


def test_boards_are_listed_and_shown(desk: Desk) -> None:
    listed = desk.run("cpu", "list")
    assert "scaleway-em-rv1" in listed.out
    shown = desk.run("cpu", "show", "licheepi-4a").out
    assert "TH1520" in shown
    assert "https://github.com/torvalds/linux" in shown
    (board,) = json.loads(desk.run("cpu", "show", "k1", "--json").out)["boards"]
    assert (board["vlen"], "zvfh" in board["extensions"]) == (256, True)
    assert desk.run("cpu", "list", "--json").document["boards"]
