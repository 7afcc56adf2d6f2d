"""Numeric checks in the real riscv64 runtime: how they end when the tested package is no good."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rvbuild import testing
from rvbuild.emulator import Emulator
from rvbuild.executor.local import LocalExecutor
from rvbuild.pythons import Interpreter
from rvbuild.recipe.model import Numeric
from rvbuild.target import cpus
from rvbuild.testing.numeric import (
    NumericRun,
    judge_numeric,
    lay_out_numeric,
    numeric_program,
    numeric_runs,
)
from rvbuild.testing.program import command_for, reproduction
from rvbuild.testing.verdict import judge

pytestmark = pytest.mark.needs("qemu")

CPU = cpus()["vlen256"]
CHECKS = (
    Numeric(family="products", sizes=(3, 17), dtypes=("float64",)),
    Numeric(family="streams", sizes=(2,), dtypes=("uint64",), tolerance=1),
)
# As much of a package as the program looks at before its first case.
PACKAGE = """
import os, signal
__version__ = "0"
float64 = uint32 = inexact = ndarray = nan = None
class random:
    PCG64 = MT19937 = Generator = None
class errstate:
    def __init__(self, **options): pass
    def __enter__(self): pass
    def __exit__(self, *error): pass
def frombuffer(*words, **options):
    {end}
"""
TYPES = "class _Any:\n    def __class_getitem__(cls, key): return cls\nNDArray = _Any\n"

Outcome = tuple[tuple[testing.CpuResult, ...], NumericRun]


@pytest.fixture
def run_with(
    tmp_path: Path, interpreter: Interpreter, emulator: Emulator
) -> Callable[[str], Outcome]:
    """Give what runs the checks with a made-up package that ends in some way."""

    def run(end: str) -> Outcome:
        package = tmp_path / "site/numpy"
        package.mkdir(parents=True)
        if end:
            (package / "__init__.py").write_text(PACKAGE.format(end=end))
            (package / "typing.py").write_text(TYPES)
        (numeric,) = numeric_runs(CHECKS, CPU, tmp_path)
        lay_out_numeric(numeric)
        program = numeric_program(numeric, tmp_path, (package.parent,), 60)
        command = command_for(program, CPU, testing.Runtime(interpreter, emulator))
        completed = LocalExecutor().run(command)
        verdict = judge(completed, CPU, 60)
        plain = testing.CpuResult(CPU.name, numeric.label, verdict.status, completed.seconds)
        plain = replace(plain, explanation=verdict.explanation, reproduce=reproduction(command))
        return judge_numeric(plain, numeric), numeric

    return run


def test_an_illegal_instruction_is_told_with_its_case(run_with: Callable[[str], Outcome]) -> None:
    (products, streams), _ = run_with("os.kill(os.getpid(), signal.SIGILL)")
    assert (products.status, streams.status) == ("crashed", "skipped")
    assert "does not have" in products.explanation
    assert products.explanation.endswith(", in `products:matmul:float64:3`")
    assert products.reproduce.endswith("--case products:matmul:float64:3")


def test_whatever_is_raised_is_a_finding_of_its_case(run_with: Callable[[str], Outcome]) -> None:
    (products, streams), numeric = run_with("raise MemoryError('too much')")
    assert (products.status, streams.status) == ("failed", "failed")
    assert products.explanation.startswith("matmul float64 n=3: raised MemoryError: too much")
    assert numeric.results.exists()


def test_a_package_that_is_not_there_is_told(run_with: Callable[[str], Outcome]) -> None:
    (products, streams), numeric = run_with("")
    assert (products.status, streams.status) == ("failed", "skipped")
    assert "No module named 'numpy" in products.explanation
    assert not numeric.results.exists()
