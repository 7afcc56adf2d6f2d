"""Strict YAML: text stays text, faults have places, models are checked in the document's words."""

from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel

from rvbuild.document import (
    Document,
    Flag,
    WholeNumber,
    did_you_mean,
    fault,
    inspect_document,
    meaning_elsewhere,
    nearest,
    parse_document,
    read_document,
    render_problem,
    validate,
)
from rvbuild.errors import Problem, RecipeError

FILE = Path("file.yaml")


def problems_of(text: str) -> tuple[Problem, ...]:
    """Give the problems that `text` has on its own."""
    try:
        return parse_document(text, FILE).faults
    except RecipeError as error:
        return error.problems


def places(problems: tuple[Problem, ...]) -> list[tuple[int, int]]:
    return [(problem.line, problem.column) for problem in problems]


@pytest.mark.parametrize(
    "written",
    [
        "1.10", "3.10", "2.10", "0123", "0o17", "0x1F", "1_000", "1e3", ".inf", "no", "on", "Yes",
        "y", "true", "null", "~", "12:30:45", "2024-01-01", "2024-01-01 10:00:00", "=", "+1", "-0",
        "0123456701234567012345670123456701234567012345670123456701234567", "cp313t",
    ],
)  # fmt: skip
def test_every_scalar_stays_the_text_that_was_written(written: str) -> None:
    document = parse_document(f"one: {written}\nlist: [{written}]\n{written}: key\n", FILE)
    assert document.data == {"one": written, "list": [written], written: "key"}
    assert document.faults == ()


def test_quotes_and_blocks_give_their_text() -> None:
    text = "single: 'it''s'\ndouble: \"a\\tb\"\nblock: |\n  one\n  \ttwo\nfolded: >-\n  a\n  b\n"
    assert parse_document(text, FILE).data == {
        "single": "it's",
        "double": "a\tb",
        "block": "one\n\ttwo\n",
        "folded": "a b",
    }


def test_positions_are_of_keys_and_values() -> None:
    document = parse_document("# head\nouter:\n  inner: [one, {two: three}]\n", FILE)
    deep = ("outer", "inner", 1, "two")
    assert document.find(deep) == "three"
    assert (document.key_position(deep).line, document.key_position(deep).column) == (3, 17)
    assert (document.value_position(deep).line, document.value_position(deep).column) == (3, 22)
    assert document.value_position(("outer", "inner", 0)).column == 11
    assert document.key_position(("outer",)).line == 2


def test_a_route_that_leads_nowhere_takes_the_place_above() -> None:
    document = parse_document("outer:\n  inner: text\n", FILE)
    assert document.find(("outer", "other")) is None
    assert document.find(("outer", "inner", 0)) is None
    assert document.value_position(("outer", "inner", "value", 3)).line == 2
    assert document.value_position(("nothing",)).line == 1


def test_the_windows_way_of_writing_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "file.yaml"
    file.write_bytes(b"\xef\xbb\xbfone: a\r\ntwo:\r\n")
    document = inspect_document(file)
    assert document.data == {"one": "a", "two": ""}
    assert places(document.faults) == [(2, 1)]
    assert document.faults[0].excerpt == "two:"


