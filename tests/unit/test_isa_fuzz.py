"""Damaged files: an answer or a refusal, soon, and never a crash."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rvbuild.audit import audit_wheel
from rvbuild.errors import AuditError
from rvbuild.isa import IsaFacts, read_isa_facts
from tests.audit_samples import POLICY, Sample
from tests.isa_samples import sample, shared_object

EXAMPLES = settings().max_examples
NAMES = ("clones.so", "hwprobe.so", "island-mapped.so", "module.so", "table.so", "split.so")
SAMPLES = [sample(name) for name in NAMES]
VSETVLI = (0x0C0372D7).to_bytes(4, "little")
REFUSED = "refused"
RETURN = (0x00008067).to_bytes(4, "little")


def read_or_refuse(data: bytes) -> IsaFacts | None:
    try:
        return read_isa_facts(data, "fuzzed")
    except AuditError:
        return None


@settings(max_examples=EXAMPLES, deadline=2000, suppress_health_check=[HealthCheck.too_slow])
@given(
    source=st.sampled_from(SAMPLES),
    changes=st.lists(
        st.tuples(
            st.integers(0, 6000), st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]) | st.integers(0, 255)
        ),
        min_size=1,
        max_size=12,
    ),
    end=st.none() | st.integers(0, 6000),
)
def test_no_damage_ends_in_another_error(
    source: bytes, changes: list[tuple[int, int]], end: int | None
) -> None:
    data = bytearray(source)
    for position, value in changes:
        data[position % len(data)] = value
    read_or_refuse(bytes(data[:end]))


@pytest.mark.parametrize("name", ["hwprobe.so", "island-mapped.so"])
def test_no_single_byte_ends_in_another_error(name: str) -> None:
    source = sample(name)
    for position in range(0, len(source), 5):
        for value in (0x00, 0xFF):
            read_or_refuse(source[:position] + bytes([value]) + source[position + 1 :])


@settings(max_examples=EXAMPLES, deadline=2000)
@given(code=st.binary(max_size=600))
def test_any_bytes_may_be_code(code: bytes) -> None:
    assert read_or_refuse(shared_object(code)) is not None


@settings(max_examples=40, deadline=2000)
@given(before=st.lists(st.sampled_from([0x13, 0x00B50533, 0x0000100F]), max_size=40))
def test_vector_code_without_a_check_is_never_clean(before: list[int]) -> None:
    prefix = b"".join(word.to_bytes(4, "little") for word in before)
    facts = read_isa_facts(shared_object(prefix + VSETVLI * 16 + RETURN), "made")
    assert facts.verdict == "leaks"


@pytest.fixture(scope="module")
def whole_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    code = {f"demo/{name}": sample(name) for name in NAMES[:2]}
    return Sample(code).write(tmp_path_factory.mktemp("whole"))


@settings(max_examples=EXAMPLES // 2, deadline=5000, suppress_health_check=[HealthCheck.too_slow])
@given(
    changes=st.lists(st.tuples(st.integers(0), st.integers(0, 255)), min_size=1, max_size=12),
    end=st.none() | st.integers(0, 12_000),
)
def test_a_damaged_wheel_is_answered_or_refused(
    whole_wheel: Path, changes: list[tuple[int, int]], end: int | None
) -> None:
    data = bytearray(whole_wheel.read_bytes())
    for position, value in changes:
        data[position % len(data)] = value
    folder = whole_wheel.parent / "damaged"
    folder.mkdir(exist_ok=True)
    damaged = folder / whole_wheel.name
    damaged.write_bytes(bytes(data[:end]))
    assert name_or_refusal(damaged) in {"demo", REFUSED}


def name_or_refusal(wheel: Path) -> str:
    try:
        return audit_wheel(wheel, POLICY).wheel.name
    except AuditError:
        return REFUSED
