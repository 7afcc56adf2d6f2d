"""Runs inside the riscv64 runtime: operations of NumPy against plain arithmetic of Python.

The references never use the package under test. `__main__` takes the words, `run` walks a plan, the
other modules each hold one family of operations.
"""