def test_wide_characters_count_as_one_column() -> None:
    assert places(problems_of('{"\N{SNOWMAN}\N{ROCKET}": a, b: c, b: d}\n')) == [(1, 17)]


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", (3, 1), "given twice"),
        ("a: {b: 1, b: 2}\n", (1, 11), "given twice"),
        ("1: a\n'1': b\n", (2, 1), "given twice"),
        ("a:\n\tb: c\n", (2, 1), "a tab stands"),
        ("a:\tb\n", (1, 3), "a tab stands"),
        ("a: b\n c: d\n", (2, 3), "not YAML"),
        ("a: [b\n", (2, 1), "not YAML"),
        ("a: 'b\n", (2, 1), "not YAML"),
        ("a: b: c\n", (1, 5), "not YAML"),
        ("a: @b\n", (1, 4), "not YAML"),
        ("? [a]\n: b\n", (1, 3), "a key has to be text"),
        ("?\n: b\n", (1, 2), "a key has to be text"),
        ("a: b\n---\nc: d\n", (2, 1), "second document"),
        ("a: &x b\n", (1, 4), "anchor `&x`"),
        ("a: *x\n", (1, 4), "alias `*x`"),
        ("a: &x {b: c}\nd: {<<: *x}\n", (1, 4), "anchor `&x`"),
        ("a: !!int 3\n", (1, 4), "tag `!!int`"),
        ("a: !python/name:os.system\n", (1, 4), "tag `!python/name:os.system`"),
        ("- a\n", (1, 1), "a mapping is expected"),
        ("text\n", (1, 1), "a mapping is expected"),
        ("", (1, 1), "empty"),
        ("---\n", (2, 1), "empty"),
        ("# only\n", (1, 1), "empty"),
        ("a:\n", (1, 1), "key `a` has no value"),
        ("a: {b}\n", (1, 5), "key `b` has no value"),
        ("a:\n  - b\n  -\n", (3, 4), "entry of the list is empty"),
        ("a: \x07\n", (1, 4), "U+0007"),
        ("a: b\nc: \x1b[31m\n", (2, 4), "U+001B"),
        ('a: "\\ud800"\n', (1, 4), "half of a character"),
        ("a: " + "[" * 40 + "]" * 40, (1, 33), "nested more than"),
    ],
)
def test_what_is_refused_has_its_place(text: str, place: tuple[int, int], words: str) -> None:
    first = problems_of(text)[0]
    assert words in first.message
    assert (first.line, first.column) == place
    assert first.excerpt.isprintable() or "\t" in first.excerpt


def test_nesting_without_end_is_one_problem() -> None:
    assert len(problems_of("a: " + "[" * 20000)) == 1


def test_faults_of_the_tree_come_all_at_once() -> None:
    text = "a: 1\na: 2\nb:\n? [c]\n: d\ne: [x, {f: 1, f: 2}]\n"
    assert places(problems_of(text)) == [(2, 1), (3, 1), (4, 3), (6, 15)]


def test_an_empty_text_in_quotes_is_a_value() -> None:
    assert problems_of('a: ""\nb: []\nc: {}\n') == ()


def test_reading_refuses_what_inspecting_keeps(tmp_path: Path) -> None:
    file = tmp_path / "file.yaml"
    file.write_text("a: 1\na: 2\n", encoding="utf-8")
    assert inspect_document(file).data == {"a": "1"}
    with pytest.raises(RecipeError) as caught:
        read_document(file)
    assert places(caught.value.problems) == [(2, 1)]


def test_a_file_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.yaml", tmp_path):
        with pytest.raises(RecipeError) as caught:
            read_document(path)
        (problem,) = caught.value.problems
        assert problem.file == path
        assert problem.message.startswith("the file cannot be read: ")


def test_bytes_that_are_not_utf8_have_a_place(tmp_path: Path) -> None:
    file = tmp_path / "file.yaml"
    file.write_bytes("a: b\nc: é".encode() + b"\xe9\n")
    with pytest.raises(RecipeError) as caught:
        read_document(file)
    assert places(caught.value.problems) == [(2, 5)]
    assert "0xe9" in caught.value.problems[0].message


class Leaf(BaseModel):
    model_config = ConfigDict(extra="forbid")

    count: WholeNumber = Field(default=1, ge=1)
    ready: Flag = False
    choice: Literal["left", "right"] = "left"


