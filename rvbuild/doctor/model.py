"""The values of an examination: what is looked at, what was found, what can be done with it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rvbuild.fetch import Network
from rvbuild.places import Places
from rvbuild.target import Floor

State = Literal["ok", "warning", "problem"]
HOSTS = ("x86_64", "aarch64", "riscv64")


@dataclass(frozen=True, slots=True)
class Patient:
    """A machine and the settings it is to work with.

    `machine` is like `x86_64`, `system` like `Linux`; `docker` is the client, None for none.
    """

    places: Places
    network: Network
    pins: Path
    machine: str
    system: str
    floor: Floor
    pythons: tuple[str, ...]
    toolchain: str = "clang"
    compiler_cache: str = "local"
    docker: Path | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: how it is in words, and what would mend it.

    `to_fetch` is true for what the first build fetches by itself.
    """

    name: str
    state: State
    what: str
    fix: str | None = None
    to_fetch: bool = False


@dataclass(frozen=True, slots=True)
class Mode:
    """A way of building, and what is missing for it; nothing missing means that it is open."""

    name: str
    missing: tuple[str, ...] = ()

    @property
    def possible(self) -> bool:
        """True when nothing is missing."""
        return not self.missing
