"""Which kernels the loaded OpenBLAS chose for this CPU, asked from the library itself."""

import ctypes
import re
from collections.abc import Iterator
from pathlib import Path

MAPS = Path("/proc/self/maps")
NAMES = ("openblas_get_corename", "openblas_get_corename64_")
PREFIXES = ("", "scipy_")


def blas_core() -> str:
    """Name the core, such as `RISCV64_ZVL128B`; empty when there is no OpenBLAS to ask."""
    for path in sorted(_libraries()):
        library = ctypes.CDLL(path)
        for name in (prefix + name for prefix in PREFIXES for name in NAMES):
            ask = getattr(library, name, None)
            if ask is not None:
                ask.restype = ctypes.c_char_p
                answer: bytes = ask()
                return answer.decode()
    return ""


def _libraries() -> Iterator[str]:
    try:
        text = MAPS.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    yield from set(re.findall(r"(/\S*openblas\S*\.so\S*)", text))
