"""The values of building: what all jobs share, one job's places, and its build environment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rvbuild.emulator import Emulator
from rvbuild.events import Watcher
from rvbuild.executor import Executor
from rvbuild.plan import Job
from rvbuild.pythons import Interpreter
from rvbuild.sysroot import Sysroot
from rvbuild.toolchain import Toolchain


@dataclass(frozen=True, slots=True)
class Launcher:
    """A compiler cache: the program put before every compile, and the variables it reads."""

    program: Path
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Workshop:
    """What all jobs of a run share.

    `programs` are the build machine's by name (`make`, `cmake`, ...); `network_environment` is what
    steps with network may see of the user's environment, such as proxies and pip's settings. `root`
    is the folder of the build machine's system, which for a container is an unpacked one.
    """

    toolchain: Toolchain
    sysroot: Sysroot
    emulator: Emulator
    interpreters: Mapping[str, Interpreter]
    programs: Mapping[str, Path]
    executor: Executor
    watch: Watcher
    cache: Path
    launcher: Launcher | None = None
    network_environment: Mapping[str, str] = field(default_factory=dict)
    root: Path = Path("/")


@dataclass(frozen=True, slots=True)
class StoodIn:
    """A target requirement that cannot run here, and what does in its place.

    That is the members of its `wheel` that match `takes`, and over them the files of `folder`.
    """

    name: str
    wheel: Path
    takes: tuple[str, ...]
    folder: Path


@dataclass(frozen=True, slots=True)
class Bench:
    """One job's places: its work folder, its unpacked source, its log, and the cores it may use.

    `prefix` holds the libraries below the job, `wheels` the wheels of its target requirements, and
    `stand_ins` what stands in for those of them that cannot run here.
    """

    job: Job
    folder: Path
    source: Path
    log: Path
    cores: int
    wheels: tuple[Path, ...] = ()
    stand_ins: tuple[StoodIn, ...] = ()

    @property
    def prefix(self) -> Path:
        """Where the libraries below this job are staged."""
        return self.folder / "prefix"

    @property
    def checks(self) -> Path:
        """Where the files are that programs of a library's tests are made of."""
        return self.folder / "checks"

    @property
    def project(self) -> Path:
        """The folder of the project inside the source tree."""
        directory = self.job.recipe.build.directory
        return self.source / directory if directory else self.source


@dataclass(frozen=True, slots=True)
class BuildEnvironment:
    """A virtual environment, and what was installed into it: `name==version sha256:...`."""

    python: Path
    requirements: tuple[str, ...]
