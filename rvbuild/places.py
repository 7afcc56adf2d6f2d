"""Where rvbuild keeps things on disk. Derives every folder from one cache root; creates nothing."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rvbuild.errors import MissingToolError

BuiltinKind = Literal["recipes", "sysroots", "patches"]


@dataclass(frozen=True, slots=True)
class Places:
    """The folders below one cache root."""

    cache: Path

    @property
    def downloads(self) -> Path:
        """Verified downloads, by sha256."""
        return self.cache / "downloads"

    @property
    def kits(self) -> Path:
        """Unpacked pinned trees: sysroots, toolchains, Pythons, emulators, tools."""
        return self.cache / "kits"

    @property
    def store(self) -> Path:
        """Immutable results, by content key."""
        return self.cache / "store"

    @property
    def work(self) -> Path:
        """Work folders of unfinished jobs."""
        return self.cache / "work"

    @property
    def logs(self) -> Path:
        """One log file for each job."""
        return self.cache / "logs"

    @property
    def compiler_cache(self) -> Path:
        """What sccache remembers."""
        return self.cache / "sccache"


def builtin_folder(kind: BuiltinKind, package: Path | None = None) -> Path:
    """Find the recipes, sysroots or patches that come with rvbuild.

    An installed package has them in its `catalogue`, a source checkout at its top level. Raises
    `MissingToolError` when neither is there; `package` is rvbuild's own folder unless given.
    """
    own = package or Path(__file__).parent
    packaged = own / "catalogue" / kind
    if packaged.is_dir():
        return packaged
    # A folder of that name beside an installed package is somebody else's.
    if (own.parent / "pyproject.toml").is_file() and (own.parent / kind).is_dir():
        return own.parent / kind
    raise MissingToolError(
        f"the {kind} of rvbuild are not part of this installation", hint="install rvbuild again"
    )
