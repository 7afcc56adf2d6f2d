"""The values of a run: the house it happens in, what is asked for, and what came of each job."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from rvbuild.errors import RvbuildError
from rvbuild.events import Watcher
from rvbuild.executor.container import ContainerExecutor
from rvbuild.executor.local import LocalExecutor
from rvbuild.fetch import Network
from rvbuild.kit import Supplies
from rvbuild.places import Places
from rvbuild.recipe.catalogue import Catalogue
from rvbuild.recipe.model import Mode
from rvbuild.sources.model import Fetching
from rvbuild.store import Store
from rvbuild.target import Floor
from rvbuild.testing import Portion, TestReport


@dataclass(frozen=True, slots=True)
class House:
    """Where a run happens: folders, network, recipes, pins, and this machine's architecture.

    `environment` is what steps with network may see of the user's own: proxies, certificates, pip.
    """

    places: Places
    network: Network
    watch: Watcher
    executor: LocalExecutor | ContainerExecutor
    catalogue: Catalogue
    pins: Path
    host: str
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def supplies(self) -> Supplies:
        """What installing a kit takes."""
        return Supplies(self.places, self.network, self.watch)

    @property
    def fetching(self) -> Fetching:
        """What fetching sources takes."""
        return Fetching(self.network, self.places.downloads, self.executor, self.environment)

    @property
    def store(self) -> Store:
        """The results of all runs."""
        return Store(self.places.store, self.watch)


@dataclass(frozen=True, slots=True)
class Options:
    """What is asked for; `cpus` empty means those that each recipe names.

    `names` are like `numpy` or `numpy==2.5.5`. `compiler_cache` is `local`, `off` or an address.
    `container` False builds natively on the bare machine.
    `memory_mb` is what tests may take together, None for what is free; `again` tests what passed
    or was finished before once more. `portion` is what is wanted of suites, which then run alone.
    """

    names: tuple[str, ...]
    pythons: tuple[str, ...]
    floor: Floor
    mode: Mode = "cross"
    toolchain: str = "clang"
    jobs: int = 1
    cpus: tuple[str, ...] = ()
    test: bool = True
    suites: bool = True
    prefer_public: bool = False
    compiler_cache: str = "local"
    container: bool = True
    memory_mb: int | None = None
    again: bool = False
    portion: Portion | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one job ended; `wheel` is the proven file of a wheel job, `prefix` a library's folder."""

    job: str
    state: Literal["built", "cached", "public", "failed", "not started"]
    seconds: float = 0.0
    wheel: Path | None = None
    prefix: Path | None = None
    error: RvbuildError | None = None
    report: TestReport | None = None
