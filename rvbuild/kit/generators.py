"""Programs that write source code while a package builds: protoc and flatc, from Debian."""

from pathlib import Path

from rvbuild.errors import MissingToolError
from rvbuild.kit.pins import load_pins
from rvbuild.kit.programs import adopt_program, install_program
from rvbuild.kit.tree import Supplies, Tree, materialise

REVISION = "1"
PIN_FILE = "generators.yaml"
GENERATORS = ("protoc", "flatc")


def install_generator(name: str, host: str, folder: Path, supplies: Supplies) -> Path:
    """Have a generator for this machine on disk; raise `MissingToolError` for an unknown one."""
    pinned = load_pins(folder / PIN_FILE).tree(f"generators-{host}")
    patchelf = install_program("patchelf", host, folder, supplies)

    def finish(staging: Path, path: Path) -> None:
        for generator in GENERATORS:
            adopt_program(staging / "usr/bin" / generator, path, host, patchelf)

    tree = Tree(f"generators-{host}", pinned, REVISION)
    program = materialise(tree, supplies, finish).path / "usr/bin" / name
    if not program.is_file():
        raise MissingToolError(f"the pinned packages do not hold `{name}`")
    return program
