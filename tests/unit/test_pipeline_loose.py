"""Wheel files from anywhere: which modules they bring, which Pythons and which tests they get."""

from pathlib import Path

import pytest

from rvbuild.errors import UsageError
from rvbuild.pipeline.loose import choose_tests, fitting_pythons, require_python
from rvbuild.recipe.catalogue import Catalogue
from rvbuild.wheel import read_wheel
from rvbuild.wheel.modules import top_modules
from tests.cli_samples import RECIPE, write_wheel

KNOWN = ("3.13", "3.14")


@pytest.mark.parametrize(
    ("tag", "fitting"),
    [
        ("py3-none-any", KNOWN),
        ("cp313-cp313-manylinux_2_31_riscv64", ("3.13",)),
        ("cp312-abi3-manylinux_2_31_riscv64", KNOWN),
        ("cp314-abi3-linux_riscv64", ("3.14",)),
        ("cp311-cp311-linux_riscv64", ()),
        ("py2-none-any", ()),
    ],
)
def test_tags_choose_pythons(tmp_path: Path, tag: str, fitting: tuple[str, ...]) -> None:
    assert fitting_pythons(read_wheel(write_wheel(tmp_path, tag=tag)), KNOWN) == fitting


def test_a_python_that_was_not_asked_for_is_better_than_none(tmp_path: Path) -> None:
    pure = read_wheel(write_wheel(tmp_path))
    new = read_wheel(write_wheel(tmp_path, tag="cp314-cp314-linux_riscv64"))
    old = read_wheel(write_wheel(tmp_path, tag="cp310-cp310-linux_riscv64"))

    assert require_python(pure, ("3.13",), KNOWN) == ("3.13",)
    assert require_python(new, ("3.13",), KNOWN) == ("3.14",)
    with pytest.raises(UsageError, match="no known Python"):
        require_python(old, ("3.13",), KNOWN)


@pytest.mark.parametrize(
    ("members", "modules"),
    [
        (("thing.py",), ("thing",)),
        (("_thing.cpython-313-riscv64-linux-gnu.so", "thing.py"), ("_thing", "thing")),
        (("a/__init__.py", "a/b.py", "a/c/__init__.py"), ("a",)),
        (("space/inner/__init__.py", "space/inner/x.py"), ("space.inner",)),
        (("thing-1.0.data/purelib/b.py", "thing-1.0.data/scripts/run.py"), ("b",)),
        (("thing.libs/libz.so", "a/data.json", "not-a-module.py"), ()),
    ],
)
def test_members_tell_modules(
    tmp_path: Path, members: tuple[str, ...], modules: tuple[str, ...]
) -> None:
    wheel = write_wheel(tmp_path, files=dict.fromkeys(members, b""))

    assert top_modules(read_wheel(wheel)) == modules


def test_a_wheel_s_own_list_counts_where_it_is_true(tmp_path: Path) -> None:
    files = {"a.py": b"", "b.py": b"", "thing-1.0.dist-info/top_level.txt": b"b\nghost\n\n"}

    assert top_modules(read_wheel(write_wheel(tmp_path, files=files))) == ("b",)


def test_the_recipe_s_tests_are_better_than_made_up_ones(tmp_path: Path) -> None:
    wheel = read_wheel(write_wheel(tmp_path))
    folder = tmp_path / "recipes"
    folder.mkdir()
    made_up, nobody = choose_tests(wheel, Catalogue((folder,)))
    text = RECIPE.format(name="thing", kind="wheel", digest="0" * 64)
    text += "test: {imports: [own], suite: {command: [-m, pytest]}}\n"
    (folder / "thing.yaml").write_text(text)
    own, recipe = choose_tests(wheel, Catalogue((folder,)))
    (folder / "thing.yaml").write_text(text.replace('"1.0"', '"2.0"'))
    other, stranger = choose_tests(wheel, Catalogue((folder,)))

    assert (made_up.imports, nobody) == (("thing",), None)
    assert own.suite is not None
    assert recipe is not None
    assert (other.imports, other.suite, stranger) == (("own",), None, None)
