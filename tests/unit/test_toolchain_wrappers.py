"""The generated wrappers, made around a compiler that only says what it was called with."""

import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from rvbuild.errors import MissingToolError, UsageError
from rvbuild.kit import PinnedTree, Supplies
from rvbuild.toolchain import Toolchain
from rvbuild.toolchain.install import Parts, install_toolchain, toolchain_digest
from tests.build_samples import check_golden, make_package, supplies_of, tree_text

FAKE_ZIG = """\
#!/bin/sh
if [ "$2" = --version ]; then echo "clang version 22.1.0 (fake)"; exit; fi
for word do echo "$word"; done
"""
FAKE_QEMU = '#!/bin/sh\necho emulated "$@"\n'
HOST = "x86_64"


@pytest.fixture
def supplies(tmp_path: Path) -> Supplies:
    return supplies_of(tmp_path)


@pytest.fixture
def pins(tmp_path: Path) -> Path:
    members = {"ziglang/zig": FAKE_ZIG, "ziglang/lib/include/stddef.h": ""}
    pin = make_package(tmp_path / "offline/ziglang-1-py3-none-any.whl", members)
    folder = tmp_path / "pins"
    folder.mkdir()
    text = tree_text("compiler-x86_64", PinnedTree(pins=(pin,)))
    (folder / "clang.yaml").write_text(f"name: clang\ntrees:\n{text}")
    return folder


@pytest.fixture
def parts(tmp_path: Path) -> Parts:
    qemu = tmp_path / "qemu"
    qemu.write_text(FAKE_QEMU)
    qemu.chmod(0o755)
    sysroot = Path("/kits/sysroot")
    return Parts(sysroot, sysroot / "gcc/10", "s" * 64, qemu, Path("/kits/pkgconf"))


@pytest.fixture
def toolchain(pins: Path, parts: Parts, supplies: Supplies) -> Toolchain:
    return install_toolchain("clang", HOST, pins, parts, supplies)


