"""A suite on demand for real: riscv64 Python and pytest under QEMU, with tests that end badly."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from rvbuild import testing
from rvbuild.executor import Command, Completed
from rvbuild.executor.environment import index_environment
from rvbuild.recipe import model as recipe
from rvbuild.target import cpus
from rvbuild.testing.record import read_record
from rvbuild.triage import triage
from tests.integration.test_testing_wheels import READ_VLENB, bench, make_wheel

__all__ = ["bench"]

pytestmark = pytest.mark.needs("qemu")

BOTH = (cpus()["rv64gc"], cpus()["vlen256"])
VECTOR = "def test_vector():\n" + "".join(f"    {line}\n" for line in READ_VLENB.splitlines())
SUITE = f"""
import ctypes, os, unittest
import demo

{VECTOR}
    assert bits == 256

class TestOld(unittest.TestCase):
    def test_answer(self):
        self.assertEqual(demo.answer, 42)

    def test_known(self):
        self.assertEqual(demo.answer, 43)

def test_abort():
    os.abort()

def test_hang():
    # With Python's lock held, so that nothing written in Python can end it.
    ctypes.PyDLL(None).sleep(600)

def test_last():
    assert os.environ["COLOUR"] == "red"
"""
TESTS = recipe.Test(
    suite=recipe.Suite(
        on_demand=True,
        requires=("pytest",),
        files=("tests",),
        command=("-m", "pytest", "tests"),
        environment={"COLOUR": "red"},
        shards=2,
        test_seconds=1,
    ),
    known_failures=(
        recipe.KnownFailure(
            test="tests/test_demo.py::TestOld::test_known",
            reason="another answer",
            blame="test",
            expires="2999-01-01",
        ),
    ),
)


class Refuses:
    """An executor that is not to be asked for anything."""

    def run(self, command: Command, *_: object) -> Completed:
        raise AssertionError(command)


def test_what_ends_badly_is_one_failure_each(tmp_path: Path, bench: testing.Bench) -> None:
    source = tmp_path / "source"
    (source / "tests").mkdir(parents=True)
    (source / "tests/test_demo.py").write_text(SUITE)
    wheel = make_wheel(tmp_path, "demo", code="answer = 42\n")
    ready = replace(
        bench,
        source=source,
        environment=index_environment(os.environ),
        portion=testing.Portion(),
        resume=True,
        jobs=2,
    )
    report = testing.check_suite(wheel, TESTS, BOTH, ready)
    wrong = {
        result.cpu: {
            failure.test.rpartition(".")[2]: failure.message
            for failure in result.failures
            if failure.known is None
        }
        for result in report.results
    }
    usual = {
        "test_abort": "ended by signal 6 (SIGABRT), in this test",
        "test_hang": "no end after 30 s, in this test",
    }
    assert wrong["vlen256"] == usual
    missing = wrong["rv64gc"].pop("test_vector")
    assert wrong["rv64gc"] == usual
    assert missing.startswith("vector unit missing or wrong CPU")
    for result in report.results:
        assert [failure.known for failure in result.failures if failure.known] == ["another answer"]
        assert result.outcomes is not None
        ends = {
            told.test.rpartition("::")[2]: told.outcome for told in read_record(result.outcomes)
        }
        assert (len(ends), ends["test_answer"], ends["test_last"]) == (6, "passed", "passed")
    found = triage([report], {})
    assert found.known == 2
    reach = {cluster.tests: cluster.reach.failed for cluster in found.clusters}
    assert reach[("suite: tests.test_demo.test_vector",)] == ("rv64gc",)
    # Nothing of it is run again, though the verdict is made anew.
    nothing = replace(ready, executor=Refuses())
    assert testing.check_suite(wheel, TESTS, BOTH, nothing).results == report.results
