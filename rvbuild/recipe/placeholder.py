"""Placeholders such as `{prefix}` in the texts of recipes: which there are, and filling them in.

`{{` and `}}` stand for plain braces.
"""

import re
from collections.abc import Iterator, Mapping

PLACEHOLDERS = (
    "prefix",
    "source",
    "build",
    "destination",
    "sysroot",
    "jobs",
    "python",
    "version",
    "target_python",
    "tools",
    "checks",
)
# What programs of a library's tests are told when they are run.
RUN_PLACEHOLDERS = ("tests", "results", "shard", "shards")
_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


def unknown_placeholders(text: str, known: tuple[str, ...] = PLACEHOLDERS) -> Iterator[str]:
    """Give the parts of `text` that have braces and are neither a known placeholder nor doubled."""
    for token in _TOKEN.finditer(text):
        if token.group(0) not in ("{{", "}}") and token.group(1) not in known:
            yield token.group(0)


def fill(text: str, values: Mapping[str, str]) -> str:
    """Fill in the placeholders of a text that was checked; `KeyError` names one without a value."""

    def replacement(token: re.Match[str]) -> str:
        if token.group(1) is None:
            return token.group(0)[0]
        return values[token.group(1)]

    return _TOKEN.sub(replacement, text)
