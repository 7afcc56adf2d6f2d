"""The status as one HTML page that needs nothing beside itself."""

from datetime import UTC, datetime
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from rvbuild.cli.report import duration, size

if TYPE_CHECKING:
    from rvbuild.cli.status import Line

HEAD = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>rvbuild: the iceberg</title>
<style>
  :root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
  body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
  table { border-collapse: collapse; width: 100%; }
  th, td { padding: .2rem .6rem; text-align: left; border-bottom: 1px solid #8884; }
  td:nth-child(n+4) { text-align: right; font-variant-numeric: tabular-nums; }
  .built td:nth-child(2) { color: #1a7f37; }
  .stopped td:nth-child(2) { color: #cf222e; }
</style>
"""


def draw_page(lines: tuple["Line", ...], now: float) -> str:
    """Draw the page, the top of the iceberg first; `now` is in seconds since the epoch."""
    from rvbuild.cli.status import count

    moment = f"{datetime.fromtimestamp(now, UTC):%Y-%m-%d %H:%M} UTC"
    parts = [HEAD, f"<h1>The iceberg</h1>\n<p>{escape(count(lines))}, {moment}</p>\n<table>\n"]
    parts.append("<tr><th>job<th>state<th>tests<th>size<th>time<th>built\n")
    ordered = sorted(lines, key=lambda line: (-line.level, line.job))
    for level, group in groupby(ordered, key=lambda line: line.level):
        parts.append(f'<tr><th colspan="6">level {level}\n')
        parts += [_row(line) for line in group]
    return "".join([*parts, "</table>\n</html>\n"])


def _row(line: "Line") -> str:
    created = None if line.created is None else datetime.fromtimestamp(line.created, UTC)
    cells = (
        line.job,
        line.state,
        "passed" if line.tested else "",
        "" if line.size_bytes is None else size(line.size_bytes),
        "" if line.seconds is None else duration(line.seconds),
        "" if created is None else f"{created:%Y-%m-%d %H:%M}",
    )
    kind = line.state.partition(" ")[0]
    return f'<tr class="{escape(kind)}"><td>{"<td>".join(map(escape, cells))}\n'
