"""Getting wheels to people: static indexes, serving them, uploading, credentials."""

from importlib.util import find_spec

from rvbuild.errors import MissingToolError

EXTRA = "rvbuild[publish]"


def require_uploading() -> None:
    """Make sure that what uploads is installed; raise `MissingToolError`."""
    missing = [name for name in ("twine", "keyring") if find_spec(name) is None]
    if missing:
        raise MissingToolError(
            f"uploading takes {' and '.join(missing)}, which came not with this rvbuild",
            hint=f"`pip install '{EXTRA}'`; `rvbuild index build` makes an index without them",
        )
