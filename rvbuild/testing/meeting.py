"""Meeting a machine, and moving files to and from it, by the programs that reach it."""

import json
import shlex
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from rvbuild.errors import CheckError, MissingToolError, RvbuildError
from rvbuild.executor import Command, Completed, Executor
from rvbuild.target import DYNAMIC_LOADER, MACHINE, TRIPLE
from rvbuild.testing.machine import NO_CONNECTION, Facts, Machine, Reach
from rvbuild.testing.model import Runtime

SHORT_SECONDS = 120.0
COPY_SECONDS = 1800.0
# Told by the shell: machine, C library, a Python of the wanted version or nothing, home of caches,
# whether the runtime is there from an earlier time, and a fresh folder.
LOOK = """\
uname -m; test "$(uname -m)" = {machine} || exit 0
getconf GNU_LIBC_VERSION 2>/dev/null || echo unknown
command -v {python} || echo
cache=${{XDG_CACHE_HOME:-$HOME/.cache}}/rvbuild; mkdir -p "$cache"; echo "$cache"
test -e "$cache/{runtime}/whole" && echo there || echo absent
mktemp -d "$cache/run-XXXXXX"\
"""

LOOK_LINES = 6


@dataclass(frozen=True, slots=True)
class Line:
    """The connection to a machine: who runs its programs, a folder for archives on their way."""

    reach: Reach
    executor: Executor
    workspace: Path

    def ask(self, text: str, seconds: float = SHORT_SECONDS) -> Completed:
        """Run a line of shell there; raises `MissingToolError` when there is no connection."""
        completed = self._run(self.reach.shell(text), seconds)
        if completed.exit_code == NO_CONNECTION or completed.timed_out:
            raise unreachable(self.reach, completed)
        return completed

    def do(self, text: str, seconds: float = SHORT_SECONDS) -> Completed:
        """Run a line of shell there that has to go well; raises `MissingToolError`."""
        completed = self.ask(text, seconds)
        if not completed.ok:
            raise MissingToolError(
                f"{self.reach.kind} `{self.reach.name}` did not do what was asked",
                causes=[f"`{text.splitlines()[0]}` ended with {completed.exit_code}"],
                tail=completed.tail(),
            )
        return completed

    def push(self, files: Mapping[str, Path], folder: str) -> None:
        """Put files and folders into a folder there, under the names that they are given."""
        archive = self.workspace / "to-board.tar.gz"
        with tarfile.open(archive, "w:gz", compresslevel=1) as packed:
            for name, path in files.items():
                packed.add(path, name, filter=_anonymous)
        there = f"{folder}/to-board.tar.gz"
        self._copy(str(archive), f":{there}")
        archive.unlink()
        quoted = shlex.quote(there)
        self.do(f"tar -xzf {quoted} -C {shlex.quote(folder)} && rm {quoted}", COPY_SECONDS)

    def pull(self, folder: str, into: Path) -> None:
        """Fetch what is in a folder there."""
        archive = self.workspace / "from-board.tar.gz"
        there = f"{folder}.tar.gz"
        words = (shlex.quote(text) for text in (there, folder))
        self.do("tar -czf {} -C {} .".format(*words), COPY_SECONDS)
        self._copy(f":{there}", str(archive))
        try:
            with tarfile.open(archive) as packed:
                packed.extractall(into, filter="data")
        except (tarfile.TarError, OSError) as error:
            raise CheckError(
                f"what {self.reach.kind} `{self.reach.name}` sent back cannot be unpacked",
                causes=[str(error)],
            ) from error
        archive.unlink()

    def _copy(self, source: str, target: str) -> None:
        completed = self._run(self.reach.copy(source, target), COPY_SECONDS)
        if not completed.ok:
            raise unreachable(self.reach, completed)

    def _run(self, words: tuple[str, ...], seconds: float) -> Completed:
        environment = {**self.reach.environment, "LC_ALL": "C"}
        try:
            return self.executor.run(Command(words, self.workspace, environment, seconds))
        except MissingToolError as error:
            raise MissingToolError(
                f"{self.reach.kind} `{self.reach.name}` is reached by `{words[0]}`, not found here",
                causes=[error.message],
                hint="install the OpenSSH client" if self.reach.kind == "board" else None,
            ) from error


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def unreachable(reach: Reach, completed: Completed) -> MissingToolError:
    """Say why there is no way to a machine, in its program's words and in ours."""
    said = [line.strip() for line in completed.output.splitlines() if line.strip()]
    message, hint = reach.trouble(completed)
    return MissingToolError(message, causes=said[-3:], hint=hint)


