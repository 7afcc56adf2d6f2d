"""The pinned toolchain on small sources: what it makes, what it links with, how that runs."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from rvbuild.elf import ElfFacts, read_elf
from rvbuild.emulator import Emulator
from rvbuild.kit import Supplies
from rvbuild.sysroot import Sysroot
from rvbuild.target import cpus
from rvbuild.toolchain import Toolchain

pytestmark = pytest.mark.needs("qemu")

ADD = "int add(int a, int b) { return a + b; }\n"
STRING = """
#include <stdexcept>
#include <string>
extern "C" int length(const char *text) {
  try {
    throw std::invalid_argument(std::string(text) + "!");
  } catch (const std::exception &error) {
    return static_cast<int>(std::string(error.what()).size());
  }
}
"""
UNDEFINED = """
#include <stdio.h>
int main(int count, char **words) {
  int big = 2147483647;
  volatile int shift = 31 + count;
  volatile int sum = big + count;
  (void)words;
  printf("%d %d\\n", (1 << shift) != 12345, sum != 12345);
  return 0;
}
"""


@dataclass(frozen=True, slots=True)
class Desk:
    """A folder in which sources are compiled and what comes of them is run."""

    folder: Path
    toolchain: Toolchain
    emulator: Emulator

    def call(self, *words: str, plus: bool = False) -> subprocess.CompletedProcess[str]:
        """Call the compiler."""
        program = self.toolchain.cxx if plus else self.toolchain.c
        return subprocess.run(
            [str(program), *words],
            cwd=self.folder,
            env={"PATH": "/usr/bin:/bin", "TMPDIR": str(self.folder)},
            capture_output=True,
            text=True,
            check=False,
        )

    def make(self, code: str, *words: str, plus: bool = False) -> Path:
        """Compile and link; give what was made."""
        source = self.folder / ("source.cc" if plus else "source.c")
        source.write_text(code)
        done = self.call(source.name, *words, "-o", "made", plus=plus)
        assert (done.returncode, done.stderr) == (0, "")
        return self.folder / "made"

    def facts(self, code: str, *words: str, plus: bool = False) -> ElfFacts:
        """Compile, and read what was made."""
        return read_elf(self.make(code, *words, plus=plus))

    def run(self, program: Path, cpu: str = "rv64gc") -> subprocess.CompletedProcess[str]:
        """Run a program on a CPU."""
        words = (*self.emulator.words(cpus()[cpu], self.toolchain.sysroot), str(program))
        return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.fixture
def desk(tmp_path: Path, toolchain: Toolchain, emulator: Emulator) -> Desk:
    return Desk(tmp_path, toolchain, emulator)


@pytest.mark.parametrize(
    ("words", "vector", "longest"),
    [
        ((), False, None),
        (("-march=rv64gc",), False, None),
        (("-march=rv64imafdc",), False, None),
        (("-march=rv64gcv",), True, "zvl128b"),
        (("-march=rv64gcv_zvl128b",), True, "zvl128b"),
        (("-march=rv64gcv_zvl256b",), True, "zvl256b"),
        (("-march=rv64imafdcv_zvl256b",), True, "zvl256b"),
        (("-mcpu=sifive-u74",), False, None),
        (("-mtune=sifive-7-series",), False, None),
    ],
)
def test_gnu_architecture_strings_do_what_they_say(
    desk: Desk, words: tuple[str, ...], longest: str | None, *, vector: bool
) -> None:
    facts = desk.facts(ADD, "-c", *words)
    assert (facts.machine, facts.float_abi) == ("EM_RISCV", "double")
    isa = facts.isa or ""
    assert isa.startswith("rv64i2p1_m2p0_a2p1_f2p2_d2p2_c2p0")
    assert ("_v1p0" in isa) is vector
    lengths = [part for part in ("zvl128b", "zvl256b", "zvl512b") if part in isa]
    assert (lengths[-1] if lengths else None) == longest


@pytest.mark.parametrize("word", ["-march=native", "-mcpu=native", "-mtune=native"])
def test_the_build_machines_processor_is_refused(desk: Desk, word: str) -> None:
    (desk.folder / "a.c").write_text(ADD)
    done = desk.call("-c", "a.c", word)
    assert done.returncode != 0
    assert f"`{word}`" in done.stderr


def test_another_float_abi_cannot_be_linked(desk: Desk) -> None:
    # lp64 code compiles, but nothing in the sysroot goes with it.
    (desk.folder / "a.c").write_text("int main(void) { return 0; }\n")
    done = desk.call("a.c", "-march=rv64imac", "-mabi=lp64", "-o", "a")
    assert done.returncode != 0


LINKER_OPTIONS = [
    "-Wl,--exclude-libs,ALL",
    "-Wl,-stats",
    "-Wl,-Bsymbolic-functions",
    "-Wl,--push-state,--as-needed,--pop-state",
    "-Wl,-Map=map.txt",
    "-Wl,--no-copy-dt-needed-entries",
    "-Wl,--undefined=add",
    "-Wl,--dynamic-list=list.txt",
    "-Wl,--icf=safe",
    "-Wl,--no-keep-memory",
    "-Wl,-rpath-link,/nowhere",
    "-static-libgcc",
    "-fno-plt",
    "-Wl,--version-script=script.txt",
    "-Wl,-z,max-page-size=65536",
    "-Wl,--as-needed",
    "-Wl,--dependency-file=d.txt",
    "-Wl,--wrap=malloc",
    "-Wl,--gc-sections",
    "-Wl,-O1,--sort-common,-z,relro,-z,now",
    "-Wl,-soname,libadd.so.1",
    "-pthread",
    "-latomic",
]


@pytest.mark.parametrize("option", LINKER_OPTIONS)
def test_linker_options_of_stock_projects_are_taken(desk: Desk, option: str) -> None:
    (desk.folder / "list.txt").write_text("{ add; };\n")
    (desk.folder / "script.txt").write_text("{ global: add; local: *; };\n")
    (desk.folder / "a.c").write_text(ADD)
    done = desk.call("-shared", "-fPIC", "a.c", option, "-o", "a.so")
    assert done.returncode == 0, done.stderr
    facts = read_elf(desk.folder / "a.so")
    assert facts.kind == "dyn"
    assert "add" in facts.defined


def test_options_change_what_they_are_meant_to(desk: Desk) -> None:
    (desk.folder / "script.txt").write_text("{ global: add; local: *; };\n")
    code = f"{ADD}int hidden(void) {{ return 1; }}\n"
    words = ("-shared", "-fPIC", "-Wl,--version-script=script.txt", "-Wl,-z,max-page-size=65536")
    facts = desk.facts(code, *words, "-Wl,-Map=map.txt", "-Wl,-soname,liba.so.2")
    assert "add" in facts.defined
    assert "hidden" not in facts.defined
    assert {load.alignment for load in facts.loads} == {65536}
    assert facts.soname == "liba.so.2"
    assert "add" in (desk.folder / "map.txt").read_text()


def test_questions_of_configure_scripts_are_answered(desk: Desk, sysroot: Sysroot) -> None:
    assert desk.call("-dumpmachine").stdout.strip() == "riscv64-unknown-linux-gnu"
    assert desk.call("-dumpversion").stdout.split(".")[0].isdigit()
    for name in ("libc.so.6", "libstdc++.so", "crt1.o"):
        found = Path(desk.call(f"-print-file-name={name}").stdout.strip()).resolve()
        assert found.is_relative_to(sysroot.root.resolve()), name
    assert str(sysroot.gcc_install) in desk.call("-print-search-dirs").stdout
    linker = desk.call("-print-prog-name=ld")
    assert linker.returncode == 0
    version = desk.call("--version").stdout
    assert "clang version" in version
    assert "Target: riscv64-unknown-linux-gnu" in version


def test_macros_are_those_of_the_target(desk: Desk) -> None:
    (desk.folder / "a.c").write_text("")
    text = desk.call("-dM", "-E", "a.c").stdout
    assert "#define __riscv_xlen 64\n" in text
    assert "#define __riscv_float_abi_double 1\n" in text
    assert "#define __LDBL_MANT_DIG__ 113\n" in text
    assert "__x86_64__" not in text


def test_cpp_links_with_the_sysroots_own_library(desk: Desk) -> None:
    # libstdc++.so.6 was compiled by g++: its exception takes our string and gives it back.
    code = f'{STRING}int main() {{ return length("abc") == 4 ? 0 : 1; }}\n'
    program = desk.make(code, plus=True)
    facts = read_elf(program)
    assert "libstdc++.so.6" in facts.needed
    assert not [name for name in facts.needed if name.startswith("libc++")]
    wanted = [symbol.name for symbol in facts.undefined]
    assert any("St16invalid_argumentC1ERKNSt7__cxx1112basic_string" in name for name in wanted)
    done = desk.run(program)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_shared_object_of_cpp_stays_below_the_floor(desk: Desk) -> None:
    facts = desk.facts(STRING, "-shared", "-fPIC", "-lstdc++", plus=True)
    assert "libstdc++.so.6" in facts.needed
    versions = {each.version for each in facts.required_versions}
    assert any(version.startswith("GLIBCXX_3.4") for version in versions)
    for version in versions:
        family, _, number = version.partition("_")
        parts = tuple(int(part) for part in number.split("."))
        highest = {"GLIBC": (2, 31), "GLIBCXX": (3, 4, 28), "CXXABI": (1, 3, 12), "GCC": (7, 0, 0)}
        assert parts <= highest[family], version


@pytest.mark.parametrize("words", [(), ("-O0",), ("-O1",), ("-O2",), ("-O0", "-g")])
def test_undefined_behaviour_does_not_trap(desk: Desk, words: tuple[str, ...]) -> None:
    program = desk.make(UNDEFINED, "-w", *words)
    done = desk.run(program)
    assert (done.returncode, done.stderr) == (0, ""), done
    assert done.stdout == "1 1\n"


def test_debug_information_is_for_those_who_ask(desk: Desk) -> None:
    assert not desk.facts(ADD, "-c", "-O2").has_debug
    assert desk.facts(ADD, "-c", "-g").has_debug


def test_one_byte_atomics_need_no_library(desk: Desk) -> None:
    # https://github.com/riscv-collab/riscv-gcc/issues/15: what older compilers call libatomic for.
    code = "int main(void) { unsigned char x = 1; return __atomic_exchange_n(&x, 0, 5) - 1; }\n"
    program = desk.make(code, "-O2")
    assert not [each for each in read_elf(program).undefined if "atomic" in each.name]
    assert desk.run(program).returncode == 0


def test_newer_kernel_headers_go_with_the_older_glibc(desk: Desk) -> None:
    code = "#include <asm/hwprobe.h>\n#include <features.h>\n"
    code += '_Static_assert(RISCV_HWPROBE_KEY_IMA_EXT_0 == 4 && __GLIBC_MINOR__ == 31, "");\n'
    assert desk.facts(code, "-c").machine == "EM_RISCV"


def test_vectors_run_at_every_length(desk: Desk) -> None:
    code = """
