"""Unpacking a wheel, and packing a folder into one whose bytes depend on its contents alone."""

import csv
import io
import stat
import time
import zipfile
from pathlib import Path

from rvbuild.errors import AuditError
from rvbuild.wheel.contents import open_archive, read_member
from rvbuild.wheel.read import read_wheel
from rvbuild.wheel.record import UNRECORDED, record_row

# The zip format counts years from 1980.
EARLIEST_EPOCH_SECONDS = 315532800
UNIX = 3


def unpack_wheel(path: Path, folder: Path) -> None:
    """Unpack a wheel below `folder`, keeping which files are executable; raise `AuditError`."""
    wheel = read_wheel(path)
    with open_archive(path) as archive:
        for member in wheel.members:
            content = read_member(archive, member.name, path.name)
            target = folder / member.name
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
            except OSError as error:
                raise AuditError(
                    f"cannot unpack `{member.name}` of `{path.name}`", causes=(str(error),)
                ) from error
            target.chmod(0o755 if member.executable else 0o644)


def pack_wheel(folder: Path, destination: Path, epoch_seconds: int) -> Path:
    """Pack `folder` as the wheel file `destination`, with a new RECORD.

    Order, dates (`epoch_seconds`, UTC), modes and RECORD depend on the contents alone, so packing
    twice gives the same bytes. Signatures are left out, since they no longer hold.
    """
    info_folders = sorted(folder.glob("*.dist-info"))
    if len(info_folders) != 1:
        raise AuditError(f"`{destination.name}` needs one `.dist-info` folder to be packed")
    info_name = info_folders[0].name
    date = time.gmtime(max(epoch_seconds, EARLIEST_EPOCH_SECONDS))
    unrecorded = {f"{info_name}/{name}" for name in UNRECORDED}
    rows = []
    with zipfile.ZipFile(destination, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, file in _list_files(folder, info_name):
            if name in unrecorded:
                continue
            content = file.read_bytes()
            rows.append(record_row(name, content))
            executable = bool(file.stat().st_mode & stat.S_IXUSR)
            archive.writestr(_entry(name, date, executable=executable), content)
        rows.append((f"{info_name}/RECORD", "", ""))
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows(rows)
        entry = _entry(f"{info_name}/RECORD", date, executable=False)
        archive.writestr(entry, text.getvalue().encode())
    return destination


def _list_files(folder: Path, info_name: str) -> list[tuple[str, Path]]:
    """List files by their names inside the wheel, `.dist-info` last as PEP 427 advises."""
    files = [
        (path.relative_to(folder).as_posix(), path) for path in folder.rglob("*") if path.is_file()
    ]
    return sorted(files, key=lambda each: (each[0].startswith(f"{info_name}/"), each[0]))


def _entry(name: str, date: time.struct_time, *, executable: bool) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, date[:6])
    entry.create_system = UNIX
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (stat.S_IFREG | (0o755 if executable else 0o644)) << 16
    return entry
