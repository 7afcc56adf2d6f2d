"""What containers and isolation take: namespaces, binfmt_misc with QEMU, and Docker."""

import json
import subprocess

from rvbuild.doctor.model import Finding, Patient
from rvbuild.executor.local import network_isolation_works
from rvbuild.target import MACHINE
from rvbuild.testing import BinfmtState, binfmt_state

TIMEOUT_SECONDS = 10
INSTALL = "install `qemu-user-static` and `binfmt-support`, or their like, as root"


def check_isolation() -> Finding:
    """See whether builds can be run without network."""
    if network_isolation_works():
        return Finding("isolation", "ok", "builds run without network")
    return Finding(
        "isolation",
        "warning",
        "user namespaces are refused: builds can reach the network",
        "as root, allow them by `sysctl kernel.unprivileged_userns_clone=1` or its like",
    )


def check_binfmt(patient: Patient, state: BinfmtState | None = None) -> Finding:
    """See whether the kernel starts riscv64 programs, in containers too."""
    if patient.machine == MACHINE:
        return Finding("binfmt", "ok", "riscv64 programs run by themselves")
    found = state or binfmt_state()
    if not found.registered:
        what = "`qemu-riscv64` is not registered: only programs under test run, not what they start"
        return Finding("binfmt", "warning", what, INSTALL)
    if not found.enabled:
        fix = "as root, `echo 1 > /proc/sys/fs/binfmt_misc/qemu-riscv64`"
        return Finding("binfmt", "warning", "`qemu-riscv64` is registered and disabled", fix)
    what = f"`{found.interpreter}`, flags `{found.flags}`"
    if not found.fixed:
        fix = "register it with flag `F`, as `qemu-user-static` does"
        return Finding("binfmt", "warning", f"{what}: without `F`, so not in containers", fix)
    return Finding("binfmt", "ok", what)


def check_docker(patient: Patient) -> Finding:
    """See whether there is Docker, whether its daemon runs, and whether we may talk to it."""
    if patient.docker is None:
        return Finding("docker", "warning", "there is no `docker` on PATH", "install Docker")
    words = [str(patient.docker), "version", "--format", "{{json .}}"]
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, check=False, timeout=TIMEOUT_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        what = f"`docker version` gives no answer: {error}"
        return Finding("docker", "warning", what, "start Docker anew")
    return judge_docker(done.stdout, done.stderr)


def judge_docker(output: str, errors: str) -> Finding:
    """Read what `docker version` wrote as JSON on stdout, and on stderr."""
    try:
        told = json.loads(output or "{}")
    except ValueError:
        told = {}
    client, server = (_version(told, side) for side in ("Client", "Server"))
    if server:
        return Finding("docker", "ok", f"client {client}, daemon {server}")
    if "permission denied" in errors.lower():
        fix = "join the group `docker`, then log in again"
        return Finding("docker", "warning", "the daemon may not be used by this user", fix)
    what = f"client {client or 'unknown'}, but no daemon answers"
    return Finding("docker", "warning", what, "start the daemon, as by `systemctl start docker`")


def _version(told: object, side: str) -> str:
    part = told.get(side) if isinstance(told, dict) else None
    return str(part.get("Version", "")) if isinstance(part, dict) else ""
