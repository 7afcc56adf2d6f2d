"""Meson for libraries: a pinned Python program, run by the newest pinned Python of this machine.

Wheels that are built with Meson bring their own as a build requirement.
"""

from pathlib import Path

from rvbuild.kit import Tree, materialise
from rvbuild.kit.programs import tool_pins
from rvbuild.pipeline.model import House
from rvbuild.pythons import install_build_python, interpreter_trees, known_versions

# Meson writes the path of the file it was started from into what it generates.
SCRIPT = """\
import sys

from mesonbuild.mesonmain import main

sys.exit(main())
"""


def install_meson(house: House) -> Path:
    """Have Meson on disk, and say where the program is that starts it."""
    version = known_versions(house.pins)[-1]
    python = install_build_python(version, house.host, house.pins, house.supplies)
    revision = interpreter_trees(version, house.host, house.pins)[1].digest

    def finish(staging: Path, path: Path) -> None:
        (staging / "meson.py").write_text(SCRIPT, encoding="utf-8")
        program = staging / "bin/meson"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec "{python}" "{path}/meson.py" "$@"\n', "utf-8")
        program.chmod(0o755)

    tree = Tree("meson", tool_pins(house.pins).tree("meson"), revision)
    return materialise(tree, house.supplies, finish).path / "bin/meson"
