"""The area of a terminal that shows what runs now, kept below everything else that is written."""

from collections.abc import Callable
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from rvbuild.cli.report import duration

Running = Callable[[], tuple[tuple[str, str, float], ...]]
ROWS = 12


class LiveArea:
    """Draws running steps several times a second, from construction to `stop`."""

    def __init__(self, stream: TextIO, running: Running, *, color: bool) -> None:
        console = Console(
            file=stream,
            force_terminal=True,
            no_color=not color,
            highlight=False,
            markup=False,
            emoji=False,
        )
        self._live = Live(
            get_renderable=lambda: draw_running(running()),
            console=console,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()

    def write(self, text: str) -> None:
        """Write lines above the area."""
        self._live.console.print(Text.from_ansi(text), soft_wrap=True)

    def stop(self) -> None:
        """Take the area away."""
        self._live.stop()


def draw_running(running: tuple[tuple[str, str, float], ...]) -> Table:
    """Lay out job, step and elapsed time; many rows end in their number."""
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, ratio=1)
    table.add_column(no_wrap=True, justify="right")
    for job, step, seconds in running[:ROWS]:
        table.add_row(Text(job, style="bold"), Text(step), Text(duration(seconds)))
    if len(running) > ROWS:
        table.add_row(Text(f"and {len(running) - ROWS} more"), Text(""), Text(""))
    return table
