"""A pytest plugin for a suite on demand: lists its tests, or runs those that it is given.

It is copied beside the suite. What comes of a test is written at once, so that a process that dies
loses the test it was at and no other.
"""

from __future__ import annotations

import faulthandler
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pytest

# Files to write to and to read from. Without tests that are given, all are listed.
RECORD = "RVBUILD_SUITE_RECORD"
TESTS = "RVBUILD_SUITE_TESTS"
SECONDS = "RVBUILD_SUITE_TEST_SECONDS"

MESSAGE_LENGTH = 1000
WORST: Final = ("passed", "skipped", "failed", "error")


def pytest_configure(config: pytest.Config) -> None:
    """Choose what to do by the environment."""
    record, tests = Path(os.environ[RECORD]), os.environ.get(TESTS)
    if tests is None:
        config.pluginmanager.register(Lister(record), "rvbuild-lister")
        return
    wanted = json.loads(Path(tests).read_text(encoding="utf-8"))
    part = Part(record, frozenset(wanted), float(os.environ[SECONDS]), config.rootpath)
    # Files that are named in the command would be imported, however few of their tests are wanted.
    config.args[:] = [word for word in config.args if part.may_hold(word, config)]
    config.pluginmanager.register(part, "rvbuild-part")


def told(test: str, outcome: str, message: str = "", seconds: float = 0.0) -> str:
    """Write one line of a record."""
    parts = {"test": test, "outcome": outcome, "message": message, "seconds": round(seconds, 3)}
    return json.dumps(parts) + "\n"


def message_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Say in short why a test failed or was skipped."""
    if isinstance(report.longrepr, tuple):
        return report.longrepr[2][:MESSAGE_LENGTH]
    crash = getattr(report.longrepr, "reprcrash", None)
    text = report.longreprtext if crash is None else str(crash.message)
    return (text or str(getattr(report, "wasxfail", "")))[:MESSAGE_LENGTH]


class Lister:
    """Writes down the tests that would run, and the files that could not be collected."""

    def __init__(self, record: Path) -> None:
        self._record = record
        self._problems: list[str] = []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep what hides tests: a file that fails or that skips itself as a whole."""
        if report.outcome != "passed":
            outcome = "error" if report.outcome == "failed" else report.outcome
            self._problems.append(told(report.nodeid, outcome, message_of(report)))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Write all of it."""
        tests = [told(item.nodeid, "listed") for item in session.items]
        self._record.write_text("".join([*self._problems, *tests]), encoding="utf-8")


class Part:
    """Runs some of the tests, each within its time, and writes what comes of each."""

    def __init__(self, record: Path, wanted: frozenset[str], seconds: float, root: Path) -> None:
        self._record = record
        self._wanted = wanted
        self._seconds = seconds
        self._files = {_file(root, test) for test in wanted}
        self._outcome, self._message, self._spent = "passed", "", 0.0
        # The one that pytest does not capture.
        self._stderr = os.dup(2)

    def may_hold(self, word: str, config: pytest.Config) -> bool:
        """Say whether an argument of pytest's can hold wanted tests; folders always may."""
        path = config.invocation_params.dir / word.partition("::")[0]
        return not path.is_file() or os.path.normpath(path) in self._files

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leave out files without wanted tests."""
        if collection_path.is_file() and os.path.normpath(collection_path) not in self._files:
            return True
        return None

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Leave out all other tests."""
        others = [item for item in items if item.nodeid not in self._wanted]
        if others:
            config.hook.pytest_deselected(items=others)
            items[:] = [item for item in items if item.nodeid in self._wanted]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Say which test starts, and end the process when it takes too long."""
        self._outcome, self._message, self._spent = "passed", "", 0.0
        self._tell(told(nodeid, "started"))
        # This one is written in C and needs no lock of Python's, so that loops in C end too.
        faulthandler.dump_traceback_later(self._seconds, exit=True, file=self._stderr)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the worst of a test's phases."""
        outcome: str = report.outcome
        if outcome == "failed" and report.when != "call":
            outcome = "error"
        if WORST.index(outcome) > WORST.index(self._outcome):
            self._outcome, self._message = outcome, message_of(report)
        self._spent += report.duration

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Write what came of a test."""
        faulthandler.cancel_dump_traceback_later()
        self._tell(told(nodeid, self._outcome, self._message, self._spent))

    def _tell(self, line: str) -> None:
        with self._record.open("a", encoding="utf-8") as record:
            record.write(line)


def _file(root: Path, test: str) -> str:
    return os.path.normpath(root / test.partition("::")[0])
