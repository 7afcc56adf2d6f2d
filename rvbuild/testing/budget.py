"""How many CPUs are tested at once: as many as cores and memory allow."""

from pathlib import Path

MEMORY = Path("/proc/meminfo")
# An emulated Python with a large extension and a small suite; a suite's own peak is not known.
EACH_MB = 1024


def runs_at_once(jobs: int, memory_mb: int, count: int, each_mb: int = EACH_MB) -> int:
    """Say how many of `count` runs may go on together; at least one."""
    return max(1, min(jobs, memory_mb // each_mb, count))


def available_mb(memory: Path = MEMORY) -> int:
    """Read how many MiB the kernel could give away now; one run's worth where it does not say."""
    try:
        lines = memory.read_text(encoding="ascii").splitlines()
    except OSError:
        return EACH_MB
    words = next((line.split() for line in lines if line.startswith("MemAvailable:")), [])
    return int(words[1]) // 1024 if len(words) > 1 and words[1].isdigit() else EACH_MB
