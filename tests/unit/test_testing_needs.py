"""The marker `needs`: a missing tool skips, and fails where it had to be there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
MODULE = """
import pytest

@pytest.mark.needs("sh")
def test_there(recorder):
    recorder.note("job", "text")
    assert recorder.of("note") == [("job", "text")]

@pytest.mark.needs("sh", "no-such-tool")
def test_missing():
    assert True
"""


@pytest.mark.parametrize(
    ("required", "summary"),
    [
        ("", "1 passed, 1 skipped"),
        ("docker,other", "1 passed, 1 skipped"),
        ("docker, no-such-tool", "1 passed, 1 error"),
        ("all", "1 passed, 1 error"),
    ],
)
def test_a_missing_tool(tmp_path: Path, required: str, summary: str) -> None:
    shutil.copy(CONFTEST, tmp_path / "conftest.py")
    (tmp_path / "test_one.py").write_text(MODULE)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = needs: tools\n")
    environment = {
        **os.environ,
        "RVBUILD_REQUIRE": required,
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    words = [sys.executable, "-m", "pytest", "-q", "--strict-markers", "-p", "no:cacheprovider"]
    done = subprocess.run(
        words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert summary in done.stdout
