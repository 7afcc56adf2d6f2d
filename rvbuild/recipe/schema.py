"""The JSON Schema by which editors check recipes while they are written."""

import json
from collections.abc import Mapping

from pydantic import JsonValue

from rvbuild.recipe.model import Recipe

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def recipe_schema() -> dict[str, JsonValue]:
    """Describe recipes as JSON Schema, draft 2020-12; what rvbuild reads as text is a string."""
    generated = _without_noise(Recipe.model_json_schema(mode="validation"))
    return {"$schema": _DIALECT, "title": "rvbuild recipe", **generated}


def schema_text() -> str:
    """Write the schema as `docs/recipe.schema.json` holds it."""
    return json.dumps(recipe_schema(), indent=2, ensure_ascii=False) + "\n"


def _without_noise(schema: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Leave out titles that repeat names, and null, which no recipe can say."""
    cleaned = {
        key: _cleaned(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str))
        and not (key == "default" and (value is None or isinstance(value, dict)))
    }
    choices = cleaned.get("anyOf")
    if isinstance(choices, list) and {"type": "null"} in choices:
        cleaned["anyOf"] = left = [choice for choice in choices if choice != {"type": "null"}]
        if len(left) == 1 and isinstance(left[0], dict):
            del cleaned["anyOf"]
            cleaned.update(left[0])
    return cleaned


def _cleaned(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return _without_noise(value)
    if isinstance(value, list):
        return [_cleaned(entry) for entry in value]
    return value
