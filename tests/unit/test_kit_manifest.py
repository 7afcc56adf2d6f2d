"""The manifest of an unpacked tree: what it notices, and what it leaves alone."""

from pathlib import Path

import pytest

from rvbuild.errors import SourceError
from rvbuild.kit.manifest import damage, write_manifest


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "kit"
    (folder / "usr/lib").mkdir(parents=True)
    (folder / "usr/lib/a.so").write_bytes(b"code")
    (folder / "usr/lib/with  two spaces").write_bytes(b"")
    (folder / "lib").symlink_to("usr/lib")
    write_manifest(folder)
    return folder


def test_an_untouched_tree_is_whole(tree: Path) -> None:
    assert damage(tree) == ()
    write_manifest(tree)
    assert damage(tree) == ()


def test_every_kind_of_damage_is_named(tree: Path) -> None:
    (tree / "usr/lib/a.so").write_bytes(b"cod3")
    (tree / "usr/lib/with  two spaces").unlink()
    (tree / "usr/new.h").write_bytes(b"")

    assert damage(tree) == (
        "`usr/lib/a.so` was changed",
        "`usr/lib/with  two spaces` is gone",
        "`usr/new.h` was not there before",
    )


def test_byte_code_of_a_running_python_is_no_damage(tree: Path) -> None:
    (tree / "usr/lib/__pycache__").mkdir()
    (tree / "usr/lib/__pycache__/a.pyc").write_bytes(b"")

    assert damage(tree) == ()


def test_a_tree_without_manifest_cannot_be_verified(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="has no manifest"):
        damage(tmp_path)
