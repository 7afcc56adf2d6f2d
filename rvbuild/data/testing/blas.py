"""Runs inside the riscv64 runtime: a library's CBLAS products and solves against whole numbers.

Needs no NumPy. All inputs are small whole numbers, so that every sum and product is exact in
whatever order it is taken: any difference is a fault. Loads every library below the module search
path that has a `cblas_dgemm` under whatever prefix and suffix, and tells the smallest wrong case.
"""

import ctypes
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import mul
from pathlib import Path
from typing import TypeAlias

SYMBOL, OTHER_SYMBOL = b"cblas_dgemm", b"cblas_daxpy"
ROW_MAJOR, PLAIN, TRANSPOSED = 101, 111, 112
UPPER, LOWER, UNIT, LEFT = 121, 122, 132, 141
SIZES = (1, 2, 3, 5, 8, 13, 16, 17, 31, 33)
FLAGS = ((PLAIN, PLAIN), (PLAIN, TRANSPOSED), (TRANSPOSED, PLAIN), (TRANSPOSED, TRANSPOSED))
UNWRITTEN = 77

Rows = list[list[complex]]
Number = type[ctypes.c_float] | type[ctypes.c_double]
Block: TypeAlias = "ctypes.Array[ctypes.c_float] | ctypes.Array[ctypes.c_double]"


@dataclass(frozen=True)
class Library:
    """A loaded library with what its names begin and end with."""

    path: Path
    code: ctypes.CDLL
    prefix: str
    suffix: str

    def call(self, name: str, *words: object) -> None:
        """Call a CBLAS routine; whole numbers fill a register, which suits both sizes of BLAS."""
        routine = getattr(self.code, f"{self.prefix}cblas_{name}{self.suffix}")
        routine.restype = None
        routine(*(ctypes.c_int64(word) if isinstance(word, int) else word for word in words))

    def core(self) -> str:
        """Name the kernels it chose; empty for a library that is not asked like OpenBLAS."""
        name = f"{self.prefix}openblas_get_corename{self.suffix}"
        ask = getattr(self.code, name, None)
        if ask is None:
            return ""
        ask.restype = ctypes.c_char_p
        answer: bytes = ask()
        return answer.decode()


@dataclass(frozen=True)
class Kind:
    """A letter of BLAS: its C number, dtype, and whether it comes in pairs."""

    letter: str
    number: Number
    dtype: str
    paired: bool = False

    def pack(self, rows: Rows) -> Block:
        """Lay rows out one after the other."""
        flat = [value for row in rows for value in row]
        parts = [part for value in flat for part in (value.real, value.imag)[: 1 + self.paired]]
        return (self.number * len(parts))(*parts)

    def unpack(self, packed: Block, columns: int) -> Rows:
        """Read rows back."""
        parts = list(packed)
        flat: list[complex] = list(parts)
        if self.paired:
            flat = [complex(*pair) for pair in zip(parts[::2], parts[1::2], strict=True)]
        return [flat[at : at + columns] for at in range(0, len(flat), columns)]

    def scalar(self, value: int) -> object:
        """Make a factor, which complex routines take by address."""
        return (self.number * 2)(value, 0) if self.paired else self.number(value)


KINDS = (
    Kind("s", ctypes.c_float, "float32"),
    Kind("d", ctypes.c_double, "float64"),
    Kind("c", ctypes.c_float, "complex64", paired=True),
    Kind("z", ctypes.c_double, "complex128", paired=True),
)


def small(seed: int) -> Iterator[int]:
    """Give whole numbers from -3 to 3 without end."""
    state = seed
    while True:
        state = (state * 1103515245 + 12345) % (1 << 31)
        yield (state >> 16) % 7 - 3


def matrix(rows: int, columns: int, seed: int, kind: Kind) -> Rows:
    """Make a matrix of small whole numbers."""
    numbers = small(seed)
    if kind.paired:
        return [
            [complex(next(numbers), next(numbers)) for _ in range(columns)] for _ in range(rows)
        ]
    return [[next(numbers) for _ in range(columns)] for _ in range(rows)]


def turned(rows: Rows) -> Rows:
    """Transpose."""
    return [list(column) for column in zip(*rows, strict=True)]


def product(left: Rows, right: Rows) -> Rows:
    """Multiply exactly."""
    columns = turned(right)
    return [[sum(map(mul, row, column)) for column in columns] for row in left]


def differences(found: Rows, right: Rows) -> str:
    """Say how many elements differ and which is the first; empty when none does."""
    wrong = [
        (at, across, one, other)
        for at, rows in enumerate(zip(found, right, strict=True))
        for across, (one, other) in enumerate(zip(*rows, strict=True))
        if one != other
    ]
    if not wrong:
        return ""
    at, across, one, other = wrong[0]
    among = sum(map(len, right))
    return f"{len(wrong)} of {among} elements wrong, at [{at}, {across}] it gave {one} for {other}"


def gemm(library: Library, kind: Kind, size: int) -> str:
    """Compare products of all orientations."""
    depth, across = size + 1, size + 2
    for flags in FLAGS:
        one, other = matrix(size, depth, 11, kind), matrix(depth, across, 23, kind)
        first = one if flags[0] == PLAIN else turned(one)
        second = other if flags[1] == PLAIN else turned(other)
        out = kind.pack([[UNWRITTEN] * across for _ in range(size)])
        library.call(
            f"{kind.letter}gemm",
            *(ROW_MAJOR, *flags, size, across, depth, kind.scalar(1)),
            *(kind.pack(first), len(first[0]), kind.pack(second), len(second[0])),
            *(kind.scalar(0), out, across),
        )
        if found := differences(kind.unpack(out, across), product(one, other)):
            return f"{flags[0]}/{flags[1]}, {size} x {depth} x {across}: {found}"
    return ""


