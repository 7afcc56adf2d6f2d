"""The catalogue of failures: patterns of what a failure says, and which kind that is."""

import re
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import TypedDict

import yaml

from rvbuild.triage.model import Kind


class _Entry(TypedDict):
    """One entry of `failures.yaml`."""

    patterns: list[str]
    cause: str
    fix: str
    blame: str
    link: str


@cache
def kinds() -> tuple[Kind, ...]:
    """Read the catalogue, in the order of the file, which decides where several kinds fit."""
    text = resources.files("rvbuild").joinpath("data/failures.yaml").read_text(encoding="utf-8")
    entries: dict[str, _Entry] = yaml.safe_load(text)
    return tuple(
        Kind(
            name=name,
            patterns=tuple(entry["patterns"]),
            cause=entry["cause"],
            fix=entry["fix"],
            blame=entry["blame"],
            link=entry["link"],
        )
        for name, entry in entries.items()
    )


def kind_of(message: str, text: str, known: Iterable[Kind]) -> Kind | None:
    """Choose the kind of a failure: by its own message, else by the log around it."""
    known = tuple(known)
    for said in (message, text):
        for kind in known:
            if any(re.search(pattern, said) for pattern in kind.patterns):
                return kind
    return None
