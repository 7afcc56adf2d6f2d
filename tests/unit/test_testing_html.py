"""The page of test reports, and the table below it."""

from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

from rvbuild.testing import CpuResult, Failure, TestReport
from rvbuild.testing.html import draw_page, duration
from rvbuild.testing.table import tabulate

MOMENT = datetime(2027, 1, 15, 12, 30, tzinfo=UTC)
INSTALLED = CpuResult("rv64gc", "install", "passed", 1.0)


def report(*results: CpuResult, wheel: str = "demo-1.0-py3-none-any.whl") -> TestReport:
    return TestReport(wheel, "0" * 64, "3.13.5", "qemu-10", (INSTALLED, *results))


def wrong(log: Path) -> CpuResult:
    failures = (Failure("test_a", "3 < 4 & <b>"), Failure("test_k", "quiet", known="as always"))
    return CpuResult(
        *("vlen512", "suite", "failed", 90.0, "1 of 3 tests failed", log, "cd /x && run <it>"),
        failures=failures,
        flags=("known failure `test_old` passed",),
    )


class Reader(HTMLParser):
    """Collects the tags of a page, and what they point to."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.outside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values["id"]} if "id" in values else set()
        if "href" in values:
            self.links.add(values["href"].removeprefix("#"))
        if "src" in values or tag in ("script", "link"):
            self.outside.append(tag)


def test_a_page_tells_every_failure_and_needs_nothing_else(tmp_path: Path) -> None:
    log = tmp_path / "suite.log"
    log.write_text("oldest\n" + "line\n" * 100 + "Segmentation <fault>\n")
    passed = CpuResult("rv64gc", "suite", "passed", 30.0)
    page = draw_page([report(passed, wrong(log))], MOMENT)
    reader = Reader()
    reader.feed(page)
    assert reader.outside == []
    assert reader.links <= reader.anchors
    assert len(reader.links) == 1
    assert reader.tags.count("svg") == 2
    for words in (
        *("1 wheels, 2 CPUs: 1 of 2 went wrong; 2027-01-15 12:30 UTC", "suite failed"),
        *("3 &lt; 4 &amp; &lt;b&gt;", "cd /x &amp;&amp; run &lt;it&gt;", str(log)),
        *("Segmentation &lt;fault&gt;", "known failure `test_old` passed", "1 min 30 s"),
        *("Known to fail", "on vlen512: test_k: as always"),
    ):
        assert words in page
    assert "quiet" not in page
    assert "oldest" not in page


def test_a_log_that_is_gone_is_no_failure_of_the_page(tmp_path: Path) -> None:
    assert "suite failed" in draw_page([report(wrong(tmp_path / "gone.log"))], MOMENT)


def test_a_page_of_nothing() -> None:
    assert "0 wheels, 0 CPUs: all 0 went well" in draw_page([], MOMENT)


def test_columns_follow_the_catalogue_and_boards_come_last() -> None:
    names = ("me@board", "vlen256", "rv64gc")
    results = [CpuResult(name, "smoke", "passed", 1.0) for name in names]
    assert tabulate([report(*results)]).columns == ("rv64gc", "vlen256", "me@board")


def test_a_board_shares_the_row_of_its_wheel() -> None:
    here = report(CpuResult("rv64gc", "smoke", "passed", 1.0))
    there = report(CpuResult("me@board", "smoke", "failed", 1.0))
    (row,) = tabulate([here, replace(there, emulator="board me@board")]).rows
    assert [cell.words for cell in row.cells.values()] == ["passed", "smoke failed"]
    assert row.runners == ("qemu-10", "board me@board")
    assert len(tabulate([here, here]).rows) == 2


def test_an_installation_shows_only_when_it_failed() -> None:
    assert tabulate([report()]).columns == ()
    failed = replace(report(), results=(replace(INSTALLED, status="failed"),))
    assert tabulate([failed]).rows[0].cells["rv64gc"].words == "install failed"


def test_durations() -> None:
    assert [duration(value) for value in (0.04, 59.96, 185)] == [
        "0.0 s",
        "1 min 00 s",
        "3 min 05 s",
    ]
