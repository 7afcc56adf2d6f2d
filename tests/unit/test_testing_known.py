"""Known failures against JUnit files: made by hand, and made by pytest itself."""

import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from rvbuild.recipe.model import KnownFailure
from rvbuild.testing.junit import TestOutcome, plain_name, read_junit
from rvbuild.testing.known import Sifted, matches, sift

TODAY = date(2027, 1, 15)
SIX = tuple(f"test_nan_sign[{kind}]" for kind in ("f2", "f4", "f8", "c8", "c16", "g"))


def known(test: str, *, cpus: tuple[str, ...] = (), expires: str = "2027-06-30") -> KnownFailure:
    return KnownFailure(
        test=test,
        reason="the NaN is canonical",
        blame="hardware",
        link="https://example.org/26734",
        expires=expires,
        cpus=cpus,
    )


def junit(folder: Path, cases: dict[str, str], *, classname: str = "tests.test_nan") -> Path:
    """Write a JUnit file of tests by name; the value is the element inside the case."""
    lines = [
        f'<testcase classname="{classname}" name="{name}" time="0.1">{inside}</testcase>'
        for name, inside in cases.items()
    ]
    path = folder / "junit.xml"
    path.write_text(f"<testsuites><testsuite>{''.join(lines)}</testsuite></testsuites>")
    return path


FAILED = '<failure message="assert False">text</failure>'
ENTRIES = tuple(known(f"tests/test_nan.py::{name}") for name in SIX)


def sifted(path: Path, entries: tuple[KnownFailure, ...] = ENTRIES, cpu: str = "rv64gc") -> Sifted:
    return sift(read_junit(path), entries, cpu, TODAY)


def test_exactly_the_known_ones(tmp_path: Path) -> None:
    found = sifted(junit(tmp_path, {**dict.fromkeys(SIX, FAILED), "test_other": ""}))
    assert len(found.failures) == 6
    assert found.unknown == ()
    assert found.flags == ()
    assert found.failures[0].known == "the NaN is canonical (https://example.org/26734)"


def test_the_known_ones_and_a_new_one(tmp_path: Path) -> None:
    found = sifted(junit(tmp_path, dict.fromkeys((*SIX, "test_new"), FAILED)))
    assert [failure.test for failure in found.unknown] == ["tests.test_nan.test_new"]
    assert found.unknown[0].message == "assert False"


def test_fewer_than_the_known_ones(tmp_path: Path) -> None:
    found = sifted(junit(tmp_path, {**dict.fromkeys(SIX[:5], FAILED), SIX[5]: ""}))
    assert found.unknown == ()
    assert found.flags == (
        "known failure `tests/test_nan.py::test_nan_sign[g]` passed: the NaN is canonical",
    )


def test_an_entry_that_means_no_test(tmp_path: Path) -> None:
    found = sifted(junit(tmp_path, {"test_other": ""}), (known("tests/test_nan.py::test_gone"),))
    assert found.flags == (
        "known failure `tests/test_nan.py::test_gone` means no test of this suite",
    )


def test_an_expired_entry_excuses_and_is_flagged(tmp_path: Path) -> None:
    entry = known("tests/test_nan.py::test_a", expires="2027-01-14")
    found = sifted(junit(tmp_path, {"test_a": FAILED}), (entry,))
    assert found.unknown == ()
    assert "expired on 2027-01-14" in found.flags[0]


def test_an_entry_holds_through_its_last_day(tmp_path: Path) -> None:
    entry = known("tests/test_nan.py::test_a", expires="2027-01-15")
    assert sifted(junit(tmp_path, {"test_a": FAILED}), (entry,)).flags == ()


def test_an_entry_holds_on_its_cpus_only(tmp_path: Path) -> None:
    path = junit(tmp_path, {"test_a": FAILED})
    entries = (known("tests/test_nan.py::test_a", cpus=("vlen512", "vlen1024")),)
    assert sifted(path, entries, "vlen512").unknown == ()
    elsewhere = sifted(path, entries, "vlen256")
    assert len(elsewhere.unknown) == 1
    assert elsewhere.flags == ()


def test_a_skipped_known_failure_is_neither_stale_nor_passed(tmp_path: Path) -> None:
    path = junit(tmp_path, {"test_a": '<skipped message="no board"/>'})
    assert sifted(path, (known("tests/test_nan.py::test_a"),)) == Sifted((), ())


