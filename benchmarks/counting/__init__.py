"""Counting executed instructions of riscv64 programs: an emulator, marks, what to compare."""
