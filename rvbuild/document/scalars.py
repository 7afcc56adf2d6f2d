"""Field types for models read from a document, where numbers and booleans arrive as text."""

import re
from typing import Annotated

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError


def fault(message: str, hint: str | None = None) -> PydanticCustomError:
    """Make the error that a field's validator raises: `validate` keeps its words as they are."""
    # The words travel in the context, because a template would read their braces.
    context = {"message": message} if hint is None else {"message": message, "hint": hint}
    return PydanticCustomError("fault", "{message}", context)


def _whole_number(value: object) -> object:
    if not isinstance(value, str):
        return value
    if not re.fullmatch(r"0|-?[1-9][0-9]{0,17}", value):
        raise fault(f"`{value}` is not a whole number", "write digits only, such as `4`")
    return int(value)


def _flag(value: object) -> object:
    if not isinstance(value, str):
        return value
    if value not in {"true", "false"}:
        raise fault(f"`{value}` is neither `true` nor `false`")
    return value == "true"


WholeNumber = Annotated[int, BeforeValidator(_whole_number)]
Flag = Annotated[bool, BeforeValidator(_flag)]
