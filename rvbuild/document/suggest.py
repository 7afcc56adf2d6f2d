"""Guesses at what was meant by a word that nobody knows."""

import difflib
from collections.abc import Iterable

_CLOSE_ENOUGH = 0.6


def nearest(word: str, words: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """Give the `count` words that are most like `word`, best first, however unlike they are."""
    return tuple(difflib.get_close_matches(word, list(words), n=count, cutoff=0.0))


def did_you_mean(word: str, words: Iterable[str]) -> str | None:
    """Give the one word that `word` is probably a slip of, or None."""
    folded = {candidate.lower(): candidate for candidate in words}
    close = difflib.get_close_matches(word.lower(), list(folded), n=1, cutoff=_CLOSE_ENOUGH)
    return folded[close[0]] if close else None
