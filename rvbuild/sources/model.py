"""The values of sources: how they are reached, and the tree that came of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rvbuild.executor import Executor
from rvbuild.fetch import Network


@dataclass(frozen=True, slots=True)
class Fetching:
    """How sources are reached; `environment` is what git may see: PATH, HOME, proxies."""

    network: Network
    downloads: Path
    executor: Executor
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SourceTree:
    """A patched source tree: where it is, what it was made of, and the sha256 of each part."""

    path: Path
    origin: str
    sha256s: tuple[str, ...]
