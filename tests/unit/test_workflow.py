"""The workflow in this repository is the one that its recipes ask for."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMMAND = ("matrix", "--format", "workflow", "--python", "3.13", "--python", "3.14")


def test_the_wheels_workflow_is_generated_from_the_recipes(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rvbuild", "--cache", str(tmp_path), *COMMAND],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    committed = (ROOT / ".github/workflows/wheels.yml").read_text(encoding="utf-8")
    again = "rvbuild " + " ".join(COMMAND) + " > .github/workflows/wheels.yml"
    assert done.stdout == committed, f"write it anew: {again}"
