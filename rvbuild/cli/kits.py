"""`rvbuild sysroot`, `toolchain`, `python` and `emulator`: the pinned kits that builds take.

The four groups are alike; what tells them apart is a `Family`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rvbuild.cli.house import open_house
from rvbuild.cli.invocation import JsonOption, emit, emit_json, settings, tell, watcher
from rvbuild.cli.spelling import did_you_mean
from rvbuild.cli.usage import command_group
from rvbuild.errors import MissingToolError, SourceError, UsageError

if TYPE_CHECKING:
    from rvbuild.cli.settings import Settings
    from rvbuild.kit import Tree
    from rvbuild.pipeline import House

SCHEMA = "rvbuild.kits/1"
NOT_INSTALLED = "not installed"


@dataclass(frozen=True, slots=True)
class Choice:
    """One kit of a family, such as the sysroot of a floor, in the house it is for."""

    name: str
    settings: "Settings"
    house: "House"


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of kit: which there are, what each is made of, where its main part is.

    `default` gives the name that the settings choose, `place` what `path` prints.
    """

    noun: str
    metavar: str
    description: str
    names: Callable[["House"], tuple[str, ...]]
    default: Callable[["Settings"], str]
    trees: Callable[[Choice], tuple["Tree", ...]]
    install: Callable[[Choice], Path]
    place: Callable[[Choice], Path]


def make_group(family: Family) -> typer.Typer:
    """Make the commands of a family."""
    group = command_group(family.description)
    noun = family.noun
    argument = typer.Argument(metavar=family.metavar, help="Which one; else what settings choose.")

    @group.command("list", help="List the kits that are pinned.")
    def list_kits(context: typer.Context, as_json: JsonOption = False) -> None:
        with _open(context) as (chosen, house):
            shown = [_describe(family, Choice(n, chosen, house)) for n in family.names(house)]
        _show_list(shown, as_json=as_json)

    @group.command("show", help="Show version, digest, place, size and packages of a kit.")
    def show_kit(
        context: typer.Context,
        name: Annotated[str | None, argument] = None,
        as_json: JsonOption = False,
    ) -> None:
        with _choose(context, family, name) as choice:
            _show_whole(_describe(family, choice), as_json=as_json)

    @group.command("fetch", help="Have a kit in the cache. Prints where it is.")
    def fetch_kit(
        context: typer.Context,
        name: Annotated[str | None, argument] = None,
        again: Annotated[
            bool, typer.Option("--again", help="Unpack it anew, as after damage.")
        ] = False,
    ) -> None:
        from rvbuild.kit.tree import discard

        with _choose(context, family, name) as choice:
            for tree in family.trees(choice) if again else ():
                discard(tree, choice.house.places)
            emit(str(family.install(choice)))

    @group.command("verify", help="Hash every file of a kit that is in the cache.")
    def verify_kit(context: typer.Context, name: Annotated[str | None, argument] = None) -> None:
        with _choose(context, family, name) as choice:
            trees = _present(family, choice)
            causes = [cause for tree in trees for cause in _damage(tree, choice)]
        if causes:
            raise SourceError(
                f"the {noun} `{choice.name}` is not as it was unpacked",
                causes=causes,
                hint=f"`rvbuild {noun} fetch {choice.name} --again` unpacks it anew",
            )
        tell(context, f"{', '.join(tree.name for tree in trees)}: every file is as it was unpacked")

    @group.command("path", help="Print where a kit is in the cache.")
    def print_path(context: typer.Context, name: Annotated[str | None, argument] = None) -> None:
        with _choose(context, family, name) as choice:
            _present(family, choice)
            emit(str(family.place(choice)))

    return group


@contextmanager
def _open(context: typer.Context) -> Iterator[tuple["Settings", "House"]]:
    chosen = settings(context)
    with watcher(context, chosen) as watch:
        yield chosen, open_house(chosen, watch)


@contextmanager
def _choose(context: typer.Context, family: Family, name: str | None) -> Iterator[Choice]:
    with _open(context) as (chosen, house):
        yield Choice(_known(name or family.default(chosen), family, house), chosen, house)


