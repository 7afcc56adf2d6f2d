"""Having a toolchain: the pinned clang, or the system's clang or gcc, behind generated wrappers."""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from filelock import FileLock

from rvbuild.errors import MissingToolError, UsageError
from rvbuild.kit import Supplies, Tree, load_pins, materialise
from rvbuild.target import MACHINE, TRIPLE, cpus
from rvbuild.toolchain.model import Family, Toolchain

# Raised whenever wrappers or generated files change what a build produces.
REVISION = "1"
# What takes the emulator's place on riscv64 itself; no part of other machines' keys.
NATIVE_TEMPLATE = "native.sh"
TEMPLATES = ("compiler.sh", "clang.sh", "gcc.sh", "tool.sh", "emulated.sh", "policies.cmake")
CHOICES = ("clang", "clang-system", "gcc")
BUILD_TRIPLES = {
    "x86_64": "x86_64-linux-musl",
    "aarch64": "aarch64-linux-musl",
    "riscv64": "riscv64-linux-musl",
}


@dataclass(frozen=True, slots=True)
class Parts:
    """What a toolchain is put together from; `gcc_install` is the sysroot's folder of GCC."""

    sysroot: Path
    gcc_install: Path
    sysroot_digest: str
    emulator: Path
    pkg_config: Path


@dataclass(frozen=True, slots=True)
class Compiler:
    """A compiler before it is wrapped: family, version, and the words of its programs.

    `resources` are the words that name clang's own headers.
    """

    family: Family
    version: str
    c: tuple[str, ...]
    cxx: tuple[str, ...]
    linker: tuple[str, ...]
    archiver: tuple[str, ...]
    ranlib: tuple[str, ...]
    objcopy: tuple[str, ...]
    resources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where wrappers go, and the compiler of what runs on this machine."""

    zig: Path
    host: str
    kits: Path


def install_toolchain(
    choice: str, host: str, folder: Path, parts: Parts, supplies: Supplies
) -> Toolchain:
    """Have a toolchain (`clang`, `clang-system` or `gcc`) on disk; `folder` holds the pin files."""
    digest = toolchain_digest(choice, host, folder, parts.sysroot_digest)
    zig = materialise(compiler_tree(host, folder), supplies, _link_resources).path
    if choice == "clang":
        compiler = _pinned_clang(zig)
    elif choice == "clang-system":
        compiler = _system_clang()
    else:
        compiler = _system_gcc(parts)
    return _wrap(compiler, digest, _Place(zig / "ziglang/zig", host, supplies.places.kits), parts)


def toolchain_digest(choice: str, host: str, folder: Path, sysroot_digest: str) -> str:
    """Name a toolchain by content without having it; raise `UsageError` for an unknown choice."""
    if choice not in CHOICES:
        raise UsageError(
            f"there is no toolchain `{choice}`", hint=f"choose among {', '.join(CHOICES)}"
        )
    # A system's compiler is known by what it says of itself; the pinned one by its bytes.
    versions = {"clang": "", "clang-system": "clang", "gcc": f"{TRIPLE}-gcc"}
    program = versions[choice]
    version = _version([_on_path(program), "--version"], r"(.+)") if program else ""
    texts = [_template(name) for name in _templates(host)]
    own = compiler_tree(host, folder).digest
    identity = [REVISION, choice, version, own, sysroot_digest, *texts]
    return hashlib.sha256("\n".join(identity).encode()).hexdigest()


def _templates(host: str) -> tuple[str, ...]:
    return (*TEMPLATES, NATIVE_TEMPLATE) if host == MACHINE else TEMPLATES


def toolchain_path(choice: str, digest: str, kits: Path) -> Path:
    """Say where the wrappers of a toolchain are, or will be; its family is a choice too."""
    family = "gcc" if choice == "gcc" else "clang"
    return kits / f"toolchain-{family}-{digest[:16]}"


def compiler_tree(host: str, folder: Path) -> Tree:
    """Give the pinned tree of the compiler that is fetched."""
    return Tree(f"clang-{host}", load_pins(folder / "clang.yaml").tree(f"compiler-{host}"))


def _link_resources(staging: Path, _: Path) -> None:
    # clang wants a resource directory, whose headers the wheel keeps in lib/include.
    (staging / "resources").mkdir()
    (staging / "resources/include").symlink_to("../ziglang/lib/include")


def _pinned_clang(root: Path) -> Compiler:
    program = str(root / "ziglang/zig")
    return Compiler(
        family="clang",
        version=_version([program, "clang", "--version"], r"clang version (\S+)"),
        c=(program, "clang"),
        cxx=(program, "clang", "--driver-mode=g++"),
        linker=(program, "ld.lld"),
        archiver=(program, "ar"),
        ranlib=(program, "ranlib"),
        objcopy=(program, "objcopy"),
        resources=(f"-resource-dir={root}/resources",),
    )


def _system_clang() -> Compiler:
    names = ("clang", "clang++", "ld.lld", "llvm-ar", "llvm-ranlib", "llvm-objcopy")
    c, cxx, linker, archiver, ranlib, objcopy = (_on_path(name) for name in names)
    version = _version([c, "--version"], r"clang version (\S+)")
    return Compiler(
        "clang", version, (c,), (cxx,), (linker,), (archiver,), (ranlib,), (objcopy,), ()
    )


def _system_gcc(parts: Parts) -> Compiler:
    names = ("gcc", "g++", "ld", "ar", "ranlib", "objcopy")
    c, cxx, linker, archiver, ranlib, objcopy = (_on_path(f"{TRIPLE}-{name}") for name in names)
    version = _version([c, "-dumpfullversion"], r"(\S+)")
    # A cross gcc brings headers and libraries of its own distribution: all of them are replaced by
    # the sysroot's, and only the compiler's private headers and libgcc stay.
    private = _version([c, "-print-file-name=include"], r"(\S+)")
    base = parts.sysroot / "usr" / TRIPLE
    plus = f"{base}/include/c++/{parts.gcc_install.name}"
    headers = ("-nostdinc", "-isystem", private, "-isystem", f"{base}/include")
    words = (*headers, f"-B{base}/lib/", f"-L{base}/lib")
    words_plus = ("-nostdinc++", "-isystem", plus, "-isystem", f"{plus}/{TRIPLE}", *words)
    return Compiler(
        family="gcc",
        version=version,
        c=(c, *words),
        cxx=(cxx, *words_plus, f"-L{parts.gcc_install}"),
        linker=(linker,),
        archiver=(archiver,),
        ranlib=(ranlib,),
        objcopy=(objcopy,),
        resources=(),
    )


def _on_path(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise MissingToolError(
            f"`{name}` is not on PATH", hint="use `--toolchain clang`, which is fetched"
        )
    return found


def _version(words: list[str], pattern: str) -> str:
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise MissingToolError(f"`{words[0]}` does not run here", causes=[str(error)]) from error
    found = re.search(pattern, done.stdout)
    return found.group(1) if found else "unknown"


def _template(name: str) -> str:
    return resources.files("rvbuild").joinpath(f"data/toolchain/{name}").read_text(encoding="utf-8")


def fill_template(template: str, **values: str) -> str:
    """Fill the `@NAME@` of a wrapper's template in."""
    text = _template(template)
    for key, value in values.items():
        text = text.replace(f"@{key.upper()}@", value)
    return text


