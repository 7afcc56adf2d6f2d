"""`python -m rvbuild.audit.graft`: auditwheel's repair, in a process of its own.

There it has its own working folder, environment and log. What is grafted, from where, and which
tags result is decided by `grafting`; this hands it over.
"""

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class GraftRequest:
    """What to do: `grafts` go from member to library name to file, an empty text to drop the name.

    The repaired wheel is written into the folder `destination`.
    """

    wheel: str
    destination: str
    platforms: tuple[str, ...]
    grafts: dict[str, dict[str, str]]

    def to_json(self) -> str:
        """Write the request as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "GraftRequest":
        """Read a request that `to_json` wrote."""
        fields = json.loads(text)
        return cls(
            wheel=fields["wheel"],
            destination=fields["destination"],
            platforms=tuple(fields["platforms"]),
            grafts=fields["grafts"],
        )


def graft(request: GraftRequest) -> None:
    """Copy the libraries in, point the members at them, and write the wheel with its tags."""
    from auditwheel.architecture import Architecture
    from auditwheel.libc import Libc
    from auditwheel.patcher import ElfPatcher
    from auditwheel.policy import ExternalReference, WheelPolicies
    from auditwheel.repair import repair_wheel
    from auditwheel.wheel_abi import WheelAbIInfo

    policies = WheelPolicies(libc=Libc.GLIBC, arch=Architecture.riscv64)
    policy = policies.get_policy_by_name(request.platforms[0])
    references = {
        Path(member): {
            policy.name: ExternalReference(
                {name: Path(file) if file else None for name, file in libraries.items()}, {}, policy
            )
        }
        for member, libraries in request.grafts.items()
    }
    # Of the analysis, repairing reads only the references; they are given instead of being
    # searched for, because the search goes through folders of this machine.
    analysis = WheelAbIInfo(
        policies=policies,
        full_external_refs=references,
        overall_policy=policy,
        external_refs={},
        ref_policy=policy,
        versioned_symbols={},
        sym_policy=policy,
        ucs_policy=policy,
        pyfpe_policy=policy,
        blacklist_policy=policy,
        machine_policy=policy,
        graft_policy=policy,
    )
    repair_wheel(
        analysis,
        Path(request.wheel),
        abis=list(request.platforms),
        lib_sdir=".libs",
        out_dir=Path(request.destination),
        update_tags=True,
        patcher=ElfPatcher.get_patcher("patchelf", policy.name),
        strip=False,
        zip_compression_level=1,
    )


if __name__ == "__main__":
    graft(GraftRequest.from_json(sys.stdin.read()))
