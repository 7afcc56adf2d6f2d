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
        Mode("native", tuple(_native(found, patient))),
        Mode("emulated", tuple(_emulated(found, patient))),
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


def _native(found: Mapping[str, Finding], patient: Patient) -> Iterator[str]:
    if patient.machine != MACHINE:
        yield f"this machine is {patient.machine} and not {MACHINE}"
        return
    yield from _cross(found, patient)
    if (missing := _unready(found, "docker")) is not None:
        yield f"{missing}; `--native --no-container` goes without"


def _emulated(found: Mapping[str, Finding], patient: Patient) -> Iterator[str]:
    yield from _cross(found, patient)
    for name in ("docker", "binfmt"):
        if (missing := _unready(found, name)) is not None:
            yield missing


def _unready(found: Mapping[str, Finding], name: str) -> str | None:
    if name in found and found[name].state == "ok":
        return None
    return f"{name}: {found[name].what}" if name in found else name