def _wrap(compiler: Compiler, digest: str, place: _Place, parts: Parts) -> Toolchain:
    path = toolchain_path(compiler.family, digest, place.kits)
    toolchain = _describe(compiler, path, parts.sysroot, digest)
    if not path.is_dir():
        with FileLock(path.with_name(path.name + ".lock")):
            _write_wrappers(toolchain, compiler, place, parts)
    return toolchain


def _describe(compiler: Compiler, path: Path, sysroot: Path, digest: str) -> Toolchain:
    def named(name: str) -> Path:
        return path / "bin" / f"{TRIPLE}-{name}"

    c, cxx = ("clang", "clang++") if compiler.family == "clang" else ("gcc", "g++")
    return Toolchain(
        family=compiler.family,
        version=compiler.version,
        folder=path / "bin",
        c=named(c),
        cxx=named(cxx),
        linker=named("ld"),
        archiver=named("ar"),
        ranlib=named("ranlib"),
        objcopy=named("objcopy"),
        build_c=path / "build/cc",
        build_cxx=path / "build/c++",
        emulated=named("run"),
        pkg_config=named("pkg-config"),
        sysroot=sysroot,
        digest=digest,
    )


def _write_wrappers(toolchain: Toolchain, compiler: Compiler, place: _Place, parts: Parts) -> None:
    final = toolchain.folder.parent
    if final.is_dir():
        return
    staging = final.with_name(f"{final.name}.{os.getpid()}.tmp")
    shutil.rmtree(staging, ignore_errors=True)
    for name, text in _wrapper_texts(toolchain, compiler, place, parts).items():
        program = staging / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(text, encoding="utf-8")
        program.chmod(0o755)
    for alias in ("pkg-config", "pkgconf"):
        (staging / "bin" / alias).symlink_to(toolchain.pkg_config.name)
    for alias, name in (("gcc", "cc"), ("g++", "c++")):
        (staging / "build" / alias).symlink_to(name)
    staging.rename(final)


def _wrapper_texts(
    toolchain: Toolchain, compiler: Compiler, place: _Place, parts: Parts
) -> dict[str, str]:
    inner = toolchain.folder.parent / "inner"
    texts: dict[str, str] = {}
    for program, words in ((toolchain.c, compiler.c), (toolchain.cxx, compiler.cxx)):
        texts[f"bin/{program.name}"] = fill_template(
            "compiler.sh", inner=str(inner / program.name), kits=str(place.kits)
        )
        texts[f"inner/{program.name}"] = fill_template(
            f"{compiler.family}.sh",
            program=words[0],
            words=shlex.join(words[1:]),
            sysroot=str(parts.sysroot),
            gcc_install=str(parts.gcc_install),
            resources=shlex.join(compiler.resources),
            linker=str(toolchain.linker),
        )
    tools = {
        toolchain.linker: compiler.linker,
        toolchain.archiver: compiler.archiver,
        toolchain.ranlib: compiler.ranlib,
        toolchain.objcopy: compiler.objcopy,
        toolchain.pkg_config: (str(parts.pkg_config),),
        # What has to run here while building is linked statically, so it runs on any Linux.
        toolchain.build_c: (str(place.zig), "cc", "-target", BUILD_TRIPLES[place.host]),
        toolchain.build_cxx: (str(place.zig), "c++", "-target", BUILD_TRIPLES[place.host]),
    }
    for program, words in tools.items():
        texts[f"{program.parent.name}/{program.name}"] = fill_template(
            "tool.sh", program=words[0], words=shlex.join(words[1:])
        )
    texts[f"bin/{toolchain.emulated.name}"] = fill_template(
        NATIVE_TEMPLATE if place.host == MACHINE else "emulated.sh",
        program=str(parts.emulator),
        sysroot=str(parts.sysroot),
        cpu=cpus()["rv64gc"].qemu,
    )
    return texts
