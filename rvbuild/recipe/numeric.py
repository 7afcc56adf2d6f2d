"""Which numeric checks can be declared: families of operations, their dtypes, what goes together.

The operations themselves are the program `rvbuild_numeric`, which runs in the riscv64 runtime.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Literal

from rvbuild.document import Document, Route, did_you_mean
from rvbuild.errors import Problem
from rvbuild.target import Cpu, cpus

NumericFamily = Literal[
    "products",
    "solves",
    "elementwise",
    "functions",
    "reductions",
    "sorting",
    "fourier",
    "streams",
    "blas",
    "factorisations",
    "special",
    "transforms",
    "sparse",
    "calculus",
    "signals",
    "statistics",
    "distances",
]
Dtype = Literal[
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]

_INTEGERS: tuple[Dtype, ...] = (
    *("int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64"),
)
_REAL: tuple[Dtype, ...] = ("float32", "float64")
_COMPLEX: tuple[Dtype, ...] = ("complex64", "complex128")
_ALL: tuple[Dtype, ...] = ("bool", *_INTEGERS, "float16", *_REAL, *_COMPLEX)

FAMILY_DTYPES: Mapping[NumericFamily, tuple[Dtype, ...]] = {
    "products": ("int32", "int64", *_REAL, *_COMPLEX),
    "solves": (*_REAL, *_COMPLEX),
    "elementwise": _ALL,
    "functions": (*_REAL, *_COMPLEX),
    "reductions": _ALL,
    "sorting": (*_INTEGERS, "float16", *_REAL),
    "fourier": (*_REAL, *_COMPLEX),
    "streams": ("int64", "uint64", *_REAL),
    "blas": (*_REAL, *_COMPLEX),
    "factorisations": (*_REAL, *_COMPLEX),
    "special": _REAL,
    "transforms": (*_REAL, *_COMPLEX),
    "sparse": ("int32", "int64", *_REAL, *_COMPLEX),
    "calculus": ("float64",),
    "signals": ("int32", "int64", *_REAL),
    "statistics": ("float64",),
    "distances": ("float64",),
}
# Their results are rounded, so that nothing but a tolerance tells right from wrong.
ROUNDED: tuple[NumericFamily, ...] = (
    *("solves", "functions", "fourier", "streams", "factorisations", "special"),
    *("transforms", "sparse", "calculus", "signals", "statistics", "distances"),
)

_FORCED_LENGTH = re.compile(r"zvl(\d+)b", re.IGNORECASE)


def numeric_problems(document: Document) -> Iterator[Problem]:
    """Find numeric checks that ask for what cannot be."""
    for entry in document.children(("test", "numeric")):
        yield from _dtypes(document, entry)
        yield from _tolerance(document, entry)
        for environment in document.children((*entry, "environments")):
            for variable in document.children(environment):
                yield from _forced(document, entry, variable)


def _dtypes(document: Document, entry: Route) -> Iterator[Problem]:
    family = document.text((*entry, "family"))
    known = next((dtypes for name, dtypes in FAMILY_DTYPES.items() if name == family), None)
    if known is None:
        return
    for route in document.children((*entry, "dtypes")):
        dtype = document.text(route)
        if dtype in _ALL and dtype not in known:
            close = did_you_mean(dtype, known)
            listed = ", ".join(f"`{name}`" for name in known)
            yield document.problem(
                route,
                f"family `{family}` has no operation on `{dtype}`",
                hint=f"did you mean `{close}`?" if close else f"it has {listed}",
            )


def _tolerance(document: Document, entry: Route) -> Iterator[Problem]:
    family = document.text((*entry, "family"))
    tolerance = document.text((*entry, "tolerance"))
    if family in ROUNDED and tolerance in {None, "0"}:
        yield document.problem(
            (*entry, "tolerance" if tolerance else "family"),
            f"the results of family `{family}` are rounded, so that it needs a tolerance",
            hint="add `tolerance: 4`, in units of the dtype's precision",
        )


def _forced(document: Document, entry: Route, variable: Route) -> Iterator[Problem]:
    """Refuse kernels for longer registers than a CPU has: the program would die of them."""
    value = document.text(variable)
    forced = _FORCED_LENGTH.search(value or "")
    if forced is None:
        return
    short = [cpu.name for cpu in _cpus(document, entry) if cpu.vlen < int(forced.group(1))]
    if short:
        yield document.problem(
            variable,
            f"`{value}` needs vector registers of {forced.group(1)} bits, "
            f"which `{short[0]}` does not have",
            hint="name the CPUs that have them in a numeric check of its own",
        )


def _cpus(document: Document, entry: Route) -> tuple[Cpu, ...]:
    named = [document.text(route) for route in document.children((*entry, "cpus"))]
    return tuple(cpu for cpu in cpus().values() if not named or cpu.name in named)
