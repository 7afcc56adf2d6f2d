"""Strict YAML with positions: scalars stay the text that was written, faults have their place.

Knows YAML and how to check it against a pydantic model; what recipes and pins mean is theirs.
"""

from rvbuild.document.model import Data, Document, Mark, Page, Position, Route
from rvbuild.document.plain import meaning_elsewhere
from rvbuild.document.read import inspect_document, parse_document, read_document
from rvbuild.document.render import render_problem
from rvbuild.document.scalars import Flag, WholeNumber, fault
from rvbuild.document.suggest import did_you_mean, nearest
from rvbuild.document.validate import validate

__all__ = [
    "Data",
    "Document",
    "Flag",
    "Mark",
    "Page",
    "Position",
    "Route",
    "WholeNumber",
    "did_you_mean",
    "fault",
    "inspect_document",
    "meaning_elsewhere",
    "nearest",
    "parse_document",
    "read_document",
    "render_problem",
    "validate",
]
