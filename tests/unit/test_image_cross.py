"""What goes into the cross image, for each machine."""

import pytest

from rvbuild.image.cross import CrossContents, constraints, pins_of
from rvbuild.places import builtin_folder

PINS = builtin_folder("sysroots")


def files(host: str, *pythons: str) -> list[str]:
    return [pin.remote.file_name for pin in pins_of(CrossContents(pythons, host, PINS))]


@pytest.mark.parametrize(
    ("host", "architecture"), [("x86_64", "amd64"), ("aarch64", "arm64"), ("riscv64", "riscv64")]
)
def test_a_machine_gets_its_own_programs_and_each_file_once(host: str, architecture: str) -> None:
    found = files(host, "3.13")
    assert len(found) == len(set(found))
    for name in ("python3.14_", "qemu-user_", "protobuf-compiler_"):
        (package,) = [file for file in found if file.startswith(name)]
        assert package.endswith(f"_{architecture}.deb")
    foreign = {"amd64", "arm64"} - {architecture}
    assert not [file for file in found if file.endswith(tuple(f"_{each}.deb" for each in foreign))]
    assert any(file.startswith("ziglang-") for file in found)


def test_only_the_pythons_asked_for_are_built_for() -> None:
    target = "libpython3.14-dev_"
    assert not [file for file in files("x86_64", "3.13") if file.startswith(target)]
    assert [file for file in files("x86_64", "3.13", "3.14") if file.startswith(target)]


def test_names_follow_the_inputs() -> None:
    one, both = (CrossContents(each, "x86_64", PINS) for each in (("3.13",), ("3.13", "3.14")))
    assert one.name.startswith("rvbuild/cross-x86_64:")
    assert one.digest != both.digest
    assert one.digest != CrossContents(("3.13",), "aarch64", PINS).digest


def test_the_image_has_the_versions_that_are_here() -> None:
    assert any(line.startswith("pydantic==") for line in constraints())
    assert not any(line.startswith("rvbuild==") for line in constraints())
