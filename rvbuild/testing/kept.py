"""What is kept of a suite on demand on one CPU, and which of its tests are wanted."""

import re
import shutil
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from rvbuild.target import Cpu
from rvbuild.testing.junit import plain_name
from rvbuild.testing.model import Portion
from rvbuild.testing.record import Told, ended, read_record, write_record


@dataclass(frozen=True, slots=True)
class Kept:
    """The folder of a suite on one CPU."""

    cpu: Cpu
    folder: Path

    @property
    def list(self) -> Path:
        """The tests that there are, and the files that could not be collected."""
        return self.folder / "tests.jsonl"

    @property
    def outcomes(self) -> Path:
        """What came of each test, written when all that was wanted had run."""
        return self.folder / "outcomes.jsonl"

    def home(self, name: str) -> Path:
        """Give the folder of a part."""
        return self.folder / "parts" / name

    def tests(self) -> tuple[str, ...]:
        """Give the tests that were listed, in pytest's order; none before that."""
        return tuple(each.test for each in read_record(self.list) if each.outcome == "listed")

    def problems(self) -> tuple[Told, ...]:
        """Give the files that could not be collected, or skipped themselves."""
        return tuple(each for each in read_record(self.list) if each.outcome != "listed")

    def ended(self) -> dict[str, Told]:
        """Give what came of tests in all runs so far."""
        return ended(each for record in self._records() for each in read_record(record))

    def records_of(self, test: str) -> tuple[Path, ...]:
        """Give the records that tell of a test."""
        return tuple(record for record in self._records() if test in ended(read_record(record)))

    def _records(self) -> tuple[Path, ...]:
        return tuple(sorted(self.folder.glob("parts/*/record.jsonl")))

    def forget(self, portion: Portion) -> None:
        """Remember nothing of what is wanted."""
        if portion.whole:
            shutil.rmtree(self.folder, ignore_errors=True)
            return
        tests = frozenset(chosen(self.tests(), portion))
        for record in self._records():
            write_record(record, (each for each in read_record(record) if each.test not in tests))


def kept_of(subject: Path, cpu: Cpu) -> Kept:
    """Give the folder of a CPU; a board's name may have signs that no path can have."""
    return Kept(cpu, subject / re.sub(r"[^A-Za-z0-9._-]", "-", cpu.name))


def chosen(tests: tuple[str, ...], portion: Portion) -> tuple[str, ...]:
    """Give the tests of a portion: a shard is one of several equal pieces in pytest's order."""
    found = tests
    if portion.shard is not None:
        number, count = portion.shard
        found = cut(tests, count)[number - 1]
    if portion.text:
        found = tuple(test for test in found if _holds(test, portion.text))
    return found


def _holds(test: str, text: str) -> bool:
    """Say whether a test's name holds a text, in pytest's words or in those of reports."""
    pattern = re.compile(".*".join(re.escape(part) for part in text.split("*")))
    return any(pattern.search(name) for name in (test, plain_name(test)))


def cut(tests: tuple[str, ...], count: int) -> tuple[tuple[str, ...], ...]:
    """Cut tests into equal pieces that leave files together as far as that goes."""
    ends = [len(tests) * number // count for number in range(count + 1)]
    return tuple(tests[begin:end] for begin, end in pairwise(ends))
