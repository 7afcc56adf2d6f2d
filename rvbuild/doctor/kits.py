"""The pinned kits: which of those that a build takes are in the cache, and do they run."""

from collections.abc import Iterator
from pathlib import Path

from rvbuild.doctor.model import Finding, Patient
from rvbuild.emulator import emulator_tree, emulator_version
from rvbuild.errors import RvbuildError
from rvbuild.kit import Tree
from rvbuild.kit.tree import kit_path
from rvbuild.pythons import interpreter_trees
from rvbuild.sysroot import sysroot_digest, sysroot_trees
from rvbuild.toolchain.install import toolchain_digest, toolchain_path
from rvbuild.toolchain.probe import probe_mark

FETCHED = "not in the cache: the first build fetches it"


def check_sysroot(patient: Patient) -> Finding:
    """See whether the floor's sysroot is pinned, and whether it is here."""
    tree = sysroot_trees(patient.floor, patient.pins)[0]
    return _presence("sysroot", tree, patient, "`rvbuild sysroot fetch` fetches it now")


def check_toolchain(patient: Patient) -> Finding:
    """See whether the chosen compiler is here, and whether it was probed."""
    sysroot = sysroot_digest(patient.floor, patient.pins)
    digest = toolchain_digest(patient.toolchain, patient.machine, patient.pins, sysroot)
    path = toolchain_path(patient.toolchain, digest, patient.places.kits)
    if not path.is_dir():
        fix = "`rvbuild toolchain fetch` fetches it now"
        return Finding(
            "toolchain", "warning", f"{patient.toolchain} is {FETCHED}", fix, to_fetch=True
        )
    if not probe_mark(path).is_file():
        fix = "`rvbuild toolchain probe` probes it"
        return Finding("toolchain", "warning", f"`{path}` was not probed yet", fix)
    return Finding("toolchain", "ok", f"`{path}`, probed with C, C++ and RVV")


def check_emulator(patient: Patient) -> Finding:
    """See whether QEMU is here and runs."""
    tree = emulator_tree(patient.machine, patient.pins)
    path = kit_path(tree, patient.places)
    if not path.is_dir():
        fix = "`rvbuild emulator fetch` fetches it now"
        return Finding("emulator", "warning", f"QEMU is {FETCHED}", fix, to_fetch=True)
    version = emulator_version(path / "usr/bin/qemu-riscv64")
    return Finding("emulator", "ok", f"QEMU {version} in `{path}`")


def check_pythons(patient: Patient) -> Iterator[Finding]:
    """See whether the interpreters of each chosen Python are here."""
    for version in patient.pythons:
        name = f"python {version}"
        try:
            trees = interpreter_trees(version, patient.machine, patient.pins)
        except RvbuildError as error:
            yield Finding(name, "problem", error.message, error.hint)
            continue
        fix = f"`rvbuild python fetch {version}` fetches it now"
        found = [_presence(name, tree, patient, fix) for tree in trees]
        yield next((each for each in found if each.state != "ok"), found[0])


def _presence(name: str, tree: Tree, patient: Patient, fix: str) -> Finding:
    path: Path = kit_path(tree, patient.places)
    if path.is_dir():
        return Finding(name, "ok", f"`{path}`")
    return Finding(name, "warning", f"{tree.name} is {FETCHED}", fix, to_fetch=True)
