"""Checking the machine: what is there, what is missing, and which ways of building are open.

Installs and repairs nothing; every finding says what would.
"""

from rvbuild.doctor.examine import examine
from rvbuild.doctor.model import Finding, Mode, Patient, State
from rvbuild.doctor.modes import modes

__all__ = ["Finding", "Mode", "Patient", "State", "examine", "modes"]
