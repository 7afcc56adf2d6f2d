"""Random streams: PCG64 worked out in Python, MT19937 as Python has it, and remembered numbers."""

import random
from collections.abc import Iterator

import numpy as np

from .case import Comparison, Operation

_MASK = (1 << 128) - 1
_WORD = (1 << 64) - 1
_MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
_STATE, _INCREMENT = 0x1F2E3D4C5B6A79881726354453627180, 0x9E3779B97F4A7C15F39CC0605CEDC835
# From `default_rng(12345)` of NumPy 2.4; a release that changes a distribution says so.
SEED = 12345
NORMAL = (
    *(-1.4238250364546312, 1.2637284581291104, -0.8706617379590857, -0.2591732349343976),
    *(-0.07534330701052097, -0.740884652085609, -1.3677927017829434, 0.6488928021930399),
)
DICE = (5, 2, 5, 2, 2, 5, 4, 5, 6, 3)


def _raw(count: int) -> list[int]:
    """Work out PCG64: a 128-bit linear congruence, folded and rotated to 64 bits."""
    state, found = _STATE, []
    for _ in range(count):
        state = (state * _MULTIPLIER + _INCREMENT) & _MASK
        folded, turn = (state >> 64 ^ state) & _WORD, state >> 122
        found.append((folded >> turn | folded << (-turn & 63)) & _WORD)
    return found


def _generator() -> np.random.PCG64:
    generator = np.random.PCG64(0)
    generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": _STATE, "inc": _INCREMENT},
        "has_uint32": 0,
        "uinteger": 0,
    }
    return generator


def _pcg64(dtype: str, size: int) -> Iterator[Comparison]:
    raw = _raw(size)
    if dtype == "uint64":
        yield Comparison("raw", _generator().random_raw(size).tolist(), raw)
        return
    found = np.random.Generator(_generator()).random(size, dtype=np.dtype(dtype).type)
    if dtype == "float64":
        yield Comparison("random", found.tolist(), [(word >> 11) / (1 << 53) for word in raw])
        return
    halves = [half for word in raw for half in (word & 0xFFFFFFFF, word >> 32)][:size]
    yield Comparison("random", found.tolist(), [(half >> 8) / (1 << 24) for half in halves])


def _mt19937(dtype: str, size: int) -> Iterator[Comparison]:
    python = random.Random(SEED)  # noqa: S311 - a known stream is what is wanted
    *words, position = python.getstate()[1]
    generator = np.random.MT19937(0)
    key = np.array(words, dtype=np.uint32)
    generator.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": position}}
    if dtype == "uint64":
        right = [python.getrandbits(32) for _ in range(size)]
        yield Comparison("raw", generator.random_raw(size).tolist(), right)
    else:
        found = np.random.Generator(generator).random(size)
        yield Comparison("random", found.tolist(), [python.random() for _ in range(size)])


def _remembered(dtype: str, size: int) -> Iterator[Comparison]:
    if dtype == "float64":
        count = min(size, len(NORMAL))
        found = np.random.default_rng(SEED).standard_normal(count).tolist()
        # A logarithm of the C library is in some of them.
        yield Comparison("standard_normal", found, list(NORMAL[:count]), 1e-15, relative=True)
    else:
        count = min(size, len(DICE))
        found = np.random.default_rng(SEED).integers(1, 7, count).tolist()
        yield Comparison("integers", found, list(DICE[:count]))


def _shuffles(dtype: str, size: int) -> Iterator[Comparison]:
    generator = np.random.default_rng(SEED)
    values = np.arange(size, dtype=dtype)
    generator.shuffle(values)
    yield Comparison("shuffle keeps all", sorted(values.tolist()), list(range(size)))
    found = sorted(generator.permutation(size).tolist())
    yield Comparison("permutation", found, list(range(size)))


OPERATIONS = (
    Operation("pcg64", ("uint64", "float64", "float32"), _pcg64),
    Operation("mt19937", ("uint64", "float64"), _mt19937),
    Operation("remembered", ("float64", "int64"), _remembered),
    Operation("shuffles", ("int64", "float64"), _shuffles),
)
