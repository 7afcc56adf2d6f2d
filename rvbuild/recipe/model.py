"""The values a recipe is made of. Reading them from a file is `rvbuild.recipe.read`."""

from collections.abc import Callable
from typing import Annotated, Literal

from packaging.specifiers import SpecifierSet
from pydantic import AfterValidator, BeforeValidator, Field

from rvbuild.document import Flag, WholeNumber, fault
from rvbuild.recipe.frozen import Frozen
from rvbuild.recipe.numeric import Dtype, NumericFamily
from rvbuild.recipe.programs import Command, Program, Programs
from rvbuild.recipe.source import (
    DebianSource,
    ExtraSource,
    GitSource,
    PypiSource,
    Source,
    UrlSource,
)
from rvbuild.recipe.text import (
    CpuName,
    Day,
    FloorSpecifier,
    FullTemplate,
    Name,
    PythonRequirement,
    RelativePath,
    Specifier,
    Template,
    Text,
    VariableName,
    Version,
    normalise,
    patch_name,
    requirement,
    template,
)

__all__ = [
    "Build",
    "BuildSystem",
    "Check",
    "Command",
    "Conditional",
    "DebianSource",
    "Entry",
    "Expect",
    "ExtraSource",
    "Frozen",
    "GitSource",
    "Kind",
    "KnownFailure",
    "Mode",
    "Numeric",
    "Program",
    "Programs",
    "PypiSource",
    "Recipe",
    "Requires",
    "Resources",
    "Source",
    "Suite",
    "Test",
    "UrlSource",
    "When",
    "normalise",
]

BuildSystem = Literal["pep517", "cmake", "meson", "autotools", "make", "script"]
Kind = Literal["wheel", "library"]
Mode = Literal["cross", "native", "emulated"]


class When(Frozen):
    """When an entry applies; every given condition has to hold."""

    python: Specifier | None = None
    floor: FloorSpecifier | None = None
    mode: Mode | None = None

    def holds(self, python: str | None, floor: str, mode: Mode) -> bool:
        """Say whether it holds for Python `3.13` (None for a library), floor `2_31` and mode."""
        if self.mode is not None and self.mode != mode:
            return False
        if self.floor is not None and not SpecifierSet(self.floor).contains(
            floor.replace("_", ".")
        ):
            return False
        if self.python is None:
            return True
        return python is not None and SpecifierSet(self.python).contains(python.rstrip("t"))


class Entry(Frozen):
    """One option, patch or requirement, with the condition under which it applies."""

    value: Text
    when: When = When()


def _entry(value: object) -> object:
    if isinstance(value, list):
        raise fault("text is expected here, or a mapping of `value` and `when`")
    if isinstance(value, dict) and not any(value.values()):
        raise fault("text is expected here", "put quotes round text that begins with `{`")
    return {"value": value} if isinstance(value, str) else value


def _holding(check: Callable[[str], str]) -> AfterValidator:
    """Check the text inside an entry."""

    def check_entry(entry: Entry) -> Entry:
        check(entry.value)
        return entry

    return AfterValidator(check_entry)


Conditional = Annotated[Entry, BeforeValidator(_entry, json_schema_input_type=Text | Entry)]


class Requires(Frozen):
    """What a build needs, told apart by where it is used."""

    build: tuple[Annotated[Conditional, _holding(requirement)], ...] = Field(
        default=(),
        description="Python requirements that run on the build machine, "
        "beside those of pyproject.toml",
    )
    target: tuple[Name, ...] = Field(
        default=(), description="recipes whose wheels give headers and libraries of riscv64"
    )
    libraries: tuple[Name, ...] = Field(
        default=(), description="library recipes, staged into one prefix"
    )
    tools: tuple[Text, ...] = Field(
        default=(), description="programs of the build machine from the tools kit"
    )


class StandIn(Frozen):
    """What builds of other packages are given in place of a wheel that runs on the target alone."""

    takes: tuple[Text, ...] = Field(
        default=(),
        description="members of the wheel that run anywhere or are linked with, as glob patterns; "
        "the files of `stand-ins/NAME/` are laid over them",
    )


class Check(Frozen):
    """What a program has to print before anything is compiled, and why that matters."""

    run: tuple[Template, ...] = Field(min_length=1)
    prints: Template = Field(description="text that its output holds")
    reason: Text


class Build(Frozen):
    """How the source becomes a wheel or a prefix."""

    system: BuildSystem = "pep517"
    directory: RelativePath | None = Field(
        default=None, description="where in the source the project lies"
    )
    options: tuple[Annotated[Conditional, _holding(template)], ...] = Field(
        default=(), description="config settings, -D options, configure arguments or make variables"
    )
    targets: tuple[Text, ...] = Field(default=(), description="make targets; the first run builds")
    install: tuple[Text, ...] = Field(default=("install",), description="make targets that install")
    environment: dict[VariableName, Template] = Field(default_factory=dict)
    cflags: tuple[FullTemplate, ...] = ()
    cxxflags: tuple[FullTemplate, ...] = ()
    ldflags: tuple[FullTemplate, ...] = ()
    before: tuple[Command, ...] = Field(
        default=(), description="commands run in the source before the build"
    )
    script: tuple[Command, ...] = Field(default=(), description="the commands of system `script`")
    split_symbols: Flag = Field(
        default=False,
        description="keep symbol tables and debug information beside the wheel, not in it",
    )


