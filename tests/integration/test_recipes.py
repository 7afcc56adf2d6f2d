"""The first recipes, from command line to installed wheel: built, proven, repeated, served."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rvbuild.audit import Policy, audit_wheel
from rvbuild.emulator import Emulator
from rvbuild.kit import Supplies
from rvbuild.publish.index import build_index
from rvbuild.pythons import Interpreter
from rvbuild.target import Floor, cpus
from rvbuild.wheel import read_wheel

NAMES = ("markupsafe", "pyyaml", "rapidfuzz", "cysignals")
PYTHONS = ("3.13", "3.14")
FLOOR = Floor(2, 31)
ROOT = Path(__file__).parents[2]
CHECK_FAILED = 8

pytestmark = [pytest.mark.needs("qemu"), pytest.mark.timeout(2400)]


def rvbuild(cache: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rvbuild", "--cache", str(cache), *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def wheels(supplies: Supplies, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Build and prove every recipe for both Pythons in one run, as a user would."""
    folder = tmp_path_factory.mktemp("wheels")
    pythons = [word for python in PYTHONS for word in ("--python", python)]
    done = rvbuild(supplies.places.cache, folder, "wheel", *NAMES, *pythons)
    assert done.returncode == 0, done.stderr[-6000:]
    paths = [Path(line) for line in done.stdout.splitlines()]
    assert len(paths) == len(NAMES) * len(PYTHONS), done.stdout
    return {path.name: path for path in paths}


def test_every_wheel_is_there_with_the_tag_of_the_floor(wheels: dict[str, Path]) -> None:
    for name in NAMES:
        for python in ("cp313", "cp314"):
            named = [file for file in wheels if file.startswith(name) and f"-{python}-" in file]
            assert len(named) == 1
            assert FLOOR.tag in named[0]


def test_every_wheel_keeps_to_the_policy(wheels: dict[str, Path]) -> None:
    for path in wheels.values():
        report = audit_wheel(path, Policy(FLOOR))
        assert report.ok, report.errors
        assert all(binary.native for binary in report.binaries)


def test_a_library_is_proven_by_programs_of_its_own(
    wheels: dict[str, Path], supplies: Supplies, tmp_path: Path
) -> None:
    done = rvbuild(supplies.places.cache, tmp_path, "test", "libyaml", "--json")
    assert done.returncode == 0, done.stderr
    (report,) = json.loads(done.stdout)["reports"]
    assert {(each["cpu"], each["check"]) for each in report["results"]} == {
        *{(cpu, "reader") for cpu in ("rv64gc", "vlen128", "vlen256")},
        ("rv64gc", "version"),
    }
    assert {each["status"] for each in report["results"]} == {"passed"}


def test_a_program_that_goes_wrong_fails_the_library(
    wheels: dict[str, Path], supplies: Supplies, tmp_path: Path
) -> None:
    recipe = (ROOT / "recipes/libyaml.yaml").read_text(encoding="utf-8")
    (tmp_path / "recipes").mkdir()
    wrong = recipe.replace("checking utf-8 sequences", "what it never says")
    (tmp_path / "recipes/libyaml.yaml").write_text(wrong, encoding="utf-8")
    (tmp_path / "rvbuild.toml").write_text('recipes = ["recipes"]\n', encoding="utf-8")
    done = rvbuild(supplies.places.cache, tmp_path, "build", "libyaml", "--cpu", "vlen128")
    assert done.returncode == CHECK_FAILED, done.stderr
    assert "reader on vlen128 failed: it never said `what it never says`" in done.stderr


def test_libyaml_is_grafted_from_its_own_recipe(wheels: dict[str, Path]) -> None:
    for name, path in wheels.items():
        if name.startswith("pyyaml"):
            members = read_wheel(path).members
            assert any(member.name.startswith("pyyaml.libs/libyaml") for member in members)


def test_the_same_job_twice_gives_the_same_bytes(
    wheels: dict[str, Path], supplies: Supplies, tmp_path: Path
) -> None:
    # Another cache, so other paths everywhere; kits and downloads are pinned by content.
    cache = tmp_path / "another-cache"
    cache.mkdir()
    for name in ("kits", "downloads", "zig"):
        (supplies.places.cache / name).mkdir(exist_ok=True)
        (cache / name).symlink_to(supplies.places.cache / name)
    words = ("wheel", *NAMES, "--python", "3.13", "--no-test")
    environment = {**os.environ, "RVBUILD_COMPILER_CACHE": "off", "LC_ALL": "C", "TZ": "Asia/Tokyo"}
    command = [sys.executable, "-m", "rvbuild", "--cache", str(cache), *words]
    done = subprocess.run(
        ["/bin/sh", "-c", 'umask 077; exec "$@"', "sh", *command],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-6000:]
    for line in done.stdout.splitlines():
        again = Path(line)
        assert read_wheel(again).sha256 == read_wheel(wheels[again.name]).sha256, again.name


def test_pip_in_the_riscv64_runtime_installs_from_the_index(
    wheels: dict[str, Path], interpreter: Interpreter, emulator: Emulator, tmp_path: Path
) -> None:
    folder = next(iter(wheels.values())).parent
    report = build_index(folder, tmp_path / "simple")
    words = [*emulator.words(cpus()["rv64gc"], interpreter.root), str(interpreter.program)]
    words += [f"{interpreter.pip}/pip", "--isolated", "install", "--disable-pip-version-check"]
    words += ["--no-compile", "--target", str(tmp_path / "site")]
    words += ["--index-url", report.destination.as_uri(), *NAMES]
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "PIP_CONFIG_FILE": os.devnull}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {"markupsafe", "yaml", "rapidfuzz", "cysignals"} <= {
        path.name for path in (tmp_path / "site").iterdir()
    }


def test_a_second_run_has_nothing_to_do(wheels: dict[str, Path], supplies: Supplies) -> None:
    folder = next(iter(wheels.values())).parent
    done = rvbuild(supplies.places.cache, folder, "plan", *NAMES, "--python", "3.13", "--json")
    assert done.returncode == 0, done.stderr
    jobs = json.loads(done.stdout)["jobs"]
    assert {job["state"] for job in jobs} == {"cached"}
