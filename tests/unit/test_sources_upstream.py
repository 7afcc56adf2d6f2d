"""The `Upstream-Status:` line of patches."""

from pathlib import Path

import pytest

from rvbuild.errors import SourceError
from rvbuild.sources.upstream import read_upstream_status, require_upstream_status

DIFF = "---\n a.c | 1 +\n\ndiff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1 +1,2 @@\n x\n+y\n"


def patch(tmp_path: Path, head: str, diff: str = DIFF) -> Path:
    path = tmp_path / "fix.patch"
    path.write_text(f"Subject: [PATCH] Fix\n\nText.\n{head}{diff}", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "status",
    [
        "Submitted https://example.org/demo/pull/1",
        "Backport 0123abc",
        "Backport https://example.org/demo/commit/1",
        "To upstream",
        "Inappropriate only for this build",
    ],
)
def test_known_forms(status: str, tmp_path: Path) -> None:
    path = patch(tmp_path, f"Upstream-Status: {status}\n")
    assert read_upstream_status(path) == status
    assert require_upstream_status(path) == status


@pytest.mark.parametrize(
    "status", ["", "Pending", "Submitted", "Submitted soon", "Backport", "Inappropriate", "to u"]
)
def test_other_forms_are_errors(status: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        read_upstream_status(patch(tmp_path, f"Upstream-Status: {status}\n"))
    assert f"Upstream-Status: {status}`" in caught.value.message
    assert caught.value.hint is not None


def test_a_missing_line(tmp_path: Path) -> None:
    path = patch(tmp_path, "", DIFF + "+Upstream-Status: To upstream\nUpstream-Status: Pending\n")
    assert read_upstream_status(path) is None
    with pytest.raises(SourceError, match="has no line `Upstream-Status:`"):
        require_upstream_status(path)


def test_two_lines_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="2 lines"):
        read_upstream_status(patch(tmp_path, "Upstream-Status: To upstream\n" * 2))
