"""Static archives (`.a`): the members of one, as bytes."""

from rvbuild.errors import AuditError

MAGIC = b"!<arch>\n"
THIN_MAGIC = b"!<thin>\n"
HEADER_SIZE = 60


def is_archive(data: bytes) -> bool:
    """Say whether these bytes begin a static archive."""
    return data.startswith((MAGIC, THIN_MAGIC))


def read_archive(data: bytes, name: str) -> tuple[tuple[str, bytes], ...]:
    """List members as (name, bytes), without symbol tables; raise `AuditError` for a damaged one.

    A name longer than the header takes is given as the reference it is stored as, such as `/18`.
    """
    if data.startswith(THIN_MAGIC):
        raise AuditError(f"`{name}` is a thin archive: its members are not in it")
    members, position = [], len(MAGIC)
    while position < len(data):
        header = data[position : position + HEADER_SIZE]
        size = header[48:58].strip()
        if len(header) < HEADER_SIZE or not size.isdigit():
            raise AuditError(f"`{name}` is not a readable archive: a member header is damaged")
        start = position + HEADER_SIZE
        content = data[start : start + int(size)]
        if len(content) < int(size):
            raise AuditError(f"`{name}` is not a readable archive: its last member is cut short")
        label = header[:16].decode("ascii", "backslashreplace").strip()
        if label not in {"/", "//", "/SYM64/"}:
            members.append((label.removesuffix("/"), content))
        position = start + int(size) + int(size) % 2
    return tuple(members)
