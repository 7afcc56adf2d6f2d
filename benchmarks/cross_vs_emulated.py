"""Compare building across with building in an emulated container: `cross_vs_emulated.py [NAME...]`.

Both in one run, in turns, from warm kits and downloads, without compiler cache and tests. Says too
whether both gave the same bytes, and what starting a container costs.
"""

import argparse
import hashlib
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import platformdirs

CACHE = Path(os.environ.get("RVBUILD_CACHE") or platformdirs.user_cache_path("rvbuild"))
MODES = ("--cross", "--emulated")
STARTS = 10


def build(name: str, mode: str, folder: Path) -> tuple[float, str]:
    """Build one wheel in an empty store; give seconds and sha256."""
    cache = folder / "cache"
    cache.mkdir(parents=True)
    for shared in ("kits", "downloads"):
        (cache / shared).symlink_to(CACHE / shared)
    command = [sys.executable, "-m", "rvbuild", "-q", "--cache", str(cache), "wheel", name, mode]
    command += ["--no-test", "--python", "3.13"]
    environment = {**os.environ, "RVBUILD_COMPILER_CACHE": "off"}
    begin = time.monotonic()
    done = subprocess.run(
        command, check=True, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
    )
    seconds = time.monotonic() - begin
    wheel = Path(done.stdout.splitlines()[0])
    return seconds, hashlib.sha256(wheel.read_bytes()).hexdigest()


def start_seconds() -> float:
    """Give the median time of a container that does nothing."""
    from rvbuild.events import Silent
    from rvbuild.executor import Command
    from rvbuild.executor.container import ContainerExecutor
    from rvbuild.executor.daemon import connect
    from rvbuild.fetch.configuration import discover
    from rvbuild.image import provide_base
    from rvbuild.kit import Supplies
    from rvbuild.places import Places, builtin_folder

    daemon = connect()
    supplies = Supplies(Places(CACHE), discover(os.environ), Silent())
    image = provide_base(daemon, builtin_folder("sysroots"), supplies)
    with TemporaryDirectory() as folder:
        executor = ContainerExecutor(daemon, image, (Path(folder),))
        command = Command(("true",), Path(folder), network=False)
        return statistics.median(executor.run(command).seconds for _ in range(STARTS))


def main() -> None:
    """Print medians, ratios and whether the bytes are the same."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=["markupsafe", "kiwisolver"])
    parser.add_argument("--runs", type=int, default=1)
    chosen = parser.parse_args()
    print(f"{'one container':24} {start_seconds():8.2f} s")
    for name in chosen.names:
        times: dict[str, list[float]] = {mode: [] for mode in MODES}
        digests = set()
        for _ in range(chosen.runs):
            for mode in MODES:
                with TemporaryDirectory() as folder:
                    seconds, digest = build(name, mode, Path(folder))
                times[mode].append(seconds)
                digests.add(digest)
        across, emulated = (statistics.median(times[mode]) for mode in MODES)
        print(f"{name + ' across':24} {across:8.2f} s")
        print(f"{name + ' emulated':24} {emulated:8.2f} s, {emulated / across:.1f} times")
        print(f"{name + ' bytes':24} {'the same' if len(digests) == 1 else 'differ'}")


if __name__ == "__main__":
    main()
