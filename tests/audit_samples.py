"""Made wheels around the small ELF files of `tests/data/elf`, for the tests of auditing."""

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.tags import parse_tag

from rvbuild.audit import AuditReport, Finding, Policy
from rvbuild.target import Floor
from rvbuild.wheel.record import record_row

DATA = Path(__file__).parent / "data" / "elf"
SYSROOT = DATA / "sysroot"
FLOOR = Floor(2, 31)
POLICY = Policy(FLOOR, libraries=(SYSROOT,))
TAG = "cp313-cp313-manylinux_2_31_riscv64"
MODULE = "demo/demo.cpython-313-riscv64-linux-gnu.so"
INFO = "demo-1.0.dist-info"


def sample(name: str) -> bytes:
    """Read one of the committed ELF files."""
    return (DATA / name).read_bytes()


@dataclass(frozen=True)
class Sample:
    """A wheel to be made: its members beside `.dist-info`, its tag, and what WHEEL says."""

    members: Mapping[str, bytes]
    tag: str = TAG
    inner_tag: str | None = None
    purelib: bool = False
    metadata: str = "Metadata-Version: 2.4\nName: demo\nVersion: 1.0\n"

    def write(self, folder: Path) -> Path:
        """Write the wheel into a folder, with a true RECORD; executables are those in `bin/`."""
        tags = sorted(map(str, parse_tag(self.inner_tag or self.tag)))
        wheel = ["Wheel-Version: 1.0", f"Root-Is-Purelib: {str(self.purelib).lower()}"]
        wheel += [f"Tag: {tag}" for tag in tags]
        files = dict(self.members)
        files[f"{INFO}/METADATA"] = self.metadata.encode()
        files[f"{INFO}/WHEEL"] = ("\n".join(wheel) + "\n").encode()
        rows = [",".join(record_row(name, data)) for name, data in files.items()]
        files[f"{INFO}/RECORD"] = "\n".join([*rows, f"{INFO}/RECORD,,"]).encode()
        path = folder / f"demo-1.0-{self.tag}.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in files.items():
                entry = zipfile.ZipInfo(name)
                entry.external_attr = (0o755 if "bin/" in name else 0o644) << 16
                archive.writestr(entry, data)
        return path


def found(report: AuditReport, code: str) -> Finding:
    """Give the one finding of a code; fail when there is none or more."""
    (finding,) = [each for each in report.findings if each.code == code]
    return finding


def codes(report: AuditReport, severity: str = "error") -> set[str]:
    """Give the codes of the findings of a severity."""
    return {each.code for each in report.findings if each.severity == severity}
