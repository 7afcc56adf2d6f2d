"""Which recipes are needed for which Pythons, what needs what, and in which order they go."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter

from packaging.specifiers import SpecifierSet

from rvbuild.errors import NothingSelectedError, UsageError
from rvbuild.plan.model import Recipes, Request, Skipped
from rvbuild.recipe.model import Kind, Recipe, normalise
from rvbuild.target import python_tag

Find = Callable[[str, str | None], Recipe]

_PYTHON = re.compile(r"3\.(\d+)(t?)")


@dataclass(frozen=True, slots=True)
class Node:
    """A recipe for one Python (None for a library), and the ids it needs, sorted."""

    recipe: Recipe
    python: str | None
    needs: tuple[str, ...]

    @property
    def id(self) -> str:
        """The job's id, such as `markupsafe-3.0.3:cp313` or `libyaml-0.2.5:library`."""
        return _node_id(self.recipe, self.python)


@dataclass(frozen=True, slots=True)
class Selection:
    """All nodes with what they need, by id, and how the request maps onto them."""

    nodes: Mapping[str, Node]
    requested: tuple[str, ...]
    skipped: tuple[Skipped, ...]


@dataclass(frozen=True, slots=True)
class _Wish:
    text: str
    python: str | None
    kind: Kind | None = None
    wanted_by: str = ""


def select(request: Request, recipes: Recipes) -> Selection:
    """Collect every node that the request needs.

    Raises `UsageError` for names, Pythons and requirements that cannot be, or that go in a circle;
    `NothingSelectedError` when a name builds for none of the Pythons.
    """
    pythons = _ordered_pythons(request.pythons)
    find = cache(recipes.find)  # a recipe may be a file, and each Python asks for it
    nodes: dict[str, Node] = {}
    requested: dict[str, None] = {}
    skipped: list[Skipped] = []
    for text in request.names:
        refused: list[Skipped] = []
        found = dict(_roots(text, pythons, find, refused))
        if not found:
            raise _nothing(text, refused)
        for root, members in found.items():
            requested[root] = None
            nodes.update(members)
        skipped += refused
    return Selection(nodes, tuple(requested), tuple(dict.fromkeys(skipped)))


def levels(nodes: Mapping[str, Node]) -> dict[str, int]:
    """Give each node's level: 0 needs nothing, others are one above the highest they need.

    Raises `UsageError` naming the circle when there is one.
    """
    sorter = TopologicalSorter({name: nodes[name].needs for name in sorted(nodes)})
    found: dict[str, int] = {}
    try:
        for name in sorter.static_order():
            found[name] = 1 + max((found[need] for need in nodes[name].needs), default=-1)
    except CycleError as error:
        raise _circle(error.args[1]) from error
    return found


def _roots(
    text: str, pythons: tuple[str, ...], find: Find, refused: list[Skipped]
) -> Iterator[tuple[str, dict[str, Node]]]:
    recipe = _find(_Wish(text, None), find)
    versions: tuple[str | None, ...] = (None,) if recipe.kind == "library" else pythons
    for python in versions:
        members = _closure(recipe, python, find)
        reason = next(filter(None, map(_refusal, members.values())), None)
        if reason is None:
            yield _node_id(recipe, python), members
        else:
            refused.append(Skipped(recipe.name, python or "", reason))


def _closure(recipe: Recipe, python: str | None, find: Find) -> dict[str, Node]:
    members: dict[str, Node] = {}
    waiting = [(recipe, python)]
    while waiting:
        current, version = waiting.pop()
        if _node_id(current, version) in members:
            continue
        below = [(_find(wish, find), wish.python) for wish in _wishes(current, version)]
        needs = tuple(sorted({_node_id(*each) for each in below}))
        node = Node(current, version, needs)
        members[node.id] = node
        waiting += below
    return members


def _wishes(recipe: Recipe, python: str | None) -> Iterator[_Wish]:
    for name in recipe.requires.libraries:
        yield _Wish(name, None, "library", recipe.name)
    if recipe.requires.target and python is None:
        raise UsageError(
            f"library `{recipe.name}` asks for wheels under `requires.target`",
            causes=["a library is built once, and a wheel once for each Python"],
            hint=f"make `{recipe.name}` a wheel, or list libraries under `requires.libraries`",
        )
    for name in recipe.requires.target:
        yield _Wish(name, python, "wheel", recipe.name)


def _find(wish: _Wish, find: Find) -> Recipe:
    name, equals, version = (part.strip() for part in wish.text.partition("=="))
    if not re.fullmatch(r"[A-Za-z0-9._-]+", name) or bool(equals) != bool(version):
        raise UsageError(
            f"`{wish.text}` is not the name of a recipe",
            causes=_asked(wish),
            hint="write `NAME` or `NAME==VERSION`",
        )
    try:
        recipe = find(normalise(name), version or None)
    except UsageError as error:
        if wish.wanted_by:
            raise UsageError(
                error.message, causes=[*_asked(wish), *error.causes], hint=error.hint
            ) from error
        raise
    if wish.kind is not None and recipe.kind != wish.kind:
        place = "target" if recipe.kind == "wheel" else "libraries"
        raise UsageError(
            f"`{wish.wanted_by}` needs `{recipe.name}` as a {wish.kind}, and it is a {recipe.kind}",
            hint=f"list it under `requires.{place}`",
        )
    return recipe


def _asked(wish: _Wish) -> list[str]:
    return [f"`{wish.wanted_by}` needs it"] if wish.wanted_by else []


def _refusal(node: Node) -> str | None:
    recipe = node.recipe
    # `Recipe.python` speaks of releases, and a build without the GIL is of the same release.
    if node.python is None or SpecifierSet(recipe.python).contains(node.python.rstrip("t")):
        return None
    return f"`{recipe.name}` builds for Python `{recipe.python}`"


def _ordered_pythons(pythons: tuple[str, ...]) -> tuple[str, ...]:
    keys: dict[str, tuple[int, str]] = {}
    for python in pythons:
        match = _PYTHON.fullmatch(python)
        if match is None:
            raise UsageError(
                f"`{python}` is not a Python version", hint="write it like `3.13` or `3.13t`"
            )
        keys[python] = (int(match[1]), match[2])
    return tuple(sorted(keys, key=keys.__getitem__))


def _node_id(recipe: Recipe, python: str | None) -> str:
    return f"{recipe.label}:{'library' if python is None else python_tag(python)}"


def _nothing(text: str, refused: list[Skipped]) -> NothingSelectedError:
    if not refused:
        return NothingSelectedError(
            f"`{text}` is a wheel, and no Python was selected", hint="give one with `--python`"
        )
    return NothingSelectedError(
        f"`{text}` builds for none of the selected Pythons",
        causes=[f"Python {skip.python}: {skip.reason}" for skip in refused],
        hint="choose another Python with `--python`",
    )


def _circle(found: list[str]) -> UsageError:
    # graphlib lists each node before the one that needs it, and its first node again at the end.
    names = found[:0:-1]
    start = names.index(min(names))
    circle = [*names[start:], *names[:start], names[start]]
    return UsageError(
        "recipes need each other in a circle: " + " needs ".join(f"`{name}`" for name in circle),
        hint="remove one of these from `requires`",
    )
