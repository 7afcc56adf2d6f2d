"""Exporting commits of real local git repositories."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from rvbuild.errors import SourceError
from rvbuild.events import Silent
from rvbuild.executor.local import LocalExecutor
from rvbuild.recipe.model import GitSource, Recipe
from rvbuild.sources import Fetching, prepare_source
from rvbuild.sources.digest import tree_digest
from rvbuild.sources.git import export
from tests.fetch_site import network_of

pytestmark = pytest.mark.needs("git")
COMMIT_TIME = 1_700_000_000


def ignore(_line: str) -> None:
    """Take a line of output."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A git repository to be exported."""

    path: Path

    def git(self, *words: str) -> str:
        """Run git with a fixed author and time."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.path.parent),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_DATE": f"{COMMIT_TIME} +0000",
            "GIT_COMMITTER_DATE": f"{COMMIT_TIME} +0000",
        }
        options = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        local = ("-c", "protocol.file.allow=always")
        done = subprocess.run(
            ["git", *options, *local, *words],
            cwd=self.path,
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    def commit(self, name: str, content: str) -> str:
        """Write a file and commit it; give the commit."""
        (self.path / name).write_text(content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", name)
        return self.git("rev-parse", "HEAD")

    @property
    def address(self) -> str:
        return self.path.as_uri()


@pytest.fixture
def make_repository(tmp_path: Path) -> Callable[[str], Repository]:
    def make(name: str) -> Repository:
        path = tmp_path / "repositories" / name
        path.mkdir(parents=True)
        repository = Repository(path)
        repository.git("init", "--quiet", "--initial-branch=main")
        return repository

    return make


@pytest.fixture
def fetching(tmp_path: Path) -> Fetching:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    return Fetching(network_of(), tmp_path / "downloads", LocalExecutor(), environment)


@pytest.fixture
def demo(make_repository: Callable[[str], Repository]) -> Repository:
    return make_repository("demo")


def test_the_pinned_commit_is_exported_without_git_files(
    demo: Repository, fetching: Fetching, tmp_path: Path
) -> None:
    demo.commit("first", "1")
    commit = demo.commit("program", "#!/bin/sh\n")
    demo.git("tag", "--annotate", "--message", "x", "v1")
    demo.commit("later", "2")
    source = GitSource(git=demo.address, tag="v1", commit=commit)
    digest = export(source, tmp_path / "out", fetching, ignore)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["first", "program"]
    assert digest == tree_digest(tmp_path / "out")
    assert (tmp_path / "out" / "first").stat().st_mtime == COMMIT_TIME
    again = source.model_copy(update={"sha256": digest})
    assert export(again, tmp_path / "again", fetching, ignore) == digest


def test_a_moved_tag_is_refused(demo: Repository, fetching: Fetching, tmp_path: Path) -> None:
    pinned = demo.commit("first", "1")
    moved = demo.commit("second", "2")
    demo.git("tag", "v1")
    source = GitSource(git=demo.address, tag="v1", commit=pinned)
    with pytest.raises(SourceError) as caught:
        export(source, tmp_path / "out", fetching, ignore)
    assert caught.value.message == f"tag `v1` of `{demo.address}` is not the pinned commit"
    assert caught.value.causes == (f"expected {pinned}, got {moved}",)
    assert [path.name for path in tmp_path.iterdir()] == ["repositories"]


def test_a_tree_with_another_sha256_is_refused(
    demo: Repository, fetching: Fetching, tmp_path: Path
) -> None:
    commit = demo.commit("first", "1")
    demo.git("tag", "v1")
    source = GitSource(git=demo.address, tag="v1", commit=commit, sha256="0" * 64)
    with pytest.raises(SourceError, match="is not the pinned one"):
        export(source, tmp_path / "out", fetching, ignore)


@pytest.mark.parametrize("tag", ["v2", "main", "--upload-pack=touch evil"])
def test_a_missing_tag_is_named(
    tag: str, demo: Repository, fetching: Fetching, tmp_path: Path
) -> None:
    commit = demo.commit("first", "1")
    source = GitSource(git=demo.address, tag=tag, commit=commit)
    with pytest.raises(SourceError) as caught:
        export(source, tmp_path / "out", fetching, ignore)
    assert caught.value.message == f"cannot fetch tag `{tag}` of `{demo.address}`"
    assert caught.value.tail


def with_submodules(make: Callable[[str], Repository]) -> tuple[Repository, str]:
    """Make a repository with a submodule that has one itself; an old commit of it is used."""
    inner, middle, outer = make("inner"), make("middle"), make("outer")
    inner.commit("inner.h", "i")
    middle.commit("middle.h", "m")
    middle.git("submodule", "--quiet", "add", "../inner", "deep")
    middle.commit("extra", "e")
    outer.commit("outer.h", "o")
    outer.git("submodule", "--quiet", "add", "../middle", "third_party/middle")
    commit = outer.commit("extra", "e")
    outer.git("tag", "v1")
    inner.commit("inner.h", "newer")
    middle.commit("middle.h", "newer")
    return outer, commit


def test_submodules_come_along_when_asked(
    make_repository: Callable[[str], Repository], fetching: Fetching, tmp_path: Path
) -> None:
    outer, commit = with_submodules(make_repository)
    source = GitSource(git=outer.address, tag="v1", commit=commit, submodules=True)
    export(source, tmp_path / "out", fetching, ignore)
    assert (tmp_path / "out/third_party/middle/middle.h").read_text() == "m"
    assert (tmp_path / "out/third_party/middle/deep/inner.h").read_text() == "i"
    assert not list((tmp_path / "out").rglob(".git"))


def test_submodules_that_were_not_asked_for_are_missed_at_once(
    make_repository: Callable[[str], Repository], fetching: Fetching, tmp_path: Path
) -> None:
    outer, commit = with_submodules(make_repository)
    recipe = Recipe.model_validate(
        {
            "name": "demo",
            "version": "1",
            "license": "MIT",
            "sources": [{"git": outer.address, "tag": "v{version}", "commit": commit}],
            "required_paths": ["third_party/middle"],
        }
    )
    with pytest.raises(SourceError) as caught:
        prepare_source(recipe, (), tmp_path / "out", fetching, Silent())
    assert caught.value.message == "the source of `demo-1` lacks `third_party/middle`"
    assert "submodules" in caught.value.causes[1]
    with_them = recipe.sources[0].model_copy(update={"submodules": True})
    full = recipe.model_copy(update={"sources": (with_them,)})
    tree = prepare_source(full, (), tmp_path / "out", fetching, Silent())
    assert tree.origin == f"{outer.address} v1 ({commit[:12]})"
    assert tree.sha256s == (tree_digest(tmp_path / "out"),)


def test_a_users_settings_do_not_change_the_files(
    demo: Repository, fetching: Fetching, tmp_path: Path
) -> None:
    (tmp_path / ".gitconfig").write_text("[core]\n\tautocrlf = true\n[init]\n\tdefaultBranch = x\n")
    commit = demo.commit("text", "a\nb\n")
    demo.git("tag", "v1")
    export(GitSource(git=demo.address, tag="v1", commit=commit), tmp_path / "out", fetching, ignore)
    assert (tmp_path / "out" / "text").read_bytes() == b"a\nb\n"


def test_offline_takes_local_mirrors_only(
    demo: Repository, fetching: Fetching, tmp_path: Path
) -> None:
    commit = demo.commit("first", "1")
    demo.git("tag", "v1")
    source = GitSource(git="https://example.invalid/demo", tag="v1", commit=commit)
    offline = replace(fetching, network=replace(network_of(), offline=True))
    with pytest.raises(SourceError, match="offline"):
        export(source, tmp_path / "out", offline, ignore)
    mirrors = (("https://example.invalid/", demo.path.parent.as_uri() + "/"),)
    mirrored = replace(offline, network=replace(offline.network, mirrors=mirrors))
    export(source, tmp_path / "out", mirrored, ignore)
    assert (tmp_path / "out" / "first").read_text() == "1"
