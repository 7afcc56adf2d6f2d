"""The note beside a prepared tree: what it was made of, so that it is made once."""

import hashlib
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from rvbuild.errors import SourceError
from rvbuild.recipe.model import Recipe
from rvbuild.sources.folders import writing
from rvbuild.sources.model import SourceTree

SCHEMA = 1


class _Made(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    inputs: str
    origin: str
    sha256s: tuple[str, ...]


def digest_of_inputs(recipe: Recipe, patches: Sequence[Path]) -> str:
    """Hash all that a tree is made of; raise `SourceError` for a patch that cannot be read."""
    fields = {"version", "sources", "extra_sources", "required_paths"}
    said = recipe.model_dump(mode="json", include=fields | ({"only"} if recipe.only else set()))
    digest = hashlib.sha256(json.dumps([SCHEMA, said], sort_keys=True).encode())
    for patch in patches:
        try:
            digest.update(hashlib.sha256(patch.read_bytes()).digest())
        except OSError as error:
            reason = str(error.strerror).lower()
            raise SourceError(f"cannot read patch `{patch}`", causes=[reason]) from error
    return digest.hexdigest()


def read_made(tree: Path, inputs: str) -> SourceTree | None:
    """Give the tree that is there when it was made of these inputs, else None."""
    try:
        made = _Made.model_validate_json(_note(tree).read_bytes())
    except (OSError, ValidationError):
        return None
    if made.inputs != inputs or not tree.is_dir():
        return None
    return SourceTree(tree, made.origin, made.sha256s)


def forget_made(tree: Path) -> None:
    """Remove a tree and its note, the note first."""
    with writing(tree):
        _note(tree).unlink(missing_ok=True)
        if tree.is_dir():
            shutil.rmtree(tree)


def write_made(tree: SourceTree, inputs: str) -> None:
    """Note what a finished tree was made of; it counts from then on."""
    made = _Made(inputs=inputs, origin=tree.origin, sha256s=tree.sha256s)
    with writing(tree.path):
        _note(tree.path).write_text(made.model_dump_json(), encoding="utf-8")


def _note(tree: Path) -> Path:
    return tree.with_name(f"{tree.name}.source.json")
