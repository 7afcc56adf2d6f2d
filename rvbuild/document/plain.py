"""What other YAML readers make of text written without quotes."""

import re

from yaml.nodes import ScalarNode
from yaml.resolver import Resolver

_TAGS = {
    "tag:yaml.org,2002:bool": "true or false",
    "tag:yaml.org,2002:float": "a number",
    "tag:yaml.org,2002:int": "a number",
    "tag:yaml.org,2002:merge": "a merge key",
    "tag:yaml.org,2002:null": "nothing",
    "tag:yaml.org,2002:timestamp": "a date",
    "tag:yaml.org,2002:value": "a default value",
}
_SEXAGESIMAL = re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?")
_OCTAL = re.compile(r"[-+]?0o?[0-7_]+")
# PyYAML leaves out the exponents without a point of YAML 1.2 and the `y` and `n` of YAML 1.1.
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_LETTER = re.compile(r"[yYnN]")


def meaning_elsewhere(text: str) -> str | None:
    """Say what YAML 1.1 or 1.2 would turn unquoted `text` into, or None when it stays text."""
    if _SEXAGESIMAL.fullmatch(text):
        return "a number in base 60"
    if len(text) > 1 and _OCTAL.fullmatch(text):
        return "an octal number"
    tag = Resolver().resolve(ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    if tag in _TAGS:
        return _TAGS[tag]
    if _NUMBER.fullmatch(text):
        return "a number"
    return "true or false" if _LETTER.fullmatch(text) else None
