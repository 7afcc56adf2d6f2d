"""Opening a wheel's zip archive and reading members, with damage told as `AuditError`."""

import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rvbuild.errors import AuditError


@contextmanager
def open_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a wheel for reading; raise `AuditError` when it is missing or no zip archive."""
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile, UnicodeDecodeError, NotImplementedError) as error:
        raise AuditError(f"cannot read `{path.name}` as a wheel", causes=(str(error),)) from error
    with archive:
        yield archive


def read_member(archive: zipfile.ZipFile, name: str, file_name: str) -> bytes:
    """Read one member; raise `AuditError` when it is missing, damaged or encrypted."""
    try:
        return archive.read(name)
    except KeyError as error:
        raise AuditError(f"`{file_name}` has no `{name}`") from error
    except (
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
        EOFError,
        OSError,
        RuntimeError,
        ValueError,
    ) as error:
        raise AuditError(f"`{name}` in `{file_name}` is damaged", causes=(str(error),)) from error
