"""The house a run happens in, put together from the settings and this machine's environment."""

import os
import platform
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rvbuild.cli.invocation import network
from rvbuild.cli.selection import catalogue
from rvbuild.errors import MissingToolError

if TYPE_CHECKING:
    from rvbuild.cli.settings import Settings
    from rvbuild.events import Watcher
    from rvbuild.pipeline import House

HOSTS = ("x86_64", "aarch64", "riscv64")
INDEX = "RVBUILD_PYPI_INDEX"


def open_house(chosen: "Settings", watch: "Watcher") -> "House":
    """Put the house together; raises `MissingToolError` on a machine that kits do not exist for."""
    from rvbuild.executor.local import LocalExecutor
    from rvbuild.pipeline.model import House
    from rvbuild.places import builtin_folder

    return House(
        places=chosen.places,
        network=network(chosen),
        watch=watch,
        executor=LocalExecutor(),
        catalogue=catalogue(chosen),
        pins=builtin_folder("sysroots"),
        host=supported_host(platform.system(), platform.machine()),
        environment=outside_environment(os.environ) | _offline(chosen),
    )


def _offline(chosen: "Settings") -> dict[str, str]:
    """Tell pip what is told of the network: no index offline, and the folder that stands for it."""
    told = {"PIP_NO_INDEX": "1"} if chosen.offline else {}
    if chosen.offline_dir is not None:
        told["PIP_FIND_LINKS"] = str(chosen.offline_dir)
    return told


def supported_host(system: str, machine: str) -> str:
    """Give back the machine's architecture; raises `MissingToolError` for one that is not ours."""
    if system != "Linux" or machine not in HOSTS:
        raise MissingToolError(
            f"there are no kits for {system} on {machine}",
            hint=f"use Linux on {', '.join(HOSTS)}",
        )
    return machine


def outside_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Pick what steps with network may see: pip's settings, proxies, certificates, git's PATH."""
    from rvbuild.executor.environment import index_environment, passthrough

    seen = index_environment(environment)
    seen |= passthrough(environment, ("CURL_CA_BUNDLE", "PATH"))
    if addresses := environment.get(INDEX, "").split():
        seen["PIP_INDEX_URL"] = addresses[0]
        seen |= {"PIP_EXTRA_INDEX_URL": " ".join(addresses[1:])} if addresses[1:] else {}
    return seen
