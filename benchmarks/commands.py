"""Time what is typed often: `--help`, a wheel with nothing to do, a wheel from warm downloads."""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import platformdirs

CACHE = Path(os.environ.get("RVBUILD_CACHE") or platformdirs.user_cache_path("rvbuild"))
RUNS = 5


def seconds(cache: Path, folder: Path, *words: str) -> float:
    """Time one command."""
    command = [sys.executable, "-m", "rvbuild", "-q", "--cache", str(cache), *words]
    begin = time.monotonic()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - begin


def main() -> None:
    """Print the median of each command."""
    with TemporaryDirectory() as text:
        folder = Path(text)
        wheel = ("wheel", "markupsafe", "--python", "3.13", "--no-suite")
        seconds(CACHE, folder, *wheel)
        repeated = {"rvbuild --help": ("--help",), "wheel, nothing to do": wheel}
        for name, words in repeated.items():
            times = [seconds(CACHE, folder, *words) for _ in range(RUNS)]
            print(f"{name:30} {statistics.median(times):6.2f} s")
        times = []
        for number in range(3):
            cache = folder / f"cache-{number}"
            cache.mkdir()
            for name in ("kits", "downloads"):
                (cache / name).symlink_to(CACHE / name)
            times.append(seconds(cache, folder, *wheel))
        print(f"{'wheel, warm downloads':30} {statistics.median(times):6.2f} s")


if __name__ == "__main__":
    main()