class Twig(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str


class Leaves(RootModel[dict[str, Leaf]]):
    pass


class Tree(BaseModel):
    model_config = ConfigDict(extra="forbid")

    title: str
    by_name: dict[str, Leaf] = {}
    either: tuple[Leaf | Twig, ...] = ()
    digits: str = Field(default="0", pattern="^[0-9]+$")


def refusals(document: Document, model: type[BaseModel]) -> list[tuple[int, int, str, str | None]]:
    with pytest.raises(RecipeError) as caught:
        validate(document, model)
    return [(p.line, p.column, p.message, p.hint) for p in caught.value.problems]


def test_a_document_becomes_a_value() -> None:
    text = "title: 1.10\nby_name: {a: {count: 12, ready: true}}\n"
    tree = validate(parse_document(text, FILE), Tree)
    assert tree.title == "1.10"
    assert tree.by_name["a"] == Leaf(count=12, ready=True)


def test_mappings_by_name_keep_their_keys_and_guesses() -> None:
    text = "title: x\nby_name:\n  a: {cuont: 1}\n  b: {count: 0, choice: rigth}\ndigits: 1x\n"
    assert refusals(parse_document(text, FILE), Tree) == [
        (3, 7, "key `cuont` is not known here", "did you mean `count`?"),
        (4, 14, "`0` has to be at least 1", None),
        (4, 25, "`rigth` is not one of `left`, `right`", "did you mean `right`?"),
        (5, 9, "`1x` does not look like `^[0-9]+$`", None),
    ]


def test_a_root_model_is_followed() -> None:
    document = parse_document("a: {redy: true}\nb: {ready: yes}\n", FILE)
    assert refusals(document, Leaves) == [
        (1, 5, "key `redy` is not known here", "did you mean `ready`?"),
        (2, 12, "`yes` is neither `true` nor `false`", None),
    ]


def test_members_of_a_plain_union_do_not_shift_places() -> None:
    document = parse_document("title: x\neither: [{name: [a]}]\n", FILE)
    assert (2, 17, "text is expected, and this is a list", None) in refusals(document, Tree)


def test_own_faults_and_further_problems_join_in_the_order_of_the_file() -> None:
    document = parse_document("extra: 1\ntitle: a\ntitle: b\ndigits: x\n", FILE)
    further = document.problem(("title",), "from outside")
    with pytest.raises(RecipeError, match="has 4 problems") as caught:
        validate(document, Tree, [further])
    assert places(caught.value.problems) == [(1, 1), (2, 8), (3, 1), (4, 9)]


def test_a_valid_model_does_not_hide_faults() -> None:
    document = parse_document("title: a\ntitle: b\n", FILE)
    with pytest.raises(RecipeError, match=r"has 1 problem$"):
        validate(document, Tree)


def test_an_empty_value_is_reported_once() -> None:
    assert [row[:2] for row in refusals(parse_document("title: a\nby_name:\n", FILE), Tree)] == [
        (2, 1)
    ]


def test_a_key_with_a_slip_is_not_also_missing() -> None:
    assert refusals(parse_document("titel: a\n", FILE), Tree) == [
        (1, 1, "key `titel` is not known here", "did you mean `title`?")
    ]


def test_the_words_of_a_fault_keep_their_braces() -> None:
    error = fault("`{hint}` and {message}", "write {{")
    assert error.context == {"message": "`{hint}` and {message}", "hint": "write {{"}


def test_a_problem_is_drawn_with_a_caret_below_its_character() -> None:
    problem = Problem(FILE, 12, 3, "wrong", "\t\tcount: 0", "right", "warning")
    assert render_problem(problem) == (
        "file.yaml:12:3: warning: wrong\n  12 | \t\tcount: 0\n     | \t\t^\n  hint: right"
    )


def test_a_problem_without_excerpt_or_hint_is_drawn() -> None:
    assert render_problem(Problem(FILE, 1, 1, "gone", "")).splitlines() == [
        "file.yaml:1:1: error: gone",
        "  1 |",
        "    | ^",
    ]


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("3.10", "a number"),
        ("10", "a number"),
        ("1e3", "a number"),
        ("1234567e12", "a number"),
        (".5", "a number"),
        ("0x1F", "a number"),
        ("0123", "an octal number"),
        ("0o17", "an octal number"),
        ("no", "true or false"),
        ("On", "true or false"),
        ("y", "true or false"),
        ("~", "nothing"),
        ("null", "nothing"),
        ("2024-01-01", "a date"),
        ("12:30:45", "a number in base 60"),
        ("<<", "a merge key"),
        ("3.0.3", None),
        ("cp313t", None),
        ("1.0rc1", None),
        ("nothing", None),
        ("2_31", "a number"),
    ],
)
def test_what_other_readers_make_of_plain_text(text: str, meaning: str | None) -> None:
    assert meaning_elsewhere(text) == meaning


def test_guesses() -> None:
    assert did_you_mean("NumPi", ["numpy", "scipy"]) == "numpy"
    assert did_you_mean("zzz", ["numpy"]) is None
    assert nearest("nmpy", ["torch", "numpy", "scipy", "numba"]) == ("numpy", "scipy", "numba")
    assert len(nearest("zzz", ["a", "b", "c", "d"])) == 3
