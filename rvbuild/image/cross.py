"""The build context of the cross image: rvbuild, its Python and everything pinned, for one machine.

What is fetched here is unpacked inside, where the kits will stay.
"""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata, resources
from pathlib import Path

import rvbuild
from rvbuild.errors import MissingToolError, SourceError
from rvbuild.fetch import fetch
from rvbuild.image.base import base_digest
from rvbuild.kit import Supplies, load_pins
from rvbuild.kit.pins import Pin
from rvbuild.kit.programs import LOADERS, adopt_program, install_pip, install_program
from rvbuild.places import builtin_folder
from rvbuild.pythons import install_build_python

RECIPE = "Dockerfile.cross"
# Raised whenever the context is put together differently.
REVISION = "1"
OWN = Path("/opt/rvbuild")
# What ships beside the code, as in a wheel of rvbuild.
CATALOGUE = ("recipes", "sysroots", "patches", "known-failures", "checks", "stand-ins")
# rvbuild's own Python in the image; those it builds for are kits of their own.
PYTHON = "3.13"
LAUNCHER = """\
#!/bin/sh
PYTHONPATH={own}/site exec {own}/python/usr/bin/python{version} -m rvbuild "$@"
"""


@dataclass(frozen=True, slots=True)
class CrossContents:
    """What a cross image is to hold; `host` is the machine it is for, and that makes it."""

    pythons: tuple[str, ...]
    host: str
    pins: Path

    @property
    def digest(self) -> str:
        """The sha256 of everything that decides what is in the image."""
        files = [*sorted(self.pins.glob("*.yaml")), *_own_files()]
        texts = [REVISION, recipe_text(), base_digest(self.pins, self.host), *self.pythons]
        texts += [f"{file.name} {hashlib.sha256(file.read_bytes()).hexdigest()}" for file in files]
        texts += constraints()
        return hashlib.sha256("\n".join(texts).encode()).hexdigest()

    @property
    def name(self) -> str:
        """The image's name and tag."""
        return f"rvbuild/cross-{self.host}:{self.digest[:16]}"


def recipe_text() -> str:
    """Read the Dockerfile."""
    return resources.files("rvbuild").joinpath(f"data/image/{RECIPE}").read_text(encoding="utf-8")


def constraints() -> list[str]:
    """Pin what rvbuild imports to the versions that it imports here, as pip's constraints."""
    found = {each.name: each.version for each in metadata.distributions() if each.name != "rvbuild"}
    return sorted(f"{name}=={version}" for name, version in found.items())


def write_cross_context(
    contents: CrossContents, folder: Path, environment: Mapping[str, str], supplies: Supplies
) -> None:
    """Write Dockerfile and root folder into an empty folder; `environment` is what pip may see.

    Raises `MissingToolError` where this rvbuild does not know what it requires.
    """
    own = folder / "rootfs" / OWN.relative_to("/")
    (own / "bin").mkdir(parents=True)
    (folder / RECIPE).write_text(recipe_text(), encoding="utf-8")
    program = _write_python(contents, own, supplies)
    _write_site((str(program), str(install_pip(contents.pins, supplies) / "pip")), own, environment)
    launcher = own / "bin/rvbuild"
    launcher.write_text(LAUNCHER.format(own=OWN, version=PYTHON), encoding="utf-8")
    launcher.chmod(0o755)
    for pin in pins_of(contents):
        archive = fetch(pin.remote, supplies.network, supplies.places.downloads, supplies.watch)
        place = own / "cache/downloads" / archive.relative_to(supplies.places.downloads)
        place.parent.mkdir(parents=True, exist_ok=True)
        _link_or_copy(archive, place)


def pins_of(contents: CrossContents) -> Iterator[Pin]:
    """List what a machine's kits are made of, each file once."""
    seen: set[str] = set()
    for file in sorted(contents.pins.glob("*.yaml")):
        for name, tree in load_pins(file).trees.items():
            if not _is_wanted(file.stem, name, contents):
                continue
            fresh = [pin for pin in tree.pins if pin.sha256 not in seen]
            seen |= {pin.sha256 for pin in fresh}
            yield from fresh


def _is_wanted(file: str, tree: str, contents: CrossContents) -> bool:
    others = tuple(f"-{host}" for host in LOADERS if host != contents.host)
    if file == "image" or tree.endswith(others):
        return False
    # The build machine's Pythons run programs too, whichever is built for.
    version = file.removeprefix("python-")
    return tree != "target" or version in contents.pythons


def _write_python(contents: CrossContents, own: Path, supplies: Supplies) -> Path:
    program = install_build_python(PYTHON, contents.host, contents.pins, supplies)
    shutil.copytree(program.parents[2] / "usr", own / "python/usr", symlinks=True)
    patchelf = install_program("patchelf", contents.host, contents.pins, supplies)
    copied = own / f"python/usr/bin/{program.name}"
    adopt_program(copied, OWN / "python", contents.host, patchelf)
    return program


def _write_site(pip: tuple[str, str], own: Path, environment: Mapping[str, str]) -> None:
    try:
        requires = metadata.requires("rvbuild") or []
    except metadata.PackageNotFoundError as error:
        raise MissingToolError(
            "this rvbuild is not installed, and does not know what it requires",
            hint="`pip install` it, then build the image",
        ) from error
    site = own / "site"
    listed = site.with_name("constraints.txt")
    listed.write_text("".join(f"{line}\n" for line in constraints()), encoding="utf-8")
    words = [*pip, "install", "--quiet", "--no-input"]
    words += ["--disable-pip-version-check", "--only-binary=:all:", "--target", str(site)]
    words += ["--constraint", str(listed)]
    words += [each for each in requires if "extra ==" not in each]
    done = subprocess.run(words, env=dict(environment), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SourceError(
            "pip cannot install what rvbuild requires", tail=done.stderr.splitlines()[-20:]
        )
    package = site / "rvbuild"
    ignored = shutil.ignore_patterns("__pycache__", "catalogue")
    shutil.copytree(Path(rvbuild.__file__).parent, package, ignore=ignored)
    for name in CATALOGUE:
        folder = builtin_folder("recipes").parent / name
        if folder.is_dir():
            shutil.copytree(folder, package / "catalogue" / name)


def _own_files() -> list[Path]:
    package = Path(rvbuild.__file__).parent
    return sorted(path for path in package.rglob("*") if path.suffix in {".py", ".yaml", ".sh"})


def _link_or_copy(file: Path, place: Path) -> None:
    try:
        os.link(file, place)
    except OSError:
        shutil.copyfile(file, place)
