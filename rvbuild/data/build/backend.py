"""Calls a PEP 517 backend in the folder it is started in, the project's root.

    backend.py requires OUTPUT SETTINGS     writes the JSON list of get_requires_for_build_wheel
    backend.py wheel OUTPUT SETTINGS        builds a wheel into the folder OUTPUT

SETTINGS is a JSON object of config settings.
"""

import importlib
import json
import sys
import tomllib
from pathlib import Path

LEGACY = "setuptools.build_meta:__legacy__"


def load() -> object:
    """Import the backend that the project names."""
    file = Path("pyproject.toml")
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    table = tomllib.loads(text).get("build-system", {})
    for folder in reversed(table.get("backend-path", [])):
        sys.path.insert(0, str(Path(folder).resolve()))
    name, _, attributes = table.get("build-backend", LEGACY).partition(":")
    backend: object = importlib.import_module(name)
    for attribute in attributes.split(".") if attributes else ():
        backend = getattr(backend, attribute)
    return backend


def main() -> None:
    """Do what the command line says."""
    action, output, settings = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3])
    # Backends of old projects read the command line, and this folder's names are not modules.
    sys.argv[1:] = []
    del sys.path[0]
    backend = load()
    if action == "requires":
        ask = getattr(backend, "get_requires_for_build_wheel", None)
        asked = list(ask(settings)) if ask is not None else []
        output.write_text(json.dumps(asked), encoding="utf-8")
    else:
        output.mkdir(parents=True, exist_ok=True)
        build = getattr(backend, "build_wheel")  # noqa: B009 - a backend is any object
        sys.stdout.write(f"{build(str(output), settings)}\n")


if __name__ == "__main__":
    main()
