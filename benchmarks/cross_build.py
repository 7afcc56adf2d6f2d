"""Compare rvbuild's build of a package with the same build typed by hand: `cross_build.py [NAME]`.

By hand means: unpack the sdist, make a virtual environment with the build requirements, set
compiler and Python variables, call the backend, as a person with the same toolchain would. Both run
without a compiler cache and without tests, in turns.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import platformdirs

CACHE = Path(os.environ.get("RVBUILD_CACHE") or platformdirs.user_cache_path("rvbuild"))
VERSION = "3.13"


def rvbuild(cache: Path, *words: str) -> None:
    """Run rvbuild with a cache of its own, whose kits and downloads are the real ones."""
    command = [sys.executable, "-m", "rvbuild", "-q", "--cache", str(cache), *words]
    environment = {**os.environ, "RVBUILD_COMPILER_CACHE": "off"}
    subprocess.run(command, check=True, env=environment, cwd=cache, stdout=subprocess.DEVNULL)


def fresh_cache(folder: Path) -> Path:
    """Make a cache that knows kits and downloads and no results."""
    folder.mkdir()
    for name in ("kits", "downloads"):
        (folder / name).symlink_to(CACHE / name)
    return folder


def by_rvbuild(name: str, folder: Path) -> None:
    """Build a package with rvbuild."""
    cache = fresh_cache(folder / "cache")
    rvbuild(cache, "wheel", name, "--python", VERSION, "--no-test")


def by_hand(name: str, folder: Path) -> None:
    """Build a package as one would by hand."""
    kits = CACHE / "kits"
    bin_folder = max(kits.glob("toolchain-clang-*"), key=lambda path: path.stat().st_mtime) / "bin"
    python = next(kits.glob(f"python-{VERSION}-build-*[0-9a-f]")) / f"usr/bin/python{VERSION}"
    target = max(
        kits.glob(f"python-{VERSION}-riscv64-*[0-9a-f]"), key=lambda path: path.stat().st_mtime
    )
    sdist = next((CACHE / "downloads").rglob(f"{name}-*.tar.gz"))
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    source = next(path for path in folder.iterdir() if path.is_dir())
    venv = folder / "venv"
    subprocess.run([python, "-m", "venv", "--without-pip", venv], check=True)
    pip = [venv / "bin/python", target / "rvbuild/pip/pip", "-q", "install"]
    subprocess.run([*pip, "setuptools"], check=True, stderr=subprocess.DEVNULL)
    variables = json.loads((target / "rvbuild/sysconfig.json").read_text(encoding="utf-8"))
    compiler = bin_folder / "riscv64-linux-gnu-clang"
    include = variables["INCLUDEPY"]
    flags = f"-O2 -DNDEBUG -fPIC -I{include}"
    environment = {
        "PATH": f"{venv}/bin:/usr/bin:/bin",
        "CC": str(compiler),
        "CXX": f"{compiler}++",
        "LDSHARED": f"{compiler} -shared",
        "LDCXXSHARED": f"{compiler}++ -shared",
        "CFLAGS": flags,
        "CXXFLAGS": flags,
        "SETUPTOOLS_EXT_SUFFIX": variables["EXT_SUFFIX"],
        "_PYTHON_HOST_PLATFORM": "linux-riscv64",
    }
    code = f"import setuptools.build_meta as backend; backend.build_wheel({str(folder)!r})"
    words = [venv / "bin/python", "-c", code]
    subprocess.run(words, check=True, env=environment, cwd=source, capture_output=True)


def timed(act: Callable[[str, Path], None], name: str) -> float:
    """Give the seconds of one run in an empty folder."""
    with TemporaryDirectory() as folder:
        begin = time.monotonic()
        act(name, Path(folder))
        return time.monotonic() - begin


def main() -> None:
    """Build in turns and print medians and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="?", default="markupsafe", choices=["markupsafe"])
    parser.add_argument("--runs", type=int, default=3)
    chosen = parser.parse_args()
    with TemporaryDirectory() as folder:
        # Kits and downloads are had before anything is measured.
        rvbuild(CACHE, "wheel", chosen.name, "--python", VERSION, "--no-test", "--dist", folder)
    times: dict[str, list[float]] = {"rvbuild": [], "by hand": []}
    for _ in range(chosen.runs):
        times["rvbuild"].append(timed(by_rvbuild, chosen.name))
        times["by hand"].append(timed(by_hand, chosen.name))
    medians = {name: statistics.median(seconds) for name, seconds in times.items()}
    for name, seconds in medians.items():
        print(f"{name:8} {seconds:7.2f} s")
    print(f"ratio    {medians['rvbuild'] / medians['by hand']:7.2f}")


if __name__ == "__main__":
    main()
