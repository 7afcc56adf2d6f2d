"""Search paths: which entries leak, and which reach a member."""

from pathlib import PurePosixPath

import pytest

from rvbuild.audit.searchpath import leak

HERE = PurePosixPath("demo/sub/module.so")


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("$ORIGIN", None),
        ("${ORIGIN}/../../demo.libs", None),
        ("$ORIGIN/../../other/lib", None),
        ("$ORIGIN/../../../lib", "outside of site-packages"),
        ("/usr/lib", "build machine"),
        ("lib", "without `$ORIGIN`"),
        ("$ORIGINAL/lib", "without `$ORIGIN`"),
        ("", "current folder"),
    ],
)
def test_knows_what_leaks(entry: str, reason: str | None) -> None:
    found = leak(entry, HERE)
    if reason is None:
        assert found is None
    else:
        assert reason in str(found)


def test_does_not_judge_relative_paths_of_scripts() -> None:
    assert leak("$ORIGIN/../lib", None) is None
    assert leak("/usr/lib", None) is not None
