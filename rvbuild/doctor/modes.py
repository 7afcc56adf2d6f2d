"""Which ways of building are open, judged by what was found."""

from collections.abc import Iterator, Mapping

from rvbuild.doctor.model import Finding, Mode, Patient
from rvbuild.target import MACHINE

# What a build across takes in any case.
CROSS = ("machine", "python", "cache", "disk", "sysroot", "toolchain", "emulator")


def modes(findings: tuple[Finding, ...], patient: Patient) -> tuple[Mode, ...]:
    """Judge building across, natively and in an emulated container."""
    found = {finding.name: finding for finding in findings}
    return (
        Mode("cross", tuple(_cross(found, patient))),
        Mode("native", tuple(_native(patient))),
        Mode("emulated", tuple(_emulated(found))),
    )


def _cross(found: Mapping[str, Finding], patient: Patient) -> Iterator[str]:
    pythons = (name for name in found if name.startswith("python "))
    for name in (*CROSS, *pythons, *_network(found, patient)):
        if name in found and found[name].state == "problem":
            yield f"{name}: {found[name].what}"


def _network(found: Mapping[str, Finding], patient: Patient) -> tuple[str, ...]:
    if any(finding.to_fetch for finding in found.values()):
        return ("package index", "debian mirror", "network")
    # Build requirements come from the index, unless somebody chose to do without.
    return () if patient.network.offline else ("package index",)


def _native(patient: Patient) -> Iterator[str]:
    if patient.machine != MACHINE:
        yield f"this machine is {patient.machine} and not {MACHINE}"


def _emulated(found: Mapping[str, Finding]) -> Iterator[str]:
    for name in ("docker", "binfmt"):
        if name not in found or found[name].state != "ok":
            yield f"{name}: {found[name].what}" if name in found else name
