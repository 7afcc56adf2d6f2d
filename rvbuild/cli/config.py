"""`rvbuild config`: every setting, its value and who set it."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from rvbuild.cli.invocation import JsonOption, emit, emit_json, settings, surroundings

if TYPE_CHECKING:
    from rvbuild.cli.settings import NamedIndex, Settings

SCHEMA = "rvbuild.config/1"
Shown = str | int | bool | None | list[str]


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("config")(show_config)


def show_config(context: typer.Context, as_json: JsonOption = False) -> None:
    """Show each setting, its value and where it came from."""
    from rvbuild.cli.report import table
    from rvbuild.cli.settings import settings_files

    chosen = settings(context)
    values = _values(chosen)
    if as_json:
        emit_json(
            {
                "schema": SCHEMA,
                "files": [str(path) for path in settings_files(surroundings())],
                "settings": {
                    key: {"value": value, "origin": chosen.origins[key]}
                    for key, value in values.items()
                },
                "indexes": [_index(index) for index in chosen.indexes],
            }
        )
        return
    rows = [(key, _text(value), chosen.origins[key]) for key, value in values.items()]
    rows += [
        (f"indexes.{index.name}", index.url or index.simple or "", index.origin)
        for index in chosen.indexes
    ]
    emit(table([("setting", "value", "origin"), *rows]))


def _values(chosen: "Settings") -> dict[str, Shown]:
    return {key: _plain(getattr(chosen, key)) for key in chosen.origins}


def _plain(value: object) -> Shown:
    from rvbuild.cli.settings_file import masked

    if isinstance(value, tuple):
        return [str(one) for one in value]
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, str):
        return masked(value)
    return value if isinstance(value, int) else None


def _text(value: Shown) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ", ".join(value)
    return "" if value is None else str(value)


def _index(index: "NamedIndex") -> dict[str, Shown]:
    return {
        "name": index.name,
        "url": index.url,
        "simple": index.simple,
        "allowed": list(index.allowed),
        "origin": index.origin,
    }
