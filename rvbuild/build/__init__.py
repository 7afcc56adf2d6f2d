"""One job: a source tree becomes a wheel or a library's prefix. Owns the rooms a build runs in.

Order, storing and testing are not decided here.
"""

from rvbuild.build.library import build_library
from rvbuild.build.model import Bench, BuildEnvironment, Launcher, StoodIn, Workshop
from rvbuild.build.prefix import stage_prefix
from rvbuild.build.requirements import prepare_environment
from rvbuild.build.wheel import build_wheel

__all__ = [
    "Bench",
    "BuildEnvironment",
    "Launcher",
    "StoodIn",
    "Workshop",
    "build_library",
    "build_wheel",
    "prepare_environment",
    "stage_prefix",
]
