"""Time the audit of wheels against auditwheel's, on the same files and in turns.

Give wheels as arguments. Processor time is compared, as other work disturbs it least.
"""

import os
import statistics
import subprocess
import sys
from pathlib import Path

RUNS = 3
SHOW = "import sys; from auditwheel.main import main; sys.exit(main())"


def processor_seconds(*words: str) -> float:
    """Run a command; give the processor time that it took, whatever it finds."""
    before = os.times()
    subprocess.run(
        words, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=900
    )
    after = os.times()
    taken = after.children_user + after.children_system
    return taken - before.children_user - before.children_system


def main() -> None:
    """Print for each wheel the median of both and their ratio."""
    for wheel in map(Path, sys.argv[1:]):
        ours, theirs = [], []
        for _ in range(RUNS):
            ours.append(processor_seconds(sys.executable, "-m", "rvbuild", "audit", str(wheel)))
            theirs.append(processor_seconds(sys.executable, "-c", SHOW, "show", str(wheel)))
        one, other = statistics.median(ours), statistics.median(theirs)
        megabytes = wheel.stat().st_size / 1e6
        print(f"{wheel.name}: {megabytes:.1f} MB, {one:.2f} s, {other:.2f} s, {one / other:.2f}")


if __name__ == "__main__":
    main()
