"""One wheel file as an index lists it: identity, hash, size and its METADATA. Not what is in it."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from packaging.tags import Tag
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version

from rvbuild.errors import AuditError, PublishError
from rvbuild.wheel import read_wheel


@dataclass(frozen=True, slots=True)
class WheelName:
    """What the name of a wheel file says; two files with equal names are the same wheel to pip."""

    project: str
    version: Version
    build: tuple[()] | tuple[int, str]
    tags: frozenset[Tag]

    @property
    def platforms(self) -> tuple[str, ...]:
        """The platform tags, each once."""
        return tuple(sorted({tag.platform for tag in self.tags}))


@dataclass(frozen=True, slots=True)
class Distribution:
    """A wheel file: `metadata` is its METADATA as it is, `size` is in bytes."""

    path: Path
    name: WheelName
    sha256: str
    size: int
    metadata: bytes = field(repr=False)
    requires_python: str | None

    @property
    def metadata_sha256(self) -> str:
        """The sha256 of METADATA."""
        return hashlib.sha256(self.metadata).hexdigest()


def parse_name(file_name: str) -> WheelName:
    """Read a wheel's file name; raise `PublishError` when it is not one."""
    try:
        return WheelName(*parse_wheel_filename(file_name))
    except InvalidWheelFilename as error:
        raise PublishError(
            f"`{file_name}` is not the name of a wheel",
            causes=(str(error),),
            hint="the form is `name-version[-build]-python-abi-platform.whl`",
        ) from error


def read_distribution(path: Path) -> Distribution:
    """Read a wheel; raise `PublishError` when it is not one that can be installed."""
    name = parse_name(path.name)
    try:
        wheel = read_wheel(path)
    except AuditError as error:
        raise PublishError(error.message, causes=error.causes, hint=error.hint) from error
    return Distribution(
        path=path,
        name=name,
        sha256=wheel.sha256,
        size=wheel.size,
        metadata=wheel.metadata.text.encode(),
        requires_python=wheel.metadata.requires_python,
    )


def hash_file(path: Path) -> str:
    """Compute the sha256 of a file as hex digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
