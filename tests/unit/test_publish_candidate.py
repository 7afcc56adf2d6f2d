from pathlib import Path

import pytest

from rvbuild.errors import PublishError
from rvbuild.publish.candidate import check_wheels
from rvbuild.publish.distribution import parse_name
from rvbuild.publish.indexes import IndexTarget
from rvbuild.publish.platforms import refusals
from tests.publish_samples import make_wheel, metadata_of

INDEX = IndexTarget("my", "https://wheels.example/up/", "https://wheels.example/simple/")
WHEEL = "a-1.0-py3-none-any.whl"


def _refusals(platform: str, *allowed: str) -> tuple[str, ...]:
    index = IndexTarget("my", INDEX.url, INDEX.simple_url, allowed)
    return refusals(parse_name(f"a-1.0-cp313-cp313-{platform}.whl"), index)


@pytest.mark.parametrize(
    "platform",
    [
        "any",
        "manylinux_2_31_riscv64",
        "manylinux_2_39_riscv64",
        "musllinux_1_2_riscv64",
        "manylinux2014_x86_64.manylinux_2_17_x86_64",
        "macosx_11_0_arm64",
        "win_amd64",
    ],
)
def test_defined_tags_may_go(platform: str) -> None:
    assert _refusals(platform) == ()


@pytest.mark.parametrize(
    ("platform", "reason"),
    [
        ("linux_riscv64", "promises no glibc"),
        ("linux_x86_64", "promises no glibc"),
        ("manylinux2014_riscv64", "was never defined"),
        ("manylinux1_riscv64", "was never defined"),
        ("manylinux_2_30_riscv64", "below 2_31"),
        ("manylinux_riscv64", "was never defined"),
        ("riscv64", "was never defined"),
        ("manylinux_2_31_riscv64.linux_riscv64", "`linux_riscv64` promises"),
        ("manylinux_2_31_riscv64.manylinux_2_17_riscv64", "`manylinux_2_17_riscv64` is below"),
    ],
)
def test_bare_and_undefined_tags_are_refused(platform: str, reason: str) -> None:
    (refusal,) = _refusals(platform)

    assert reason in refusal
    assert _refusals(platform, "*") == (refusal,)


def test_a_refused_tag_passes_when_written_in_full() -> None:
    assert _refusals("linux_riscv64", "linux_riscv64") == ()


def test_an_allow_list_refuses_the_rest() -> None:
    assert _refusals("manylinux_2_31_riscv64", "manylinux_2_3?_riscv64") == ()
    (refusal,) = _refusals("manylinux_2_41_riscv64", "manylinux_2_3?_riscv64", "any")
    assert "not among those that index `my` takes" in refusal


@pytest.mark.parametrize(
    ("metadata", "told"),
    [
        (b"Metadata-Version: 9.9\nName: a\nVersion: 1.0\n", "9.9"),
        (
            b"Metadata-Version: 2.1\nName: a\nVersion: 1.0\nLicense-Expression: MIT\n",
            "license-expression introduced in metadata version 2.4",
        ),
        (b"Metadata-Version: 2.1\nName: a\nName: a\nVersion: 1.0\n", "'name'"),
        (b"Metadata-Version: 2.1\nName: a\nVersion: 1.0\n\n\xff\xfe", "description"),
        (b"Metadata-Version: 2.1\nVersion: 1.0\n", "name"),
        (b"Metadata-Version: new\nName: a\nVersion: 1.0\n", "new"),
        (b"Name: a\nVersion: 1.0\n", "Metadata-Version"),
        (metadata_of("b", "1.0"), "`b 1.0`"),
        (metadata_of("a", "1.1"), "`a 1.1`"),
        (metadata_of("a", "1.0", "Requires-Dist: no requirement ]"), "requires-dist"),
    ],
)
def test_metadata_is_checked_by_what_uploads_it(tmp_path: Path, metadata: bytes, told: str) -> None:
    with pytest.raises(PublishError) as caught:
        check_wheels([make_wheel(tmp_path, WHEEL, metadata=metadata)], INDEX)

    (cause,) = caught.value.causes
    assert WHEEL in cause
    assert told in cause


@pytest.mark.parametrize("version", ["2.1", "2.4", "2.5"])
def test_metadata_versions_that_are_taken(tmp_path: Path, version: str) -> None:
    metadata = f"Metadata-Version: {version}\nName: a\nVersion: 1.0\n".encode()

    (candidate,) = check_wheels([make_wheel(tmp_path, WHEEL, metadata=metadata)], INDEX)

    assert candidate.job == "a-1.0:py3"


def test_every_fault_is_told_at_once(tmp_path: Path) -> None:
    broken = tmp_path / "b-1.0-py3-none-any.whl"
    broken.write_bytes(b"no zip")
    wheels = [
        make_wheel(tmp_path, WHEEL),
        broken,
        make_wheel(tmp_path, "c-1.0-cp313-cp313-linux_riscv64.whl"),
        tmp_path / "d-1.0-py3-none-any.whl",
        tmp_path / "e-1.0-py3-none-linux-riscv64.whl",
        make_wheel(tmp_path / "again", WHEEL, payload="other"),
    ]

    with pytest.raises(PublishError) as caught:
        check_wheels(wheels, INDEX)

    assert len(caught.value.causes) == 5


def test_what_others_need_goes_first(tmp_path: Path) -> None:
    def wheel(name: str, *requires: str) -> Path:
        lines = [f"Requires-Dist: {each}" for each in requires]
        metadata = metadata_of(name, "1.0", *lines)
        return make_wheel(tmp_path, f"{name}-1.0-py3-none-any.whl", metadata=metadata)

    wheels = [
        wheel("alpha", "Zeta_Lib>=1", "absent; extra == 'x'"),
        wheel("beta", "alpha"),
        wheel("zeta_lib", "knot"),
        wheel("knot", "loop"),
        wheel("loop", "knot"),
        wheel("alone"),
    ]

    ordered = [candidate.name.project for candidate in check_wheels(wheels, INDEX)]
    backwards = [candidate.name.project for candidate in check_wheels(wheels[::-1], INDEX)]

    assert ordered == ["alone", "loop", "knot", "zeta-lib", "alpha", "beta"]
    assert backwards == ordered