def call(program: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/usr/bin:/bin", **variables}
    return subprocess.run(
        [str(program), *words], env=environment, capture_output=True, text=True, check=False
    )


def test_every_wrapper_is_golden(toolchain: Toolchain, tmp_path: Path) -> None:
    root = toolchain.folder.parent
    files = sorted(path for path in root.rglob("*") if path.is_file())
    texts = []
    for path in files:
        text = path.read_text().replace(str(root), "@TOOLCHAIN@")
        text = re.sub(r"[^\s\"]*/kits/clang-x86_64-\w+", "@CLANG@", text)
        text = text.replace(str(root.parent), "@KITS@")
        texts.append(f"==> {path.relative_to(root)}\n{text.replace(str(tmp_path), '@TEST@')}")
    check_golden("wrappers.txt", "".join(texts))
    assert all(os.access(path, os.X_OK) for path in files)


def test_the_compiler_is_told_the_target_and_the_sysroot(toolchain: Toolchain) -> None:
    done = call(toolchain.c, "-c", "a b.c")
    words = done.stdout.splitlines()
    assert words[0] == "clang"
    assert "--target=riscv64-linux-gnu" in words
    assert "--sysroot=/kits/sysroot" in words
    assert words[-2:] == ["-c", "a b.c"]
    assert "--driver-mode=g++" in call(toolchain.cxx).stdout


def test_a_linker_is_no_unused_argument(toolchain: Toolchain) -> None:
    words = call(toolchain.c, "-c", "a.c").stdout.splitlines()
    linker = words.index(f"--ld-path={toolchain.linker}")
    assert words[linker - 1] == "--start-no-unused-arguments"
    assert words[linker + 1] == "--end-no-unused-arguments"


@pytest.mark.parametrize(
    "words",
    [
        ("-I/usr/include",),
        ("-I", "/usr/include/python3.11"),
        ("-isystem", "/usr/include"),
        ("-idirafter/usr/include",),
        ("-iquote", "/usr/local/include"),
        ("-I/usr/local/include/x",),
        ("-L/usr/lib/x86_64-linux-gnu",),
        ("-L", "/lib64"),
        ("-L/usr/local/lib",),
        ("-O2", "-I/job/include", "-L/usr/lib"),
    ],
)
@pytest.mark.parametrize("plus", [False, True])
def test_folders_of_the_build_machine_are_refused_by_name(
    toolchain: Toolchain, words: tuple[str, ...], *, plus: bool
) -> None:
    done = call(toolchain.cxx if plus else toolchain.c, *words)
    assert done.returncode == 1
    assert done.stdout == ""
    assert f"`{words[-1]}` is a folder of the build machine" in done.stderr


@pytest.mark.parametrize("word", ["-march=native", "-mcpu=native", "-mtune=native"])
def test_the_build_machines_processor_is_refused_by_name(toolchain: Toolchain, word: str) -> None:
    done = call(toolchain.c, "-O2", word)
    assert done.returncode == 1
    assert f"`{word}` asks for the build machine's processor" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("-I/job/usr/include",),
        ("-I/usr/included",),
        ("-L/library",),
        ("-I", "-L/work"),
        ("-I/usr/local/rvbuild/job/prefix/include",),
        ("-L/usr/libexec/x",),
        ("-march=rv64gcv",),
        ("-o", "/usr/lib"),
        ('-DNAME="$HOME `x`"',),
    ],
)
def test_other_words_pass_unchanged(toolchain: Toolchain, words: tuple[str, ...]) -> None:
    done = call(toolchain.c, *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert tuple(done.stdout.splitlines()[-len(words) :]) == words


def test_the_work_folder_is_mapped_and_the_launcher_comes_first(
    toolchain: Toolchain, tmp_path: Path
) -> None:
    kits = toolchain.folder.parent.parent
    plain = call(toolchain.c, "a.c").stdout.splitlines()
    assert [word for word in plain if "prefix-map" in word] == [
        f"-ffile-prefix-map={kits}=/rvbuild/kits"
    ]
    mapped = call(toolchain.c, "a.c", RVBUILD_WORK="/my work")
    assert "-ffile-prefix-map=/my work=/rvbuild" in mapped.stdout.splitlines()
    launcher = tmp_path / "the launcher"
    launcher.write_text('#!/bin/sh\necho "launched $(basename "$1")"\n')
    launcher.chmod(0o755)
    done = call(toolchain.c, "a.c", RVBUILD_COMPILER_LAUNCHER=str(launcher))
    assert done.stdout == "launched riscv64-linux-gnu-clang\n"


def test_riscv64_programs_are_emulated_and_others_run_as_they_are(
    toolchain: Toolchain, tmp_path: Path
) -> None:
    header = bytearray(b"\x7fELF\x02\x01\x01" + bytes(57))
    header[18:20] = (243).to_bytes(2, "little")
    program = tmp_path / "probe"
    program.write_bytes(bytes(header))
    program.chmod(0o755)
    done = call(toolchain.emulated, str(program), "a b")
    assert done.stdout.startswith("emulated -L /kits/sysroot -cpu rv64,v=false")
    assert done.stdout.endswith(f"{program} a b\n")
    assert call(toolchain.emulated, "echo", "a b").stdout == "a b\n"
    below = call(toolchain.emulated, str(program), RVBUILD_PREFIX="/job/prefix")
    assert "-E LD_LIBRARY_PATH=/job/prefix/lib" in below.stdout


def test_programs_of_the_build_machine_are_static(toolchain: Toolchain) -> None:
    words = call(toolchain.build_c, "-c", "a.c").stdout.split()
    assert words == ["cc", "-target", "x86_64-linux-musl", "-c", "a.c"]
    assert (toolchain.build_c.parent / "gcc").resolve() == toolchain.build_c.resolve()


def test_wrappers_are_written_once(
    toolchain: Toolchain, pins: Path, parts: Parts, supplies: Supplies
) -> None:
    before = toolchain.c.stat().st_mtime_ns
    again = install_toolchain("clang", HOST, pins, parts, supplies)
    assert again == toolchain
    assert again.c.stat().st_mtime_ns == before
    assert toolchain.version == "22.1.0"


def test_the_digest_names_compiler_and_sysroot(toolchain: Toolchain, pins: Path) -> None:
    assert toolchain.digest == toolchain_digest("clang", HOST, pins, "s" * 64)
    assert toolchain.digest != toolchain_digest("clang", HOST, pins, "t" * 64)


def test_an_unknown_choice_and_an_unknown_machine_are_named(
    pins: Path, parts: Parts, supplies: Supplies
) -> None:
    with pytest.raises(UsageError, match="there is no toolchain `icc`") as usage:
        install_toolchain("icc", HOST, pins, parts, supplies)
    assert usage.value.hint == "choose among clang, clang-system, gcc"
    with pytest.raises(MissingToolError, match="`compiler-s390x`"):
        install_toolchain("clang", "s390x", pins, parts, supplies)


def system_gcc(folder: Path) -> None:
    folder.mkdir()
    answers = {"-dumpfullversion": "14.2.0", "-print-file-name=include": "/gcc/include"}
    cases = "".join(f"  {word}) echo {answer}; exit ;;\n" for word, answer in answers.items())
    text = f'#!/bin/sh\ncase $1 in\n{cases}esac\nfor word do echo "$word"; done\n'
    for name in ("gcc", "g++", "ld", "ar", "ranlib", "objcopy"):
        program = folder / f"riscv64-linux-gnu-{name}"
        program.write_text(text)
        program.chmod(0o755)


def test_a_systems_gcc_sees_the_sysroot_alone(
    tmp_path: Path, pins: Path, parts: Parts, supplies: Supplies, monkeypatch: pytest.MonkeyPatch
) -> None:
    system_gcc(tmp_path / "gcc")
    monkeypatch.setenv("PATH", f"{tmp_path}/gcc:/usr/bin:/bin")
    made = install_toolchain("gcc", HOST, pins, parts, supplies)
    assert (made.family, made.version, made.c.name) == ("gcc", "14.2.0", "riscv64-linux-gnu-gcc")
    words = call(made.cxx, "a.cc").stdout.splitlines()
    assert words[:3] == ["--sysroot=/kits/sysroot", "-nostdinc++", "-isystem"]
    assert "-nostdinc" in words
    assert [word for word in words if word.startswith("/")] == [
        "/kits/sysroot/usr/riscv64-linux-gnu/include/c++/10",
        "/kits/sysroot/usr/riscv64-linux-gnu/include/c++/10/riscv64-linux-gnu",
        "/gcc/include",
        "/kits/sysroot/usr/riscv64-linux-gnu/include",
    ]
    assert call(made.c, "-march=native").returncode == 1


def test_a_compiler_that_is_not_there_is_named(
    tmp_path: Path, pins: Path, parts: Parts, supplies: Supplies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingToolError, match="`riscv64-linux-gnu-gcc` is not on PATH"):
        install_toolchain("gcc", HOST, pins, parts, supplies)
    with pytest.raises(MissingToolError, match="`clang` is not on PATH"):
        install_toolchain("clang-system", HOST, pins, replace(parts), supplies)
