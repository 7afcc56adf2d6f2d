"""What to say about an error of pydantic, in the words of somebody who writes YAML."""

import re
from collections.abc import Mapping, Sequence

from pydantic_core import ErrorDetails

from rvbuild.document.model import Route
from rvbuild.document.suggest import did_you_mean

_EXPECTED = {
    "bool_type": "`true` or `false`",
    "dict_type": "a mapping",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_type": "a mapping",
    "string_type": "text",
    "tuple_type": "a list",
}
_FIXED = {
    "string_too_short": "this text must not be empty",
    "too_short": "at least one entry is needed",
}
_LIMITS = {
    "greater_than": ("gt", "more than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}


def message_for(details: ErrorDetails, route: Route) -> str:
    """Word the error at `route`."""
    kind = details["type"]
    if kind in _EXPECTED:
        return f"{_EXPECTED[kind]} is expected, and this is {_kind_of(details['input'])}"
    if kind in _LIMITS:
        name, words = _LIMITS[kind]
        return f"`{details['input']}` has to be {words} {_context(details)[name]}"
    return _FIXED.get(kind) or _message_about_names(details, route)


def _kind_of(value: object) -> str:
    return (
        "text" if isinstance(value, str) else "a list" if isinstance(value, list) else "a mapping"
    )


def _message_about_names(details: ErrorDetails, route: Route) -> str:
    match details["type"]:
        case "missing":
            return f"key `{route[-1]}` is missing"
        case "extra_forbidden":
            return f"key `{route[-1]}` is not known here"
        case "literal_error":
            return _not_among_choices(details)
        case "string_pattern_mismatch":
            return f"`{details['input']}` does not look like `{_context(details)['pattern']}`"
        case _:
            return _own_words(details)


def _not_among_choices(details: ErrorDetails) -> str:
    given = details["input"]
    choices = ", ".join(f"`{choice}`" for choice in _choices(details))
    if isinstance(given, str):
        return f"`{given}` is not one of {choices}"
    return f"one of {choices} is expected, and this is {_kind_of(given)}"


def _own_words(details: ErrorDetails) -> str:
    """Give a validator's own message; pydantic puts a title before those of a ValueError."""
    context = _context(details)
    said = context.get("message") or context.get("error")
    if said is not None:
        return str(said)
    return details["msg"][:1].lower() + details["msg"][1:]


def hint_for(details: ErrorDetails, known: Sequence[str]) -> str | None:
    """Say what to do; `known` are the keys at that place."""
    kind, given = details["type"], details["input"]
    if kind == "extra_forbidden":
        return _guess(str(details["loc"][-1]), known) or _list_of_keys(known)
    if kind == "literal_error":
        return _guess(str(given), _choices(details))
    if kind == "string_type" and isinstance(given, dict) and not any(given.values()):
        return "put quotes round text that begins with `{`"
    if kind in {"tuple_type", "list_type"}:
        return "write a list, such as `[one, two]`, even for one entry"
    hint = _context(details).get("hint")
    return None if hint is None else str(hint)


def _guess(word: str, words: Sequence[str]) -> str | None:
    close = did_you_mean(word, words)
    return None if close is None else f"did you mean `{close}`?"


def _list_of_keys(known: Sequence[str]) -> str | None:
    return "the keys here are " + ", ".join(f"`{name}`" for name in known) if known else None


def _choices(details: ErrorDetails) -> list[str]:
    return re.findall(r"'([^']*)'", str(_context(details).get("expected", "")))


def _context(details: ErrorDetails) -> Mapping[str, object]:
    return details.get("ctx", {})
