"""Wheel files: what one says of itself, whether its RECORD is true, unpacking and packing.

Judging a wheel against a policy is `audit`'s.
"""

from rvbuild.wheel.contents import open_archive, read_member
from rvbuild.wheel.libraries import linkable_libraries
from rvbuild.wheel.model import Member, Metadata, Wheel
from rvbuild.wheel.pack import pack_wheel, unpack_wheel
from rvbuild.wheel.read import read_wheel
from rvbuild.wheel.record import RecordProblem, verify_record
from rvbuild.wheel.suffix import extension_problem

__all__ = [
    "Member",
    "Metadata",
    "RecordProblem",
    "Wheel",
    "extension_problem",
    "linkable_libraries",
    "open_archive",
    "pack_wheel",
    "read_member",
    "read_wheel",
    "unpack_wheel",
    "verify_record",
]