def test_an_error_when_tearing_down_counts(tmp_path: Path) -> None:
    path = tmp_path / "junit.xml"
    case = '<testcase classname="tests.test_nan" name="test_a">{}</testcase>'
    error = case.format('<error message="teardown"/>')
    path.write_text(f"<testsuites>{error}{case.format('')}</testsuites>")
    assert read_junit(path) == (TestOutcome("tests.test_nan.test_a", "error", "teardown"),)


@pytest.mark.parametrize(
    ("pattern", "test", "expected"),
    [
        ("tests/test_a.py::test_floor[1.5]", "tests.test_a.test_floor[1.5]", True),
        ("tests/test_a.py::test_floor[1.5]", "tests.test_a.test_floor[115]", False),
        ("tests/test_a.py::test_floor[ab]", "tests.test_a.test_floora", False),
        ("tests/test_a.py::test_floor[a?c]", "tests.test_a.test_floor[abc]", False),
        ("tests/test_a.py::test_floor[*]", "tests.test_a.test_floor[x-1]", True),
        ("tests/test_a.py::test_floor[*]", "tests.test_a.test_floor_divide", False),
        ("tests/test_a.py::test_floor[*]", "tests.test_a.test_floor_divide[x]", False),
        ("tests/test_a.py::test_floor", "tests.test_a.test_floor_divide", False),
        ("tests/test_a.py::test_floor", "tests.test_a.test_floor[x]", False),
        ("tests/test_a.py::test_floor", "other.tests.test_a.test_floor", False),
        ("tests/test_a.py::TestX::test_b", "tests.test_a.TestX.test_b", True),
        ("tests/test_a.py::TestX::*", "tests.test_a.TestXY.test_b", False),
        ("tests/*.py::test_b", "tests.deep.test_a.test_b", True),
        ("tests/test_a.py::test_p[a/b.py::c]", "tests.test_a.test_p[a/b.py::c]", True),
        ("tests/test_a.py::test_p[*]", "tests.test_a.test_p[two\nlines]", True),
    ],
)
def test_only_the_star_is_special(pattern: str, test: str, expected: bool) -> None:  # noqa: FBT001 - a column of the table
    assert matches(pattern, test) is expected


def test_a_module_is_named_by_its_path() -> None:
    assert plain_name("tests/test_a.py") == "tests.test_a"


def test_what_is_no_junit_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "junit.xml"
    with pytest.raises(ValueError, match=r"junit\.xml"):
        read_junit(path)
    path.write_text("<testsuites><testcase")
    with pytest.raises(ValueError, match="holds no test results"):
        read_junit(path)


FAMILY = """
import pytest

@pytest.mark.parametrize("value", range(100))
def test_floor(value):
    assert False

def test_floor_divide():
    assert False

class TestGroup:
    @pytest.mark.parametrize("text", ["a[0]", "a.b/c"])
    def test_text(self, text):
        assert not text

@pytest.mark.xfail
def test_expected():
    assert False
"""


def run_pytest(folder: Path, text: str) -> Path:
    (folder / "tests").mkdir()
    (folder / "tests/test_real.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\n")
    words = [sys.executable, "-m", "pytest", "-q", "--junitxml=junit.xml", "tests"]
    words += ["-p", "no:cacheprovider"]
    subprocess.run(words, cwd=folder, capture_output=True, check=False, timeout=60)
    return folder / "junit.xml"


def test_a_family_by_pattern_hides_no_neighbour(tmp_path: Path) -> None:
    path = run_pytest(tmp_path, FAMILY)
    entries = (
        known("tests/test_real.py::test_floor[*]"),
        known("tests/test_real.py::TestGroup::test_text[a[0]]"),
        known("tests/test_real.py::TestGroup::test_text[a.b/c]"),
    )
    found = sifted(path, entries)
    assert len(found.failures) == 103
    assert [failure.test for failure in found.unknown] == ["tests.test_real.test_floor_divide"]
    assert found.flags == ()


def test_an_error_while_collecting_is_a_failure(tmp_path: Path) -> None:
    found = sifted(run_pytest(tmp_path, "import no_such_module"))
    assert [failure.test for failure in found.unknown] == ["tests.test_real"]
    assert "collection failure" in found.unknown[0].message
