"""The program that builds know as gfortran: GNU Fortran compiles, the job's C compiler links."""

import os
import subprocess
from pathlib import Path

import pytest

from rvbuild.kit.fortran import wrapper_text

# Tell what they were called with, and make what they were asked for.
SPY = """\
#!/bin/sh
echo "{name} $*" >> "{log}"
while [ $# -gt 0 ]; do [ "$1" = -o ] && : > "$2"; shift; done
"""


@pytest.fixture
def gfortran(tmp_path: Path) -> Path:
    kit = tmp_path / "kit"
    for name, place in (
        ("gfortran", kit / "usr/bin/riscv64-linux-gnu-gfortran-10"),
        ("cc", kit / "cc"),
    ):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(SPY.format(name=name, log=tmp_path / "log"))
        place.chmod(0o755)
    program = kit / "bin/gfortran"
    program.parent.mkdir()
    program.write_text(wrapper_text(kit))
    program.chmod(0o755)
    return program


def call(gfortran: Path, *words: str) -> list[str]:
    folder = gfortran.parents[2]
    told = {
        "PATH": os.environ["PATH"],
        "CC": f"{gfortran.parents[1]}/cc -first",
        "TMPDIR": str(folder),
    }
    subprocess.run([gfortran, *words], cwd=folder, env=told, check=True)
    log = folder / "log"
    lines = log.read_text().splitlines()
    log.unlink()
    return lines


@pytest.mark.parametrize("word", ["-c", "-S", "-E", "--version", "-dumpversion", "-v"])
def test_gnu_fortran_compiles_and_answers(gfortran: Path, word: str) -> None:
    (line,) = call(gfortran, "-O2", word, "a.f90")
    assert line.startswith("gfortran -B")
    assert line.endswith(f" -O2 {word} a.f90")


def test_the_c_compiler_links_objects(gfortran: Path) -> None:
    words = ("-shared", "-fPIC", "-Wl,--as-needed", "a.o", "-L/p/lib", "-lopenblas", "-o", "m.so")
    (line,) = call(gfortran, *words)
    kept = "-shared -Wl,--as-needed a.o -L/p/lib -lopenblas -o m.so"
    assert line == f"cc -first {kept} -lgfortran -lm"


def test_sources_on_a_link_line_are_compiled_before(gfortran: Path) -> None:
    compiled, linked = call(gfortran, "-O1", "-std=legacy", "dir/a program.f90", "b.o", "-o", "x.F")
    assert "-O1 -std=legacy -c dir/a program.f90 -o " in compiled
    made = compiled.rpartition(" -o ")[2]
    assert linked == f"cc -first {made} b.o -o x.F -lgfortran -lm"
    assert not Path(made).exists()


def test_the_linker_says_where_libraries_are_even_in_a_compile(gfortran: Path) -> None:
    (line,) = call(gfortran, "-c", "x.f90", "--print-search-dirs")
    assert line == "cc -first --print-search-dirs"


def test_a_source_that_does_not_compile_is_not_linked(gfortran: Path) -> None:
    (gfortran.parents[1] / "usr/bin/riscv64-linux-gnu-gfortran-10").write_text(
        "#!/bin/sh\nexit 3\n"
    )
    with pytest.raises(subprocess.CalledProcessError) as caught:
        call(gfortran, "a.f", "-o", "a")
    assert caught.value.returncode == 3
    assert not (gfortran.parents[2] / "log").exists()
