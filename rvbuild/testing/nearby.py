"""Machines that are not far: this one, where it is riscv64, and containers."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rvbuild.errors import MissingToolError, RvbuildError
from rvbuild.executor import Command, Completed, Executor
from rvbuild.target import MACHINE
from rvbuild.testing.machine import Reach, RunnerKind

START_SECONDS = 300.0
# Inside of a container; nobody else is there.
HOME = "/root"


@dataclass(frozen=True, slots=True)
class ThisMachine:
    """The machine that rvbuild runs on, without an emulator between."""

    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> RunnerKind:
        """This very machine."""
        return "local"

    @property
    def name(self) -> str:
        """What its column is called."""
        return "this machine"

    @property
    def emulated(self) -> bool:
        """What runs without an emulator is not slow."""
        return False

    def shell(self, text: str) -> tuple[str, ...]:
        """Give the words that run a line of shell."""
        return ("sh", "-c", text)

    def copy(self, source: str, target: str) -> tuple[str, ...]:
        """Give the words that copy a file."""
        return ("cp", source.removeprefix(":"), target.removeprefix(":"))

    def trouble(self, completed: Completed) -> tuple[str, str]:
        """Say that a plain program failed."""
        return f"a program ended with {completed.exit_code}", "look at the disk and at `TMPDIR`"


@dataclass(frozen=True, slots=True)
class Image:
    """An image of riscv64 that containers are made of, by Docker's or Podman's own program."""

    name: str
    engine: str
    emulated: bool
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Container:
    """A running container of an image."""

    image: Image
    identity: str

    @property
    def kind(self) -> RunnerKind:
        """A container."""
        return "container"

    @property
    def name(self) -> str:
        """The image's name."""
        return self.image.name

    @property
    def environment(self) -> Mapping[str, str]:
        """What the engine's program may see."""
        return self.image.environment

    @property
    def emulated(self) -> bool:
        """Whether the kernel hands its programs to QEMU."""
        return self.image.emulated

    def shell(self, text: str) -> tuple[str, ...]:
        """Give the words that run a line of shell in it."""
        return (self.image.engine, "exec", self.identity, "sh", "-c", text)

    def copy(self, source: str, target: str) -> tuple[str, ...]:
        """Give the words that copy a file into it or out of it."""
        ends = (f"{self.identity}{end}" if end.startswith(":") else end for end in (source, target))
        return (self.image.engine, "cp", *ends)

    def trouble(self, completed: Completed) -> tuple[str, str]:
        """Say that the container did not answer."""
        ended = "did not end in time" if completed.timed_out else f"ended {completed.exit_code}"
        return (
            f"container `{self.name}` is gone or does not answer: `{self.image.engine}` {ended}",
            f"try `{self.image.engine} run --rm {self.name} uname -m`",
        )


# Where wheels can be tried: what is there already, or an image of it.
Place = Reach | Image


@contextmanager
def reached(place: Place, executor: Executor, workspace: Path) -> Iterator[Reach]:
    """Give the way to a place; a container is made of an image, and gone at the end.

    Raises `MissingToolError` when the engine is missing, does not answer, or has no such image.
    """
    if not isinstance(place, Image):
        yield place
        return
    workspace.mkdir(parents=True, exist_ok=True)
    container = _started(place, executor, workspace)
    try:
        yield container
    finally:
        words = (place.engine, "rm", "--force", container.identity)
        executor.run(Command(words, workspace, dict(place.environment), START_SECONDS))


def _started(image: Image, executor: Executor, workspace: Path) -> Container:
    # It waits for what `exec` brings; the end of the block is its end.
    command = (
        *(image.engine, "run", "--detach", "--network=none", "--pull=never"),
        *(f"--platform=linux/{MACHINE}", f"--env=HOME={HOME}", image.name, "sleep", "infinity"),
    )
    try:
        started = executor.run(Command(command, workspace, dict(image.environment), START_SECONDS))
    except RvbuildError as error:
        raise MissingToolError(
            f"containers are run by `{image.engine}`, which is not here", causes=[error.message]
        ) from error
    if not started.ok:
        raise MissingToolError(
            f"no container of `{image.name}` can be started",
            causes=started.tail(3),
            hint="`rvbuild image build` makes an image, `rvbuild doctor` looks at the engine",
        )
    return Container(image, started.output.split()[-1])
