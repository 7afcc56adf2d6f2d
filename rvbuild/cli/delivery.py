"""Handing over what a run made: wheels into `dist`, the summary, and every failure."""

import hashlib
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rvbuild.cli.report import SummaryRow, draw_summary
from rvbuild.errors import RvbuildError, UsageError

if TYPE_CHECKING:
    from rvbuild.events import Watcher
    from rvbuild.pipeline import Outcome

SCHEMA = "rvbuild.outcomes/1"


@dataclass(frozen=True, slots=True)
class Delivered:
    """A job's outcome and what the user gets of it: a wheel in `dist`, a prefix, or nothing.

    `sha256` and `size_bytes` are the wheel's.
    """

    outcome: "Outcome"
    path: Path | None = None
    sha256: str = ""
    size_bytes: int = 0


def deliver(outcomes: Sequence["Outcome"], dist: Path, watch: "Watcher") -> tuple[Delivered, ...]:
    """Copy the wheels of outcomes into a folder, each in one step; raises `UsageError`.

    Two Pythons may give a wheel of the same name, when it is pure or of the stable ABI. The first
    one is kept then, since both claim to be the same.
    """
    kept: dict[str, str] = {}
    delivered = []
    for outcome in outcomes:
        if outcome.wheel is None or outcome.error is not None:
            delivered.append(Delivered(outcome, outcome.prefix))
            continue
        name = outcome.wheel.name
        digest = _sha256(outcome.wheel)
        if kept.setdefault(name, digest) != digest:
            watch.note(outcome.job, f"`{name}` was built with other bytes before: that one is kept")
        else:
            _put(outcome.wheel, dist / name, digest)
        size = (dist / name).stat().st_size
        delivered.append(Delivered(outcome, dist / name, kept[name], size))
    return tuple(delivered)


def _put(wheel: Path, place: Path, digest: str) -> None:
    if place.is_file() and _sha256(place) == digest:
        return
    partial = place.with_name(f".{place.name}.part")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(wheel, partial)
        partial.replace(place)
    except OSError as error:
        with suppress(OSError):
            partial.unlink()
        reason = (error.strerror or str(error)).lower()
        raise UsageError(
            f"`{place}` cannot be written", causes=[reason], hint="choose a folder by `--dist`"
        ) from error


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def paths(delivered: Sequence[Delivered], *, wheels: bool) -> tuple[str, ...]:
    """List what the user gets, wheels or prefixes, each path once."""
    chosen = (each for each in delivered if each.path is not None and bool(each.sha256) == wheels)
    return tuple(dict.fromkeys(str(each.path) for each in chosen))


def summary(delivered: Sequence[Delivered]) -> str:
    """Draw the table of wheels, where their symbols are, and a line for each job without result."""
    rows = [
        SummaryRow(each.path.name, each.size_bytes, each.outcome.seconds, each.sha256)
        for each in delivered
        if each.path is not None and each.sha256
    ]
    lines = [draw_summary(rows)] if rows else []
    lines += [f"symbols: {folder}" for folder in map(_symbols, delivered) if folder is not None]
    for state in ("failed", "not started"):
        lines += [
            f"{state}: {each.outcome.job}" for each in delivered if each.outcome.state == state
        ]
    return "\n".join(lines)


def as_json(delivered: Sequence[Delivered]) -> dict[str, object]:
    """Turn outcomes into plain data."""
    return {"schema": SCHEMA, "jobs": [_plain(each) for each in delivered]}


def _symbols(each: Delivered) -> Path | None:
    """Find what was split off a wheel, in the store."""
    wheel = each.outcome.wheel
    folder = wheel and wheel.with_name("symbols")
    return folder if each.sha256 and folder and folder.is_dir() else None


def _plain(each: Delivered) -> dict[str, object]:
    outcome, symbols = each.outcome, _symbols(each)
    return {
        "id": outcome.job,
        "state": outcome.state,
        "seconds": round(outcome.seconds, 3),
        "path": None if each.path is None else str(each.path),
        "sha256": each.sha256 or None,
        "size_bytes": each.size_bytes or None,
        "symbols": symbols and str(symbols),
        "error": outcome.error.message if outcome.error else None,
    }


def raise_failures(errors: Sequence[RvbuildError]) -> None:
    """Raise failures, several as a group; none is fine."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise ExceptionGroup("there are several failures", errors)
