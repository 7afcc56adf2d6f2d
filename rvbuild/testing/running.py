"""A pytest plugin for the suite under test: keeps the id of the running test in a file.

It is copied beside the suite; a test that hangs can then be told by name.
"""

import os
from pathlib import Path

VARIABLE = "RVBUILD_RUNNING_TEST"


def pytest_runtest_logstart(nodeid: str) -> None:
    """Remember the test that starts."""
    Path(os.environ[VARIABLE]).write_text(nodeid, encoding="utf-8")
