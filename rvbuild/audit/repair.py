"""Repairing a wheel: grafting libraries in, cleaning search paths, giving it its platform tag."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from rvbuild.audit.contents import read_binaries
from rvbuild.audit.graft import GraftRequest
from rvbuild.audit.grafting import GraftPlan, Sources, plan_grafts
from rvbuild.audit.identity import check_identity
from rvbuild.audit.inspect import audit_wheel
from rvbuild.audit.model import Binary, Finding, Policy
from rvbuild.audit.patching import check_patchelf, remove_leaks
from rvbuild.audit.places import hide_places
from rvbuild.audit.tags import check_tags
from rvbuild.elf.split import split_symbols
from rvbuild.errors import AuditError
from rvbuild.target import Floor
from rvbuild.wheel import Wheel, pack_wheel, read_wheel, unpack_wheel

# Where symbols of grafted libraries go, whose names in the wheel are made later.
GRAFTED = "grafted"
SBOM = "sboms/rvbuild.cdx.json"
# What repairing is there to mend, so that it is no reason to refuse.
MENDED = frozenset({"not-repaired", "tag-above-floor"})
# What must not be left in a repaired wheel; anything else is for the audit to report.
PROMISED = frozenset(
    {
        "above-floor",
        "links-libpython",
        "misaligned-load",
        "missing-library",
        "not-repaired",
        "record",
        "rpath-leak",
        "tag-above-floor",
        "tag-mismatch",
        "unreadable-elf",
    }
)


@dataclass(frozen=True, slots=True)
class Repair:
    """How to repair a wheel, and into which folder.

    Libraries are grafted from `library_folders` alone, in order. Symbol tables and debug
    information go below `symbols`, where that is given, each under its member's name and `.debug`.
    `sbom` writes the bill of materials (PEP 770) of a wheel with these libraries, by name, grafted.
    `bundle` and `brought` are as in `Sources`. `places` are folders of the build machine with the
    names that stand for them in text files.
    """

    floor: Floor
    library_folders: tuple[Path, ...]
    destination: Path
    patchelf: Path
    epoch_seconds: int
    symbols: Path | None = None
    sbom: Callable[[Mapping[str, Path]], str] | None = None
    bundle: tuple[str, ...] = ()
    brought: tuple[str, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict)


def repair_wheel(path: Path, repair: Repair) -> Path:
    """Repair a wheel so that it carries the tag of the floor; the same input gives the same bytes.

    A pure wheel is copied as it is. Raises `AuditError` when it holds what no repair can mend,
    needs newer symbols than the floor has, or a library that is in none of the folders, and
    `MissingToolError` when patchelf is not to be trusted.
    """
    wheel = read_wheel(path)
    # No instruction is a reason to refuse or to mend: those are the audit's of what came out.
    policy = Policy(repair.floor, repair.library_folders, repair.brought, instructions=False)
    binaries, findings = read_binaries(wheel, policy)
    _refuse(wheel, (*findings, *check_tags(wheel, binaries, policy)))
    repair.destination.mkdir(parents=True, exist_ok=True)
    if not binaries:
        return _pass_through(path, repair.destination)
    _refuse(wheel, (finding for binary in binaries for finding in check_identity(binary)))
    check_patchelf(repair.patchelf)
    sources = Sources(repair.library_folders, repair.bundle, repair.brought)
    plan = plan_grafts(binaries, sources, repair.floor)
    with TemporaryDirectory(prefix="rvbuild-repair-") as work:
        prepared = _prepare(wheel, binaries, plan, repair, Path(work))
        staged = _stage(plan, repair, Path(work) / "libraries")
        grafted = _graft(prepared, plan, staged, repair)
        packed = _pack(grafted, repair, Path(work))
        report = audit_wheel(packed, policy)
        _refuse(report.wheel, (each for each in report.errors if each.code in PROMISED))
        return Path(shutil.move(packed, repair.destination / packed.name))


def _refuse(wheel: Wheel, findings: Iterable[Finding]) -> None:
    errors = [each for each in findings if each.severity == "error" and each.code not in MENDED]
    if errors:
        raise AuditError(
            f"cannot repair `{wheel.file_name}`",
            causes=[f"{each.subject} {each.message}" for each in errors],
            hint=errors[0].hint,
        )


def _pass_through(path: Path, destination: Path) -> Path:
    target = destination / path.name
    if target.resolve() != path.resolve():
        shutil.copyfile(path, target)
    return target


def _prepare(
    wheel: Wheel, binaries: tuple[Binary, ...], plan: GraftPlan, repair: Repair, work: Path
) -> Path:
    """Split and clean the members, and pack them with a true RECORD, which auditwheel goes by."""
    folder = work / "prepared"
    unpack_wheel(wheel.path, folder)
    # Before any patching, https://github.com/pypa/auditwheel/issues/716.
    for binary in binaries:
        if binary.loadable:
            _split(folder / binary.member, binary.member, repair)
    remove_leaks(folder, wheel, binaries, repair.patchelf)
    if repair.sbom is not None:
        document = folder / wheel.info_folder / SBOM
        document.parent.mkdir(exist_ok=True)
        document.write_text(repair.sbom(plan.files), encoding="utf-8")
    hide_places(folder, frozenset(binary.member for binary in binaries), repair.places)
    return pack_wheel(folder, work / wheel.file_name, repair.epoch_seconds)


def _stage(plan: GraftPlan, repair: Repair, folder: Path) -> dict[str, Path]:
    """Copy what is grafted into one folder, under the names it is needed by."""
    folder.mkdir()
    staged = {}
    for name, file in plan.files.items():
        staged[name] = Path(shutil.copyfile(file, folder / name))
        staged[name].chmod(0o755)
        _split(staged[name], f"{GRAFTED}/{name}", repair)
    return staged


def _split(file: Path, name: str, repair: Repair) -> None:
    """Move the symbols of a file, where that is asked for and there are any."""
    if repair.symbols is None:
        return
    place = repair.symbols / f"{name}.debug"
    split = split_symbols(file.read_bytes(), name, place.name)
    if split.debug:
        file.write_bytes(split.stripped)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(split.debug)


def _graft(prepared: Path, plan: GraftPlan, staged: dict[str, Path], repair: Repair) -> Path:
    work = prepared.parent
    destination, programs = work / "grafted", work / "programs"
    destination.mkdir()
    programs.mkdir()
    # The only program that auditwheel is to find: it would ask a package manager as well.
    (programs / "patchelf").symlink_to(repair.patchelf.absolute())
    request = GraftRequest(
        wheel=str(prepared),
        destination=str(destination),
        platforms=plan.platforms,
        grafts={
            member: {name: str(staged[name]) for name in names}
            | dict.fromkeys(plan.unlinked[member], "")
            for member, names in plan.members.items()
        },
    )
    done = subprocess.run(
        [sys.executable, "-P", "-m", "rvbuild.audit.graft"],
        input=request.to_json(),
        capture_output=True,
        text=True,
        check=False,
        env={
            "PATH": str(programs),
            "PYTHONPATH": ":".join(str(Path(entry).absolute()) for entry in sys.path),
            "PYTHONHASHSEED": "0",
            "SOURCE_DATE_EPOCH": str(repair.epoch_seconds),
            "TMPDIR": str(work),
        },
    )
    wheels = list(destination.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        raise AuditError(
            f"auditwheel failed to repair `{prepared.name}`", tail=done.stderr.splitlines()[-40:]
        )
    return wheels[0]


def _pack(grafted: Path, repair: Repair, work: Path) -> Path:
    """Pack once more, so that dates, modes and order do not depend on the machine."""
    unpack_wheel(grafted, work / "packed")
    return pack_wheel(work / "packed", work / grafted.name, repair.epoch_seconds)
