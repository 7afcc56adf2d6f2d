"""The words of the program: `rvbuild_numeric PLAN RESULTS [--case FAMILY:OPERATION:DTYPE:SIZE]`.

A plan is walked to its end whatever goes wrong; RESULTS is written anew after each entry, and the
case that runs now is in RESULTS with `.running` behind it. A single case is told in words.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from .library import blas_core
from .run import read_plan, run_case, run_entry

SCHEMA = 1


def main() -> int:
    """Do what the words say; give 0 when all is right and 1 when something is wrong."""
    parser = argparse.ArgumentParser("rvbuild_numeric")
    parser.add_argument("plan", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--case")
    words = parser.parse_args()
    if words.case:
        try:
            return _tell_case(words.case, words.plan)
        except ValueError as error:
            parser.error(str(error))
    return _walk(words.plan, words.results)


def _walk(plan: Path, results: Path) -> int:
    sys.stdout.write(f"numpy {np.__version__}, BLAS core {blas_core() or 'unknown'}\n")
    done: list[dict[str, object]] = []
    with Path(f"{results}.running").open("w", encoding="utf-8") as running:

        def tell(case: str) -> None:
            running.seek(0)
            running.write(f"{case}\n")
            running.truncate()
            running.flush()

        for entry in read_plan(plan):
            done.append(run_entry(entry, tell))
            document = {"schema": SCHEMA, "core": blas_core(), "entries": done}
            results.write_text(json.dumps(document), encoding="utf-8")
            sys.stdout.write(f"{entry.family}: {done[-1]['seconds']} s\n")
    return int(any(entry["smallest"] for entry in done))


def _tell_case(name: str, plan: Path) -> int:
    outcome = run_case(name, read_plan(plan))
    if outcome.ok:
        words = f"{outcome.compared} elements right, worst error {outcome.worst}"
    else:
        count = f"{outcome.wrong} of {outcome.among} elements wrong, " if outcome.wrong else ""
        words = f"{outcome.variant}: {count}{outcome.note}, worst error {outcome.worst}"
    sys.stdout.write(f"{name}: {words}, bound {outcome.bound}\n")
    return int(not outcome.ok)


if __name__ == "__main__":
    sys.exit(main())
