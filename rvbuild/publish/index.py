"""Writing a static simple index for a folder of wheels. Checking one is `verify`'s work."""

import os
import secrets
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from urllib.parse import quote

from packaging.version import Version

from rvbuild.errors import NothingSelectedError, PublishError
from rvbuild.publish.distribution import Distribution, WheelName, read_distribution
from rvbuild.publish.listing import read_root
from rvbuild.publish.pages import (
    Link,
    ProjectPage,
    project_html,
    project_json,
    root_html,
    root_json,
)


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What an index holds and what building it changed on disk."""

    destination: Path
    projects: tuple[str, ...]
    wheels: tuple[Path, ...]
    written: tuple[Path, ...]
    removed: tuple[Path, ...]


def build_index(folder: Path, destination: Path | None = None) -> IndexReport:
    """Index the wheels below `folder`, with pages in `destination`, by default `folder/simple`.

    Links are relative, so the common parent may be served from anywhere or used by `file://`.
    METADATA is put beside each wheel. Files whose content stays the same are left alone; each
    other file is replaced at once. Raises `NothingSelectedError` without wheels, and
    `PublishError` with every unreadable wheel, or for two wheels that installers take for the
    same and that differ.
    """
    folder = folder.resolve()
    target = (destination or folder / "simple").resolve()
    wheels = _distinct(_read_all(find_wheels(folder)))
    if not wheels:
        raise NothingSelectedError(f"there are no wheels below `{folder}`")
    pages = tuple(_page(list(group), target) for _, group in groupby(wheels, _project))
    content = _side_files(wheels) | _page_files(pages, target)
    removed = _remove_stale(folder, target, {page.project for page in pages})
    written = tuple(path for path, data in content.items() if _write(path, data))
    return IndexReport(
        destination=target,
        projects=tuple(page.project for page in pages),
        wheels=tuple(wheel.path for wheel in wheels),
        written=written,
        removed=removed,
    )


def find_wheels(folder: Path) -> tuple[Path, ...]:
    """List the wheels below a folder, in order, without hidden ones such as unfinished files."""
    return tuple(
        path
        for path in sorted(folder.rglob("*.whl"))
        if path.is_file() and not any(p.startswith(".") for p in path.relative_to(folder).parts)
    )


def side_file(wheel: Path) -> Path:
    """Give the place of a wheel's METADATA beside it, as PEP 658 wants it."""
    return wheel.with_name(f"{wheel.name}.metadata")


def _read_all(paths: tuple[Path, ...]) -> list[Distribution]:
    wheels: list[Distribution] = []
    faults: list[str] = []
    for path in paths:
        try:
            wheels.append(read_distribution(path))
        except PublishError as error:
            faults.append(": ".join((error.message, *error.causes)))
    if faults:
        raise PublishError(
            f"{len(faults)} of {len(paths)} wheels cannot be indexed",
            causes=faults,
            hint="rebuild them or take them out of the folder",
        )
    return wheels


def _distinct(wheels: list[Distribution]) -> list[Distribution]:
    """Keep one of each; order by project, version and file name."""
    kept: dict[WheelName, Distribution] = {}
    for wheel in wheels:
        first = kept.setdefault(wheel.name, wheel)
        if first.sha256 != wheel.sha256:
            raise PublishError(
                "two wheels of one name have different bytes",
                causes=(
                    f"{first.path} has sha256 {first.sha256}",
                    f"{wheel.path} has sha256 {wheel.sha256}",
                ),
                hint="remove one, or give one a build tag or a local version",
            )
    return sorted(
        kept.values(), key=lambda each: (each.name.project, each.name.version, each.path.name)
    )


def _project(wheel: Distribution) -> str:
    return wheel.name.project


def _page(wheels: list[Distribution], target: Path) -> ProjectPage:
    project = wheels[0].name.project
    versions: dict[Version, str] = {wheel.name.version: str(wheel.name.version) for wheel in wheels}
    links = tuple(
        Link(
            file_name=wheel.path.name,
            url=_relative_url(wheel.path, target / project),
            sha256=wheel.sha256,
            size=wheel.size,
            requires_python=wheel.requires_python,
            metadata_sha256=wheel.metadata_sha256,
        )
        for wheel in wheels
    )
    return ProjectPage(project, tuple(versions.values()), links)


def _relative_url(file: Path, page_folder: Path) -> str:
    return quote(Path(os.path.relpath(file, page_folder)).as_posix())


def _side_files(wheels: list[Distribution]) -> dict[Path, bytes]:
    return {side_file(wheel.path): wheel.metadata for wheel in wheels}


def _page_files(pages: tuple[ProjectPage, ...], target: Path) -> dict[Path, bytes]:
    # The root comes last: whoever reads while this is written finds what it names.
    texts: dict[Path, str] = {}
    for page in pages:
        texts[target / page.project / "index.html"] = project_html(page)
        texts[target / page.project / "index.json"] = project_json(page)
    names = [page.project for page in pages]
    texts[target / "index.html"] = root_html(names)
    texts[target / "index.json"] = root_json(names)
    return {path: text.encode() for path, text in texts.items()}


def _remove_stale(folder: Path, target: Path, projects: set[str]) -> tuple[Path, ...]:
    """Remove pages of projects that are gone and METADATA of wheels that are gone.

    Only pages that the last root page names are removed: nothing else there is known to be ours.
    """
    stale = [
        target / project / page
        for project in _listed_before(target) - projects
        for page in ("index.html", "index.json")
        if (target / project / page).is_file()
    ]
    stale += [
        side
        for side in folder.rglob("*.whl.metadata")
        if not side.with_name(side.name.removesuffix(".metadata")).exists()
    ]
    for path in stale:
        path.unlink()
        if path.parent.parent == target and not any(path.parent.iterdir()):
            path.parent.rmdir()
    return tuple(sorted(stale))


def _listed_before(target: Path) -> set[str]:
    try:
        names = read_root((target / "index.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, PublishError):
        return set()
    return {name for name in names if "/" not in name and name not in {"", ".", ".."}}


def _write(path: Path, data: bytes) -> bool:
    """Put `data` into a file at once; say whether that changed anything."""
    if path.is_file() and path.read_bytes() == data:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        unfinished.write_bytes(data)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return True
