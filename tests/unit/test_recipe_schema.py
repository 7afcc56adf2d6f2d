"""The schema for editors: committed as generated, and true to what `read_recipe` takes."""

from pathlib import Path

from pydantic import JsonValue

from rvbuild.recipe.model import Recipe
from rvbuild.recipe.schema import recipe_schema, schema_text

COMMITTED = Path(__file__).parents[2] / "docs" / "recipe.schema.json"


def part(schema: JsonValue, *keys: str) -> dict[str, JsonValue]:
    """Walk down mappings."""
    for key in keys:
        assert isinstance(schema, dict)
        schema = schema[key]
    assert isinstance(schema, dict)
    return schema


def test_the_committed_schema_is_current() -> None:
    assert COMMITTED.read_text(encoding="utf-8") == schema_text(), (
        "write `schema_text()` to docs/recipe.schema.json"
    )


def test_it_is_of_the_2020_dialect_and_has_no_address_of_its_own() -> None:
    schema = recipe_schema()
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"] == "rvbuild recipe"
    assert "$id" not in schema


def test_it_knows_all_keys_and_no_others() -> None:
    schema = recipe_schema()
    assert part(schema, "properties").keys() == Recipe.model_fields.keys()
    assert schema["required"] == ["name", "version", "license", "sources"]
    definitions = part(schema, "$defs")
    assert all(part(definitions, name)["additionalProperties"] is False for name in definitions)


def test_text_is_a_string_and_numbers_are_numbers() -> None:
    schema = recipe_schema()
    assert part(schema, "properties", "version")["type"] == "string"
    assert part(schema, "properties", "python")["type"] == "string"
    build = part(schema, "$defs", "Build", "properties")
    assert part(build, "environment", "additionalProperties") == {"type": "string"}
    assert part(build, "directory")["type"] == "string"
    cores = part(schema, "$defs", "Resources", "properties", "cores")
    assert (cores["type"], cores["minimum"]) == ("integer", 0)
    strip = part(schema, "$defs", "ExtraSource", "properties", "strip")
    assert strip["type"] == "boolean"


def test_nothing_may_be_null() -> None:
    assert '"null"' not in schema_text()
    assert ": null" not in schema_text()


def test_an_option_is_text_or_a_mapping() -> None:
    options = part(recipe_schema(), "$defs", "Build", "properties", "options")
    assert part(options, "items")["anyOf"] == [
        {"minLength": 1, "type": "string"},
        {"$ref": "#/$defs/Entry"},
    ]
