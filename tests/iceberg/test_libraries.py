"""Libraries that wheels stand on, proven by programs of their own on every CPU."""

import json
import os
import subprocess
import sys
from pathlib import Path

import platformdirs
import pytest

from rvbuild.target import profiles

CACHE = Path(os.environ.get("RVBUILD_CACHE") or platformdirs.user_cache_path("rvbuild"))

pytestmark = [pytest.mark.needs("qemu"), pytest.mark.timeout(5400)]
long = pytest.mark.skipif("RVBUILD_LONG" not in os.environ, reason="long: set RVBUILD_LONG")


def rvbuild(folder: Path, *words: str) -> str:
    command = [sys.executable, "-m", "rvbuild", "--cache", str(CACHE), *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-6000:]
    return done.stdout


def passed(output: str) -> dict[str, set[str]]:
    """Give the CPUs that each check of one report passed on."""
    (report,) = json.loads(output)["reports"]
    found: dict[str, set[str]] = {}
    for result in report["results"]:
        assert result["status"] == "passed", result
        found.setdefault(result["check"], set()).add(result["cpu"])
    return found


def test_sleef_is_right_on_every_cpu_with_and_without_a_vector_unit(tmp_path: Path) -> None:
    found = passed(rvbuild(tmp_path, "test", "sleef", "--json"))
    with_vectors = {name for name, cpu in profiles().items() if cpu.vlen}
    for precision in ("double", "float"):
        assert found[f"{precision}-scalar"] == set(profiles())
        assert found[f"{precision}-vector"] == with_vectors


def test_sleef_asks_for_the_vector_extension_alone(tmp_path: Path) -> None:
    prefix = Path(rvbuild(tmp_path, "build", "sleef", "--no-test").strip())
    archive = (prefix / "lib/libsleef.a").read_bytes()
    # Each object says in its attributes what it was compiled for.
    assert b"_v1p0" in archive
    assert b"_zba1p0" not in archive
    header = (prefix / "include/sleef.h").read_text(encoding="utf-8")
    for variant in ("rvvm1", "rvvm2"):
        assert f"Sleef_expfx_u10{variant}(" in header


@long
def test_libomp_runs_teams_of_threads(tmp_path: Path) -> None:
    found = passed(rvbuild(tmp_path, "test", "libomp", "--json"))
    assert {"rv64gc", "vlen256"} <= found["threads"]
