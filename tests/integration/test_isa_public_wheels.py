"""The instruction gate on wheels that others published: no false alarm, no leak passed over."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rvbuild.audit import AuditReport, Policy, answer_board, audit_wheel
from rvbuild.executor.environment import index_environment
from rvbuild.target import Floor, boards, compatible_platforms
from tests.iceberg_samples import rvbuild

FLOOR = Floor(2, 39)
OPENBLAS = "scipy-openblas64==0.3.34.481.3"
CLEAN = ("charset-normalizer==3.5.3", "markupsafe==3.0.4", "safetensors==0.8.0")


def fetch(requirement: str, folder: Path) -> Path:
    """Fetch a wheel for riscv64 through pip, with whatever index it is set up for."""
    platforms = [word for each in compatible_platforms(FLOOR) for word in ("--platform", each)]
    abis = [word for each in ("cp313", "abi3", "none") for word in ("--abi", each)]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary", ":all:", "--dest", str(folder), "--python-version", "3.13"]
    command += ["--implementation", "cp", *abis, *platforms, requirement]
    environment = {**os.environ, **index_environment(dict(os.environ))}
    subprocess.run(command, env=environment, check=True, timeout=600)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def openblas_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fetch(OPENBLAS, tmp_path_factory.mktemp("openblas"))


@pytest.fixture(scope="module")
def openblas(openblas_wheel: Path) -> AuditReport:
    return audit_wheel(openblas_wheel, Policy(FLOOR))


def test_openblas_is_dispatched_although_it_claims_vectors(openblas: AuditReport) -> None:
    assert openblas.ok
    facts = next(each.isa for each in openblas.binaries if each.isa)
    assert "_v1p0" in (facts.claimed or "")
    assert facts.verdict == "dispatched"
    assert facts.vector == {"1.0"}
    assert facts.leaks == ()
    assert set(facts.guards) == {"the system call riscv_hwprobe", "`getauxval`"}
    assert facts.families["OpenBLAS cores"] > 700
    assert {each.status for each in facts.functions} <= {"named", "inherits", "checks", "reads"}


def test_kernels_for_one_vector_length_are_found_by_what_they_do(openblas: AuditReport) -> None:
    facts = next(each.isa for each in openblas.binaries if each.isa)
    split = sorted(facts.functions, key=lambda each: -each.split)[:6]
    assert {each.function.label.rpartition("_")[2] for each in split} == {"ZVL256B"}
    assert any("gemm_kernel" in each.function.label for each in split)


def test_openblas_runs_on_every_board(openblas: AuditReport) -> None:
    for board in boards().values():
        answer = answer_board(openblas.binaries, openblas.findings, board)
        assert answer.runs, answer.reasons
        assert answer.uses_vector == (board.rvv == "1.0")


@pytest.mark.parametrize("requirement", CLEAN)
def test_scalar_wheels_are_clean(requirement: str, tmp_path: Path) -> None:
    report = audit_wheel(fetch(requirement, tmp_path), Policy(FLOOR))
    assert report.ok
    assert all(binary.isa and binary.isa.verdict == "baseline" for binary in report.binaries)
    assert not [each for each in report.findings if each.code.startswith("isa-")]


@pytest.mark.needs("qemu")
def test_a_general_check_finds_the_products_that_are_wrong_on_long_registers(
    openblas_wheel: Path, tmp_path: Path
) -> None:
    cpus = ("rv64gc", "vlen128", "vlen256", "vlen512", "vlen1024")
    words = [word for cpu in cpus for word in ("--cpu", cpu)]
    told = json.loads(rvbuild(tmp_path, "test", str(openblas_wheel), *words, "--json", code=8))
    results = [each for each in told["reports"][0]["results"] if each["check"] == "smoke"]
    assert [(each["cpu"], each["status"]) for each in results] == [
        *((cpu, "passed") for cpu in cpus[:3]),
        *((cpu, "failed") for cpu in cpus[3:]),
    ]
    for wrong in results[3:]:
        assert "smallest blas:dgemm:float64:8: 111/111, 8 x 9 x 10" in wrong["explanation"]
