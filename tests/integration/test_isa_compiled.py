"""The instruction gate on code that the pinned compiler makes, held against what QEMU does."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from rvbuild.emulator import Emulator
from rvbuild.isa import IsaFacts, read_isa_facts
from rvbuild.target import boards, cpus
from rvbuild.toolchain import Toolchain

pytestmark = pytest.mark.needs("qemu")

# One line of instructions for each extension, as the assembler names it.
MNEMONICS = {
    "zba": "add.uw a0,a1,a2; sh1add a0,a1,a2; sh2add.uw a0,a1,a2; sh3add a0,a1,a2; slli.uw a0,a1,3",
    "zbb": "andn a0,a1,a2; orn a0,a1,a2; xnor a0,a1,a2; clz a0,a1; ctzw a0,a1; cpop a0,a1;"
    " sext.b a0,a1; sext.h a0,a1; zext.h a0,a1; min a0,a1,a2; maxu a0,a1,a2; rol a0,a1,a2;"
    " rori a0,a1,3; rorw a0,a1,a2; roriw a0,a1,3; orc.b a0,a1; rev8 a0,a1",
    "zbc": "clmul a0,a1,a2; clmulh a0,a1,a2; clmulr a0,a1,a2",
    "zbs": "bclr a0,a1,a2; bclri a0,a1,33; bext a0,a1,a2; bexti a0,a1,3; binvi a0,a1,3;"
    " bseti a0,a1,40",
    "zbkb": "brev8 a0,a1; pack a0,a1,a2; packh a0,a1,a2; packw a0,a1,a2",
    "zbkx": "xperm4 a0,a1,a2; xperm8 a0,a1,a2",
    "zicond": "czero.eqz a0,a1,a2; czero.nez a0,a1,a2",
    "zknd": "aes64ds a0,a1,a2; aes64dsm a0,a1,a2; aes64im a0,a1",
    "zkne": "aes64es a0,a1,a2; aes64esm a0,a1,a2",
    "zknh": "sha256sig0 a0,a1; sha512sum1 a0,a1",
    "zksed": "sm4ed a0,a1,a2,1; sm4ks a0,a1,a2,2",
    "zksh": "sm3p0 a0,a1; sm3p1 a0,a1",
    "zfh": "fadd.h fa0,fa1,fa2; fmadd.h fa0,fa1,fa2,fa3; fcvt.w.h a0,fa0; feq.h a0,fa0,fa1",
    "zfhmin": "flh fa0,2(a0); fsh fa0,2(a0); fmv.x.h a0,fa0; fcvt.s.h fa0,fa1; fcvt.h.d fa0,fa1",
    "zfa": "fli.s fa0,1.0; fli.d fa0,2.0; fminm.d fa0,fa1,fa2; fround.s fa0,fa1; fleq.d a0,fa0,fa1",
    "zfbfmin": "fcvt.bf16.s fa0,fa1; fcvt.s.bf16 fa0,fa1",
    "zacas": "amocas.w a0,a1,(a2); amocas.d a0,a1,(a2)",
    "zabha": "amoadd.b a0,a1,(a2); amoswap.h a0,a1,(a2)",
    "zawrs": "wrs.nto; wrs.sto",
    "zicboz": "cbo.zero (a0)",
    "zicbom": "cbo.clean (a0); cbo.flush (a0); cbo.inval (a0)",
    "zimop": "mop.r.0 a0,a1; mop.rr.7 a0,a1,a2",
    "zcb": "c.lbu a0,1(a1); c.sh a0,2(a1); c.zext.b a0; c.not a0; c.mul a0,a1",
    "v": "vsetvli a0,a1,e32,m1,ta,ma; vsetivli zero,4,e8,m1,ta,ma; vle8.v v0,(a0);"
    " vse64.v v0,(a0); vlse32.v v1,(a0),a1; vluxei16.v v1,(a0),v2; vl1r.v v0,(a0); vlm.v v0,(a0);"
    " vadd.vv v0,v1,v2; vfmacc.vf v0,fa0,v1; vmv1r.v v0,v1; csrr a0,vlenb; csrr a0,vl",
    "zvkb": "vandn.vv v0,v1,v2; vbrev8.v v0,v1; vror.vi v0,v1,5; vrol.vx v0,v1,a0",
    "zvbb": "vbrev.v v0,v1; vclz.v v0,v1; vcpop.v v0,v1; vwsll.vi v0,v2,3",
    "zvbc": "vclmul.vv v0,v1,v2; vclmulh.vx v0,v1,a0",
    "zvkg": "vghsh.vv v0,v1,v2; vgmul.vv v0,v1",
    "zvkned": "vaesdf.vv v0,v1; vaesem.vs v0,v1; vaesz.vs v0,v1; vaeskf1.vi v0,v1,2",
    "zvknhb": "vsha2ch.vv v0,v1,v2; vsha2ms.vv v0,v1,v2",
    "zvksed": "vsm4k.vi v0,v1,2; vsm4r.vv v0,v1",
    "zvksh": "vsm3me.vv v0,v1,v2; vsm3c.vi v0,v2,3",
    "zvfbfmin": "vfncvtbf16.f.f.w v0,v2; vfwcvtbf16.f.f.v v0,v2",
    "zvfbfwma": "vfwmaccbf16.vv v0,v2,v3; vfwmaccbf16.vf v0,fa0,v2",
}
BASELINE = """
  lb a0,1(a1); lhu a0,2(a1); ld a0,8(a1); sd a0,8(a1); lui a0,5; auipc a0,6; addi a0,a1,7
  slli a0,a1,40; srai a0,a1,3; xori a0,a1,-1; addw a0,a1,a2; sraw a0,a1,a2; sllw a0,a1,a2
  sub a0,a1,a2
  sltu a0,a1,a2; and a0,a1,a2; mul a0,a1,a2; mulhsu a0,a1,a2; divw a0,a1,a2; remu a0,a1,a2
  amoadd.w a0,a1,(a2); amomaxu.d a0,a1,(a2); lr.d a0,(a1); sc.w a0,a1,(a2); fence; fence.i; ecall
  fadd.s fa0,fa1,fa2; fadd.d fa0,fa1,fa2; fmadd.d fa0,fa1,fa2,fa3; fnmsub.s fa0,fa1,fa2,fa3
  fld fa0,8(a0); fsw fa0,4(a0); fcvt.d.s fa0,fa1; fcvt.s.d fa0,fa1; fcvt.l.d a0,fa0
  fsgnjx.d fa0,fa1,fa2
  fmin.s fa0,fa1,fa2; fmax.d fa0,fa1,fa2; fle.d a0,fa0,fa1; fclass.s a0,fa0; fsqrt.d fa0,fa1
  fmv.x.d a0,fa0; fmv.w.x fa0,a0; rdcycle a0; frcsr a0; fsrm a0
