"""What unit tests of commands share: a desk of one's own, away from the user's settings."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli_samples import Desk, open_desk


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Desk]:
    """Give a desk with an empty recipe folder, no environment and pretended builds."""
    for name in [name for name in os.environ if name.startswith(("RVBUILD_", "XDG_", "PIP_"))]:
        monkeypatch.delenv(name)
    for name in ("NO_COLOR", "GITHUB_ACTIONS", "NETRC"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "recipes").mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("RVBUILD_RECIPES", str(tmp_path / "recipes"))
    monkeypatch.chdir(tmp_path)
    before = signal.getsignal(signal.SIGTERM)
    yield open_desk(tmp_path, capsys, monkeypatch)
    signal.signal(signal.SIGTERM, before)
