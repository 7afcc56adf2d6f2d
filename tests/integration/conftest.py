"""Real kits for integration tests: installed once into a cache that outlives the test run."""

import os
import platform
from pathlib import Path

import platformdirs
import pytest

from rvbuild.emulator import Emulator, install_emulator
from rvbuild.events import Silent
from rvbuild.fetch.configuration import discover
from rvbuild.kit import Supplies
from rvbuild.places import Places
from rvbuild.pythons import Interpreter, install_interpreter

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
