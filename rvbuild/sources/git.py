"""Exporting one pinned commit of a git repository as a plain tree, with the local `git`."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rvbuild.errors import SourceError
from rvbuild.executor import Command, Completed
from rvbuild.fetch import Network
from rvbuild.recipe.model import GitSource
from rvbuild.sources.digest import tree_digest
from rvbuild.sources.folders import new_folder, writing
from rvbuild.sources.model import Fetching

# A user's own settings may reach servers, and must not change the files.
_SETTINGS = ("core.autocrlf=false", "core.symlinks=true", "core.hooksPath=/dev/null")


@dataclass(frozen=True, slots=True)
class _Git:
    fetching: Fetching
    tree: Path
    settings: tuple[str, ...]
    on_line: Callable[[str], None]

    def run(self, *words: str) -> Completed:
        """Run git in the tree; the caller looks at how it ended."""
        options = [word for setting in self.settings for word in ("-c", setting)]
        environment = {
            **self.fetching.environment,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_LFS_SKIP_SMUDGE": "1",
            "LC_ALL": "C",
        }
        command = Command(("git", *options, *words), self.tree, environment)
        return self.fetching.executor.run(command, on_line=self.on_line)

    def succeed(self, *words: str) -> str:
        """Run git and give its output; raise `SourceError` when it fails."""
        done = self.run(*words)
        if not done.ok:
            raise SourceError(f"`git {words[0]}` failed", tail=done.tail())
        return done.output


def export(
    source: GitSource, destination: Path, fetching: Fetching, on_line: Callable[[str], None]
) -> str:
    """Export the pinned commit into `destination`, a new folder; give the digest of the tree.

    Raises `SourceError` when the tag is another commit, the tree has another sha256, or the
    repository cannot be reached; `MissingToolError` without git.
    """
    address = _address(source.git, fetching.network)
    settings = _SETTINGS if _over_network(address) else (*_SETTINGS, "protocol.file.allow=always")
    with new_folder(destination) as tree:
        git = _Git(fetching, tree, settings, on_line)
        _fetch(git, address, source)
        if source.submodules:
            _fetch_submodules(git)
        seconds = int(git.succeed("show", "--no-patch", "--format=%ct", source.commit).split()[0])
        with writing(destination):
            _remove_git_files(tree)
            _set_times(tree, seconds)
        digest = tree_digest(tree)
        if source.sha256 not in {None, digest}:
            raise SourceError(
                f"the tree of commit {source.commit} of `{source.git}` is not the pinned one",
                causes=[f"expected sha256 {source.sha256}, got {digest}"],
            )
    return digest


def _address(address: str, network: Network) -> str:
    for prefix, replacement in network.mirrors:
        if address.startswith(prefix):
            address = replacement + address[len(prefix) :]
            break
    if address.startswith("-"):
        raise SourceError(f"`{address}` is not the address of a repository")
    if network.offline and _over_network(address):
        raise SourceError(
            f"offline: `{address}` is not asked",
            hint="name a local copy by `RVBUILD_MIRRORS=ADDRESS=file://FOLDER`",
        )
    return address


def _over_network(address: str) -> bool:
    return not address.startswith(("file://", "/"))


def _fetch(git: _Git, address: str, source: GitSource) -> None:
    """Fetch the tag alone and check it out; submodules with relative addresses need `origin`."""
    git.succeed("init", "--quiet", "--template=")
    git.succeed("remote", "add", "--", "origin", address)
    tag = f"refs/tags/{source.tag}"
    done = git.run("fetch", "--quiet", "--depth=1", "--no-tags", "origin", f"{tag}:{tag}")
    if not done.ok:
        raise SourceError(f"cannot fetch tag `{source.tag}` of `{source.git}`", tail=done.tail())
    commit = git.succeed("rev-parse", "--verify", f"{tag}^{{commit}}").strip()
    if commit != source.commit:
        raise SourceError(
            f"tag `{source.tag}` of `{source.git}` is not the pinned commit",
            causes=[f"expected {source.commit}, got {commit}"],
            hint="find out why the tag was moved before changing the recipe",
        )
    git.succeed("checkout", "--quiet", "--detach", commit)


def _fetch_submodules(git: _Git) -> None:
    words = ("submodule", "update", "--init", "--recursive", "--quiet")
    # Not every server gives a commit that no branch or tag names; the whole history has it.
    if not git.run(*words, "--depth=1").ok:
        git.succeed(*words)


def _remove_git_files(tree: Path) -> None:
    for path in sorted(tree.rglob(".git"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _set_times(tree: Path, seconds: int) -> None:
    """Give all files the time of the commit: none is older than what it was generated from."""
    for path in [tree, *tree.rglob("*")]:
        os.utime(path, (seconds, seconds), follow_symlinks=False)
