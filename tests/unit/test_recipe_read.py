"""Reading recipes: right ones become values, wrong ones say all that is wrong, in its place."""

from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import ValidationError

from rvbuild.document import render_problem
from rvbuild.errors import RecipeError
from rvbuild.recipe.model import Entry, GitSource, PypiSource, Recipe, UrlSource, When
from rvbuild.recipe.placeholder import PLACEHOLDERS, fill, unknown_placeholders
from rvbuild.recipe.read import read_recipe

DATA = Path(__file__).parents[1] / "data" / "recipes"
WRONG = sorted((DATA / "wrong").glob("*.yaml"))
SHA256 = "a" * 64


def read_text(folder: Path, text: str) -> Recipe:
    """Read `text` as the recipe `demo`, completed by what it does not say."""
    rest = {
        "name": "demo",
        "version": '"1.0"',
        "license": "MIT",
        "sources": f"[{{pypi: demo, sha256: {SHA256}}}]",
    }
    for key, value in rest.items():
        if not any(line.startswith(f"{key}:") for line in text.splitlines()):
            text += f"{key}: {value}\n"
    file = folder / "demo.yaml"
    file.write_text(text, encoding="utf-8")
    return read_recipe(file)


def refusal(folder: Path, text: str) -> list[tuple[int, int, str]]:
    with pytest.raises(RecipeError) as caught:
        read_text(folder, text)
    return [(p.line, p.column, p.message) for p in caught.value.problems]


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_wrong_recipes_say_what_is_wrong(path: Path) -> None:
    with pytest.raises(RecipeError) as caught:
        read_recipe(path)
    assert caught.value.__cause__ is None
    problems = [replace(problem, file=Path(path.name)) for problem in caught.value.problems]
    drawn = "".join(render_problem(problem) + "\n" for problem in problems)
    assert drawn == path.with_suffix(".txt").read_text(encoding="utf-8")


def test_there_are_wrong_recipes() -> None:
    assert len(WRONG) > 20


def test_every_key_is_read() -> None:
    recipe = read_recipe(DATA / "right" / "everything.yaml")
    assert recipe.label == "everything-1.10"
    assert [type(source).__name__ for source in recipe.sources] == [
        "PypiSource",
        "UrlSource",
        "GitSource",
        "DebianSource",
    ]
    assert isinstance(recipe.sources[2], GitSource)
    assert recipe.sources[2].submodules is True
    assert recipe.extra_sources[0].strip is False
    assert recipe.patches[1] == Entry(value="old-python.patch", when=When(python="<3.14"))
    assert recipe.build.environment["EMPTY"] == ""
    assert recipe.resources.cores == 0
    assert recipe.test.suite is not None
    assert recipe.test.suite.timeout_seconds == 7200
    assert recipe.test.known_failures[0].expires == "2030-01-01"


def test_seven_lines_are_enough() -> None:
    path = DATA / "right" / "small.yaml"
    assert len(path.read_text(encoding="utf-8").splitlines()) == 7
    assert read_recipe(path).kind == "wheel"


def test_a_version_in_a_folder_of_its_own() -> None:
    recipe = read_recipe(DATA / "right" / "second" / "0.2.5.yaml")
    assert (recipe.name, recipe.version, recipe.kind) == ("second", "0.2.5", "library")


@pytest.mark.parametrize("version", ["2.10", "3.10", "1.0", "010", "2024.01.01", "1e3"])
def test_versions_are_never_numbers(tmp_path: Path, version: str) -> None:
    kind = "kind: library\nbuild: {system: make}\n"
    assert read_text(tmp_path, f"{kind}version: {version}\n").version == version


def test_a_hash_of_digits_is_never_a_number(tmp_path: Path) -> None:
    digits = "0123456701234567" * 4
    recipe = read_text(tmp_path, f"sources: [{{pypi: demo, sha256: {digits}}}]\n")
    assert recipe.sources[0].sha256 == digits


@pytest.mark.parametrize("word", ["no", "on", "yes", "True", "null", "12:30:45", "2024-01-01"])
def test_words_with_a_meaning_elsewhere_stay_words(tmp_path: Path, word: str) -> None:
    text = f"description: {word}\nbuild:\n  environment: {{A: {word}}}\n  options: [{word}]\n"
    recipe = read_text(tmp_path, text)
    assert recipe.description == word
    assert recipe.build.environment == {"A": word}
    assert recipe.build.options[0].value == word


