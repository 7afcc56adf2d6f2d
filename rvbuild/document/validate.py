"""Checking a document against a pydantic model: each of its errors becomes a problem."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar, get_args

from pydantic import BaseModel, RootModel, ValidationError
from pydantic_core import ErrorDetails

from rvbuild.document.model import Document, Route
from rvbuild.document.suggest import did_you_mean
from rvbuild.document.wording import hint_for, message_for
from rvbuild.errors import Problem, RecipeError

Value = TypeVar("Value", bound=BaseModel)
# Ends pydantic's location of a fault that is in a mapping's key.
_KEY = "[key]"


@dataclass(frozen=True, slots=True)
class _Finding:
    """One error of pydantic: where in the document, and which keys are known there."""

    details: ErrorDetails
    route: Route
    known: tuple[str, ...]

    @property
    def kind(self) -> str:
        return self.details["type"]

    @property
    def is_echo(self) -> bool:
        """True for a list that is too short only because its entries are wrong."""
        limit = self.details.get("ctx", {}).get("min_length", 0)
        return self.kind == "too_short" and len(self.details["input"]) >= limit

    @property
    def meant(self) -> Route | None:
        """The key that an unknown key is a slip of."""
        if self.kind != "extra_forbidden":
            return None
        close = did_you_mean(str(self.route[-1]), self.known)
        return None if close is None else (*self.route[:-1], close)


def validate(document: Document, model: type[Value], further: Sequence[Problem] = ()) -> Value:
    """Turn a document into a value of `model`.

    Raises `RecipeError` with the document's own faults, the `further` problems that the caller
    found and all that the model refuses, in the order of the file.
    """
    problems = [*document.faults, *further]
    try:
        value = model.model_validate(document.data)
    except ValidationError as error:
        problems.extend(_problems(document, model, error))
        # The problems say all that pydantic said.
        raise _refusal(document, problems) from None
    if problems:
        raise _refusal(document, problems)
    return value


def _refusal(document: Document, problems: Sequence[Problem]) -> RecipeError:
    ordered = sorted(problems, key=lambda problem: (problem.line, problem.column))
    count = "1 problem" if len(ordered) == 1 else f"{len(ordered)} problems"
    return RecipeError(f"`{document.page.file}` has {count}", ordered)


def _problems(
    document: Document, model: type[BaseModel], error: ValidationError
) -> Iterator[Problem]:
    findings = [_trace(details, model) for details in error.errors(include_url=False)]
    slips = {finding.meant for finding in findings}
    for finding in findings:
        is_missing = finding.kind == "missing"
        if finding.is_echo or (is_missing and finding.route in slips):
            continue
        # What has no value at all was reported as such by the document.
        if is_missing or not document.marks[document.nearest(finding.route)].empty:
            yield _problem(document, finding)


def _problem(document: Document, finding: _Finding) -> Problem:
    route = finding.route[:-1] if finding.kind == "missing" else finding.route
    at_key = finding.kind in {"missing", "extra_forbidden"} or _KEY in finding.details["loc"]
    place = document.key_position(route) if at_key else document.value_position(route)
    message = message_for(finding.details, finding.route)
    return document.page.problem(place, message, hint_for(finding.details, finding.known))


def _trace(details: ErrorDetails, model: type[BaseModel]) -> _Finding:
    """Follow pydantic's location through models and document; names of union members drop out."""
    route: list[str | int] = []
    models = _models_in(model)
    known: tuple[str, ...] = ()
    for step in details["loc"]:
        members = [member for member in models if member.__name__ == step]
        if members:
            models = members
        elif step != _KEY:
            route.append(step)
            known = tuple(dict.fromkeys(name for owner in models for name in owner.model_fields))
            models = _below(models, step) or ([] if step in known else models)
    return _Finding(details, tuple(route), known)


def _below(models: Sequence[type[BaseModel]], step: str | int) -> list[type[BaseModel]]:
    fields = [owner.model_fields[step] for owner in models if step in owner.model_fields]
    return [member for field in fields for member in _models_in(field.annotation)]


def _models_in(annotation: object) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, RootModel):
        return _models_in(annotation.model_fields["root"].annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [member for part in get_args(annotation) for member in _models_in(part)]
