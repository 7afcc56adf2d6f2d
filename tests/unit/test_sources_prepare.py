"""From a recipe to one patched tree, with files that lie in folders and on a local server."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from rvbuild.errors import MissingToolError, SourceError
from rvbuild.executor import Command, Completed
from rvbuild.recipe.model import (
    DebianSource,
    ExtraSource,
    GitSource,
    PypiSource,
    Recipe,
    Source,
    UrlSource,
)
from rvbuild.sources import Fetching, SourceTree, prepare_source
from rvbuild.sources.remote import fill_version, remote_of
from tests.conftest import Recorder
from tests.fetch_site import Reply, gzip_of, network_of, running_site, sha256, tar_of

PATCH = "--- a/setup.py\n+++ b/setup.py\n@@ -1 +1 @@\n-old\n+new\n"


class NoGit:
    """An executor on a machine without git."""

    def run(
        self,
        command: Command,
        log: Path | None = None,  # noqa: ARG002 - the Protocol's
        on_line: Callable[[str], None] | None = None,  # noqa: ARG002 - the Protocol's
    ) -> Completed:
        raise MissingToolError(f"program `{command.argv[0]}` was not found")


@dataclass(frozen=True, slots=True)
class Bench:
    """A folder to work in, and how sources are reached from it."""

    root: Path
    fetching: Fetching
    watch: Recorder

    def archive(self, name: str, files: dict[str, bytes]) -> UrlSource:
        """Put an archive into the folder; give it as a source."""
        data = gzip_of(tar_of(files))
        path = self.root / name
        path.write_bytes(data)
        return UrlSource(url=path.as_uri(), sha256=sha256(data))

    def patch(self, text: str = PATCH) -> Path:
        path = self.root / "fix.patch"
        path.write_text(text)
        return path

    def prepare(self, recipe: Recipe, *patches: Path) -> SourceTree:
        """Prepare into the folder `out`."""
        return prepare_source(recipe, patches, self.root / "out", self.fetching, self.watch)

    def failure(self, recipe: Recipe, *patches: Path) -> SourceError:
        """Prepare in vain, leaving nothing behind."""
        before = {path.name for path in self.root.iterdir()} | {"downloads"}
        with pytest.raises(SourceError) as caught:
            self.prepare(recipe, *patches)
        assert {path.name for path in self.root.iterdir()} <= before
        return caught.value


@pytest.fixture
def bench(tmp_path: Path, recorder: Recorder) -> Bench:
    return Bench(tmp_path, Fetching(network_of(), tmp_path / "downloads", NoGit()), recorder)


def recipe_of(*sources: Source, **more: object) -> Recipe:
    fields = {"name": "demo", "version": "1.0", "license": "MIT", "sources": sources, **more}
    return Recipe.model_validate(fields)


def demo(bench: Bench) -> UrlSource:
    return bench.archive("demo-1.0.tar.gz", {"demo-1.0/setup.py": b"old\n"})


def test_the_destination_is_the_patched_tree(bench: Bench) -> None:
    source = demo(bench)
    tree = bench.prepare(recipe_of(source), bench.patch())
    assert tree == SourceTree(bench.root / "out", "demo-1.0.tar.gz", (source.sha256,))
    assert (tree.path / "setup.py").read_bytes() == b"new\n"
    assert ("demo-1.0", "fix.patch: changed setup.py") in bench.watch.of("line")
    assert not list(bench.root.glob(".*.part"))


def test_a_second_run_keeps_the_tree_and_patches_nothing(bench: Bench) -> None:
    recipe, patch = recipe_of(demo(bench)), bench.patch()
    first = bench.prepare(recipe, patch)
    (first.path / "built.o").write_bytes(b"")
    assert bench.prepare(recipe, patch) == first
    assert (first.path / "built.o").exists()
    assert (first.path / "setup.py").read_bytes() == b"new\n"


def test_another_patch_makes_the_tree_anew(bench: Bench) -> None:
    recipe = recipe_of(demo(bench))
    first = bench.prepare(recipe, bench.patch())
    (first.path / "built.o").write_bytes(b"")
    bench.prepare(recipe, bench.patch(PATCH.replace("+new", "+newer")))
    assert [path.name for path in first.path.iterdir()] == ["setup.py"]
    assert (first.path / "setup.py").read_bytes() == b"newer\n"


def test_a_tree_without_a_note_is_made_anew(bench: Bench) -> None:
    recipe, patch = recipe_of(demo(bench)), bench.patch()
    first = bench.prepare(recipe, patch)
    note = bench.root / "out.source.json"
    assert json.loads(note.read_text())["origin"] == "demo-1.0.tar.gz"
    note.write_text("{")
    (first.path / "built.o").write_bytes(b"")
    bench.prepare(recipe, patch)
    assert not (first.path / "built.o").exists()


def test_a_patch_that_does_not_fit_leaves_no_tree(bench: Bench) -> None:
    error = bench.failure(recipe_of(demo(bench)), bench.patch(PATCH.replace("-old", "-odd")))
    assert "does not fit" in error.message
    assert not (bench.root / "out").exists()


def test_the_next_alternative_is_taken_and_said(bench: Bench) -> None:
    source = demo(bench)
    gone = UrlSource(url=(bench.root / "gone.tar.gz").as_uri(), sha256="0" * 64)
    git = GitSource(git="https://example.invalid/demo", tag="v1.0", commit="0" * 40)
    tree = bench.prepare(recipe_of(gone, git, source))
    assert tree.sha256s == (source.sha256,)
    assert bench.watch.of("note") == [
        ("demo-1.0", "cannot fetch `gone.tar.gz`; trying the next source"),
        ("demo-1.0", "program `git` was not found; trying the next source"),
    ]


def test_when_no_alternative_is_left_all_reasons_are_told(bench: Bench) -> None:
    one, two = ((bench.root / name).as_uri() for name in ("one", "two"))
    sources = [UrlSource(url=url, sha256="0" * 64) for url in (one, two)]
    error = bench.failure(recipe_of(*sources))
    assert error.message == "no source of `demo-1.0` can be had"
    assert error.causes == (
        "cannot fetch `one`",
        f"{one}: no such file or directory",
        "cannot fetch `two`",
        f"{two}: no such file or directory",
    )
    alone = bench.failure(recipe_of(sources[0]))
    assert alone.message == "cannot fetch `one`"


def test_other_bytes_are_never_built(bench: Bench) -> None:
    source = demo(bench).model_copy(update={"sha256": "0" * 64})
    error = bench.failure(recipe_of(source))
    assert "other bytes" in error.causes[0]


def test_the_version_is_filled_in(bench: Bench) -> None:
    source = demo(bench)
    pattern = source.model_copy(update={"url": source.url.replace("1.0", "{version}")})
    assert bench.prepare(recipe_of(pattern)).origin == "demo-1.0.tar.gz"


def test_an_archive_without_submodules_is_told_at_once(bench: Bench) -> None:
    source = bench.archive(
        "tag.tar.gz", {"demo/.gitmodules": b"[submodule]\n", "demo/third_party/x/.keep": b""}
    )
    recipe = recipe_of(source, required_paths=("third_party/x/a.h", "third_party", "setup.py"))
    error = bench.failure(recipe)
    assert error.message == "the source of `demo-1.0` lacks `third_party/x/a.h`"
    assert error.causes == (
        "`third_party/x/a.h` is missing or empty",
        "`setup.py` is missing or empty",
        "the archive lacks submodules: it has `.gitmodules` and not their files",
    )
    assert error.hint is not None
    assert "`submodules: true`" in error.hint


def test_an_empty_folder_is_as_good_as_none(bench: Bench) -> None:
    archive = bench.archive("a.tar.gz", {"demo/setup.py": b""})
    empty = bench.archive("b.tar.gz", {})
    extra = ExtraSource(into="third_party/x", sources=(empty,))
    recipe = recipe_of(archive, extra_sources=(extra,), required_paths=("third_party/x",))
    error = bench.failure(recipe)
    assert error.causes == ("`third_party/x` is missing or empty",)


def test_extra_sources_fill_their_folders(bench: Bench) -> None:
    extra = bench.archive("x.tar.gz", {"x-2/a.h": b"a"})
    stripped = ExtraSource(into="third_party/x", sources=(extra,))
    whole = ExtraSource(into="third_party", sources=(extra,), strip=False)
    tree = bench.prepare(
        recipe_of(
            demo(bench), extra_sources=(stripped, whole), required_paths=("third_party/x/a.h",)
        )
    )
    assert (tree.path / "third_party/x/a.h").read_bytes() == b"a"
    assert (tree.path / "third_party/x-2/a.h").read_bytes() == b"a"
    assert tree.sha256s[1:] == (extra.sha256, extra.sha256)


def test_extra_sources_replace_nothing(bench: Bench) -> None:
    extra = ExtraSource(into=".", sources=(bench.archive("x.tar.gz", {"x/setup.py": b"evil"}),))
    error = bench.failure(recipe_of(demo(bench), extra_sources=(extra,)))
    assert error.message == "extra source `.` would replace `setup.py`"


def test_patches_see_extra_sources(bench: Bench) -> None:
    extra = ExtraSource(into="x", sources=(bench.archive("x.tar.gz", {"x/a.h": b"old\n"}),))
    patch = bench.patch(PATCH.replace("setup.py", "x/a.h"))
    tree = bench.prepare(recipe_of(demo(bench), extra_sources=(extra,)), patch)
    assert (tree.path / "x" / "a.h").read_bytes() == b"new\n"


def test_an_sdist_is_found_by_its_sha256_on_the_index(bench: Bench) -> None:
    data = gzip_of(tar_of({"Demo_Pack-1.0/setup.py": b"old\n"}))
    with running_site() as site:
        link = f'<a href="/f#sha256={sha256(data)}">Demo_Pack-1.0.tar.gz</a>'
        site.serve("/demo-pack/", Reply(link.encode(), headers={"Content-Type": "text/html"}))
        site.serve("/f", Reply(data))
        network = replace(network_of(), pypi_indexes=(site.address,))
        online = replace(bench, fetching=replace(bench.fetching, network=network))
        tree = online.prepare(recipe_of(PypiSource(pypi="Demo.Pack", sha256=sha256(data))))
    assert tree.origin == "demo_pack-1.0.tar.gz"
    assert (tree.path / "setup.py").read_bytes() == b"old\n"


SHA256 = "a" * 64


@pytest.mark.parametrize(
    ("source", "file_name"),
    [
        (PypiSource(pypi="Demo-Pack", sha256=SHA256), "demo_pack-1.0.tar.gz"),
        (PypiSource(pypi="demo-{version}.zip", sha256=SHA256), "demo-1.0.zip"),
        (PypiSource(pypi="demo-{version}.tar.bz2", sha256=SHA256), "demo-1.0.tar.bz2"),
        (UrlSource(url="https://example.invalid/v{version}.tgz?x=1", sha256=SHA256), "v1.0.tgz"),
        (UrlSource(url="https://example.invalid/a%2Fb%20c", sha256=SHA256), "a_b c"),
        (UrlSource(url="https://example.invalid/", sha256=SHA256), "source"),
        (
            DebianSource(debian="pool/main/d/d_{version}.orig.tar.xz", sha256=SHA256),
            "d_1.0.orig.tar.xz",
        ),
    ],
)
def test_file_names(source: Source, file_name: str) -> None:
    filled = fill_version(source, "1.0")
    assert not isinstance(filled, GitSource)
    assert remote_of(filled, "1.0").file_name == file_name


def test_a_file_name_that_is_no_sdist_is_said() -> None:
    with pytest.raises(SourceError, match="is not the file name of an sdist"):
        remote_of(PypiSource(pypi="demo.tar.gz", sha256=SHA256), "1.0")


def test_only_the_paths_that_are_asked_for_are_there(bench: Bench) -> None:
    source = bench.archive("big.tar.gz", {"big/a/x": b"1", "big/b/y": b"2", "big/c": b"3"})
    tree = bench.prepare(recipe_of(source, only=["a"], required_paths=["a/x"]))
    assert [path.name for path in tree.path.iterdir()] == ["a"]
    whole = bench.prepare(recipe_of(source))
    assert sorted(path.name for path in whole.path.iterdir()) == ["a", "b", "c"]


def test_without_sources_the_tree_is_empty_but_for_extra_ones(bench: Bench) -> None:
    recipe = recipe_of(demo(bench)).model_copy(update={"sources": ()})
    assert list(bench.prepare(recipe).path.iterdir()) == []
    extra = ExtraSource(into="more", sources=(demo(bench),))
    tree = bench.prepare(recipe.model_copy(update={"extra_sources": (extra,)}))
    assert (tree.path / "more/setup.py").is_file()
