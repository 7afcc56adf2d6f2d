"""What is wrong with a recipe and what could be better: errors, then advice with its reason."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import get_args

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from rvbuild.document import Document, Route, inspect_document, meaning_elsewhere
from rvbuild.errors import Problem, RecipeError
from rvbuild.recipe.model import Frozen
from rvbuild.recipe.read import read_recipe

_OPEN_ADDRESS = re.compile(r"(http|git)://")


def lint_recipe(path: Path, today: date | None = None) -> tuple[Problem, ...]:
    """List errors and warnings in the order of the file; `today` decides what has expired."""
    problems: list[Problem] = []
    try:
        read_recipe(path)
    except RecipeError as error:
        problems.extend(error.problems)
    try:
        document = inspect_document(path)
    except RecipeError:
        return tuple(problems)
    problems.extend(_warnings(document, today or datetime.now(tz=UTC).date()))
    return tuple(sorted(problems, key=lambda problem: (problem.line, problem.column)))


def _warnings(document: Document, today: date) -> Iterator[Problem]:
    yield from _unquoted(document)
    yield from _description(document)
    yield from _license(document)
    for sources in _source_lists(document):
        for route in document.children(sources):
            yield from _source(document, route)
    yield from _expired(document, today)
    yield from _imports(document)


def _warn(
    document: Document, route: Route, message: str, hint: str, *, at_key: bool = False
) -> Problem:
    return document.problem(route, message, hint=hint, at_key=at_key, severity="warning")


def _unquoted(document: Document) -> Iterator[Problem]:
    for route, mark in document.marks.items():
        value = document.text(route)
        if mark.plain_value and not mark.empty and value and not _is_typed(route):
            meaning = meaning_elsewhere(value)
            if meaning is not None:
                message = f"`{value}` is text here and {meaning} to other YAML readers"
                yield _warn(document, route, message, f'quote it: `"{value}"`')
        key = str(route[-1]) if route else ""
        if mark.plain_key and (meaning := meaning_elsewhere(key)) is not None:
            message = f"key `{key}` is text here and {meaning} to other YAML readers"
            yield _warn(document, route, message, f'quote it: `"{key}"`', at_key=True)


def _is_typed(route: Route) -> bool:
    # The numbers of a list are typed by the list's key.
    key = next((step for step in reversed(route) if isinstance(step, str)), "")
    return key in _typed_keys() and not {"environment", "environments"} & set(route)


@cache
def _typed_keys() -> frozenset[str]:
    """Collect the keys that take a number or a boolean."""
    return frozenset(
        name
        for model in Frozen.__subclasses__()
        for name, field in model.model_fields.items()
        if _holds_numbers(field.annotation)
    )


def _holds_numbers(annotation: object) -> bool:
    plain = getattr(annotation, "__origin__", annotation)
    return plain in (int, bool) or (plain is tuple and _holds_numbers(get_args(annotation)[0]))


def _description(document: Document) -> Iterator[Problem]:
    if not document.find(("description",)):
        message = "the recipe has no description"
        hint = "add `description:` with one line on what the package is for"
        yield _warn(document, ("description",), message, hint)


def _license(document: Document) -> Iterator[Problem]:
    text = document.text(("license",))
    if not text:
        return
    try:
        proper = canonicalize_license_expression(text)
    except InvalidLicenseExpression:
        message = f"`{text}` is not an SPDX licence expression"
        hint = "write one such as `BSD-3-Clause`, `MIT OR Apache-2.0` or `LicenseRef-Name`"
        yield _warn(document, ("license",), message, hint)
        return
    if proper != text:
        message = f"`{text}` is not how SPDX writes this licence"
        yield _warn(document, ("license",), message, f"write `{proper}`")


def _source_lists(document: Document) -> Iterator[Route]:
    yield ("sources",)
    for place in (("extra_sources",), ("test", "programs", "extra_sources")):
        for extra in document.children(place):
            yield (*extra, "sources")


def _source(document: Document, route: Route) -> Iterator[Problem]:
    for key in ("url", "git"):
        address = document.text((*route, key))
        if address and _OPEN_ADDRESS.match(address):
            message = f"`{address}` is fetched over an open connection"
            yield _warn(document, (*route, key), message, "use `https://`")
    if document.text((*route, "git")) and document.find((*route, "sha256")) is None:
        message = "this git source has no `sha256`, so its exported tree is not checked"
        hint = "add the sha256 of the exported tree"
        yield _warn(document, (*route, "git"), message, hint, at_key=True)


def _expired(document: Document, today: date) -> Iterator[Problem]:
    for failure in document.children(("test", "known_failures")):
        route = (*failure, "expires")
        try:
            expires = date.fromisoformat(document.text(route) or "")
        except ValueError:
            continue
        if expires < today:
            message = f"this known failure expired on {expires}"
            hint = "run the test again, then remove the entry or set a later date"
            yield _warn(document, route, message, hint)


def _imports(document: Document) -> Iterator[Problem]:
    if document.text(("kind",)) in {None, "wheel"} and not document.find(("test", "imports")):
        message = "no import proves this wheel"
        hint = "name its packages, such as `test: {imports: [yaml]}`"
        yield _warn(document, ("test", "imports"), message, hint, at_key=True)
