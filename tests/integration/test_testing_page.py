"""The page of test reports in a real browser: the table of wheels and CPUs is there to be seen."""

import subprocess
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest

from rvbuild import testing
from rvbuild.recipe import model as recipe
from rvbuild.target import cpus
from rvbuild.testing.html import draw_page
from tests.integration.test_testing_wheels import READ_VLENB, bench, make_wheel

__all__ = ["bench"]

pytestmark = pytest.mark.needs("qemu", "chromium")

# A browser that neither asks for anything nor calls anybody.
BROWSER = (
    *("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"),
    *("--no-first-run", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--virtual-time-budget=2000"),
)
PNG = b"\x89PNG\r\n\x1a\n"


class Cells(HTMLParser):
    """Collects the rows of tables as the browser has them."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - the parser's own signature
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self._inside = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.rows[-1][-1] += data


def open_page(page: Path, folder: Path, *words: str) -> str:
    command = (*BROWSER, f"--user-data-dir={folder}", *words, page.as_uri())
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    return done.stdout


def test_a_browser_shows_wheels_and_cpus(tmp_path: Path, bench: testing.Bench) -> None:
    processors = (cpus()["rv64gc"], cpus()["vlen256"])
    reports = [
        testing.check_wheel(make_wheel(tmp_path, name), recipe.Test(smoke=smoke), processors, bench)
        for name, smoke in (("plain", "import plain"), ("vectors", READ_VLENB))
    ]
    page = tmp_path / "page.html"
    page.write_text(draw_page(reports, datetime(2026, 12, 1, tzinfo=UTC)), encoding="utf-8")

    cells = Cells()
    cells.feed(open_page(page, tmp_path / "first", "--dump-dom"))
    head, plain, vectors, *_ = cells.rows
    assert head[0] == "wheel"
    assert [name.split()[0] for name in head[1:]] == ["rv64gc", "vlen256"]
    assert plain[0].startswith("plain-1.0-")
    assert ["passed" in cell for cell in plain[1:]] == [True, True]
    # There is no vector unit on the first one.
    assert ["crashed" in cell for cell in vectors[1:]] == [True, False]

    picture = tmp_path / "page.png"
    open_page(page, tmp_path / "second", "--window-size=1200,800", f"--screenshot={picture}")
    assert picture.read_bytes().startswith(PNG)
