"""Verdicts on small files: what leaks, what is dispatched, what is only data, and why."""

import pytest

from rvbuild.errors import AuditError
from rvbuild.isa import read_isa_facts
from tests.isa_samples import facts_of, relocatable, sample, shared_object, words

VSETVLI, VLE32, SH1ADD, RETURN, NOP = 0x0C0372D7, 0x02056087, 0x20A52533, 0x00008067, 0x00000013


def test_the_baseline_is_clean() -> None:
    facts = facts_of("plain.so")
    assert (facts.verdict, dict(facts.extensions), facts.leaks) == ("baseline", {}, ())


@pytest.mark.parametrize(
    ("name", "extension", "function", "reason"),
    [
        ("constructor.so", "v", "0x", "runs as constructor"),
        ("module.so", "v", "0x", "runs as import of `module`: `PyInit_module` → "),
        ("vector.so", "v", "sum", "is exported under a name that does not say so"),
        ("address.so", "zba", "sum", "nothing in it asks the processor"),
        ("table.so", "v", "choose_case", "is exported"),
    ],
)
def test_code_that_nobody_checks_for_leaks(
    name: str, extension: str, function: str, reason: str
) -> None:
    facts = facts_of(name)
    assert facts.verdict == "leaks"
    assert facts.leaked == {extension}
    (leak,) = facts.leaks
    assert leak.function.startswith(function)
    assert reason in leak.reason


@pytest.mark.parametrize(
    ("name", "guards", "status"),
    [
        ("guarded.so", ("`getauxval`",), "checks"),
        ("hwprobe.so", ("the system call riscv_hwprobe",), "by pointer"),
        (
            "clones.so",
            ("`__init_riscv_feature_bits`", "functions that the loader chooses (ifunc)"),
            "named",
        ),
        ("split.so", (), "named"),
        ("variable.so", ("`getauxval`",), "inherits"),
        ("setting.so", ("the setting `OPENSSL_riscvcap`",), "inherits"),
    ],
)
def test_code_that_is_chosen_is_dispatched(name: str, guards: tuple[str, ...], status: str) -> None:
    facts = facts_of(name)
    assert facts.verdict == "dispatched"
    assert facts.guards == guards
    assert {each.status for each in facts.functions} == {status}
    assert facts.vector == {"1.0"}


def test_a_call_through_a_stub_counts_as_one_of_the_function() -> None:
    (function,) = facts_of("stub.so").functions
    assert (function.function.label, function.status) == ("every_element", "inherits")
    assert function.reason == "called by `sum_RVV` and the like only"


def test_a_variable_that_nobody_who_asks_writes_is_no_check() -> None:
    data = sample("variable.so")
    # `getauxval` under another name: what is written to the variable means nothing then.
    facts = read_isa_facts(data.replace(b"getauxval", b"getauxvol"), "variable")
    assert facts.verdict == "leaks"


def test_a_number_that_is_not_used_for_a_system_call_asks_nothing() -> None:
    data = sample("hwprobe.so")
    call = data.index(b"\x73\0\0\0", data.index(b"\x93\x08\x20\x10"))
    facts = read_isa_facts(data[:call] + b"\x13" + data[call + 1 :], "no call")
    assert facts.guards == ()
    assert facts.verdict == "leaks"


def test_a_check_counts_for_what_lies_behind_it_only() -> None:
    checked, unchecked = facts_of("mixed.so").functions
    # The local function that follows `checked`, whose size says that it is no part of it.
    assert (checked.status, checked.reason) == (
        "inherits",
        "called by `checked` and the like only",
    )
    assert (unchecked.function.label, unchecked.status) == ("unchecked", "unseen")


@pytest.mark.parametrize(("name", "doubted"), [("island.so", 4), ("island-mapped.so", 0)])
def test_data_among_code_gives_no_alarm(name: str, doubted: int) -> None:
    facts = facts_of(name)
    assert facts.verdict == "baseline"
    assert facts.doubted == doubted


