"""Beginning a recipe: its text is what `read_recipe` takes, whatever an index says."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from rvbuild.recipe.begin import Release, begin_recipe
from rvbuild.recipe.lint import lint_recipe
from rvbuild.recipe.model import PypiSource
from rvbuild.recipe.read import read_recipe

RELEASE = Release(
    name="Ruamel.Yaml_Clib",
    version="1.10",
    file_name="ruamel_yaml_clib-1.10.tar.gz",
    sha256="0123456701234567" * 4,
    license="MIT",
    description="fast YAML",
)


def test_the_text_is_short_and_complete() -> None:
    assert begin_recipe(replace(RELEASE, build_requires=("setuptools>=77", "cython"))) == (
        "name: ruamel-yaml-clib\n"
        'version: "1.10"\n'
        "license: MIT\n"
        "description: fast YAML\n"
        "sources:\n"
        '  - pypi: "ruamel_yaml_clib-{version}.tar.gz"\n'
        f'    sha256: "{"0123456701234567" * 4}"\n'
        "requires:\n"
        "  build:\n"
        '    - "setuptools>=77"\n'
        '    - "cython"\n'
        "test: {imports: [ruamel_yaml_clib]}\n"
    )


def test_it_is_read_without_advice(tmp_path: Path) -> None:
    file = tmp_path / "ruamel-yaml-clib.yaml"
    file.write_text(begin_recipe(RELEASE), encoding="utf-8")
    assert lint_recipe(file) == ()
    source = read_recipe(file).sources[0]
    assert isinstance(source, PypiSource)
    assert source.pypi == "ruamel_yaml_clib-{version}.tar.gz"


@pytest.mark.parametrize(
    "description",
    [
        "no",
        "1.10",
        "a: b # c",
        "- [x] {y}",
        "\"quoted\" \\ and 'more'",
        "*bold* &c. !important",
        "caf\N{LATIN SMALL LETTER E WITH ACUTE} \N{ROCKET}",
        "bell \x07 and escape \x1b",
        "two\n  lines\tand a tab",
        "x" * 300 + " " + "y" * 300,
        "1e3",
        "%percent",
        "`tick`",
        "...",
        "---",
    ],
)
def test_any_description_survives(tmp_path: Path, description: str) -> None:
    text = begin_recipe(replace(RELEASE, description=description))
    file = tmp_path / "ruamel-yaml-clib.yaml"
    file.write_text(text, encoding="utf-8")
    expected = " ".join(description.split())
    assert read_recipe(file).description == expected
    assert yaml.safe_load(text)["description"] == expected


def test_names_that_others_read_as_numbers_are_quoted(tmp_path: Path) -> None:
    release = replace(RELEASE, name="1e3", file_name="1e3-1.10.zip")
    file = tmp_path / "1e3.yaml"
    file.write_text(begin_recipe(release), encoding="utf-8")
    assert lint_recipe(file) == ()
    assert read_recipe(file).test.imports == ("1e3",)


def test_an_unknown_licence_is_said_to_be_unknown(tmp_path: Path) -> None:
    file = tmp_path / "ruamel-yaml-clib.yaml"
    file.write_text(begin_recipe(replace(RELEASE, license="")), encoding="utf-8")
    assert read_recipe(file).license == "NOASSERTION"
    assert ["licence" in problem.message for problem in lint_recipe(file)] == [True]
