"""ELF facts: what a dynamic loader and a linker would see in a file. Judging them is `audit`'s.

The reader is rvbuild's own: it follows the tables the loader uses (not section names, which may be
stripped), and damage of any kind ends in `AuditError`.
"""

from rvbuild.elf.archive import is_archive, read_archive
from rvbuild.elf.model import ElfFacts, Load, RequiredVersion, UndefinedSymbol
from rvbuild.elf.read import is_elf, read_elf

__all__ = [
    "ElfFacts",
    "Load",
    "RequiredVersion",
    "UndefinedSymbol",
    "is_archive",
    "is_elf",
    "read_archive",
    "read_elf",
]
