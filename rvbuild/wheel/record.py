"""RECORD: what a wheel says its members are, checked against what they are."""

import csv
import hashlib
import io
from base64 import urlsafe_b64encode
from dataclasses import dataclass

from rvbuild.errors import AuditError
from rvbuild.wheel.contents import open_archive, read_member
from rvbuild.wheel.model import Wheel

# Files of the signature scheme that PEP 427 leaves out of RECORD.
UNRECORDED = ("RECORD", "RECORD.jws", "RECORD.p7s")
STRONG = frozenset({"sha256", "sha384", "sha512"})
COLUMNS = 3


@dataclass(frozen=True, slots=True)
class RecordProblem:
    """A member that RECORD does not describe truly."""

    member: str
    message: str


def verify_record(wheel: Wheel) -> tuple[RecordProblem, ...]:
    """Compare every member with RECORD; raise `AuditError` only when RECORD cannot be read."""
    problems = []
    unrecorded = {f"{wheel.info_folder}/{name}" for name in UNRECORDED}
    with open_archive(wheel.path) as archive:
        data = read_member(archive, f"{wheel.info_folder}/RECORD", wheel.file_name)
        rows = _parse_record(data, wheel.file_name)
        for member in wheel.members:
            if member.name in unrecorded:
                continue
            if member.name not in rows:
                problems.append(RecordProblem(member.name, "is not listed in RECORD"))
                continue
            content = read_member(archive, member.name, wheel.file_name)
            message = _compare(content, *rows[member.name])
            if message:
                problems.append(RecordProblem(member.name, message))
    known = unrecorded | {member.name for member in wheel.members}
    problems += [
        RecordProblem(name, "is listed in RECORD and not in the wheel")
        for name in sorted(rows.keys() - known)
    ]
    return tuple(problems)


def record_row(name: str, content: bytes) -> tuple[str, str, str]:
    """Make the row of RECORD for a member."""
    return name, f"sha256={_digest('sha256', content)}", str(len(content))


def _parse_record(data: bytes, file_name: str) -> dict[str, tuple[str, str]]:
    try:
        rows = list(csv.reader(io.StringIO(data.decode("utf-8"), newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise AuditError(f"RECORD of `{file_name}` is not UTF-8 text of CSV rows") from error
    record: dict[str, tuple[str, str]] = {}
    for row in rows:
        if not row:
            continue
        if len(row) != COLUMNS:
            raise AuditError(f"RECORD of `{file_name}` has a row without three columns: `{row[0]}`")
        if row[0] in record:
            raise AuditError(f"RECORD of `{file_name}` lists `{row[0]}` more than once")
        record[row[0]] = (row[1], row[2])
    return record


def _compare(content: bytes, digest: str, size: str) -> str | None:
    algorithm, _, expected = digest.partition("=")
    if algorithm not in STRONG:
        return f"has no sha256 in RECORD but `{digest}`"
    if size and size != str(len(content)):
        return f"has {len(content)} bytes and RECORD says `{size}`"
    if _digest(algorithm, content) != expected.rstrip("="):
        return f"does not have the {algorithm} that RECORD says"
    return None


def _digest(algorithm: str, content: bytes) -> str:
    digest = hashlib.new(algorithm, content).digest()
    return urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")
