"""Unpacking pinned packages: what is taken, what a digest names, and all or nothing."""

import hashlib
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from rvbuild.errors import BuildError, SourceError
from rvbuild.kit import Pin, PinnedTree, Supplies, Tree, materialise
from rvbuild.kit.tree import kit_path
from tests.build_samples import make_deb, make_package, supplies_of
from tests.conftest import Recorder

MEMBERS = {
    "./usr/bin/tool": "#!/bin/sh\necho tool\n",
    "./usr/lib/libtool.so.1": "elf",
    "./usr/lib/libtool.a": "archive",
    "./usr/share/doc/tool": "words",
}


@pytest.fixture
def supplies(tmp_path: Path, recorder: Recorder) -> Supplies:
    return supplies_of(tmp_path, recorder)


@pytest.fixture
def deb(tmp_path: Path) -> Pin:
    links = {"./usr/lib/libtool.so": "libtool.so.1"}
    return make_deb(tmp_path / "offline/tool_1_all.deb", MEMBERS, links)


def tree(*pins: Pin, only: tuple[str, ...] = (), skip: tuple[str, ...] = ()) -> Tree:
    return Tree("demo", PinnedTree(only=only, skip=skip, pins=pins))


def files(folder: Path) -> set[str]:
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}
    return {name for name in found if not name.startswith(".")}


def kits(supplies: Supplies) -> list[str]:
    return sorted(path.name for path in supplies.places.kits.iterdir() if path.is_dir())


def test_a_deb_is_unpacked_with_its_links_and_modes(supplies: Supplies, deb: Pin) -> None:
    kit = materialise(tree(deb), supplies)
    assert files(kit.path) == {name.removeprefix("./") for name in MEMBERS} | {"usr/lib/libtool.so"}
    assert (kit.path / "usr/lib/libtool.so").readlink() == Path("libtool.so.1")
    assert (kit.path / "usr/bin/tool").stat().st_mode & 0o777 == 0o755


def test_only_and_skip_choose_members(supplies: Supplies, deb: Pin) -> None:
    kit = materialise(tree(deb, only=("usr/bin/*", "usr/lib/*"), skip=("**/*.a",)), supplies)
    assert files(kit.path) == {"usr/bin/tool", "usr/lib/libtool.so", "usr/lib/libtool.so.1"}


def test_a_wheel_keeps_its_executables(tmp_path: Path, supplies: Supplies) -> None:
    plain = make_package(tmp_path / "offline/plain-1-py3-none-any.whl", {"p/a.py": ""}, False)  # noqa: FBT003 - not executable
    program = make_package(tmp_path / "offline/tool-1-py3-none-any.whl", {"t/tool": "#!"})
    kit = materialise(tree(plain, program), supplies)
    assert (kit.path / "t/tool").stat().st_mode & 0o111
    assert not (kit.path / "p/a.py").stat().st_mode & 0o111


def test_packages_are_laid_over_each_other_in_order(tmp_path: Path, supplies: Supplies) -> None:
    first = make_deb(tmp_path / "offline/first.deb", {"./usr/a": "1", "./usr/b": "1"})
    second = make_deb(tmp_path / "offline/second.deb", {"./usr/b": "2"})
    kit = materialise(tree(first, second), supplies)
    assert (kit.path / "usr/a").read_text() + (kit.path / "usr/b").read_text() == "12"


def test_a_tree_is_unpacked_once(supplies: Supplies, deb: Pin, recorder: Recorder) -> None:
    first = materialise(tree(deb), supplies)
    assert materialise(tree(deb), supplies) == first
    assert [event for event in recorder.of("started") if event[1] == "unpack"] == [
        ("demo", "unpack")
    ]


def test_the_digest_names_everything_that_decides_the_content(deb: Pin) -> None:
    other = Pin(debian="pool/main/o.deb", sha256="1" * 64)
    trees = [
        tree(deb),
        tree(other),
        tree(deb, other),
        tree(other, deb),
        tree(deb, only=("usr/*",)),
        tree(deb, skip=("usr/*",)),
        replace(tree(deb), revision="2"),
    ]
    assert len({each.digest for each in trees}) == len(trees)
    assert tree(deb).digest == replace(tree(deb), name="renamed").digest


@pytest.mark.parametrize("failure", [BuildError("no"), OSError("disk"), KeyboardInterrupt()])
def test_a_failing_finish_leaves_nothing(
    supplies: Supplies, deb: Pin, failure: BaseException
) -> None:
    def finish(staging: Path, path: Path) -> None:
        (staging / "half").touch()
        assert not path.exists()
        raise failure

    expected = SourceError if isinstance(failure, OSError) else type(failure)
    with pytest.raises(expected):
        materialise(tree(deb), supplies, finish)
    assert kits(supplies) == []
    assert materialise(tree(deb), supplies).path == kit_path(tree(deb), supplies.places)


def test_finish_changes_the_tree_before_it_appears(supplies: Supplies, deb: Pin) -> None:
    def finish(staging: Path, path: Path) -> None:
        (staging / "place").write_text(str(path))

    kit = materialise(tree(deb), supplies, finish)
    assert (kit.path / "place").read_text() == str(kit.path)


def test_what_a_killed_run_left_is_replaced(supplies: Supplies, deb: Pin) -> None:
    path = kit_path(tree(deb), supplies.places)
    for left in (path.with_name(f"{path.name}.1.tmp"), path.with_name(f"{path.name}.2.tmp")):
        (left / "usr").mkdir(parents=True)
    assert "usr/bin/tool" in files(materialise(tree(deb), supplies).path)
    assert kits(supplies) == [path.name]


def test_several_threads_unpack_one_tree(supplies: Supplies, deb: Pin) -> None:
    calls: list[Path] = []
    begin = threading.Barrier(4)

    def install() -> None:
        begin.wait()
        materialise(tree(deb), supplies, lambda staging, _: calls.append(staging))

    threads = [threading.Thread(target=install) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1


def test_a_member_outside_of_the_tree_is_refused(tmp_path: Path, supplies: Supplies) -> None:
    evil = make_deb(tmp_path / "offline/evil.deb", {"../../escaped": "x"})
    with pytest.raises(SourceError, match=r"cannot unpack `evil\.deb`"):
        materialise(tree(evil), supplies)
    assert not list(tmp_path.rglob("escaped"))
    assert kits(supplies) == []


@pytest.mark.parametrize("name", ["broken.deb", "broken-1-py3-none-any.whl"])
def test_a_file_that_is_no_package_is_named(tmp_path: Path, supplies: Supplies, name: str) -> None:
    pin = make_package(tmp_path / "offline/good-1-py3-none-any.whl", {"a": "b"})
    bad = tmp_path / "offline" / name
    bad.write_bytes(b"not a package at all, and long enough to be looked into" * 3)
    digest = hashlib.sha256(bad.read_bytes()).hexdigest()
    broken = Pin(debian=f"pool/{name}", sha256=digest)
    with pytest.raises(SourceError, match=f"cannot unpack `{name}`"):
        materialise(tree(pin, broken), supplies)


def test_a_package_that_cannot_be_had_is_an_error_of_the_source(supplies: Supplies) -> None:
    absent = Pin(debian="pool/main/a/absent.deb", sha256="0" * 64)
    with pytest.raises(SourceError, match=r"cannot fetch `absent\.deb`"):
        materialise(tree(absent), supplies)
    assert kits(supplies) == []
