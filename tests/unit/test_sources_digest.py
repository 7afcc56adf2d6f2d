"""The digest of a tree: what changes it and what does not."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from rvbuild.errors import SourceError
from rvbuild.sources.digest import tree_digest


def make_tree(folder: Path) -> Path:
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "file").write_bytes(b"content")
    (folder / "a.b").write_bytes(b"")
    (folder / "link").symlink_to("a/file")
    return folder


def test_the_digest_is_of_kinds_lengths_paths_and_contents(tmp_path: Path) -> None:
    stream = b"file 3 0\na.b" + b"file 6 7\na/filecontent" + b"link 4 6\nlinka/file"
    expected = hashlib.sha256(stream).hexdigest()
    assert tree_digest(make_tree(tmp_path / "one")) == expected


def test_times_places_and_empty_folders_do_not_count(tmp_path: Path) -> None:
    one, two = make_tree(tmp_path / "one"), make_tree(tmp_path / "two")
    os.utime(two / "a" / "file", (1, 1))
    (two / "empty").mkdir()
    assert tree_digest(one) == tree_digest(two)


def _split_otherwise(tree: Path) -> None:
    (tree / "a" / "file").write_bytes(b"conten")
    (tree / "a.b").write_bytes(b"t")


def _link_elsewhere(tree: Path) -> None:
    (tree / "link").unlink()
    (tree / "link").symlink_to("a.b")


def _make_the_link_a_file(tree: Path) -> None:
    (tree / "link").unlink()
    (tree / "link").write_bytes(b"a/file")


CHANGES: dict[str, Callable[[Path], object]] = {
    "content": lambda tree: (tree / "a.b").write_bytes(b"x"),
    "name": lambda tree: (tree / "a.b").rename(tree / "a.c"),
    "mode": lambda tree: (tree / "a.b").chmod(0o755),
    "gone": lambda tree: (tree / "a.b").unlink(),
    "link": _link_elsewhere,
    "kind": _make_the_link_a_file,
    "split": _split_otherwise,
}


@pytest.mark.parametrize("name", CHANGES)
def test_every_change_counts(name: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "one")
    before = tree_digest(tree)
    CHANGES[name](tree)
    assert tree_digest(tree) != before


def test_pipes_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SourceError, match="neither a file nor a link"):
        tree_digest(tmp_path)