#include <riscv_vector.h>
#include <stdio.h>
int main(void) { printf("%d\\n", 8 * (int)__riscv_vsetvlmax_e8m1()); return 0; }
"""
    program = desk.make(code, "-march=rv64gcv", "-O2")
    for cpu in ("vlen128", "vlen256", "vlen512", "vlen1024"):
        assert desk.run(program, cpu).stdout == f"{cpus()[cpu].vlen}\n"
    assert desk.run(program, "rv64gc").returncode != 0


def test_what_a_build_runs_itself_runs_here(
    desk: Desk, toolchain: Toolchain, supplies: Supplies
) -> None:
    (desk.folder / "a.c").write_text('#include <stdio.h>\nint main(void) { puts("here"); }\n')
    # The C library for this machine is compiled once for each cache, which takes a minute.
    cache = str(supplies.places.cache / "zig")
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(desk.folder)}
    environment |= {"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": str(desk.folder / "zig")}
    words = [str(toolchain.build_c), "a.c", "-o", "a"]
    subprocess.run(words, cwd=desk.folder, env=environment, check=True)
    done = subprocess.run([desk.folder / "a"], capture_output=True, text=True, check=True)
    assert done.stdout == "here\n"
    assert read_elf(desk.folder / "a").interpreter is None


def test_the_emulator_wrapper_runs_target_programs(desk: Desk, toolchain: Toolchain) -> None:
    program = desk.make('#include <stdio.h>\nint main(void) { puts("there"); }\n')
    words = [str(toolchain.emulated), str(program)]
    environment = {"PATH": "/usr/bin:/bin"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "there\n"