@contextmanager
def met(reach: Reach, runtime: Runtime, executor: Executor, workspace: Path) -> Iterator[Machine]:
    """Meet a machine: a folder of ours on it for as long as the block lasts, Python, and facts.

    Its own Python is taken where it has the version that is asked for; else our runtime is copied,
    once. Raises `MissingToolError` for one that cannot be reached, is no riscv64 machine, or runs
    neither Python.
    """
    workspace.mkdir(parents=True, exist_ok=True)
    line = Line(reach, executor, workspace)
    name = f"runtime-{runtime.interpreter.digest[:16]}"
    python = f"python{runtime.interpreter.version}"
    look = LOOK.format(machine=MACHINE, python=python, runtime=name)
    seen = line.do(look).output.splitlines()
    if len(seen) < LOOK_LINES:
        raise MissingToolError(
            f"{reach.kind} `{reach.name}` is no {MACHINE} machine",
            causes=[f"`uname -m` says `{seen[-1].strip() if seen else 'nothing'}` there"],
        )
    _, _, python, cache, there, folder = (text.strip() for text in seen[-LOOK_LINES:])
    try:
        copied = None
        if not python:
            copied = f"{cache}/{name}"
            if there != "there":
                _copy_runtime(line, runtime, copied)
        words, settings = _start(python, copied, runtime)
        facts = _probe(line, folder, words, settings)
        yield Machine(reach, folder, words, settings, copied is not None, facts)
    finally:
        _leave(line, folder)


def _leave(line: Line, folder: str) -> None:
    try:
        line.ask(f"rm -rf {shlex.quote(folder)}")
    except RvbuildError:
        # The board went away: what is left there is small, and the first failure is the one to see.
        return


def _copy_runtime(line: Line, runtime: Runtime, place: str) -> None:
    libraries = {f"libs/{path.name}": path.resolve() for path in _shared_objects(runtime.libraries)}
    line.do(f"rm -rf {shlex.quote(place)} && mkdir -p {shlex.quote(place)}")
    line.push({"usr": runtime.interpreter.root / "usr", **libraries}, place)
    line.do(f"touch {shlex.quote(place)}/whole")


def _shared_objects(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        yield from sorted(folder.glob("*.so*"))


def _start(
    python: str, copied: str | None, runtime: Runtime
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    if copied is None:
        return (python,), ()
    libraries = f"{copied}/usr/lib/{TRIPLE}:{copied}/usr/lib:{copied}/libs"
    loader = f"{copied}/usr/lib/{Path(DYNAMIC_LOADER).name}"
    program = f"{copied}/usr/bin/python{runtime.interpreter.version}"
    words = (loader, "--library-path", libraries, program)
    return words, (("PYTHONHOME", f"{copied}/usr"),)


def _probe(
    line: Line, folder: str, words: tuple[str, ...], settings: tuple[tuple[str, str], ...]
) -> Facts:
    with resources.as_file(resources.files("rvbuild").joinpath("data/testing/probe.py")) as probe:
        line.push({"probe.py": probe}, folder)
    given = [f"{name}={value}" for name, value in settings]
    asked = line.ask(shlex.join(["env", *given, *words, f"{folder}/probe.py"]))
    told = asked.output.strip().rpartition("\n")[2]
    try:
        return TypeAdapter(Facts).validate_python(json.loads(told))
    except (ValidationError, ValueError) as error:
        raise MissingToolError(
            f"no Python runs on {line.reach.kind} `{line.reach.name}`",
            causes=[f"`{words[0]}` ended with {asked.exit_code}", *asked.tail(3)],
        ) from error
