"""What the parts of a recipe have to be for each other, checked on the document.

A rule looks at plain data, so that it also speaks when other parts of the recipe are wrong.
"""

from collections.abc import Iterator, Mapping
from typing import get_args

from packaging.version import InvalidVersion, Version

from rvbuild.document import Document
from rvbuild.errors import Problem
from rvbuild.recipe.model import BuildSystem
from rvbuild.recipe.numeric import numeric_problems
from rvbuild.recipe.text import normalise

# What only wheels have, and what libraries have in its place.
_ONLY_WHEELS: dict[tuple[str, ...], str] = {
    ("requires", "target"): "name the libraries it needs in `requires.libraries`",
    ("test", "imports"): "list what the library has to install in `expect`",
    ("test", "smoke"): "list what the library has to install in `expect`",
    ("test", "numeric"): "check the numbers of a wheel that stands on it",
    ("test", "suite"): "run programs that are built against the library by `test.programs`",
}
_ONLY_LIBRARIES: dict[tuple[str, ...], str] = {
    ("test", "programs"): "run the project's own tests by `test.suite`"
}


def rule_problems(document: Document) -> Iterator[Problem]:
    """Find what does not go together."""
    yield from _file_name(document)
    yield from _script(document)
    yield from _only(document)
    yield from numeric_problems(document)
    yield from _on_demand(document)
    if document.text(("kind",)) == "library":
        yield from _library(document)
    elif document.text(("kind",)) in {None, "wheel"}:
        yield from _wheel(document)


def _file_name(document: Document) -> Iterator[Problem]:
    name, version = document.text(("name",)), document.text(("version",))
    file = document.page.file
    if not name or name != normalise(name) or file.stem == name:
        return
    if file.parent.name != name:
        yield document.problem(
            ("name",),
            f"recipe `{name}` is in a file named `{file.name}`",
            hint=f"name the file `{name}.yaml` or `{name}/VERSION.yaml`",
        )
    elif version and file.stem != version:
        yield document.problem(
            ("version",),
            f"version `{version}` is in a file named `{file.name}`",
            hint=f"name the file `{name}/{version}.yaml`",
        )


def _on_demand(document: Document) -> Iterator[Problem]:
    suite = ("test", "suite")
    if document.text((*suite, "on_demand")) == "true":
        words = [document.text((*suite, "command", place)) for place in (0, 1)]
        if words != ["-m", "pytest"]:
            yield document.problem(
                (*suite, "command"),
                "a suite on demand is run by pytest, which can be told what to run",
                hint="begin the command with `-m, pytest`",
            )
        return
    for key in ("shards", "test_seconds", "memory_mb"):
        if document.find((*suite, key)) is not None:
            yield document.problem(
                (*suite, key),
                f"`{key}` is of suites on demand",
                hint="add `on_demand: true`",
                at_key=True,
            )


def _script(document: Document) -> Iterator[Problem]:
    system = document.text(("build", "system"))
    has_script = bool(document.find(("build", "script")))
    if has_script and system != "script":
        named = f"`{system}`" if system else "`pep517`, the default"
        yield document.problem(
            ("build", "script"),
            f"`script` belongs to build system `script`, and this is {named}",
            hint="write `system: script`, or move the commands to `before`",
            at_key=True,
        )
    if system == "script" and not has_script:
        yield document.problem(
            ("build", "system"),
            "build system `script` needs `script`, the list of its commands",
            hint='add `script: [{run: [sh, -c, "..."]}]` to `build`',
        )


def _only(document: Document) -> Iterator[Problem]:
    if not document.find(("only",)):
        return
    for source in document.children(("sources",)):
        if document.find((*source, "git")) is not None:
            yield document.problem(
                ("only",),
                "`only` is for archives, and a source of this recipe is a git repository",
                hint="remove `only`: a repository is fetched at one commit anyway",
                at_key=True,
            )


def _library(document: Document) -> Iterator[Problem]:
    yield from _misplaced(document, _ONLY_WHEELS, "for wheels, and this is a library")
    system = document.text(("build", "system"))
    if system in {None, "pep517"}:
        yield document.problem(
            ("kind",) if system is None else ("build", "system"),
            "a library is not built by `pep517`",
            hint="set `build.system` to `cmake`, `meson`, `autotools`, `make` or `script`",
        )


def _misplaced(
    document: Document, routes: Mapping[tuple[str, ...], str], reason: str
) -> Iterator[Problem]:
    for route, hint in routes.items():
        if document.find(route) is not None:
            yield document.problem(route, f"`{route[-1]}` is {reason}", hint=hint, at_key=True)


def _wheel(document: Document) -> Iterator[Problem]:
    yield from _misplaced(document, _ONLY_LIBRARIES, "for libraries, and this is a wheel")
    system = document.text(("build", "system"))
    if system in get_args(BuildSystem) and system != "pep517":
        yield document.problem(
            ("build", "system"),
            f"a wheel is built by `pep517` and not by `{system}`",
            hint="remove `system`, or write `kind: library` for a native library",
        )
    yield from _wheel_version(document)


def _wheel_version(document: Document) -> Iterator[Problem]:
    version = document.text(("version",))
    if not version:
        return
    try:
        Version(version)
    except InvalidVersion:
        yield document.problem(
            ("version",),
            f"`{version}` is not a version of a Python project",
            hint="write it as the sdist's file name does, such as `1.2.0rc1`",
        )
