"""Commands of a build, and the programs that prove a library: made for riscv64, run on each CPU."""

from typing import Annotated

from pydantic import AfterValidator, Field

from rvbuild.document import Flag, WholeNumber, fault
from rvbuild.recipe.frozen import Frozen
from rvbuild.recipe.source import ExtraSource
from rvbuild.recipe.text import (
    CpuName,
    FileName,
    Name,
    RelativePath,
    RunTemplate,
    Template,
    Text,
    VariableName,
)


class Command(Frozen):
    """One command of a script step: a list of words; `{prefix}` and the like are filled in."""

    run: tuple[Template, ...] = Field(min_length=1)
    directory: RelativePath | None = None


class Program(Frozen):
    """A program run on each CPU, as often as it has shards; by its end it passes or fails."""

    name: Name
    command: tuple[RunTemplate, ...] = Field(
        min_length=1, description="a path below what `build` put into place, and its arguments"
    )
    cpus: tuple[CpuName, ...] = Field(
        default=(), description="none means all that the library is tested on"
    )
    environment: dict[VariableName, RunTemplate] = Field(default_factory=dict)
    input: RelativePath | None = Field(
        default=None, description="what it reads as its standard input, a path like the program's"
    )
    shards: WholeNumber = Field(
        default=1, ge=1, description="how many runs share its tests, by `{shard}` and `{shards}`"
    )
    exit_code: WholeNumber = Field(default=0, ge=0, description="how it ends when all is well")
    says: tuple[Text, ...] = Field(default=(), description="texts that its output has to hold")
    never_says: tuple[Text, ...] = Field(
        default=(), description="texts that its output holds when something is wrong"
    )
    timeout_seconds: WholeNumber | None = Field(
        default=None, ge=1, description="limit for each run; none means that of `test`"
    )


def _distinct(programs: tuple[Program, ...]) -> tuple[Program, ...]:
    seen: set[str] = set()
    for program in programs:
        if program.name in seen:
            raise fault(f"there are two programs called `{program.name}`")
        seen.add(program.name)
    return programs


class Programs(Frozen):
    """How the programs that prove a library are made, and which of them are run."""

    files: tuple[FileName, ...] = Field(
        default=(), description="files of `checks/NAME/`, put where `{checks}` is"
    )
    source: Flag = Field(default=True, description="whether the library's own sources are needed")
    extra_sources: tuple[ExtraSource, ...] = Field(
        default=(), description="more than the library's own sources, such as a test framework"
    )
    tools: tuple[Text, ...] = Field(
        default=(), description="programs of the build machine that the commands need"
    )
    build: tuple[Command, ...] = Field(
        min_length=1,
        description="commands run in a fresh source tree, with the library in `{prefix}`, "
        "that put programs into `{destination}`",
    )
    run: Annotated[tuple[Program, ...], AfterValidator(_distinct)] = Field(min_length=1)
