"""From a recipe's sources to one patched tree: alternatives, extra sources, what must be there."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rvbuild.errors import MissingToolError, SourceError
from rvbuild.events import Watcher
from rvbuild.fetch import fetch
from rvbuild.recipe.model import ExtraSource, GitSource, Recipe, Source
from rvbuild.sources.folders import scratch_folder, writing
from rvbuild.sources.git import export
from rvbuild.sources.made import digest_of_inputs, forget_made, read_made, write_made
from rvbuild.sources.model import Fetching, SourceTree
from rvbuild.sources.patch import apply_patch
from rvbuild.sources.remote import fill_version, remote_of
from rvbuild.sources.unpack import unpack


@dataclass(frozen=True, slots=True)
class _Part:
    """One unpacked source: `top` is its single top folder where an archive has one."""

    folder: Path
    top: Path
    origin: str
    sha256: str


@dataclass(frozen=True, slots=True)
class _Preparation:
    recipe: Recipe
    fetching: Fetching
    watch: Watcher


def prepare_source(
    recipe: Recipe,
    patches: tuple[Path, ...],
    destination: Path,
    fetching: Fetching,
    watch: Watcher,
) -> SourceTree:
    """Make `destination` the recipe's patched source tree; keep it where it already is.

    A tree made of the same inputs is not touched again, so that a build can go on in it; any
    other folder of that name is replaced. Raises `SourceError` when no alternative can be had,
    a required path is missing or a patch does not fit; then `destination` does not exist.
    """
    inputs = digest_of_inputs(recipe, patches)
    made = read_made(destination, inputs)
    if made is not None:
        return made
    preparation = _Preparation(recipe, fetching, watch)
    with scratch_folder(destination) as scratch:
        parts, tree = _assemble(preparation, scratch)
        _check_required(recipe, tree)
        for patch in patches:
            changed = apply_patch(patch, tree)
            watch.line(recipe.label, f"{patch.name}: changed {', '.join(changed)}")
        origin = parts[0].origin if parts else "none"
        result = SourceTree(destination, origin, tuple(part.sha256 for part in parts))
        forget_made(destination)
        with writing(destination):
            tree.rename(destination)
        write_made(result, inputs)
    return result


def _assemble(preparation: _Preparation, scratch: Path) -> tuple[list[_Part], Path]:
    recipe = preparation.recipe
    parts: list[_Part] = []
    tree = scratch / "main"
    if recipe.sources:
        parts.append(_obtain(preparation, recipe.sources, tree, recipe.only))
        tree = parts[0].top
    else:
        # Test programs may be made of nothing but files of their own.
        tree.mkdir()
    for number, extra in enumerate(recipe.extra_sources):
        if extra.unless is not None and (tree / extra.unless).exists():
            continue
        part = _obtain(preparation, extra.sources, scratch / f"extra-{number}")
        _merge(part.top if extra.strip else part.folder, tree, extra)
        parts.append(part)
    return parts, tree


def _obtain(
    preparation: _Preparation,
    alternatives: Sequence[Source],
    folder: Path,
    only: tuple[str, ...] = (),
) -> _Part:
    """Unpack the first alternative that can be had; one that is broken ends it."""
    failures: list[SourceError | MissingToolError] = []
    for alternative in alternatives:
        source = fill_version(alternative, preparation.recipe.version)
        try:
            return _obtain_one(preparation, source, folder, only)
        except _UnobtainableError as error:
            failures.append(error.failure)
            label = preparation.recipe.label
            preparation.watch.note(label, f"{error.failure}; trying the next source")
    raise _none_left(preparation.recipe, failures)


class _UnobtainableError(Exception):
    """One alternative could not be fetched."""

    def __init__(self, failure: SourceError | MissingToolError) -> None:
        super().__init__(failure.message)
        self.failure = failure


def _obtain_one(
    preparation: _Preparation, source: Source, folder: Path, only: tuple[str, ...]
) -> _Part:
    recipe, fetching, watch = preparation.recipe, preparation.fetching, preparation.watch
    if isinstance(source, GitSource):
        origin = f"{source.git} {source.tag} ({source.commit[:12]})"
        try:
            digest = export(source, folder, fetching, lambda line: watch.line(recipe.label, line))
        except (SourceError, MissingToolError) as error:
            raise _UnobtainableError(error) from error
        return _Part(folder, folder, origin, digest)
    remote = remote_of(source, recipe.version)
    try:
        archive = fetch(remote, fetching.network, fetching.downloads, watch)
    except SourceError as error:
        raise _UnobtainableError(error) from error
    return _Part(folder, unpack(archive, folder, only=only), remote.file_name, remote.sha256)


def _none_left(
    recipe: Recipe, failures: Sequence[SourceError | MissingToolError]
) -> SourceError | MissingToolError:
    if len(failures) == 1:
        return failures[0]
    causes = []
    for failure in failures:
        causes += [failure.message, *failure.causes]
    hints = [failure.hint for failure in failures if failure.hint]
    return SourceError(
        f"no source of `{recipe.label}` can be had",
        causes=causes,
        hint=hints[0] if hints else None,
    )


def _merge(content: Path, tree: Path, extra: ExtraSource) -> None:
    """Move what was unpacked into its folder of the tree, over nothing that is there."""
    target = tree / extra.into
    if not target.resolve().is_relative_to(tree.resolve()):
        raise SourceError(f"extra source `{extra.into}` leads out of the source tree")
    with writing(target):
        target.mkdir(parents=True, exist_ok=True)
        for entry in content.iterdir():
            place = target / entry.name
            if place.exists() or place.is_symlink():
                raise SourceError(
                    f"extra source `{extra.into}` would replace `{place.relative_to(tree)}`"
                )
            entry.rename(place)


def _check_required(recipe: Recipe, tree: Path) -> None:
    missing = [path for path in recipe.required_paths if not _is_filled(tree / path)]
    if not missing:
        return
    hint = "correct `required_paths`, or name a source that has them"
    causes = [f"`{path}` is missing or empty" for path in missing]
    if (tree / ".gitmodules").is_file():
        causes.append("the archive lacks submodules: it has `.gitmodules` and not their files")
        hint = "use a full release archive, `extra_sources`, or `git` with `submodules: true`"
    raise SourceError(
        f"the source of `{recipe.label}` lacks `{missing[0]}`", causes=causes, hint=hint
    )


def _is_filled(path: Path) -> bool:
    return any(path.iterdir()) if path.is_dir() else path.exists()
