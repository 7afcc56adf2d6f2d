"""Source trees: pinned bytes or commits, unpacked, checked for what must be there, and patched."""

from rvbuild.sources.model import Fetching, SourceTree
from rvbuild.sources.prepare import prepare_source

__all__ = ["Fetching", "SourceTree", "prepare_source"]
