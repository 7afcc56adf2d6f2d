"""Programs that run on riscv64 with marks around what is counted."""
