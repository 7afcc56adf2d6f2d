"""Build, audit, test and publish the Python wheels that RISC-V is missing."""

__version__ = "0.1.0"
