"""The program that calls a PEP 517 backend, run in small projects."""

import json
import subprocess
import sys
from pathlib import Path

from tests.build_samples import write_tree

BACKEND = Path(__file__).parents[2] / "rvbuild" / "data" / "build" / "backend.py"
IN_TREE = """
import json, os, sys
class Holder:
    @staticmethod
    def build_wheel(folder, settings):
        with open(os.path.join(folder, "seen.json"), "w") as stream:
            json.dump({"settings": settings, "argv": sys.argv[1:], "cwd": os.getcwd()}, stream)
        return "demo-1.0-py3-none-any.whl"
"""
ASKS = """
    @staticmethod
    def get_requires_for_build_wheel(settings):
        return ["ninja", settings["more"]]
"""
PROJECT = """
[build-system]
requires = []
build-backend = "own:Holder"
backend-path = ["tools"]
"""


def call(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(BACKEND), *words],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )


def project(folder: Path, code: str) -> Path:
    return write_tree(folder / "project", {"pyproject.toml": PROJECT, "tools/own.py": code})


def test_a_backend_in_the_tree_builds_with_its_settings(tmp_path: Path) -> None:
    root = project(tmp_path, IN_TREE)
    settings = {"build-dir": "x", "setup-args": ["-Da=b", "-Dc=d"]}
    done = call(root, "wheel", str(tmp_path / "out/wheels"), json.dumps(settings))
    assert done.stdout == "demo-1.0-py3-none-any.whl\n", done.stderr
    seen = json.loads((tmp_path / "out/wheels/seen.json").read_text())
    assert seen == {"settings": settings, "argv": [], "cwd": str(root)}


def test_its_further_requirements_are_written(tmp_path: Path) -> None:
    root = project(tmp_path, IN_TREE + ASKS)
    done = call(root, "requires", str(tmp_path / "r.json"), '{"more": "cython<4"}')
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "r.json").read_text()) == ["ninja", "cython<4"]


def test_a_backend_that_asks_for_nothing_is_fine(tmp_path: Path) -> None:
    root = project(tmp_path, IN_TREE)
    assert call(root, "requires", str(tmp_path / "r.json"), "{}").returncode == 0
    assert json.loads((tmp_path / "r.json").read_text()) == []


def test_what_lies_beside_the_program_is_no_module(tmp_path: Path) -> None:
    # A job's folder has folders called `wheel` and `build`, which projects try to import.
    program = tmp_path / "backend.py"
    program.write_text(BACKEND.read_text())
    (tmp_path / "surely_not_there").mkdir()
    code = "import importlib.util as u\nassert u.find_spec('surely_not_there') is None\n"
    root = project(tmp_path, code + IN_TREE)
    done = subprocess.run(
        [sys.executable, str(program), "wheel", str(tmp_path / "out"), "{}"], cwd=root, check=False
    )
    assert done.returncode == 0


def test_a_failing_backend_fails_with_its_own_words(tmp_path: Path) -> None:
    root = project(tmp_path, "raise RuntimeError('no luck today')")
    done = call(root, "wheel", str(tmp_path / "out"), "{}")
    assert done.returncode == 1
    assert "no luck today" in done.stderr
