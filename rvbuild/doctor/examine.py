"""The whole examination, one check after the other; a check that fails is a finding too."""

from collections.abc import Callable, Iterable, Iterator

from rvbuild.doctor.containers import check_binfmt, check_docker, check_isolation
from rvbuild.doctor.kits import check_emulator, check_pythons, check_sysroot, check_toolchain
from rvbuild.doctor.machine import check_cache, check_compiler_cache, check_host, check_python
from rvbuild.doctor.model import Finding, Patient
from rvbuild.doctor.reach import check_reach
from rvbuild.errors import RvbuildError

Check = Callable[[], Finding | Iterable[Finding]]


def examine(patient: Patient) -> tuple[Finding, ...]:
    """Look at everything; nothing that is found wrong raises."""
    checks: dict[str, Check] = {
        "machine": lambda: check_host(patient),
        "python": check_python,
        "cache": lambda: check_cache(patient),
        "sysroot": lambda: check_sysroot(patient),
        "toolchain": lambda: check_toolchain(patient),
        "emulator": lambda: check_emulator(patient),
        "pythons": lambda: check_pythons(patient),
        "compiler cache": lambda: check_compiler_cache(patient),
        "network": lambda: check_reach(patient),
        "isolation": check_isolation,
        "binfmt": lambda: check_binfmt(patient),
        "docker": lambda: check_docker(patient),
    }
    return tuple(finding for name, check in checks.items() for finding in _run(name, check))


def _run(name: str, check: Check) -> Iterator[Finding]:
    try:
        found = check()
        yield from (found,) if isinstance(found, Finding) else found
    except RvbuildError as error:
        yield Finding(name, "problem", "; ".join((error.message, *error.causes)), error.hint)
