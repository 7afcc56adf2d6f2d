"""Real kits for integration tests: installed once into a cache that outlives the test run."""

import os
import platform
from pathlib import Path

import platformdirs
import pytest

from rvbuild.emulator import Emulator, install_emulator
from rvbuild.events import Silent
from rvbuild.executor.environment import index_environment
from rvbuild.executor.local import LocalExecutor
from rvbuild.fetch.configuration import discover
from rvbuild.kit import Supplies
from rvbuild.kit.programs import PLACES as PROGRAMS
from rvbuild.kit.programs import install_program
from rvbuild.pipeline import House, Options
from rvbuild.pipeline.equipment import Kits, install_kits
from rvbuild.pipeline.meson import install_meson
from rvbuild.places import Places
from rvbuild.pythons import Interpreter, install_interpreter
from rvbuild.recipe.catalogue import Catalogue
from rvbuild.sysroot import Sysroot
from rvbuild.target import Floor
from rvbuild.toolchain import Toolchain

PINS = Path(__file__).parents[2] / "sysroots"
PYTHON = "3.13"


@pytest.fixture(scope="session")
def supplies() -> Supplies:
    """Give what kits are installed with: the user's own cache, or the one `RVBUILD_CACHE` names."""
    cache = os.environ.get("RVBUILD_CACHE") or platformdirs.user_cache_path("rvbuild")
    return Supplies(Places(Path(cache)), discover(os.environ), Silent())


@pytest.fixture(scope="session")
def interpreter(supplies: Supplies) -> Interpreter:
    """Give the riscv64 Python and the build machine's Python of the same version."""
    return install_interpreter(PYTHON, platform.machine(), PINS, supplies)


@pytest.fixture(scope="session")
def emulator(supplies: Supplies) -> Emulator:
    """Give QEMU for this machine."""
    return install_emulator(platform.machine(), PINS, supplies)


def house_of(places: Places, recipes: Path, supplies: Supplies) -> House:
    """Make a house in some folders."""
    return House(
        places=places,
        network=supplies.network,
        watch=supplies.watch,
        executor=LocalExecutor(),
        catalogue=Catalogue((recipes,)),
        pins=PINS,
        host=platform.machine(),
        environment=index_environment(dict(os.environ)),
    )


def house_at(root: Path, supplies: Supplies) -> House:
    """Make a house of its own in a folder: what is installed is shared, nothing else is.

    Kits hold their own paths, so that all have to be installed before they are shared by links.
    """
    places = Places(root / "cache")
    places.cache.mkdir(parents=True)
    for name in ("kits", "downloads", "zig"):
        shared = supplies.places.cache / name
        shared.mkdir(parents=True, exist_ok=True)
        (places.cache / name).symlink_to(shared)
    (root / "recipes").mkdir()
    return house_of(places, root / "recipes", supplies)


@pytest.fixture(scope="session")
def kits(supplies: Supplies, tmp_path_factory: pytest.TempPathFactory) -> Kits:
    """Give sysroot, emulator and the probed toolchain, with all programs of the build machine."""
    house = house_of(supplies.places, tmp_path_factory.mktemp("recipes"), supplies)
    for name in PROGRAMS:
        install_program(name, house.host, PINS, supplies)
    install_meson(house)
    return install_kits(Options((), (PYTHON,), Floor(2, 31)), house)


@pytest.fixture
def house(tmp_path: Path, supplies: Supplies, kits: Kits, interpreter: Interpreter) -> House:
    """Give a house with an empty store and no recipes."""
    return house_at(tmp_path / "house", supplies)


@pytest.fixture(scope="session")
def toolchain(kits: Kits) -> Toolchain:
    """Give the pinned toolchain."""
    return kits.toolchain


@pytest.fixture(scope="session")
def sysroot(kits: Kits) -> Sysroot:
    """Give the sysroot of glibc 2.31."""
    return kits.sysroot
