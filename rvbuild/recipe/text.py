"""The kinds of text that recipes hold, each with its check; the check's words reach the user."""

import re
from collections.abc import Callable, Iterable
from datetime import date
from typing import Annotated

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from pydantic import AfterValidator, Field, StringConstraints

from rvbuild.document import did_you_mean, fault
from rvbuild.recipe.placeholder import PLACEHOLDERS, RUN_PLACEHOLDERS, unknown_placeholders
from rvbuild.target import cpus

_NAME = r"^[a-z0-9]+(-[a-z0-9]+)*$"
_SHA256 = r"^[0-9a-f]{64}$"
_COMMIT = r"^[0-9a-f]{40}$"
_VERSION = r"^[A-Za-z0-9][A-Za-z0-9.+_!~-]*$"
_ADDRESS = r"^(https?|file)://.+$"
_POOL = r"^pool/.+$"
_PATCH = r"^[A-Za-z0-9][A-Za-z0-9.+_-]*\.patch$"
_FILE = r"^[A-Za-z0-9][A-Za-z0-9.+_-]*$"
_VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"
_DAY = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_PYTHON = re.compile(r"(?:cp)?(\d)\.?(\d{1,2})t?")


def normalise(name: str) -> str:
    """Normalise a project name as PEP 503 does."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _shape(pattern: str, meaning: str) -> Callable[[str], str]:
    compiled = re.compile(pattern)

    def check(value: str) -> str:
        if not compiled.fullmatch(value):
            raise fault(f"`{value}` is not {meaning}")
        return value

    return check


def _pattern(pattern: str) -> dict[str, str]:
    """Tell the schema of a pattern, which has to hold the same rule as the check."""
    return {"pattern": pattern}


def _name(value: str) -> str:
    if re.fullmatch(_NAME, value):
        return value
    better = normalise(value)
    hint = f"write `{better}`" if re.fullmatch(_NAME, better) else None
    raise fault(f"`{value}` is not a normalised name", hint or "use a-z, 0-9 and single `-`")


def _relative(value: str) -> str:
    if value.startswith("/") or ".." in value.split("/"):
        raise fault(f"`{value}` is not a path below the source tree")
    return value


def _specifier(value: str) -> str:
    try:
        SpecifierSet(value)
    except InvalidSpecifier:
        python = _PYTHON.fullmatch(value)
        example = f"=={python.group(1)}.{python.group(2)}.*" if python else ">=3.13"
        hint = f'write a version specifier, such as `"{example}"`'
        raise fault(f"`{value}` is not a version specifier", hint) from None
    return value


def _floor(value: str) -> str:
    # Floors are written 2_35, as in the tags; version specifiers know points only.
    try:
        return str(SpecifierSet(value.replace("_", ".")))
    except InvalidSpecifier:
        hint = 'compare with a floor, such as `">=2_35"`'
        raise fault(f"`{value}` is not a condition on the floor", hint) from None


def _day(value: str) -> str:
    if not re.fullmatch(_DAY, value):
        raise fault(f"`{value}` is not a date", "write it like `2027-01-31`")
    try:
        date.fromisoformat(value)
    except ValueError:
        raise fault(f"there is no day `{value}`") from None
    return value


def _cpu(value: str) -> str:
    if value in cpus():
        return value
    close = did_you_mean(value, cpus())
    hint = f"did you mean `{close}`?" if close else "`rvbuild cpu list` names them"
    raise fault(f"CPU `{value}` is not in the catalogue", hint)


def _placeholders(known: tuple[str, ...]) -> Callable[[str], str]:
    def check(value: str) -> str:
        for token in unknown_placeholders(value, known):
            close = did_you_mean(token.strip("{}"), known)
            brace = f"for a plain brace write `{token[0] * 2}`; placeholders are {_listed(known)}"
            raise fault(
                f"`{token}` is not a placeholder",
                f"did you mean `{{{close}}}`?" if close else brace,
            )
        return value

    return check


def _listed(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def requirement(value: str) -> str:
    """Check a Python requirement such as `cython>=3.1; python_version < "3.14"`."""
    try:
        Requirement(value)
    except InvalidRequirement as error:
        reason = str(error).splitlines()[0].lower()
        raise fault(f"`{value}` is not a Python requirement: {reason}") from None
    return value


template = _placeholders(PLACEHOLDERS)
patch_name = _shape(_PATCH, "the name of a `.patch` file without folders")

Text = Annotated[str, StringConstraints(min_length=1)]
Name = Annotated[str, AfterValidator(_name), Field(json_schema_extra=_pattern(_NAME))]
Version = Annotated[
    str,
    AfterValidator(_shape(_VERSION, "a version")),
    Field(json_schema_extra=_pattern(_VERSION)),
]
Sha256 = Annotated[
    str,
    AfterValidator(_shape(_SHA256, "a sha256: 64 hex digits in lower case")),
    Field(json_schema_extra=_pattern(_SHA256)),
]
Commit = Annotated[
    str,
    AfterValidator(_shape(_COMMIT, "a commit: 40 hex digits in lower case")),
    Field(json_schema_extra=_pattern(_COMMIT)),
]
RelativePath = Annotated[Text, AfterValidator(_relative)]
Specifier = Annotated[str, AfterValidator(_specifier)]
FloorSpecifier = Annotated[str, AfterValidator(_floor)]
CpuName = Annotated[Text, AfterValidator(_cpu)]
Day = Annotated[str, AfterValidator(_day), Field(json_schema_extra=_pattern(_DAY))]
PythonRequirement = Annotated[Text, AfterValidator(requirement)]
# Text with placeholders; a command's arguments and a variable's value may be empty.
Template = Annotated[str, AfterValidator(template)]
FullTemplate = Annotated[Text, AfterValidator(template)]
# Text of a program that is run on CPUs, where nothing is built any more.
RunTemplate = Annotated[str, AfterValidator(_placeholders(RUN_PLACEHOLDERS))]
FileName = Annotated[
    str,
    AfterValidator(_shape(_FILE, "the name of a file without folders")),
    Field(json_schema_extra=_pattern(_FILE)),
]
VariableName = Annotated[
    str, AfterValidator(_shape(_VARIABLE, "the name of an environment variable"))
]
# Text of a source, in which `{version}` is the recipe's.
SourceText = Annotated[Text, AfterValidator(_placeholders(("version",)))]
Address = Annotated[
    SourceText,
    AfterValidator(_shape(_ADDRESS, "an `https://`, `http://` or `file://` address")),
    Field(json_schema_extra=_pattern(_ADDRESS)),
]
PoolPath = Annotated[
    SourceText,
    AfterValidator(_shape(_POOL, "a path of a Debian mirror that begins with `pool/`")),
    Field(json_schema_extra=_pattern(_POOL)),
]