class Resources(Frozen):
    """What one job of this recipe takes of the machine."""

    cores: WholeNumber = Field(default=1, ge=0, description="0 takes all that there are")
    memory_mb: WholeNumber = Field(default=1024, ge=1, description="peak, in MiB")
    compiler_mb: WholeNumber = Field(
        default=0, ge=0, description="peak of one compiler, in MiB: so many run as memory allows"
    )


class Expect(Frozen):
    """Glob patterns of the result: members that have to be there, and members that must not."""

    files: tuple[Text, ...] = ()
    absent: tuple[Text, ...] = ()


class Suite(Frozen):
    """The project's own tests, run in the riscv64 runtime."""

    requires: tuple[PythonRequirement, ...] = Field(
        default=(), description="Python requirements of the tests"
    )
    files: tuple[RelativePath, ...] = Field(
        default=(), description="paths of the source tree they need"
    )
    command: tuple[Template, ...] = Field(
        min_length=1, description="arguments of the riscv64 Python"
    )
    cpus: tuple[CpuName, ...] = ("rv64gc",)
    environment: dict[VariableName, Template] = Field(default_factory=dict)
    timeout_seconds: WholeNumber = Field(
        default=1800, ge=1, description="limit of the suite; on demand of one process of it, scaled"
    )
    on_demand: Flag = Field(default=False, description="run by `rvbuild test --suite` alone")
    shards: WholeNumber = Field(default=1, ge=1, description="parts that run by themselves")
    test_seconds: WholeNumber = Field(
        default=60, ge=1, description="limit of one test on demand, scaled for emulation"
    )
    memory_mb: WholeNumber = Field(default=1024, ge=1, description="what one process may take")


class Numeric(Frozen):
    """A family of operations, compared with plain arithmetic in the riscv64 runtime."""

    family: NumericFamily
    dtypes: tuple[Dtype, ...] = Field(
        default=(), description="none means all that the family's operations take"
    )
    sizes: tuple[Annotated[WholeNumber, Field(ge=0)], ...] = Field(
        min_length=1, description="lengths of vectors and sides of matrices"
    )
    tolerance: WholeNumber = Field(
        default=0, ge=0, description="error allowed, in units of the dtype's precision; 0 is exact"
    )
    cpus: tuple[CpuName, ...] = Field(
        default=(), description="none means all that the wheel is tested on"
    )
    environments: tuple[dict[VariableName, str], ...] = Field(
        default=({},), min_length=1, description="variables of each run"
    )


class KnownFailure(Frozen):
    """A test that is known to fail, why, and until when that is believed."""

    test: Text = Field(description="test id, or a glob where `*` is the only special character")
    reason: Text
    blame: Literal["hardware", "qemu", "compiler", "package", "test"]
    link: Text | None = None
    expires: Day
    cpus: tuple[CpuName, ...] = Field(default=(), description="CPUs it is known on; none means all")


class Test(Frozen):
    """How a wheel or a library is proven on CPUs."""

    cpus: tuple[CpuName, ...] = ("rv64gc", "vlen128", "vlen256")
    imports: tuple[Text, ...] = ()
    smoke: str = Field(
        default="", description="a Python program that fails when the wheel is wrong"
    )
    requires: tuple[PythonRequirement, ...] = ()
    timeout_seconds: WholeNumber = Field(
        default=300, ge=1, description="limit for each program on each CPU, but for the suite"
    )
    numeric: tuple[Numeric, ...] = ()
    suite: Suite | None = None
    programs: Programs | None = None
    known_failures: tuple[KnownFailure, ...] = ()


class Recipe(Frozen):
    """All that rvbuild knows of one package or native library."""

    name: Name
    version: Version
    kind: Kind = "wheel"
    license: Text
    description: str = ""
    sources: tuple[Source, ...] = Field(
        min_length=1, description="alternatives, in order of preference"
    )
    only: tuple[RelativePath, ...] = Field(
        default=(), description="paths of the source that are unpacked; none means all of it"
    )
    extra_sources: tuple[ExtraSource, ...] = ()
    required_paths: tuple[RelativePath, ...] = Field(
        default=(), description="paths that have to exist once the sources are unpacked"
    )
    checks: tuple[Check, ...] = Field(
        default=(), description="what programs have to say before the build begins"
    )
    patches: tuple[Annotated[Conditional, _holding(patch_name)], ...] = ()
    python: Specifier = Field(default="", description="Pythons it builds for; empty means all")
    requires: Requires = Requires()
    build: Build = Build()
    stand_in: StandIn | None = None
    resources: Resources = Resources()
    expect: Expect = Expect()
    test: Test = Test()

    @property
    def label(self) -> str:
        """Name and version, such as `markupsafe-3.0.3`."""
        return f"{self.name}-{self.version}"
