"""Pinned trees of packages, unpacked once into the cache without root, and never changed after.

Owns reading pin files and unpacking them; what a tree is good for is its room's knowledge.
"""

from rvbuild.kit.pins import Pin, PinFile, PinnedTree, load_pins
from rvbuild.kit.tree import Kit, Supplies, Tree, materialise

__all__ = ["Kit", "Pin", "PinFile", "PinnedTree", "Supplies", "Tree", "load_pins", "materialise"]
