"""Which module holds the operations of a family; it is imported when a plan names the family.

Those of SciPy need SciPy, which is not there when NumPy alone is under test.
"""

from importlib import import_module

from .case import Operation

NUMPY = (
    *("products", "solves", "elementwise", "functions"),
    *("reductions", "sorting", "fourier", "streams"),
)
SCIPY = (
    *("blas", "factorisations", "special", "transforms", "sparse"),
    *("calculus", "signals", "statistics", "distances"),
)
FAMILIES = (*NUMPY, *SCIPY)


def operations_of(family: str) -> tuple[Operation, ...]:
    """Give the operations of a family, none for a name that is not one."""
    if family not in FAMILIES:
        return ()
    operations: tuple[Operation, ...] = import_module(f".{family}", __package__).OPERATIONS
    return operations
