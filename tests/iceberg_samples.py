"""The big recipes through the command line, in the user's cache or the one of `RVBUILD_CACHE`."""

import os
import subprocess
import sys
from pathlib import Path

import platformdirs

CACHE = Path(os.environ.get("RVBUILD_CACHE") or platformdirs.user_cache_path("rvbuild"))
ROOT = Path(__file__).parents[1]


def rvbuild(folder: Path, *words: str, code: int = 0, recipes: Path | None = None) -> str:
    """Run rvbuild in a folder and give what it printed; `recipes` come before our own."""
    command = [sys.executable, "-m", "rvbuild", "--cache", str(CACHE), *words]
    told = dict(os.environ) | ({"RVBUILD_RECIPES": str(recipes)} if recipes else {})
    done = subprocess.run(
        command, cwd=folder, env=told, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr[-6000:]
    return done.stdout