"""
LOADER = """
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **words) {
  void *library = dlopen(words[count - 1], RTLD_NOW);
  if (library == 0) { puts(dlerror()); return 3; }
  long (*sum)(const int *, long) = (long (*)(const int *, long))dlsym(library, "sum");
  int values[] = {7, 8};
  printf("%ld\\n", sum ? sum(values, 1) : -1);
  return 0;
}
"""
VECTOR = (
    '__asm__ volatile(".option push\\n.option arch, +v\\nvsetvli t0, %2, e32, m1, ta, ma\\n'
    'vle32.v v1, (%1)\\nvmv.x.s %0, v1\\n.option pop" : "=r"(first) : "r"(a), "r"(n) '
    ': "t0", "memory");'
)
GUARDED = f"""
#include <sys/auxv.h>
static long with_vector(const int *a, long n) {{ long first; {VECTOR} return first; }}
long sum(const int *a, long n) {{
  if (getauxval(AT_HWCAP) & (1 << ('v' - 'a'))) return with_vector(a, n);
  return a[0];
}}
"""
CONSTRUCTOR = f"""
static long kept;
__attribute__((constructor)) static void begin(void) {{
  int value[1] = {{1}}; const int *a = value; long n = 1, first; {VECTOR} kept = first;
}}
long sum(const int *a, long n) {{ return a[0] + kept * 0 * n; }}
"""


@dataclass(frozen=True, slots=True)
class Desk:
    """A folder in which sources become libraries, and programs are run."""

    folder: Path
    toolchain: Toolchain
    emulator: Emulator

    def make(self, name: str, code: str, *words: str) -> Path:
        """Compile and link a source of C, or of assembly by its name."""
        source = self.folder / (name if "." in name else f"{name}.c")
        source.write_text(code)
        made = self.folder / f"{source.stem}.out"
        command = [str(self.toolchain.c), source.name, *words, "-o", made.name]
        environment = {"PATH": "/usr/bin:/bin", "TMPDIR": str(self.folder)}
        done = subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return made

    def run(self, program: Path, library: Path, cpu: str) -> subprocess.CompletedProcess[str]:
        """Load a library on a CPU and call its `sum`."""
        words = self.emulator.words(cpus()[cpu], self.toolchain.sysroot)
        command = [*words, str(program), str(library)]
        return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def desk(tmp_path: Path, toolchain: Toolchain, emulator: Emulator) -> Desk:
    return Desk(tmp_path, toolchain, emulator)


def facts_of(path: Path) -> IsaFacts:
    return read_isa_facts(path.read_bytes(), path.name)


def assembled(lines: str, extension: str) -> str:
    instructions = "\n".join(lines.split(";"))
    return f".option arch, +{extension}\n.text\n.globl f\n.type f,@function\nf:\n{instructions}\n"


@pytest.mark.parametrize("extension", MNEMONICS)
def test_every_instruction_is_named_by_its_extension(desk: Desk, extension: str) -> None:
    words = ("-c", "-march=rv64gc", "-menable-experimental-extensions")
    made = desk.make("f.s", assembled(MNEMONICS[extension], extension), *words)
    facts = facts_of(made)
    # The assembler takes short forms where an extension brings them.
    others = facts.extensions.keys() - {extension, "zcb"}
    assert others == set()
    counted = sum(facts.extensions.values())
    assert counted == len(MNEMONICS[extension].split(";"))


def test_no_instruction_of_the_baseline_is_taken_for_another(desk: Desk) -> None:
    code = assembled(BASELINE.replace("\n", ";").strip(";"), "zifencei")
    facts = facts_of(desk.make("f.s", code, "-c", "-march=rv64gc"))
    assert (facts.verdict, facts.extensions) == ("baseline", {})


def test_the_verdict_foretells_what_a_processor_does(desk: Desk) -> None:
    program = desk.make("loader", LOADER, "-ldl")
    guarded = desk.make("guarded", GUARDED, "-shared", "-fPIC", "-O2")
    constructor = desk.make("constructor", CONSTRUCTOR, "-shared", "-fPIC", "-O2")
    assert facts_of(guarded).verdict == "dispatched"
    assert facts_of(constructor).verdict == "leaks"
    for cpu in ("rv64gc", "vlen128", "k1", "jh7110", "th1520"):
        assert desk.run(program, guarded, cpu).stdout == "7\n", cpu
    assert desk.run(program, constructor, "k1").stdout == "7\n"
    assert desk.run(program, constructor, "rv64gc").returncode != 0
    assert desk.run(program, constructor, "jh7110").returncode != 0


@pytest.mark.parametrize("name", boards())
def test_every_board_has_words_that_the_emulator_takes(desk: Desk, name: str) -> None:
    program = desk.make("loader", LOADER, "-ldl")
    library = desk.make("plain", "long sum(const int *a, long n) { return a[0] + n; }", "-shared")
    done = desk.run(program, library, name)
    assert (done.returncode, done.stdout, done.stderr) == (0, "8\n", "")
