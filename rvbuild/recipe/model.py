"""The values a recipe is made of. Reading them from a file with positions is `rvbuild.recipe.read`."""

import re
from typing import Annotated, Literal

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

BuildSystem = Literal["pep517", "cmake", "meson", "autotools", "make", "script"]
Kind = Literal["wheel", "library"]
Mode = Literal["cross", "native", "emulated"]

Text = Annotated[str, StringConstraints(min_length=1)]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
RelativePath = Annotated[str, StringConstraints(pattern=r"^(?!/)(?!.*(^|/)\.\.(/|$)).+$")]


def _specifier(value: str) -> str:
    try:
        SpecifierSet(value)
    except InvalidSpecifier as error:
        message = f"`{value}` is not a version specifier such as `>=3.14`"
        raise ValueError(message) from error
    return value


Specifier = Annotated[str, BeforeValidator(_specifier)]


class Frozen(BaseModel):
    """A record that does not change and has no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class When(Frozen):
    """When an entry applies; every given condition has to hold."""

    python: Specifier | None = None
    floor: Specifier | None = None
    mode: Mode | None = None

    def holds(self, python: str | None, floor: str, mode: Mode) -> bool:
        """Say whether it holds for Python `3.13` (None for a library), floor `2_31` and mode."""
        if self.mode is not None and self.mode != mode:
            return False
        if self.floor is not None and not SpecifierSet(self.floor).contains(floor.replace("_", ".")):
            return False
        if self.python is None:
            return True
        return python is not None and SpecifierSet(self.python).contains(python.rstrip("t"))


class Entry(Frozen):
    """One option, patch or requirement, with the condition under which it applies."""

    value: Text
    when: When = When()


def _entry(value: object) -> object:
    return {"value": value} if isinstance(value, str) else value


Conditional = Annotated[Entry, BeforeValidator(_entry, json_schema_input_type=str | Entry)]


class PypiSource(Frozen):
    """An sdist on the Python package index that pip is configured for."""

    pypi: Text = Field(description="project name, or the sdist's file name")
    sha256: Sha256


class UrlSource(Frozen):
    """A file at an address."""

    url: Annotated[str, StringConstraints(pattern=r"^(https?|file)://.+")]
    sha256: Sha256


class GitSource(Frozen):
    """A commit of a git repository; `sha256`, where given, is of the exported tree."""

    git: Text
    tag: Text
    commit: Commit
    submodules: bool = False
    sha256: Sha256 | None = None


class DebianSource(Frozen):
    """A file of the Debian pool, such as `pool/main/liby/libyaml/libyaml_0.2.5.orig.tar.gz`."""

    debian: Annotated[str, StringConstraints(pattern=r"^pool/.+")]
    sha256: Sha256


Source = PypiSource | UrlSource | GitSource | DebianSource


class ExtraSource(Frozen):
    """Something more, unpacked into a folder of the source tree."""

    into: RelativePath
    sources: tuple[Source, ...] = Field(min_length=1)
    strip: bool = Field(default=True, description="drop the archive's single top folder")


class Requires(Frozen):
    """What a build needs, told apart by where it is used."""

    build: tuple[Conditional, ...] = Field(
        default=(), description="Python requirements that run on the build machine, beside those of pyproject.toml"
    )
    target: tuple[Text, ...] = Field(
        default=(), description="recipes whose wheels give headers and libraries of riscv64"
    )
    libraries: tuple[Text, ...] = Field(default=(), description="library recipes, staged into one prefix")
    tools: tuple[Text, ...] = Field(default=(), description="programs of the build machine from the tools kit")


class Command(Frozen):
    """One command of a script step: a list of words; `{prefix}` and the like are filled in."""

    run: tuple[Text, ...] = Field(min_length=1)
    directory: RelativePath | None = None


class Build(Frozen):
    """How the source becomes a wheel or a prefix."""

    system: BuildSystem = "pep517"
    directory: RelativePath | None = Field(default=None, description="where in the source the project lies")
    options: tuple[Conditional, ...] = Field(
        default=(), description="config settings, -D options, configure arguments or make variables"
    )
    targets: tuple[Text, ...] = Field(default=(), description="make targets; the first run builds")
    install: tuple[Text, ...] = Field(default=("install",), description="make targets that install")
    environment: dict[str, str] = Field(default_factory=dict)
    cflags: tuple[Text, ...] = ()
    cxxflags: tuple[Text, ...] = ()
    ldflags: tuple[Text, ...] = ()
    before: tuple[Command, ...] = Field(default=(), description="commands run in the source before the build")
    script: tuple[Command, ...] = Field(default=(), description="the commands of system `script`")


class Resources(Frozen):
    """What one job of this recipe takes of the machine."""

    cores: int = Field(default=1, ge=0, description="0 takes all that there are")
    memory_mb: int = Field(default=1024, ge=1, description="peak, in MiB")


class Expect(Frozen):
    """Glob patterns of the result: members that have to be there, and members that must not."""

    files: tuple[Text, ...] = ()
    absent: tuple[Text, ...] = ()


class Suite(Frozen):
    """The project's own tests, run in the riscv64 runtime."""

    requires: tuple[Text, ...] = Field(default=(), description="Python requirements of the tests")
    files: tuple[RelativePath, ...] = Field(default=(), description="paths of the source tree they need")
    command: tuple[Text, ...] = Field(min_length=1, description="arguments of the riscv64 Python")
    cpus: tuple[Text, ...] = ("rv64gc",)
    environment: dict[str, str] = Field(default_factory=dict)
    timeout_seconds: int = Field(default=1800, ge=1)


class KnownFailure(Frozen):
    """A test that is known to fail, why, and until when that is believed."""

    test: Text = Field(description="test id, or a glob where `*` is the only special character")
    reason: Text
    blame: Literal["hardware", "qemu", "compiler", "package", "test"]
    link: Text | None = None
    expires: Annotated[str, StringConstraints(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    cpus: tuple[Text, ...] = Field(default=(), description="CPUs it is known on; none means all")


class Test(Frozen):
    """How a wheel is proven on CPUs."""

    cpus: tuple[Text, ...] = ("rv64gc", "vlen128", "vlen256")
    imports: tuple[Text, ...] = ()
    smoke: str = Field(default="", description="a Python program that fails when the wheel is wrong")
    requires: tuple[Text, ...] = ()
    timeout_seconds: int = Field(default=300, ge=1, description="limit for each CPU's smoke test")
    suite: Suite | None = None
    known_failures: tuple[KnownFailure, ...] = ()


class Recipe(Frozen):
    """All that rvbuild knows of one package or native library."""

    name: Name
    version: Text
    kind: Kind = "wheel"
    license: Text
    description: str = ""
    sources: tuple[Source, ...] = Field(min_length=1, description="alternatives, in order of preference")
    extra_sources: tuple[ExtraSource, ...] = ()
    required_paths: tuple[RelativePath, ...] = Field(
        default=(), description="paths that have to exist once the sources are unpacked"
    )
    patches: tuple[Conditional, ...] = ()
    python: Specifier = Field(default="", description="Pythons it builds for; empty means all")
    requires: Requires = Requires()
    build: Build = Build()
    resources: Resources = Resources()
    expect: Expect = Expect()
    test: Test = Test()

    @property
    def label(self) -> str:
        """Name and version, such as `markupsafe-3.0.3`."""
        return f"{self.name}-{self.version}"


def normalise(name: str) -> str:
    """Normalise a project name as PEP 503 does."""
    return re.sub(r"[-_.]+", "-", name).lower()
