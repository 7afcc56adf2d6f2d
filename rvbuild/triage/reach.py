"""Where a failure happens and where it does not, and what that says of whose fault it is."""

from collections.abc import Iterable, Mapping

from rvbuild.triage.model import Reach, Where

MEANING: Mapping[Where, str] = {
    "everywhere": "it fails on every CPU, so the package or its test is wrong on riscv64",
    "long vectors": "it fails from VLEN {least} on and not below: a kernel that is written for "
    "shorter vector registers, or the choice of that kernel",
    "short vectors": "it fails up to VLEN {most} and not above: a kernel that is written for "
    "longer vector registers",
    "vector unit": "it fails wherever there is a vector unit and nowhere else: the vector code is "
    "wrong",
    "no vector unit": "it fails only without a vector unit: vector code runs unasked, or the "
    "fallback is wrong",
    "some": "it fails on some CPUs, which neither vector unit nor vector length tells apart",
    "one CPU": "only one CPU was tried; run it on others to tell package and kernel apart",
}


def reach_of(failed: Mapping[str, int | None], passed: Mapping[str, int | None]) -> Reach:
    """Compare CPUs on which something failed and passed; the values are vector lengths in bits."""
    where = _where(failed, passed)
    lengths = _lengths(failed.values())
    least, most = min(lengths, default=0), max(lengths, default=0)
    meaning = MEANING[where].format(least=least, most=most)
    return Reach(where, meaning, tuple(failed), tuple(passed))


def _where(failed: Mapping[str, int | None], passed: Mapping[str, int | None]) -> Where:
    if not passed:
        return "everywhere" if len(failed) > 1 else "one CPU"
    wrong, right = set(failed.values()), set(passed.values())
    if None in wrong | right or wrong & right:
        return "some"
    if wrong == {0}:
        return "no vector unit"
    return "some" if 0 in wrong else _by_length(_lengths(wrong), _lengths(right))


def _by_length(wrong: tuple[int, ...], right: tuple[int, ...]) -> Where:
    if not right:
        return "vector unit"
    if min(wrong) > max(right):
        return "long vectors"
    return "short vectors" if max(wrong) < min(right) else "some"


def _lengths(vlens: Iterable[int | None]) -> tuple[int, ...]:
    return tuple(length for length in vlens if length)
