"""The facts about one wheel file, as frozen values."""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packaging.tags import Tag


@dataclass(frozen=True, slots=True)
class Member:
    """One file inside a wheel; `size` in bytes, unpacked."""

    name: str
    size: int
    executable: bool


@dataclass(frozen=True, slots=True)
class Metadata:
    """The METADATA file. `problems` are faults that installers live with and indexes may not."""

    metadata_version: str
    name: str
    version: str
    requires_python: str | None
    requires_dist: tuple[str, ...]
    text: str
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wheel:
    """One wheel file on disk.

    `name` is normalised, `version` and `build` are as in the file name (`build` is empty for none);
    `tags` come from the file name, `inner_tags` from the WHEEL file; `size` in bytes.
    """

    path: Path
    name: str
    version: str
    build: str
    tags: frozenset[Tag]
    inner_tags: frozenset[Tag]
    root_is_purelib: bool
    info_folder: str
    metadata: Metadata
    members: tuple[Member, ...]
    sha256: str
    size: int

    @property
    def file_name(self) -> str:
        """The name of the file, without folders."""
        return self.path.name

    @property
    def platforms(self) -> tuple[str, ...]:
        """The platform tags, sorted."""
        return tuple(sorted({tag.platform for tag in self.tags}))

    def installed_path(self, member: str) -> PurePosixPath | None:
        """Say where below site-packages a member goes; None for scripts, data and headers."""
        match PurePosixPath(member).parts:
            case (top, "purelib" | "platlib", *rest) if top.endswith(".data") and rest:
                return PurePosixPath(*rest)
            case (top, *_) if top.endswith(".data"):
                return None
        return PurePosixPath(member)

    def is_pure_path(self, member: str) -> bool:
        """Say whether a member is installed among pure Python modules."""
        path = PurePosixPath(member)
        if path.parts[0].endswith(".data"):
            return len(path.parts) > 1 and path.parts[1] == "purelib"
        return self.root_is_purelib