def _known(name: str, family: Family, house: "House") -> str:
    """Give a kit's name as it is known; `2.31` is `2_31`. Raises `UsageError`."""
    known = family.names(house)
    for each in known:
        if each.replace("_", ".") == name.replace("_", "."):
            return each
    raise UsageError(f"there is no {family.noun} `{name}`", hint=did_you_mean(name, known))


@dataclass(frozen=True, slots=True)
class _Part:
    """One tree of a kit as it is shown; `path` is None where it is not in the cache."""

    name: str
    digest: str
    path: Path | None
    packages: tuple[str, ...]

    @property
    def size_bytes(self) -> int:
        """The size on disk, without following links."""
        files = self.path.rglob("*") if self.path else ()
        return sum(file.lstat().st_size for file in files if not file.is_dir())


@dataclass(frozen=True, slots=True)
class _Shown:
    """A kit as it is shown; `place` is None where it cannot be used yet."""

    name: str
    place: Path | None
    parts: tuple[_Part, ...]


def _describe(family: Family, choice: Choice) -> _Shown:
    from rvbuild.kit.tree import kit_path

    parts = []
    for tree in family.trees(choice):
        path = kit_path(tree, choice.house.places)
        packages = tuple(pin.remote.file_name for pin in tree.pinned.pins)
        parts.append(_Part(tree.name, tree.digest, path if path.is_dir() else None, packages))
    place = _place(family, choice) if all(part.path for part in parts) else None
    return _Shown(choice.name, place, tuple(parts))


def _place(family: Family, choice: Choice) -> Path | None:
    """Give the place of a kit's main part; None while it is not there."""
    try:
        place = family.place(choice)
    except MissingToolError:
        # A compiler of the system that is not on PATH.
        return None
    return place if place.exists() else None


def _show_list(kits: list[_Shown], *, as_json: bool) -> None:
    from rvbuild.cli.report import table

    if as_json:
        emit_json({"schema": SCHEMA, "kits": [_plain(kit) for kit in kits]})
        return
    rows = [(kit.name, str(kit.place or NOT_INSTALLED)) for kit in kits]
    emit(table([("name", "place"), *rows]))


def _show_whole(kit: _Shown, *, as_json: bool) -> None:
    from rvbuild.cli.report import size, table

    if as_json:
        emit_json({"schema": SCHEMA, "kits": [_plain(kit)]})
        return
    rows = [("name", kit.name), ("place", str(kit.place or NOT_INSTALLED))]
    for part in kit.parts:
        rows += [("tree", part.name), ("digest", part.digest)]
        rows += [("size", size(part.size_bytes) if part.path else NOT_INSTALLED)]
        rows += [("package", package) for package in part.packages]
    emit(table(rows))


def _plain(kit: _Shown) -> dict[str, object]:
    return {
        "name": kit.name,
        "installed": kit.place is not None,
        "place": None if kit.place is None else str(kit.place),
        "trees": [
            {
                "name": part.name,
                "digest": part.digest,
                "path": None if part.path is None else str(part.path),
                "size_bytes": part.size_bytes,
                "packages": list(part.packages),
            }
            for part in kit.parts
        ],
    }


def _present(family: Family, choice: Choice) -> tuple["Tree", ...]:
    """Give the trees of a kit; raises `MissingToolError` when it is not whole in the cache."""
    kit = _describe(family, choice)
    if kit.place is None:
        raise MissingToolError(
            f"the {family.noun} `{choice.name}` is not in the cache",
            causes=[f"there is no `{part.name}`" for part in kit.parts if part.path is None],
            hint=f"`rvbuild {family.noun} fetch {choice.name}`",
        )
    return family.trees(choice)


def _damage(tree: "Tree", choice: Choice) -> tuple[str, ...]:
    from rvbuild.kit.manifest import damage
    from rvbuild.kit.tree import kit_path

    try:
        return damage(kit_path(tree, choice.house.places))
    except SourceError as error:
        return (error.message,)
