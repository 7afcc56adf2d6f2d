"""`rvbuild cache`: what lies in the cache, removing results and downloads, hashing all of it."""

import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rvbuild.cli.invocation import JsonOption, emit, emit_json, settings, tell, watcher
from rvbuild.cli.usage import command_group
from rvbuild.errors import NothingSelectedError, SourceError

if TYPE_CHECKING:
    from rvbuild.places import Places
    from rvbuild.store import Entry, Store

SCHEMA = "rvbuild.cache/1"
DAY_SECONDS = 24 * 3600
SHORT_KEY = 12
ASIDE = re.compile(r"\.other-[0-9a-f]{12}$")

app = command_group("Show, clean and check what rvbuild keeps on disk.")


@app.command("show")
def show_cache(context: typer.Context, as_json: JsonOption = False) -> None:
    """Show what is in the cache, with sizes and ages."""
    from rvbuild.cli.report import size, table
    from rvbuild.store import Store, entries

    places = settings(context).places
    folders = {name: _size_bytes(folder) for name, folder in _folders(places).items()}
    found = entries(Store(places.store))
    if as_json:
        results = [asdict(entry) for entry in found]
        emit_json(
            {"schema": SCHEMA, "cache": str(places.cache), "folders": folders, "results": results}
        )
        return
    rows = [(name, size(size_bytes)) for name, size_bytes in folders.items()]
    emit(table([(str(places.cache), "size"), *rows], right=(1,)))
    if found:
        emit("")
        emit(table([("result", "key", "size", "age"), *map(_row, found)], right=(2, 3)))


@app.command("clean")
def clean_cache(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Recipe, job id or pattern like `numpy-*:cp313`."),
    ] = None,
    older_than: Annotated[
        float | None, typer.Option(metavar="DAYS", min=0, help="Only what is older than this.")
    ] = None,
    downloads: Annotated[
        bool, typer.Option("--downloads", help="Remove verified downloads too.")
    ] = False,
) -> None:
    """Remove results by name or age. With neither, only left-overs of killed runs."""
    from rvbuild.cli.report import size
    from rvbuild.store import Store, clean, remove

    places = settings(context).places
    store = Store(places.store)
    chosen = _choose(store, names or (), older_than) if names or older_than is not None else ()
    for entry in chosen:
        emit(f"{entry.job} {entry.key}".strip())
    freed = remove(store, chosen) + clean(store)
    if downloads:
        freed += _remove_downloads(places.downloads, older_than)
    tell(context, f"{len(chosen)} results removed, {size(freed)} freed")


@app.command("fill")
def fill_cache(
    context: typer.Context,
    pythons: Annotated[
        list[str] | None, typer.Argument(metavar="VERSION", help="Pythons; else the settings'.")
    ] = None,
) -> None:
    """Have every kit that building may take. Afterwards only sources are fetched."""
    from rvbuild.cli.house import open_house
    from rvbuild.cli.wishes import Wish, pipeline_options, wished_settings
    from rvbuild.pipeline.equipment import install_everything

    chosen = wished_settings(context, pythons=pythons)
    with watcher(context, chosen) as watch:
        install_everything(pipeline_options(chosen, Wish(names=())), open_house(chosen, watch))
    emit(str(chosen.places.kits))


@app.command("verify")
def verify_cache(context: typer.Context) -> None:
    """Hash every result and every download. Damaged ones are put aside."""
    from rvbuild.store import Store, entries, verify_all

    places = settings(context).places
    store = Store(places.store)
    count = len(entries(store))
    causes = [f"result {key}" for key in verify_all(store)]
    downloads = [path for path in _downloads(places.downloads) if not ASIDE.search(path.name)]
    causes += [f"download {path}" for path in downloads if not _verify_download(path)]
    if causes:
        raise SourceError(
            f"{len(causes)} entries of the cache are damaged",
            causes=causes,
            hint="nothing has to be done: they were put aside and are made or fetched anew",
        )
    tell(context, f"{count} results and {len(downloads)} downloads are whole")


def _folders(places: "Places") -> dict[str, Path]:
    return {
        "downloads": places.downloads,
        "kits": places.kits,
        "results": places.store,
        "work": places.work,
        "logs": places.logs,
        "compiler cache": places.compiler_cache,
    }


def _row(entry: "Entry") -> tuple[str, str, str, str]:
    from rvbuild.cli.report import size

    days = entry.age_seconds(time.time()) / DAY_SECONDS
    return (
        entry.job or "damaged",
        entry.key[:SHORT_KEY],
        size(entry.size_bytes),
        f"{days:.1f} days",
    )


def _choose(
    store: "Store", names: Sequence[str], older_than_days: float | None
) -> tuple["Entry", ...]:
    """Choose results that fit any name and the age; raises `NothingSelectedError` for none."""
    from rvbuild.store import entries, named, older_than

    listed = entries(store)
    fitting = {entry.key: entry for name in names for entry in named(listed, name)}
    chosen = tuple(fitting.values()) if names else listed
    if older_than_days is not None:
        chosen = older_than(chosen, older_than_days * DAY_SECONDS, time.time())
    if not chosen and names:
        raise NothingSelectedError(
            "there is no such result in the cache", hint="`rvbuild cache show` lists them"
        )
    return chosen


def _downloads(folder: Path) -> Iterator[Path]:
    """Give the files of downloads, `SHA256[:2]/SHA256/NAME`, and nothing else that lies there."""
    for path in sorted(folder.glob("??/*/*")):
        digest = path.parent.name
        ours = digest.startswith(path.parent.parent.name) and len(digest) == len(64 * "0")
        if ours and path.is_file() and not path.name.startswith("."):
            yield path


def _verify_download(path: Path) -> bool:
    """Hash a download; one with other bytes is moved aside, where no fetch looks for it."""
    from rvbuild.fetch.cache import Entry, locked, put_damaged_aside, sha256_of

    entry = Entry(path.parent, path.name, path.parent.name)
    with locked(entry):
        if sha256_of(path) == entry.sha256:
            return True
        put_damaged_aside(entry)
    return False


def _remove_downloads(folder: Path, older_than_days: float | None) -> int:
    limit = time.time() - (older_than_days or 0) * DAY_SECONDS
    freed = 0
    for path in _downloads(folder):
        if path.stat().st_mtime <= limit:
            freed += path.stat().st_size
            path.unlink()
    return freed


def _size_bytes(folder: Path) -> int:
    return sum(
        (Path(parent) / name).lstat().st_size
        for parent, _, names in os.walk(folder)
        for name in names
    )
