"""Pin files: what can be read, and what is refused with its place."""

from pathlib import Path

import pytest

from rvbuild.errors import MissingToolError, RecipeError
from rvbuild.fetch import DebianFile, PypiFile
from rvbuild.kit import load_pins

HASH = "ab" * 32
GOOD = f"""\
name: tools
description: programs
trees:
  make-x86_64:
    only: [usr/bin/make]
    skip: ["**/*.a"]
    pins:
    - debian: pool/main/m/make/make_4.3-4.1_amd64.deb
      sha256: {HASH}
  ninja-x86_64:
    pins:
    - {{pypi: ninja, file: ninja-1.0-py3-none-any.whl, sha256: {HASH}}}
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "tools.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def problems(folder: Path, text: str) -> list[tuple[int, str]]:
    with pytest.raises(RecipeError) as caught:
        load_pins(write(folder, text))
    return [(problem.line, problem.message) for problem in caught.value.problems]


def test_pins_become_remotes(tmp_path: Path) -> None:
    pins = load_pins(write(tmp_path, GOOD))
    make = pins.tree("make-x86_64")
    assert (make.only, make.skip) == (("usr/bin/make",), ("**/*.a",))
    remote = make.pins[0].remote
    assert (remote.file_name, remote.sha256) == ("make_4.3-4.1_amd64.deb", HASH)
    assert remote.origins == (DebianFile("pool/main/m/make/make_4.3-4.1_amd64.deb"),)
    ninja = pins.tree("ninja-x86_64").pins[0].remote
    assert ninja.file_name == "ninja-1.0-py3-none-any.whl"
    assert ninja.origins == (PypiFile("ninja", "ninja-1.0-py3-none-any.whl"),)


def test_a_tree_that_is_not_pinned_names_those_that_are(tmp_path: Path) -> None:
    pins = load_pins(write(tmp_path, GOOD))
    with pytest.raises(MissingToolError, match="no `make-s390x` among the pins") as caught:
        pins.tree("make-s390x")
    assert caught.value.hint == "it is pinned for make-x86_64, ninja-x86_64"


@pytest.mark.parametrize(
    ("before", "after", "line", "message"),
    [
        (f"sha256: {HASH}\n", "sha256: abc\n", 9, "`abc` is not a sha256"),
        ("description:", "descripton:", 2, "descripton"),
        ("debian: pool/main", "debian: main", 8, "begins with `pool/`"),
        ("debian: pool", "pypi: make\n      debian: pool", 8, "one of `debian` and `pypi`"),
        ("{pypi: ninja, ", "{pypi: ninja, fil: x, ", 12, "fil"),
        ("file: ninja-1.0-py3-none-any.whl, ", "", 12, "`pypi` and `file` go together"),
        ("pypi: ninja, file: ninja-1.0-py3-none-any.whl, ", "", 12, "one of `debian` and `pypi`"),
    ],
)
def test_a_wrong_pin_is_told_with_its_line(
    tmp_path: Path, before: str, after: str, line: int, message: str
) -> None:
    assert before in GOOD
    found = problems(tmp_path, GOOD.replace(before, after, 1))
    assert [where for where, said in found if message in said] == [line], found


def test_every_problem_is_told_at_once(tmp_path: Path) -> None:
    text = GOOD.replace(HASH, "xyz").replace("name: tools", "nam: tools")
    assert len(problems(tmp_path, text)) >= 3


def test_a_tree_without_pins_is_refused(tmp_path: Path) -> None:
    text = "name: x\ntrees:\n  empty:\n    pins: []\n"
    assert len(problems(tmp_path, text)) == 1
