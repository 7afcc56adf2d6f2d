"""Applying a patch to a tree: tried in memory first, then written in full or refused."""

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from rvbuild.errors import SourceError
from rvbuild.sources.change import Change, read_changes
from rvbuild.sources.hunks import MisfitError, apply_hunks


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    executable: bool


@dataclass(slots=True)
class _Trial:
    """A tree as it would be: files that were changed, None for a deleted one."""

    tree: Path
    files: dict[str, _File | None] = field(default_factory=dict)
    displaced: bool = False
    misfits: list[tuple[Change, str]] = field(default_factory=list)


def apply_patch(patch: Path, tree: Path) -> tuple[str, ...]:
    """Apply all of a patch to `tree`, or nothing; give the sorted paths of the files it changed.

    Context has to match exactly; nothing outside `tree`, such as a git work tree around it,
    matters. Raises `SourceError` when it does not fit, is applied already or changes nothing.
    """
    changes = read_changes(patch)
    trial = _try(tree, changes)
    if _is_applied(trial, changes):
        raise SourceError(
            f"patch `{patch.name}` is already applied",
            hint="remove it from the recipe when the release has the fix",
        )
    if trial.misfits:
        causes = [f"`{change.path}`: {reason}" for change, reason in _explained(trial)]
        raise SourceError(
            f"patch `{patch.name}` does not fit; nothing was changed",
            causes=causes,
            hint="make the patch anew against this version",
        )
    changed = {path: file for path, file in trial.files.items() if file != _on_disk(tree, path)}
    if not changed:
        raise SourceError(f"patch `{patch.name}` changes no file")
    _write(tree, changed)
    return tuple(sorted(changed))


def _try(tree: Path, changes: Iterable[Change]) -> _Trial:
    trial = _Trial(tree)
    for change in changes:
        try:
            _apply(trial, change)
        except MisfitError as error:
            trial.misfits.append((change, str(error)))
    return trial


def _is_applied(trial: _Trial, changes: tuple[Change, ...]) -> bool:
    """Say whether the tree is what the patch would make of it.

    A patch that fits at other lines only, where its reverse fits exactly, was applied before.
    """
    if not (trial.misfits or trial.displaced):
        return False
    back = _try(trial.tree, [change.reversed() for change in reversed(changes)])
    return not back.misfits and (bool(trial.misfits) or not back.displaced)


def _explained(trial: _Trial) -> Iterable[tuple[Change, str]]:
    for change, reason in trial.misfits:
        back = _try(trial.tree, [change.reversed()])
        yield change, reason if back.misfits else "already applied"


def _apply(trial: _Trial, change: Change) -> None:
    before = _before(trial, change)
    fitted = apply_hunks(before.content, change.hunks)
    trial.displaced = trial.displaced or fitted.displaced
    if change.old is not None and change.old != change.new:
        trial.files[change.old] = None
    if change.new is not None:
        trial.files[change.new] = _File(fitted.content, _executable(before, change))
    elif fitted.content:
        raise MisfitError("it holds more than what is to be deleted")


def _before(trial: _Trial, change: Change) -> _File:
    """Look up what the change starts from; an empty file where it makes one."""
    old = None if change.old is None else _look(trial, change.old)
    if change.new is not None and change.new != change.old and _look(trial, change.new):
        raise MisfitError("it is already there")
    adds_only = bool(change.hunks) and not any(hunk.old for hunk in change.hunks)
    if old is None and (change.old is None or (change.old == change.new and adds_only)):
        return _File(b"", executable=False)
    if old is None:
        raise MisfitError(f"`{change.old}` is not there")
    return old


def _executable(before: _File, change: Change) -> bool:
    if change.executable is None or change.executable == change.was_executable:
        return before.executable
    if change.was_executable is not None and before.executable != change.was_executable:
        raise MisfitError("its mode is not the one the patch changes")
    return change.executable


def _look(trial: _Trial, path: str) -> _File | None:
    return trial.files[path] if path in trial.files else _on_disk(trial.tree, path)


def _on_disk(tree: Path, path: str) -> _File | None:
    place = tree / path
    if place.is_symlink() or not place.parent.resolve().is_relative_to(tree.resolve()):
        raise MisfitError("it is a link, or behind one that leads out of the tree")
    if place.is_dir():
        raise MisfitError("it is a folder")
    if not place.is_file():
        return None
    return _File(place.read_bytes(), executable=bool(place.stat().st_mode & stat.S_IXUSR))


def _write(tree: Path, files: dict[str, _File | None]) -> None:
    try:
        # Deletions first: a folder may take the place of a file.
        for path in (path for path, file in files.items() if file is None):
            _delete(tree, tree / path)
        for path, file in files.items():
            if file is not None:
                _replace(tree / path, file)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceError(f"cannot write to `{tree}`: {reason}") from error


def _delete(tree: Path, place: Path) -> None:
    place.unlink()
    for folder in place.parents:
        if folder == tree or any(folder.iterdir()):
            return
        folder.rmdir()


def _replace(place: Path, file: _File) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    temporary = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        temporary.write_bytes(file.content)
        temporary.chmod(0o755 if file.executable else 0o644)
        temporary.replace(place)
    finally:
        temporary.unlink(missing_ok=True)
