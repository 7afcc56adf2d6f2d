"""The `Upstream-Status:` line of a patch: whether upstream has it, will get it or should not."""

import re
from pathlib import Path

from rvbuild.errors import SourceError

_LINE = re.compile(rb"^Upstream-Status:[ \t]*(.*?)[ \t\r]*$", re.MULTILINE)
_CHANGES = re.compile(rb"^(diff --git |--- \S)", re.MULTILINE)
_FORMS = (
    re.compile(r"Submitted https?://\S+"),
    re.compile(r"Backport ([0-9a-f]{7,40}|https?://\S+)"),
    re.compile(r"To upstream"),
    re.compile(r"Inappropriate \S.*"),
)
_HINT = (
    "write `Upstream-Status: ` and `Submitted URL`, `Backport COMMIT`, `To upstream` or "
    "`Inappropriate REASON` above the first change"
)


def read_upstream_status(patch: Path) -> str | None:
    """Give the status of a patch, such as `To upstream`, or None where the line is missing.

    Raises `SourceError` when there are two lines or the status has none of the known forms.
    """
    try:
        data = patch.read_bytes()
    except OSError as error:
        raise SourceError(f"cannot read patch `{patch}`", causes=[str(error.strerror)]) from error
    changes = _CHANGES.search(data)
    header = data[: changes.start()] if changes else data
    found: list[bytes] = _LINE.findall(header)
    if not found:
        return None
    if len(found) > 1:
        raise SourceError(f"patch `{patch.name}` has {len(found)} lines `Upstream-Status:`")
    status = found[0].decode("utf-8", errors="replace")
    if not any(form.fullmatch(status) for form in _FORMS):
        raise SourceError(
            f"patch `{patch.name}` has the unknown `Upstream-Status: {status}`", hint=_HINT
        )
    return status


def require_upstream_status(patch: Path) -> str:
    """Give the status of a patch; raise `SourceError` where it is missing or ill-formed."""
    status = read_upstream_status(patch)
    if status is None:
        raise SourceError(f"patch `{patch.name}` has no line `Upstream-Status:`", hint=_HINT)
    return status
