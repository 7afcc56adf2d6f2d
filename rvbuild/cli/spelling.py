"""How names are listed and suggestions worded. Which names are near is `document`'s."""

from collections.abc import Iterable


def listed(names: Iterable[str]) -> str:
    """Join names in backticks, such as `` `a`, `b` or `c` ``; empty for none."""
    *first, last = [f"`{name}`" for name in names] or [""]
    return f"{', '.join(first)} or {last}" if first else last


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """Word the hint for an unknown `name` with the nearest three; None when nothing is known."""
    from rvbuild.document import nearest

    names = nearest(name, sorted(set(known)))
    return f"did you mean {listed(names)}?" if names else None
