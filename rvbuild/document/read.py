"""Reading a YAML file into a document: decoding, composing, checking keys and empty values."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from rvbuild.document.model import Data, Document, Mark, Page, Position, Route
from rvbuild.document.syntax import position, refused_parts, syntax_problem
from rvbuild.errors import Problem, RecipeError

# The line ends that PyYAML counts; `str.splitlines` knows more.
_LINE_END = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class _Growth:
    """What has been found while walking down the nodes of a page."""

    page: Page
    marks: dict[Route, Mark] = field(default_factory=dict)
    faults: list[Problem] = field(default_factory=list)

    def refuse(self, place: Position, message: str, hint: str | None = None) -> None:
        """Add a fault."""
        self.faults.append(self.page.problem(place, message, hint))


def read_document(path: Path) -> Document:
    """Read a YAML mapping.

    Raises `RecipeError` with every problem when the file cannot be read, is not UTF-8, is not
    YAML, or holds doubled keys, empty values, keys that are not text, anchors, aliases, tags or
    several documents.
    """
    document = inspect_document(path)
    if document.faults:
        raise RecipeError(f"`{path}` cannot be used", document.faults)
    return document


def inspect_document(path: Path) -> Document:
    """Read a YAML mapping and keep in `faults` what is wrong but leaves the rest readable.

    Raises `RecipeError` for all else that `read_document` raises it for.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        reason = (error.strerror or "it cannot be opened").lower()
        problem = Page(path, ()).problem(Position(1, 1), f"the file cannot be read: {reason}")
        raise RecipeError(f"`{path}` cannot be read", [problem]) from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = _encoding_problem(path, content, error.start)
        raise RecipeError(f"`{path}` cannot be read", [problem]) from None
    return parse_document(text, path)


def parse_document(text: str, file: Path) -> Document:
    """Read a document out of `text`; `file` is what problems name. Raises as `inspect_document`."""
    page = Page(file, tuple(_LINE_END.split(text)))
    node = _compose(page, text)
    if not isinstance(node, yaml.MappingNode):
        place = Position(1, 1) if node is None else position(node.start_mark)
        is_empty = node is None or _is_empty(node)
        message = "the file is empty" if is_empty else "a mapping is expected at the top"
        raise _unusable(page, [page.problem(place, message, "write `key: value` lines")])
    growth = _Growth(page)
    growth.marks[()] = Mark(position(node.start_mark))
    data = _mapping(node, (), growth)
    return Document(page, data, growth.marks, tuple(growth.faults))


def _compose(page: Page, text: str) -> yaml.Node | None:
    try:
        refused = list(refused_parts(page, text))
        if refused:
            raise _unusable(page, refused)
        # The base loader resolves no types: `1.10`, `no` and `2024-01-01` stay what they are.
        return yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        raise _unusable(page, [syntax_problem(page, text, error)]) from None


def _unusable(page: Page, problems: list[Problem]) -> RecipeError:
    return RecipeError(f"`{page.file}` cannot be used", problems)


def _encoding_problem(path: Path, content: bytes, start: int) -> Problem:
    before = content[:start].decode("utf-8-sig")
    page = Page(path, tuple(_LINE_END.split(content.decode("utf-8-sig", errors="replace"))))
    lines = _LINE_END.split(before)
    place = Position(len(lines), len(lines[-1]) + 1)
    return page.problem(
        place, f"byte 0x{content[start]:02x} is not UTF-8", "save the file as UTF-8"
    )


def _grow(node: yaml.Node, route: Route, growth: _Growth) -> Data:
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, route, growth)
    if isinstance(node, yaml.SequenceNode):
        return _sequence(node, route, growth)
    return str(node.value)


def _mapping(node: yaml.MappingNode, route: Route, growth: _Growth) -> dict[str, Data]:
    data: dict[str, Data] = {}
    for key, value in node.value:
        place = position(key.start_mark)
        if not isinstance(key, yaml.ScalarNode) or _is_empty(key):
            growth.refuse(place, "a key has to be text")
            continue
        name = str(key.value)
        here = (*route, name)
        if name in data:
            first = growth.marks[here].key
            hint = None if first is None else f"it stands on line {first.line} already"
            growth.refuse(place, f"key `{name}` is given twice", hint)
            continue
        if empty := _is_empty(value):
            hint = 'give it a value, write `""` for empty text, or remove the key'
            growth.refuse(place, f"key `{name}` has no value", hint)
        start = place if empty else position(value.start_mark)
        growth.marks[here] = Mark(start, place, _is_plain(value), _is_plain(key), empty)
        data[name] = _grow(value, here, growth)
    return data


def _sequence(node: yaml.SequenceNode, route: Route, growth: _Growth) -> list[Data]:
    data: list[Data] = []
    for index, value in enumerate(node.value):
        here = (*route, index)
        place = position(value.start_mark)
        if empty := _is_empty(value):
            growth.refuse(place, "this entry of the list is empty", "give it a value or remove it")
        growth.marks[here] = Mark(place, plain_value=_is_plain(value), empty=empty)
        data.append(_grow(value, here, growth))
    return data


def _is_plain(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and not node.style


def _is_empty(node: yaml.Node) -> bool:
    return _is_plain(node) and not node.value
