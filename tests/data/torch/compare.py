"""Hold two files of computed results against each other: `compare.py RESULTS EXPECTED`.

Prints each difference and how many results are the same; ends with 1 if any differ. Whole numbers
are to be equal. The bounds for floating point are of a result's largest element, or, for results
whose name begins with `each.`, of each element and 1.
"""

import sys
from pathlib import Path

import numpy as np

# A few units in the last place of results that come out of sums in another order.
BOUNDS = {"float64": 3e-14, "float32": 2e-5, "float16": 2.0**-9, "bfloat16": 2.0**-6}


def bound(name: str, values: np.ndarray) -> float:
    """Give the tolerance of a result: that of the type in its name, for half types are kept wider."""
    kinds = [BOUNDS[word] for word in name.split(".") if word in BOUNDS]
    return max([*kinds, BOUNDS[values.dtype.name]])


def difference(name: str, found: np.ndarray, expected: np.ndarray) -> str:
    """Say how a result differs, or nothing."""
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return f"{found.dtype}{found.shape} for {expected.dtype}{expected.shape}"
    if expected.dtype.kind != "f":
        wrong = found != expected
        return f"{wrong.sum()} of {wrong.size} are others" if wrong.any() else ""
    finite = np.isfinite(expected)
    if not np.array_equal(found[~finite], expected[~finite], equal_nan=True):
        return "others are not finite"
    if not np.isfinite(found[finite]).all():
        return "more are not finite"
    left, right = found[finite].astype(np.float64), expected[finite].astype(np.float64)
    if not right.size:
        return ""
    scale = np.abs(right) if name.startswith("each.") else np.abs(right).max()
    error = np.abs(left - right) / np.maximum(1.0, scale)
    allowed = bound(name, expected)
    return f"by {error.max():.3g} and not {allowed:.3g}" if error.max() > allowed else ""


def differences(found: Path, expected: Path) -> dict[str, str]:
    """Give the results that differ or are missing, with how they do."""
    with np.load(found) as here, np.load(expected) as there:
        told = {name: "is missing" for name in there.files if name not in here.files}
        told |= {name: "is not expected" for name in here.files if name not in there.files}
        for name in sorted(set(here.files) & set(there.files)):
            words = difference(name, here[name], there[name])
            if words:
                told[name] = words
    return told


def main() -> None:
    """Compare the two files that are named."""
    found, expected = map(Path, sys.argv[1:])
    told = differences(found, expected)
    for name, words in told.items():
        sys.stdout.write(f"{name}: {words}\n")
    with np.load(expected) as there:
        sys.stdout.write(f"{len(there.files) - len(told)} of {len(there.files)} are the same\n")
    sys.exit(bool(told))


if __name__ == "__main__":
    main()
