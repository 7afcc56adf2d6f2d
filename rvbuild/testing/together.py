"""Doing one thing to many, several at a time in threads, and ending them all on an interrupt."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def side_by_side(
    act: Callable[[Item], Result], items: Iterable[Item], jobs: int, stop: Event | None
) -> Iterator[Result]:
    """Act on items, `jobs` at a time, and give the results in order; `stop` ends running commands.

    With one job all is done in this thread, where an interrupt reaches the command at once.
    """
    if jobs <= 1:
        yield from map(act, items)
        return
    with ThreadPoolExecutor(jobs) as pool:
        try:
            yield from pool.map(act, items)
        except BaseException:
            # Threads do not get the signal: their commands are ended, then the threads follow.
            if stop is not None:
                stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
