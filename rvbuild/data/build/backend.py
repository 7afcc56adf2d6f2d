"""Calls a PEP 517 backend in the folder it is started in, the project's root.

    backend.py requires OUTPUT SETTINGS     writes the JSON list of get_requires_for_build_wheel
    backend.py wheel OUTPUT SETTINGS        builds a wheel into the folder OUTPUT

SETTINGS is a JSON object of config settings.
"""

import importlib
import json
import os
import sys
import tomllib


def load():
    table = {}
    if os.path.exists("pyproject.toml"):
        with open("pyproject.toml", "rb") as stream:
            table = tomllib.load(stream).get("build-system", {})
    for folder in reversed(table.get("backend-path", [])):
        sys.path.insert(0, os.path.abspath(folder))
    name, _, attributes = table.get("build-backend", "setuptools.build_meta:__legacy__").partition(":")
    backend = importlib.import_module(name)
    for attribute in attributes.split(".") if attributes else ():
        backend = getattr(backend, attribute)
    return backend


def main():
    action, output, settings = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    # Backends of old projects read the command line.
    sys.argv[1:] = []
    backend = load()
    if action == "requires":
        ask = getattr(backend, "get_requires_for_build_wheel", lambda _: [])
        with open(output, "w", encoding="utf-8") as stream:
            json.dump(list(ask(settings)), stream)
    else:
        os.makedirs(output, exist_ok=True)
        print(backend.build_wheel(output, settings))


if __name__ == "__main__":
    main()