@pytest.mark.parametrize("word", ["no", "yes", "on", "1", "True", "~", "[]", "{a: b}"])
def test_flags_are_true_or_false(tmp_path: Path, word: str) -> None:
    sources = f"[{{url: 'file:///x', sha256: {SHA256}}}]"
    text = f"extra_sources:\n  - into: x\n    strip: {word}\n    sources: {sources}\n"
    ((line, _, message),) = refusal(tmp_path, text)
    assert line == 3
    assert "`true`" in message


@pytest.mark.parametrize("word", ["04", "4.0", "1e3", "0x4", "-1", "four", "1_0", "' 4'", "[4]"])
def test_numbers_are_digits(tmp_path: Path, word: str) -> None:
    assert [row[:2] for row in refusal(tmp_path, f"resources: {{cores: {word}}}\n")] == [(1, 20)]


def test_a_list_of_pythons_is_not_a_specifier(tmp_path: Path) -> None:
    assert refusal(tmp_path, "python: [3.9, 3.10]\n") == [
        (1, 9, "text is expected, and this is a list")
    ]


@pytest.mark.parametrize(
    ("written", "example"),
    [("cp313t", "==3.13.*"), ("3.10", "==3.10.*"), ("313", "==3.13.*"), ("newest", ">=3.13")],
)
def test_a_bad_specifier_is_answered_with_a_good_one(
    tmp_path: Path, written: str, example: str
) -> None:
    with pytest.raises(RecipeError) as caught:
        read_text(tmp_path, f"python: {written}\n")
    (problem,) = caught.value.problems
    assert f'`"{example}"`' in (problem.hint or "")


def test_a_misspelt_key_does_not_hide_others(tmp_path: Path) -> None:
    text = 'licence: MIT\nlicense: ""\nversion: 1\nversion: 2\ntest: {cpu: [x], cpus: [x]}\n'
    assert [row[:2] for row in refusal(tmp_path, text)] == [
        (1, 1),
        (2, 10),
        (4, 1),
        (5, 8),
        (5, 25),
    ]


def test_rules_speak_beside_other_errors(tmp_path: Path) -> None:
    text = "kind: library\nbuild: {system: pep517, script: [{run: [make]}], directroy: x}\n"
    messages = [message for _, _, message in refusal(tmp_path, text)]
    assert messages == [
        "a library is not built by `pep517`",
        "`script` belongs to build system `script`, and this is `pep517`",
        "key `directroy` is not known here",
    ]


def test_rules_bear_with_any_kind_of_value(tmp_path: Path) -> None:
    text = "kind: [wheel]\nname: {a: b}\nversion: [1]\nbuild: text\ntest: [a]\n"
    assert len(refusal(tmp_path, text)) == 5


@pytest.mark.parametrize(
    ("suite", "words"),
    [
        ("{on_demand: true, command: [-m, demo.selftest]}", "is run by pytest"),
        ("{on_demand: true, command: [-m]}", "is run by pytest"),
        ("{command: [-m, pytest], shards: 4}", "`shards` is of suites on demand"),
        ("{command: [-m, pytest], test_seconds: 9}", "`test_seconds` is of suites on demand"),
    ],
)
def test_suites_on_demand_are_run_by_pytest(tmp_path: Path, suite: str, words: str) -> None:
    ((_, _, message),) = refusal(tmp_path, f"test:\n  suite: {suite}\n")
    assert words in message
    fine = "{on_demand: true, command: [-m, pytest], shards: 4, memory_mb: 2000}"
    found = read_text(tmp_path, f"test:\n  suite: {fine}\n").test.suite
    assert found is not None
    assert (found.on_demand, found.shards, found.test_seconds) == (True, 4, 60)


