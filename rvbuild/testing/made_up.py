"""Tests of a wheel that nobody wrote tests for: what can be told from what is in it."""

from importlib import resources

from rvbuild.recipe.model import Test
from rvbuild.wheel import Wheel
from rvbuild.wheel.contents import open_archive, read_member
from rvbuild.wheel.modules import top_modules

CBLAS = b"cblas_dgemm"
# A library of kernels is asked on every length of vector registers.
EVERY_LENGTH = ("rv64gc", "vlen128", "vlen256", "vlen512", "vlen1024")


def made_up_tests(wheel: Wheel) -> Test:
    """Import every module; where there is a BLAS, compare what it computes with whole numbers.

    Raises `AuditError` when the wheel cannot be read.
    """
    tests = Test(imports=top_modules(wheel))
    if not _has_blas(wheel):
        return tests
    check = resources.files("rvbuild").joinpath("data/testing/blas.py")
    smoke = check.read_text(encoding="utf-8")
    return tests.model_copy(update={"smoke": smoke, "cpus": EVERY_LENGTH})


def _has_blas(wheel: Wheel) -> bool:
    libraries = [member.name for member in wheel.members if ".so" in member.name.rpartition("/")[2]]
    with open_archive(wheel.path) as archive:
        return any(CBLAS in read_member(archive, name, wheel.file_name) for name in libraries)
