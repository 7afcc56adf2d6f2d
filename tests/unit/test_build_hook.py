"""The cross hook, in a real Python process: what it answers, and when it stays out of the way."""

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HOOK = Path(__file__).parents[2] / "rvbuild" / "data" / "build" / "rvbuild_cross.py"
SUFFIX = ".cpython-313-riscv64-linux-gnu.so"
FACTS = {
    "variables": {
        "EXT_SUFFIX": SUFFIX,
        "SOABI": "cpython-313-riscv64-linux-gnu",
        "CC": "/kits/bin/riscv64-linux-gnu-clang",
        "INCLUDEPY": "/kits/include/python3.13",
        "prefix": "/of/the/target",
        "Py_GIL_DISABLED": 0,
    },
    "platform": "linux-riscv64",
    "machine": "riscv64",
}
ASK = """
import json, os, platform, sys, sysconfig
print(json.dumps({
    "suffix": sysconfig.get_config_var("EXT_SUFFIX"),
    "pair": sysconfig.get_config_vars("SOABI", "no such"),
    "all": sysconfig.get_config_vars()["CC"],
    "prefix": sysconfig.get_config_var("prefix"),
    "version": sysconfig.get_config_var("py_version_short"),
    "platform": sysconfig.get_platform(),
    "include": sysconfig.get_path("include"),
    "platinclude": sysconfig.get_paths("posix_prefix")["platinclude"],
    "purelib": sysconfig.get_paths()["purelib"],
    "expanded": sysconfig.get_path("purelib", vars={"base": "/x"}),
    "header": sysconfig.get_config_h_filename(),
    "machine": platform.machine(),
    "uname": [os.uname().machine, platform.uname().machine, os.uname()[0]],
    "processor": platform.processor(),
    "multiarch": sys.implementation._multiarch,
}))
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Give a folder from which Python imports the hook."""
    folder = tmp_path / "site"
    folder.mkdir()
    shutil.copy(HOOK, folder)
    (folder / "facts.json").write_text(json.dumps(FACTS))
    return folder


def run(site: Path, *words: str, active: bool = True) -> str:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(site)}
    if active:
        environment["RVBUILD_TARGET_FACTS"] = str(site / "facts.json")
    done = subprocess.run(
        [sys.executable, *words], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_question_is_answered_for_the_target(site: Path) -> None:
    found = json.loads(run(site, "-c", f"import rvbuild_cross\n{ASK}"))
    assert found["suffix"] == SUFFIX
    assert found["pair"] == ["cpython-313-riscv64-linux-gnu", None]
    assert found["all"] == "/kits/bin/riscv64-linux-gnu-clang"
    assert found["platform"] == "linux-riscv64"
    assert found["include"] == found["platinclude"] == "/kits/include/python3.13"
    assert found["header"] == "/kits/include/python3.13/pyconfig.h"
    assert found["machine"] == "riscv64"
    assert found["uname"] == ["riscv64", "riscv64", "Linux"]
    assert found["processor"] == ""
    assert found["multiarch"] == "riscv64-linux-gnu"


def test_paths_and_versions_stay_this_machines(site: Path) -> None:
    found = json.loads(run(site, "-c", f"import rvbuild_cross\n{ASK}"))
    assert found["prefix"] == sys.base_prefix
    assert found["version"] == f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert found["purelib"].startswith(sys.prefix)
    assert found["expanded"].startswith("/x/")


def test_nothing_changes_without_the_variable(site: Path) -> None:
    before = run(site, "-c", ASK, active=False)
    assert run(site, "-c", f"import rvbuild_cross\n{ASK}", active=False) == before
    assert json.loads(before)["machine"] == platform.machine()


def test_meson_sees_this_machine_as_its_build_machine(site: Path) -> None:
    program = site / "meson"
    program.write_text(f"import rvbuild_cross\n{ASK}")
    found = json.loads(run(site, str(program), "setup"))
    assert found["machine"] == platform.machine()
    assert found["uname"][0] == os.uname().machine
    assert found["suffix"] == SUFFIX


def test_a_path_file_activates_it(site: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    packages = next((tmp_path / "venv/lib").glob("python*/site-packages"))
    shutil.copy(HOOK, packages)
    (packages / "rvbuild_cross.pth").write_text("import rvbuild_cross\n")
    environment = {"RVBUILD_TARGET_FACTS": str(site / "facts.json"), "PATH": os.environ["PATH"]}
    question = "import sysconfig; print(sysconfig.get_platform(), sysconfig.get_path('stdlib'))"
    done = subprocess.run(
        [tmp_path / "venv/bin/python", "-c", question],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    there, stdlib = done.stdout.split()
    assert there == "linux-riscv64"
    assert Path(stdlib).is_dir()