@pytest.mark.parametrize("token", ["{prefx}", "{HOME}", "{}", "{", "}", "{jobs!r}", "${CC}"])
def test_unknown_placeholders_are_refused_wherever_they_are_filled(
    tmp_path: Path, token: str
) -> None:
    quoted = f'"x{token}x"'
    text = (
        f"build:\n  options: [{quoted}]\n  environment: {{A: {quoted}}}\n  cflags: [{quoted}]\n"
        f"  before: [{{run: [{quoted}]}}]\n"
        f"test:\n  suite: {{command: [{quoted}], environment: {{A: {quoted}}}}}\n"
    )
    lines = [line for line, _, _ in refusal(tmp_path, text)]
    assert lines == [2, 3, 4, 5, 7, 7]


def test_a_smoke_program_keeps_its_braces(tmp_path: Path) -> None:
    recipe = read_text(tmp_path, "test:\n  smoke: |\n    print({1: f'{2}'})\n")
    assert recipe.test.smoke == "print({1: f'{2}'})\n"


def test_sources_know_only_the_version(tmp_path: Path) -> None:
    text = f"sources: [{{url: 'https://example.org/{{prefix}}.tar.gz', sha256: {SHA256}}}]\n"
    ((_, _, message),) = refusal(tmp_path, text)
    assert message == "`{prefix}` is not a placeholder"


def test_all_placeholders_are_filled() -> None:
    text = "".join(f"{{{name}}}," for name in PLACEHOLDERS) + "{{x}}${{y}}"
    assert list(unknown_placeholders(text)) == []
    values = {name: name.upper() for name in PLACEHOLDERS}
    assert fill(text, values) == ",".join(values.values()) + ",{x}${y}"


def test_filling_is_done_once() -> None:
    assert fill("{source}{{build}}", {"source": "{build}", "build": "no"}) == "{build}{build}"


def test_filling_names_what_has_no_value() -> None:
    with pytest.raises(KeyError, match="prefix"):
        fill("{prefix}", {})


@pytest.mark.parametrize(
    ("written", "floor", "holds"),
    [(">=2_35", "2_31", False), (">=2_35", "2_35", True), ("<2.35", "2_31", True)],
)
def test_floors_are_compared_as_versions(
    tmp_path: Path, *, written: str, floor: str, holds: bool
) -> None:
    text = f"build:\n  options:\n    - {{value: a, when: {{floor: '{written}'}}}}\n"
    when = read_text(tmp_path, text).build.options[0].when
    assert when.holds("3.13", floor, "cross") is holds


def test_free_threaded_pythons_count_as_their_version() -> None:
    assert When(python="==3.13.*").holds("3.13t", "2_31", "cross")
    assert not When(python=">=3.14").holds("3.13t", "2_31", "cross")
    assert not When(python=">=3.13").holds(None, "2_31", "cross")


def test_sources_are_made_in_code_as_well() -> None:
    source = UrlSource(url="https://example.org/a.tar.gz", sha256=SHA256)
    recipe = Recipe(name="demo", version="1", license="MIT", sources=(source,))
    assert recipe.sources == (source,)
    assert Recipe.model_validate(recipe.model_dump()) == recipe


def test_values_do_not_change() -> None:
    source = PypiSource(pypi="demo", sha256=SHA256)
    with pytest.raises(ValidationError, match="frozen"):
        source.pypi = "other"  # type: ignore[misc]


def test_only_is_for_archives(tmp_path: Path) -> None:
    git = f"sources: [{{git: 'https://example.org/x', tag: v1, commit: '{'a' * 40}'}}]\n"
    found = refusal(tmp_path, git + "only: [openmp]\n")
    assert [message for _, _, message in found] == [
        "`only` is for archives, and a source of this recipe is a git repository"
    ]


def test_programs_have_names_of_their_own_and_belong_to_libraries(tmp_path: Path) -> None:
    run = "{name: a, command: [a]}"
    text = "kind: {}\n{}test: {{programs: {{build: [{{run: [make]}}], run: [{}]}}}}\n"
    make = "build: {system: make}\n"
    assert refusal(tmp_path, text.format("wheel", "", run))[0][2] == (
        "`programs` is for libraries, and this is a wheel"
    )
    twice = refusal(tmp_path, text.format("library", make, f"{run}, {run}"))
    assert twice[0][2] == "there are two programs called `a`"
    read = read_text(tmp_path, text.format("library", make, run))
    assert read.test.programs is not None
    assert read.test.programs.run[0].shards == 1
