"""Where rvbuild keeps things on disk. Derives every folder from one cache root; creates nothing."""

from dataclasses import dataclass
from pathlib import Path


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
