"""Prefixes: what a library installs, made free of its place and laid together for jobs above it."""

import re
import shutil
from collections.abc import Iterable
from pathlib import Path


def make_relocatable(folder: Path, prefix: str) -> None:
    """Rewrite what names the prefix a library was configured with, and drop what cannot be.

    pkg-config files find their prefix from where they are; libtool's archives name absolute paths
    and serve nobody here.
    """
    for archive in folder.rglob("*.la"):
        archive.unlink()
    for file in folder.rglob("*.pc"):
        depth = len(file.parent.relative_to(folder).parts)
        climb = "/".join(["${pcfiledir}", *[".."] * depth])
        text = file.read_text(encoding="utf-8")
        text = re.sub(
            rf"^prefix[ \t]*=[ \t]*{re.escape(prefix)}/?[ \t]*$",
            f"prefix={climb}",
            text,
            flags=re.MULTILINE,
        )
        if prefix in text and not re.search(r"^prefix[ \t]*=", text, re.MULTILINE):
            text = f"prefix={climb}\n{text}"
        file.write_text(text.replace(prefix, "${prefix}"), encoding="utf-8")


def stage_prefix(folder: Path, results: Iterable[Path]) -> None:
    """Lay the results of library jobs together in one new prefix; later ones win."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "lib").mkdir(parents=True)
    (folder / "include").mkdir()
    for result in results:
        shutil.copytree(result, folder, symlinks=True, dirs_exist_ok=True, copy_function=_copy)


def _copy(source: str, destination: str) -> None:
    target = Path(destination)
    if target.is_symlink() or target.exists():
        target.unlink()
    shutil.copy2(source, destination, follow_symlinks=False)
    if not target.is_symlink():
        # Results in the store are read-only; a job's prefix is its own.
        target.chmod(target.stat().st_mode | 0o200)
