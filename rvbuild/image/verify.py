"""Proving that an image is what cibuildwheel and rvbuild take it for, by running what is in it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rvbuild.errors import MissingToolError
from rvbuild.executor import Command, Executor
from rvbuild.target import python_tag

TIMEOUT_SECONDS = 300.0
PYTHON = "import ctypes, hashlib, sqlite3, ssl, sys; print('%d.%d' % sys.version_info[:2])"
COMPILE = """\
printf '#include <Python.h>\\nint main(void) { return sizeof(PyObject) == 0; }\\n' > /tmp/probe.c
"$CC" -I"$1" -c /tmp/probe.c -o /tmp/probe.o
printf '#include <vector>\\nint main() { return std::vector<int>(7)[0]; }\\n' \
  > /tmp/probe.cc
"$CXX" /tmp/probe.cc -o /tmp/probe
echo compiled
"""
INCLUDE = "import sysconfig; print(sysconfig.get_path('include'))"


@dataclass(frozen=True, slots=True)
class Proof:
    """One thing that an image should be able to do; `answer` is how a line of its output begins."""

    name: str
    words: tuple[str, ...]
    answer: str


def proofs(pythons: tuple[str, ...]) -> Iterator[Proof]:
    """Give everything that is to be proven of an image with some Pythons."""
    for version in pythons:
        tag = python_tag(version)
        program = f"/opt/python/{tag}-{tag}/bin/python"
        yield Proof(f"Python {version}", (program, "-c", PYTHON), version.rstrip("t"))
        yield Proof(f"pip of Python {version}", (program, "-m", "pip", "--version"), "pip ")
        script = f'set -eu; set -- "$({program} -c "{INCLUDE}")"\n{COMPILE}'
        yield Proof(f"compiler and headers of Python {version}", ("sh", "-c", script), "compiled")
    yield Proof("auditwheel", ("auditwheel", "--version"), "auditwheel ")
    yield Proof("patchelf", ("patchelf", "--version"), "patchelf ")


def verify(executor: Executor, wanted: Iterator[Proof], folder: Path) -> Iterator[tuple[str, str]]:
    """Try everything; give each name with what is wrong, which is empty where all is well."""
    for proof in wanted:
        try:
            done = executor.run(Command(proof.words, folder, {}, TIMEOUT_SECONDS, network=False))
        except MissingToolError as error:
            yield proof.name, "; ".join((error.message, *error.causes))
            continue
        lines = done.output.splitlines()
        good = done.ok and any(line.startswith(proof.answer) for line in lines)
        yield proof.name, "" if good else (lines[-1:] or [f"exit code {done.exit_code}"])[0]
