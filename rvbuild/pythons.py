"""Target and build interpreters of one CPython minor version, from pinned packages."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A CPython minor version such as `3.13`, for the target and for this machine.

    `root` holds the riscv64 runtime (the emulator's library root) and `program` its Python inside;
    `include` are the target's header folders, `sysconfig_data` its build-time variables as JSON;
    `build_program` is a Python of the same minor version that runs here; `pip` is pip's wheel, which
    runs as `python pip.whl/pip`. `digest` names everything of it by content.
    """

    version: str
    full_version: str
    root: Path
    program: Path
    include: tuple[Path, ...]
    sysconfig_data: Path
    extension_suffix: str
    build_program: Path
    pip: Path
    digest: str
