"""Vector code read closely: the two versions, groups taken apart; names that say who calls."""

import pytest

from rvbuild.isa.guards import guards, kernel_length
from rvbuild.isa.vector import (
    configured,
    count_split_groups,
    valid_configuration,
    vector_version,
)
from tests.isa_samples import facts_of

VSETVLI_E32_M1_TA_MA = 0x0D0372D7
VSETVLI_E32_M1 = 0x010372D7
VSETIVLI = 0xCD07F2D7
VLE32, VLE64, VL1RE8 = 0x02056087, 0x02057087, 0x02850087
DRAFT_E64_M1, DRAFT_E32_M1, DRAFT_VLB = 0x00C072D7, 0x008072D7, 0x12028007
VFADD = 0x02209157


@pytest.mark.parametrize(
    ("words", "version"),
    [
        ((VSETVLI_E32_M1_TA_MA, VLE32), "1.0"),
        ((VSETIVLI,), "1.0"),
        ((VL1RE8,), "1.0"),
        ((DRAFT_VLB,), "0.7.1"),
        ((DRAFT_E64_M1, VLE64), "0.7.1"),
        ((DRAFT_E32_M1, VLE64), "0.7.1"),
        ((VSETVLI_E32_M1, VLE32), None),
        ((VFADD,), None),
        ((), None),
    ],
)
def test_tells_versions_apart(words: tuple[int, ...], version: str | None) -> None:
    assert vector_version(words) == version


def test_reads_what_is_configured() -> None:
    assert configured(VSETVLI_E32_M1_TA_MA) == 0xD0
    assert configured(VSETIVLI) == 0xD0
    assert configured(VLE32) is None
    assert configured(0x80B572D7) is None  # vsetvl takes it from a register
    assert valid_configuration(VSETVLI_E32_M1_TA_MA)
    assert not valid_configuration(0x70C0F2D7)
    assert valid_configuration(VLE32)


def test_groups_taken_apart_are_counted_and_others_are_not() -> None:
    counts = {each.function.label: each.split for each in facts_of("split.so").functions}
    assert counts == {"product_ZVL256B": 4, "whole_ZVL256B": 0}


def test_a_whole_register_move_out_of_a_group_counts() -> None:
    load_group_of_four = (0xCDA872D7, 0x02057407)  # vsetivli e64, m4; vle64.v v8
    move_v9 = 0x9E9030D7  # vmv1r.v v1, v9
    assert count_split_groups((*load_group_of_four, move_v9)) == 1
    move_group = 0x9E81B257  # vmv4r.v v4, v8
    assert count_split_groups((*load_group_of_four, move_group)) == 0


@pytest.mark.parametrize(
    ("name", "family", "length"),
    [
        ("dgemm_kernel_RISCV64_ZVL256B", "OpenBLAS cores", 256),
        ("sgemv_n_RISCV64_ZVL128B", "OpenBLAS cores", 128),
        ("dgemm_kernel_C910V", "OpenBLAS core C910V", 0),
        ("Sleef_expd1_u10rvvm2", "SLEEF vector functions", 0),
        ("Sleef_finz_sinfx_u35rvvm1nofma", "SLEEF vector functions", 0),
        ("_ZN2np7highway5N_RVV4sortEPii", "Highway targets", 0),
        ("FLOAT_add_RVV", "NumPy targets", 0),
        ("sum._v", "compiler's function clones", 0),
        ("sum._zbb", "compiler's function clones", 0),
        ("gcm_ghash_rv64i_zvkg", "OpenSSL kernels", 0),
        ("aes_rv64i_zvkned_encrypt", "OpenSSL kernels", 0),
        ("ff_add_pixels_rvv", "functions named after RVV", 0),
        ("_ZN7simdutf3rvv14implementation8validateEv", "functions named after RVV", 0),
        ("crc32_riscv64_v", "functions named after the vector unit", 0),
        ("sum", None, 0),
        ("sum.default", None, 0),
        ("setup_riscv64", None, 0),
        ("PyInit_vector", None, 0),
        ("conserve", None, 0),
    ],
)
def test_names_say_when_a_function_is_called(name: str, family: str | None, length: int) -> None:
    found = guards().family((name,))
    assert (found.name if found else None) == family
    assert kernel_length((name,)) == length


def test_every_family_says_where_it_is_from() -> None:
    assert all(family.source.startswith("https://") for family in guards().families)
