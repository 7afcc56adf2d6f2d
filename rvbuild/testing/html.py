"""Test reports as one HTML page that needs nothing beside itself: a table, times, each failure."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from html import escape
from pathlib import Path

from rvbuild.testing.model import CpuResult, TestReport
from rvbuild.testing.table import Cell, Row, Table, tabulate

TAIL_LINES = 60
BAR_WIDTH, BAR_HEIGHT = 110, 7
LOG_BYTES = 1 << 20

HEAD = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>rvbuild: wheels on CPUs</title>
<style>
  :root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif;
          --good: #1a7f37; --bad: #cf222e; --line: #8884; }
  body { margin: 2rem auto; padding: 0 1.5rem; max-width: 90rem; }
  h1 { font-size: 1.5rem; margin-bottom: 0; }
  h2 { font-size: 1.1rem; margin-top: 2rem; }
  .scroll { overflow-x: auto; }
  table { border-collapse: collapse; }
  th, td { padding: .35rem .8rem; text-align: left; vertical-align: top; white-space: nowrap;
           border-bottom: 1px solid var(--line); }
  td a { color: inherit; }
  td:first-child { white-space: normal; overflow-wrap: anywhere; min-width: 14rem; }
  small { opacity: .7; }
  .passed { color: var(--good); }
  .failed, .crashed, .timeout { color: var(--bad); font-weight: 600; }
  svg { display: block; margin-top: .15rem; }
  rect { fill: currentColor; opacity: .55; }
  details { border: 1px solid var(--line); border-radius: 6px; padding: .5rem .9rem;
            margin: .6rem 0; }
  summary { cursor: pointer; }
  pre { overflow-x: auto; background: #8881; padding: .6rem; border-radius: 4px; font-size: 12.5px;
        max-height: 24rem; }
  .command { white-space: pre-wrap; word-break: break-all; }
</style>
"""


def draw_page(reports: Sequence[TestReport], moment: datetime) -> str:
    """Draw the page; `moment` is when the reports were made. Reads the logs that they name."""
    table = tabulate(reports)
    parts = [HEAD, "<h1>Wheels on CPUs</h1>\n", f"<p>{escape(_sum(table, moment))}</p>\n"]
    parts += [*_matrix(table), *_runners(table), *_failures(table), *_known(table), *_flags(table)]
    return "".join([*parts, "</html>\n"])


def _sum(table: Table, moment: datetime) -> str:
    cells = [cell for row in table.rows for cell in row.cells.values()]
    wrong = sum(cell.wrong is not None for cell in cells)
    verdict = f"{wrong} of {len(cells)} went wrong" if wrong else f"all {len(cells)} went well"
    size = f"{len(table.rows)} wheels, {len(table.columns)} CPUs"
    return f"{size}: {verdict}; {moment:%Y-%m-%d %H:%M} UTC"


def _matrix(table: Table) -> Iterator[str]:
    longest = max((c.seconds for row in table.rows for c in row.cells.values()), default=0.0)
    yield '<div class="scroll"><table>\n<tr><th>wheel'
    yield from (f"<th>{escape(cpu)}" for cpu in table.columns)
    yield "\n"
    for number, row in enumerate(table.rows):
        python = f"Python {row.python}" if row.python else "library"
        yield f"<tr><td>{escape(row.wheel)}<br><small>{escape(python)}</small>"
        for cpu in table.columns:
            yield _cell(row.cells.get(cpu), f"f{number}-{cpu}", longest)
        yield "\n"
    yield "</table></div>\n"


def _cell(cell: Cell | None, anchor: str, longest: float) -> str:
    if cell is None:
        return "<td>-"
    words = escape(cell.words)
    if cell.wrong is not None:
        words = f'<a href="#{escape(anchor)}">{words}</a>'
    return f'<td class="{escape(cell.state)}">{words}{_bar(cell.seconds, longest)}'


def _bar(seconds: float, longest: float) -> str:
    width = round(BAR_WIDTH * seconds / longest, 1) if longest else 0
    label = duration(seconds)
    return (
        f' <small>{label}</small><svg width="{BAR_WIDTH}" height="{BAR_HEIGHT}" role="img" '
        f'aria-label="{label}"><rect width="{width}" height="{BAR_HEIGHT}" rx="2"/></svg>'
    )


def duration(seconds: float) -> str:
    """Write a duration in the largest units, such as `1.4 s` or `3 min 05 s`."""
    if seconds < 59.95:  # noqa: PLR2004 - would be drawn as 60.0
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s"


def _runners(table: Table) -> Iterator[str]:
    runners = dict.fromkeys(runner for row in table.rows for runner in row.runners)
    yield f"<p><small>run by {escape('; '.join(runners))}</small></p>\n"


def _failures(table: Table) -> Iterator[str]:
    found = [
        (row, cell, f"f{number}-{cpu}")
        for number, row in enumerate(table.rows)
        for cpu, cell in row.cells.items()
        if cell.wrong is not None
    ]
    if found:
        yield "<h2>What went wrong</h2>\n"
    for row, cell, anchor in found:
        yield from _failure(row, cell, anchor)


def _failure(row: Row, cell: Cell, anchor: str) -> Iterator[str]:
    result = cell.wrong
    if result is None:
        return
    title = f"{row.wheel}: {result.check} on {cell.cpu}"
    yield f'<details open id="{escape(anchor)}"><summary><b>{escape(title)}</b> '
    yield f'<span class="{escape(result.status)}">{escape(result.status)}</span></summary>\n'
    yield f"<p>{escape(result.explanation)}</p>\n"
    unknown = [each for each in result.failures if each.known is None]
    if unknown:
        lines = "\n".join(f"{each.test}: {each.message}" for each in unknown)
        yield f"<pre>{escape(lines)}</pre>\n"
    if result.reproduce:
        yield f'<p>again:</p><pre class="command">{escape(result.reproduce)}</pre>\n'
    yield from _log(result)
    yield "</details>\n"


def _log(result: CpuResult) -> Iterator[str]:
    if result.log is None:
        return
    yield f"<p>log: <code>{escape(str(result.log))}</code></p>\n"
    if tail := "\n".join(log_tail(result.log)):
        yield f"<pre>{escape(tail)}</pre>\n"


def log_tail(log: Path, lines: int = TAIL_LINES) -> tuple[str, ...]:
    """Give the last lines of a log; none when it is not there any more."""
    try:
        with log.open("rb") as stream:
            stream.seek(0, 2)
            stream.seek(max(0, stream.tell() - LOG_BYTES))
            text = stream.read().decode("utf-8", errors="replace")
    except OSError:
        return ()
    return tuple(text.splitlines()[-lines:])


def _known(table: Table) -> Iterator[str]:
    yield from _list(
        "Known to fail",
        (
            f"{place}: {failure.test}: {failure.known}"
            for place, result in _results(table)
            for failure in result.failures
            if failure.known is not None
        ),
    )


def _flags(table: Table) -> Iterator[str]:
    flags = (f"{place}: {flag}" for place, result in _results(table) for flag in result.flags)
    yield from _list("To look at", flags)


def _results(table: Table) -> Iterator[tuple[str, CpuResult]]:
    for row in table.rows:
        for cell in row.cells.values():
            for result in cell.results:
                yield f"{row.wheel} on {result.cpu}", result


def _list(title: str, lines: Iterable[str]) -> Iterator[str]:
    once = tuple(dict.fromkeys(lines))
    if once:
        yield f"<h2>{title}</h2>\n<ul>\n"
        yield from (f"<li>{escape(line)}\n" for line in once)
        yield "</ul>\n"