def gemv(library: Library, kind: Kind, size: int) -> str:
    """Compare products with a vector."""
    for flag in (PLAIN, TRANSPOSED):
        one = matrix(size, size + 3, 31, kind)
        meant = one if flag == PLAIN else turned(one)
        vector = matrix(len(meant[0]), 1, 37, kind)
        out = kind.pack([[UNWRITTEN]] * len(meant))
        library.call(
            f"{kind.letter}gemv",
            *(ROW_MAJOR, flag, len(one), len(one[0]), kind.scalar(1), kind.pack(one)),
            *(len(one[0]), kind.pack(vector), 1, kind.scalar(0), out, 1),
        )
        if found := differences(kind.unpack(out, 1), product(meant, vector)):
            return f"{flag}, {len(one)} x {len(one[0])}: {found}"
    return ""


def syrk(library: Library, kind: Kind, size: int) -> str:
    """Compare a matrix times its own transposed, of which one half is written."""
    for half in (UPPER, LOWER):
        one = matrix(size, size + 1, 41, kind)
        out = kind.pack([[UNWRITTEN] * size for _ in range(size)])
        library.call(
            f"{kind.letter}syrk",
            *(ROW_MAJOR, half, PLAIN, size, size + 1, kind.scalar(1), kind.pack(one), size + 1),
            *(kind.scalar(0), out, size),
        )
        right = product(one, turned(one))
        for at in range(size):
            unwritten = range(at) if half == UPPER else range(at + 1, size)
            for across in unwritten:
                right[at][across] = UNWRITTEN
        if found := differences(kind.unpack(out, size), right):
            return f"{half}, {size} x {size + 1}: {found}"
    return ""


def trsm(library: Library, kind: Kind, size: int) -> str:
    """Compare solves with a triangle whose diagonal is one, so that nothing is divided."""
    for half in (UPPER, LOWER):
        triangle = matrix(size, size, 53, kind)
        for at in range(size):
            for across in range(size):
                if at == across:
                    triangle[at][across] = 1
                elif (across < at) == (half == UPPER):
                    triangle[at][across] = 0
        solution = matrix(size, size + 2, 59, kind)
        out = kind.pack(product(triangle, solution))
        library.call(
            f"{kind.letter}trsm",
            *(ROW_MAJOR, LEFT, half, PLAIN, UNIT, size, size + 2, kind.scalar(1)),
            *(kind.pack(triangle), size, out, size + 2),
        )
        if found := differences(kind.unpack(out, size + 2), solution):
            return f"{half}, {size} x {size + 2}: {found}"
    return ""


OPERATIONS: dict[str, Callable[[Library, Kind, int], str]] = {
    "gemm": gemm,
    "gemv": gemv,
    "syrk": syrk,
    "trsm": trsm,
}


def smallest(library: Library, name: str, kind: Kind) -> tuple[int, str] | None:
    """Find the smallest size at which an operation goes wrong."""
    before = 0
    for size in SIZES:
        if OPERATIONS[name](library, kind, size):
            for each in range(before + 1, size + 1):
                if found := OPERATIONS[name](library, kind, each):
                    return each, found
        before = size
    return None


def affixes(data: bytes) -> tuple[str, str] | None:
    """Tell what a library's CBLAS names begin and end with; None when it has none.

    `cblas_dgemm_batch` has no end of its own, for there is no `cblas_daxpy_batch`.
    """
    at = data.find(SYMBOL)
    while at >= 0:
        prefix = data[data.rfind(b"\0", 0, at) + 1 : at]
        suffix = data[at + len(SYMBOL) : data.find(b"\0", at)]
        if b"\0" + prefix + OTHER_SYMBOL + suffix + b"\0" in data:
            return prefix.decode(), suffix.decode()
        at = data.find(SYMBOL, at + 1)
    return None


def libraries() -> Iterator[Library]:
    """Load every library with CBLAS below the module search path."""
    folders = [Path(folder) for folder in sys.path if Path(folder).is_dir()]
    standard = Path(sys.prefix) / "lib"
    seen = set()
    for path in (path for folder in folders for path in sorted(folder.rglob("*.so*"))):
        if path.is_relative_to(standard) or path in seen:
            continue
        seen.add(path)
        if (found := affixes(path.read_bytes())) is not None:
            yield Library(path, ctypes.CDLL(str(path)), *found)


def main() -> int:
    """Check all libraries; give 1 when something is wrong or nothing was found."""
    wrong: list[tuple[int, str]] = []
    count = 0
    for library in libraries():
        sys.stdout.write(f"{library.path.name}: kernels {library.core() or 'unknown'}\n")
        for name in OPERATIONS:
            for kind in KINDS:
                count += 1
                if found := smallest(library, name, kind):
                    case = f"blas:{kind.letter}{name}:{kind.dtype}:{found[0]}: {found[1]}"
                    sys.stdout.write(f"{case}\n")
                    wrong.append((found[0], case))
    if not count:
        sys.stdout.write("no library with CBLAS was found\n")
        return 1
    if wrong:
        sys.stdout.write(f"{len(wrong)} of {count} operations wrong, smallest {min(wrong)[1]}\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
