"""The machine itself: processor and system, Python, the cache's disk, the compiler cache."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile
from urllib.parse import urlsplit

from rvbuild.doctor.model import HOSTS, Finding, Patient

OLDEST_PYTHON = (3, 11)
GIGABYTE = 10**9
# The kits take about 1 GB with their packages; a large job some 10 more.
NEEDED_BYTES = 2 * GIGABYTE
WANTED_BYTES = 12 * GIGABYTE


def check_host(patient: Patient) -> Finding:
    """See whether rvbuild runs on this kind of machine at all."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIGABYTE
    cores = len(os.sched_getaffinity(0))
    what = f"{patient.system} on {patient.machine}, {cores} cores, {memory:.0f} GB of memory"
    if patient.system == "Linux" and patient.machine in HOSTS:
        return Finding("machine", "ok", what)
    return Finding("machine", "problem", what, f"use Linux on {', '.join(HOSTS)}")


def check_python(version: tuple[int, ...] = tuple(sys.version_info[:3])) -> Finding:
    """See whether the Python that runs rvbuild is new enough."""
    what = ".".join(str(part) for part in version)
    if version[:2] >= OLDEST_PYTHON:
        return Finding("python", "ok", what)
    return Finding("python", "problem", what, "install rvbuild into Python 3.11 or newer")


def check_cache(patient: Patient) -> Iterator[Finding]:
    """See whether the cache can be written, has room, and may hold programs that run."""
    cache = patient.places.cache
    folder = nearest_folder(cache)
    fix = "choose another place by `--cache`"
    reason = _refusal(folder)
    if reason is not None:
        yield Finding("cache", "problem", f"`{cache}` cannot be written: {reason}", fix)
    elif os.statvfs(folder).f_flag & os.ST_NOEXEC:
        yield Finding("cache", "problem", f"programs in `{cache}` may not run (noexec)", fix)
    else:
        yield Finding("cache", "ok", f"`{cache}` can be written")
    yield judge_space(shutil.disk_usage(folder).free)


def judge_space(free_bytes: int) -> Finding:
    """Judge the free bytes on the cache's disk."""
    what = f"{free_bytes / GIGABYTE:.1f} GB free for the cache"
    fix = "free some space, or choose another place by `--cache`"
    if free_bytes < NEEDED_BYTES:
        return Finding("disk", "problem", what, fix)
    if free_bytes < WANTED_BYTES:
        return Finding("disk", "warning", f"{what}: too little for large recipes", fix)
    return Finding("disk", "ok", what)


def nearest_folder(path: Path) -> Path:
    """Give a folder that exists: the path, or the nearest above it."""
    return next(folder for folder in (path, *path.absolute().parents) if folder.is_dir())


def _refusal(folder: Path) -> str | None:
    # Asking is not enough: a full or read-only disk shows only when something is written.
    try:
        with TemporaryFile(dir=folder) as stream:
            stream.write(b"\0")
            stream.flush()
    except OSError as error:
        return (error.strerror or str(error)).lower()
    return None


def check_compiler_cache(patient: Patient) -> Finding:
    """See where compiled objects are remembered."""
    choice = patient.compiler_cache
    if choice == "off":
        fix = "set `compiler_cache` to `local`"
        return Finding("compiler cache", "warning", "switched off: everything is compiled", fix)
    if choice == "local":
        return Finding("compiler cache", "ok", f"`{patient.places.compiler_cache}`")
    # Such an address may hold a password.
    return Finding("compiler cache", "ok", f"shared storage at {urlsplit(choice).hostname}")
