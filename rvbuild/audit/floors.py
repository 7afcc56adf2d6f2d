"""What each manylinux policy of riscv64 allows, read from auditwheel's policy file."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

from rvbuild.elf import ElfFacts, RequiredVersion
from rvbuild.target import DYNAMIC_LOADER, Floor


@dataclass(frozen=True, slots=True)
class FloorPolicy:
    """The libraries a system of this glibc has, and the symbol versions in them.

    `versions` goes from a prefix such as `GLIBCXX` to versions such as `3.4.28`; `forbidden` from a
    library to symbols that it has by accident.
    """

    floor: Floor
    libraries: frozenset[str]
    versions: Mapping[str, frozenset[str]]
    forbidden: Mapping[str, frozenset[str]]

    def violations(self, facts: ElfFacts) -> tuple[RequiredVersion, ...]:
        """List the versions that a file needs and such a system does not have."""
        return tuple(each for each in facts.required_versions if not self._has(each.version))

    def _has(self, version: str) -> bool:
        prefix, _, number = version.partition("_")
        return prefix not in self.versions or number in self.versions[prefix]


@cache
def floor_policies() -> tuple[FloorPolicy, ...]:
    """Read all policies of the architecture, the oldest glibc first."""
    from auditwheel.architecture import Architecture
    from auditwheel.libc import Libc
    from auditwheel.policy import WheelPolicies

    loader = PurePosixPath(DYNAMIC_LOADER).name
    policies = []
    for policy in WheelPolicies(libc=Libc.GLIBC, arch=Architecture.riscv64):
        match = re.match(r"manylinux_(\d+)_(\d+)_", policy.name)
        if match:
            policies.append(
                FloorPolicy(
                    floor=Floor(int(match[1]), int(match[2])),
                    libraries=policy.whitelist | {loader},
                    versions=policy.symbol_versions,
                    forbidden=policy.blacklist,
                )
            )
    return tuple(sorted(policies, key=lambda policy: policy.floor))


def policy_for(floor: Floor) -> FloorPolicy:
    """Give the newest policy that a system with glibc `floor` fulfils."""
    return [policy for policy in floor_policies() if policy.floor <= floor][-1]