def test_the_same_words_count_where_they_are_executed() -> None:
    data = sample("island.so")
    jump_over = bytes.fromhex("09a8")
    assert data.count(jump_over) == 1
    executed = data.replace(jump_over, bytes.fromhex("0100"))
    assert read_isa_facts(executed, "executed").verdict == "leaks"


def test_reading_the_length_of_a_register_is_no_vector_code() -> None:
    facts = facts_of("registers.so")
    assert (facts.verdict, facts.leaks) == ("baseline", ())
    assert [each.status for each in facts.functions] == ["reads"]


def test_the_draft_of_the_vector_extension_is_told_apart() -> None:
    assert facts_of("draft.so").vector == {"0.7.1"}


def test_the_claim_is_passed_on_and_decides_nothing() -> None:
    facts = read_isa_facts(sample("plain.so"), "plain", "rv64i2p1_v1p0")
    assert (facts.verdict, facts.claimed) == ("baseline", "rv64i2p1_v1p0")
    assert read_isa_facts(sample("vector.so"), "vector", "rv64i2p1").verdict == "leaks"


def without_sections(data: bytes) -> bytes:
    bare = bytearray(data)
    bare[40:48] = bytes(8)
    bare[60:64] = bytes(4)
    return bytes(bare)


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("plain.so", "baseline"),
        ("constructor.so", "leaks"),
        ("module.so", "leaks"),
        ("vector.so", "leaks"),
        ("guarded.so", "dispatched"),
        ("hwprobe.so", "dispatched"),
        ("clones.so", "dispatched"),
        ("split.so", "dispatched"),
        ("island.so", "baseline"),
    ],
)
def test_stripping_section_headers_changes_nothing(name: str, verdict: str) -> None:
    assert read_isa_facts(without_sections(sample(name)), name).verdict == verdict


def test_code_that_sections_keep_silent_about_is_read() -> None:
    # The one code section renamed to data: the loader would still execute it.
    data = sample("constructor.so")
    hidden = data.replace(b"\x06\0\0\0\0\0\0\0", b"\x02\0\0\0\0\0\0\0")
    assert hidden != data
    kept = read_isa_facts(hidden, "hidden")
    assert kept.verdict == "baseline"
    assert read_isa_facts(without_sections(hidden), "hidden").verdict == "leaks"


def test_a_file_without_any_symbol_is_judged_as_one_piece() -> None:
    code = words(NOP, VSETVLI, VLE32, *[VLE32] * 20, RETURN)
    facts = read_isa_facts(shared_object(code), "bare")
    assert facts.verdict == "leaks"
    assert facts.extensions == {"v": 22}


def test_objects_are_described_and_not_judged() -> None:
    facts = read_isa_facts(relocatable(words(VSETVLI, VLE32, RETURN)), "part.o")
    assert facts.verdict == "dispatched"
    assert facts.extensions == {"v": 2}
    assert facts.leaks == ()


def test_short_instructions_are_looked_at() -> None:
    code = bytes.fromhex("419d00808280")  # c.mul, c.lbu, ret
    assert read_isa_facts(relocatable(code), "short.o").extensions == {"zcb": 2}


def test_half_precision_in_vectors_is_zvfh() -> None:
    vsetvli_e16, vfadd = 0x0C8572D7, 0x02209157
    facts = read_isa_facts(relocatable(words(vsetvli_e16, vfadd, RETURN)), "half.o")
    assert facts.extensions == {"v": 2, "zvfh": 1}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x7fELF\x02\x01", "file header lies outside the file"),
        (sample("plain.so")[:100], "program header table lies outside the file"),
        (sample("plain.so")[:-1], "section header table lies outside the file"),
        (sample("plain.so")[:54] + b"\x11" + sample("plain.so")[55:], "17 bytes does not exist"),
    ],
)
def test_says_what_is_damaged(data: bytes, reason: str) -> None:
    with pytest.raises(AuditError, match=reason) as caught:
        read_isa_facts(data, "pkg/broken.so")
    assert "`pkg/broken.so`" in caught.value.message
