"""Known failures as data: conditions, merging with a recipe's own, problems, the files."""

from pathlib import Path

import pytest

from rvbuild.errors import RecipeError
from rvbuild.recipe.model import KnownFailure
from rvbuild.recipe.model import Test as Tests
from rvbuild.target import Floor
from rvbuild.testing.known_data import Circumstances, read_known, with_known
from rvbuild.testing.machine import RunnerKind

SHIPPED = Path(__file__).parents[2] / "known-failures"
HEAD = "package: demo\nfailures:\n"
ENTRY = """\
  - test: "tests/test_a.py::{test}"
    reason: as always
    blame: package
    expires: "2027-06-30"
"""


def write(root: Path, *entries: str, name: str = "demo") -> Path:
    """Write a file of known failures beside a folder of recipes, and give that folder."""
    (root / "known-failures").mkdir(exist_ok=True)
    (root / "recipes").mkdir(exist_ok=True)
    (root / "known-failures" / f"{name}.yaml").write_text(HEAD + "".join(entries))
    return root / "recipes"


def entry(test: str, more: str = "") -> str:
    return ENTRY.format(test=test) + more


def around(version: str = "1.5", runner: RunnerKind = "qemu", floor: str = "2_31") -> Circumstances:
    return Circumstances("demo", version, Floor.parse(floor), runner)


def names(folder: Path, circumstances: Circumstances, tests: Tests | None = None) -> list[str]:
    found = with_known(tests or Tests(), circumstances, (folder,))
    return [each.test.rpartition("::")[2] for each in found.known_failures]


@pytest.mark.parametrize(
    ("more", "circumstances", "holds"),
    [
        ("", around(), True),
        ('    versions: ">=1.4,<2"\n', around("1.5"), True),
        ('    versions: ">=1.4,<2"\n', around("2.0"), False),
        ('    versions: ">=1.4,<2"\n', around("1.6rc1"), True),
        ('    versions: ">=1.4"\n', around("no version"), False),
        ("    runner: board\n", around(runner="qemu"), False),
        ("    runner: board\n", around(runner="board"), True),
        ('    floor: ">=2_35"\n', around(floor="2_31"), False),
        ('    floor: ">=2_35"\n', around(floor="2_39"), True),
    ],
)
def test_an_entry_holds_when_all_its_conditions_do(
    tmp_path: Path,
    more: str,
    circumstances: Circumstances,
    holds: bool,  # noqa: FBT001 - a column of the table
) -> None:
    assert names(write(tmp_path, entry("test_x", more)), circumstances) == ["test_x"] * holds


def test_what_the_recipe_says_goes_first(tmp_path: Path) -> None:
    own = KnownFailure(
        test="tests/test_a.py::test_x", reason="ours", blame="test", expires="2027-01-01"
    )
    folder = write(tmp_path, entry("test_x"), entry("test_y"))
    found = with_known(Tests(known_failures=(own,)), around(), (folder,)).known_failures
    assert [(each.test[-1], each.reason) for each in found] == [("x", "ours"), ("y", "as always")]


def test_merging_again_changes_nothing(tmp_path: Path) -> None:
    folder = write(tmp_path, entry("test_x"))
    once = with_known(Tests(), around(), (folder,))
    assert with_known(once, around(), (folder,)) == once


def test_a_package_without_a_file_has_none(tmp_path: Path) -> None:
    assert names(write(tmp_path, entry("test_x"), name="other"), around()) == []


def test_problems_are_told_with_their_place(tmp_path: Path) -> None:
    folder = write(tmp_path, entry("test_x", "    version: '1'\n    runner: mine\n"), name="other")
    with pytest.raises(RecipeError) as caught:
        read_known(folder.parent / "known-failures/other.yaml")
    told = [problem.message for problem in caught.value.problems]
    assert len(told) == 3
    assert "other" not in told[0]
    assert "demo.yaml" in told[0]
    assert {problem.line for problem in caught.value.problems} == {1, 7, 8}


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.yaml")), ids=lambda path: path.stem)
def test_what_is_shipped_can_be_read(path: Path) -> None:
    for each in read_known(path).failures:
        assert each.link is not None
