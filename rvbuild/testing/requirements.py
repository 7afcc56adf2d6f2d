"""What has to be beside a wheel to test it, and fetching that for riscv64 on the build machine."""

import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from packaging.metadata import InvalidMetadata, Metadata
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import parse_wheel_filename

from rvbuild.errors import CheckError, UsageError
from rvbuild.executor import Command
from rvbuild.target import MACHINE, OLDEST_FLOOR, Floor, compatible_platforms, python_tag
from rvbuild.testing.model import Bench

DOWNLOAD_SECONDS = 1800
GLIBC_VERSION = re.compile(rb"GNU C Library[^\n]*release version (\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class PythonFacts:
    """What decides on a requirement's marker and on a wheel's tags: `version` may be `3.13t`."""

    version: str
    full_version: str

    @property
    def markers(self) -> dict[str, str]:
        """Give the environment that markers see on riscv64 Linux."""
        return {
            "implementation_name": "cpython",
            "implementation_version": self.full_version,
            "os_name": "posix",
            "platform_machine": MACHINE,
            "platform_python_implementation": "CPython",
            "platform_system": "Linux",
            "python_full_version": self.full_version,
            "python_version": self.version.removesuffix("t"),
            "sys_platform": "linux",
            "extra": "",
        }

    @property
    def abis(self) -> tuple[str, ...]:
        """List the ABI tags it takes; free-threaded Pythons know no stable one."""
        stable = () if self.version.endswith("t") else ("abi3",)
        return (python_tag(self.version), *stable, "none")


def facts_of(bench: Bench) -> PythonFacts:
    """Take the facts out of the bench's interpreter."""
    interpreter = bench.runtime.interpreter
    return PythonFacts(interpreter.version, interpreter.full_version)


def run_requirements(wheel: Path, facts: PythonFacts) -> tuple[str, ...]:
    """List what a wheel needs to run on riscv64; raise `CheckError` when it does not say."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            member = next(name for name in archive.namelist() if _is_metadata(name))
            metadata = Metadata.from_email(archive.read(member), validate=False)
        requirements = metadata.requires_dist or []
    except (OSError, zipfile.BadZipFile, StopIteration, ExceptionGroup, InvalidMetadata) as error:
        raise CheckError(f"`{wheel.name}` has no readable metadata", causes=[str(error)]) from error
    return decided(requirements, facts)


def _is_metadata(name: str) -> bool:
    folder, _, file = name.partition("/")
    return folder.endswith(".dist-info") and file == "METADATA"


def decided(requirements: Iterable[Requirement], facts: PythonFacts) -> tuple[str, ...]:
    """Drop requirements that do not apply on riscv64, and the markers of those that do.

    pip would decide them for the machine it runs on.
    """
    texts = []
    for requirement in requirements:
        if requirement.marker is None or requirement.marker.evaluate(facts.markers):
            requirement.marker = None
            texts.append(str(requirement))
    return tuple(texts)


def parse_requirements(texts: Iterable[str]) -> tuple[Requirement, ...]:
    """Read requirement texts; raise `UsageError` for one that is none."""
    try:
        return tuple(Requirement(text) for text in texts)
    except InvalidRequirement as error:
        raise UsageError("a test requirement cannot be read", causes=[str(error)]) from error


def glibc_floor(root: Path) -> Floor:
    """Read a runtime's glibc version out of its C library; the oldest floor when it has none."""
    for path in sorted(root.glob("**/libc.so.6")):
        found = GLIBC_VERSION.search(path.read_bytes())
        if found:
            return max(Floor(int(found[1]), int(found[2])), Floor(*OLDEST_FLOOR))
    return Floor(*OLDEST_FLOOR)


def download(
    wheels: tuple[Path, ...], requirements: tuple[str, ...], site: Path, bench: Bench
) -> None:
    """Install `requirements` as riscv64 wheels into `site`, by the build machine's pip.

    The given wheels stand fixed while pip resolves, and their folders are looked into first.
    Raises `CheckError` when there is no wheel for something.
    """
    constraints = bench.workspace / "constraints.txt"
    constraints.write_text("".join(map(_constraint, wheels)), encoding="utf-8")
    interpreter = bench.runtime.interpreter
    words = (
        str(interpreter.build_program),
        f"{interpreter.pip}/pip",
        *("install", "--target", str(site), "--only-binary", ":all:", "--no-compile"),
        *("--disable-pip-version-check", "--no-input", "--constraint", str(constraints)),
        *_options("--find-links", map(str, _folders(wheels, bench))),
        *_target_options(facts_of(bench), glibc_floor(interpreter.root)),
        *requirements,
    )
    environment = {**bench.environment, "PYTHONDONTWRITEBYTECODE": "1"}
    command = Command(words, bench.workspace, environment, DOWNLOAD_SECONDS)
    log = bench.workspace / "requirements.log"
    log.unlink(missing_ok=True)
    completed = bench.executor.run(command, log, lambda line: bench.watch.line(bench.job, line))
    if not completed.ok:
        raise CheckError(
            "the requirements of the tests cannot be had as wheels for riscv64",
            causes=[line for line in completed.tail() if line.startswith("ERROR")],
            hint="build what is missing with `rvbuild wheel`, or give its wheel along",
            log=log,
            tail=completed.tail(),
        )


def _constraint(wheel: Path) -> str:
    name, version, _, _ = parse_wheel_filename(wheel.name)
    return f"{name}=={version}\n"


def _folders(wheels: tuple[Path, ...], bench: Bench) -> tuple[Path, ...]:
    return tuple(dict.fromkeys([*(wheel.parent for wheel in wheels), *bench.wheel_folders]))


def _target_options(facts: PythonFacts, floor: Floor) -> tuple[str, ...]:
    # `--platform` means exactly the tags that are named, so all older ones are named as well.
    return (
        *_options("--platform", compatible_platforms(floor)),
        *("--python-version", facts.version.removesuffix("t"), "--implementation", "cp"),
        *_options("--abi", facts.abis),
    )


def _options(name: str, values: Iterable[str]) -> tuple[str, ...]:
    return tuple(word for value in values for word in (name, value))
