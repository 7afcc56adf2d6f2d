"""Target and build interpreters of one CPython minor version, from pinned packages."""

import ast
import hashlib
import json
import shutil
import subprocess
import zipfile
from dataclasses import dataclass
from pathlib import Path

from rvbuild.errors import SourceError, UsageError
from rvbuild.kit import Supplies, Tree, load_pins, materialise
from rvbuild.kit.programs import adopt_program, install_pip, install_program, tool_pins
from rvbuild.target import DYNAMIC_LOADER, MACHINE, TRIPLE

# Raised whenever a kit is finished differently.
REVISION = "4"


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A CPython minor version such as `3.13`, for the target and for this machine.

    `root` holds the riscv64 runtime (the emulator's library root) and `program` its Python inside;
    `include` are the target's header folders, `pkg_config` the folder with `python3.pc`,
    `sysconfig_data` its build-time variables as JSON; `build_program` is a Python of the same minor
    version that runs here; `pip` is a folder for both, run as `python FOLDER/pip`. `digest` names
    everything of it by content.
    """

    version: str
    full_version: str
    root: Path
    program: Path
    include: tuple[Path, ...]
    pkg_config: Path
    sysconfig_data: Path
    extension_suffix: str
    build_program: Path
    pip: Path
    digest: str


def known_versions(folder: Path) -> tuple[str, ...]:
    """List the minor versions that pin files exist for, oldest first."""
    names = [path.stem.removeprefix("python-") for path in folder.glob("python-*.yaml")]
    return tuple(sorted(names, key=lambda name: [int(part) for part in name.split(".")]))


def install_interpreter(version: str, host: str, folder: Path, supplies: Supplies) -> Interpreter:
    """Have both Pythons of a minor version on disk; `folder` holds the pin files."""
    build_program = install_build_python(version, host, folder, supplies)
    target = materialise(
        interpreter_trees(version, host, folder)[0],
        supplies,
        lambda staging, path: _finish_target(
            staging, path, version, build_program, install_pip(folder, supplies)
        ),
    )
    facts = json.loads((target.path / "rvbuild/sysconfig.json").read_text(encoding="utf-8"))
    return Interpreter(
        version=version,
        full_version=_full_version(target.path, version),
        root=target.path,
        program=target.path / f"usr/bin/python{version}",
        include=(target.path / f"rvbuild/include/python{version}",),
        pkg_config=target.path / "rvbuild/pkgconfig",
        sysconfig_data=target.path / "rvbuild/sysconfig.json",
        extension_suffix=facts["EXT_SUFFIX"],
        build_program=build_program,
        pip=target.path / "rvbuild/pip",
        digest=interpreter_digest(version, host, folder),
    )


def install_build_python(version: str, host: str, folder: Path, supplies: Supplies) -> Path:
    """Have this machine's Python of a minor version alone, and say where its program is."""
    tree = interpreter_trees(version, host, folder)[1]
    patchelf = install_program("patchelf", host, folder, supplies)
    build = materialise(
        tree, supplies, lambda staging, path: _finish_build(staging, path, host, patchelf)
    )
    return build.path / f"usr/bin/python{version}"


def interpreter_digest(version: str, host: str, folder: Path) -> str:
    """Name both Pythons of a minor version by content without having them."""
    digests = "\n".join(tree.digest for tree in interpreter_trees(version, host, folder))
    return hashlib.sha256(digests.encode()).hexdigest()


def interpreter_trees(version: str, host: str, folder: Path) -> tuple[Tree, Tree]:
    """Give the pinned trees of the target's Python and the build Python; raise `UsageError`."""
    if version not in known_versions(folder):
        known = ", ".join(known_versions(folder))
        raise UsageError(f"there is no kit for Python `{version}`", hint=f"choose among {known}")
    pins = load_pins(folder / f"python-{version}.yaml")
    pip = tool_pins(folder).tree("pip").pins[0].sha256
    target = Tree(f"python-{version}-{MACHINE}", pins.tree("target"), f"{REVISION} {pip}")
    return target, Tree(f"python-{version}-build-{host}", pins.tree(f"build-{host}"), REVISION)


def _full_version(root: Path, version: str) -> str:
    header = (root / f"rvbuild/include/python{version}/patchlevel.h").read_text(encoding="utf-8")
    for line in header.splitlines():
        words = line.split()
        if words[:2] == ["#define", "PY_VERSION"]:
            return words[2].strip('"')
    return version


def _finish_build(staging: Path, path: Path, host: str, patchelf: Path) -> None:
    for program in (staging / "usr/bin").glob("python3.*"):
        if program.is_file() and not program.is_symlink():
            adopt_program(program, path, host, patchelf)


def _finish_target(staging: Path, path: Path, version: str, build_program: Path, pip: Path) -> None:
    loader = Path(DYNAMIC_LOADER).name
    # Debian keeps everything below usr and leaves the links at the top to another package.
    for name in ("lib", "lib64"):
        (staging / name).symlink_to("usr/lib")
    if not (staging / "usr/lib" / loader).exists():
        raise SourceError(f"the target Python's tree has no `{loader}`")
    own = staging / "rvbuild"
    own.mkdir()
    _write_headers(staging, own, version)
    _write_sysconfig(staging, own, path, version)
    _write_pkg_config(own, path, version)
    with zipfile.ZipFile(pip) as bundle:
        bundle.extractall(own / "pip")
    _compile(staging, path, build_program, (f"usr/lib/python{version}", "rvbuild/pip"))


def _compile(staging: Path, path: Path, build_program: Path, folders: tuple[str, ...]) -> None:
    # Packages carry no byte code: without it every start under the emulator would compile anew.
    words = [str(build_program), "-m", "compileall", "-q", "-j2"]
    words += ["--invalidation-mode", "unchecked-hash", "-s", str(staging), "-p", str(path)]
    words += [str(staging / folder) for folder in folders]
    subprocess.run(words, capture_output=True, check=False)


def _write_headers(staging: Path, own: Path, version: str) -> None:
    # Only Python's own headers may be seen: the tree's usr/include belongs to a newer glibc.
    headers = own / f"include/python{version}"
    shutil.copytree(staging / f"usr/include/python{version}", headers)
    architecture = staging / f"usr/include/{TRIPLE}/python{version}/pyconfig.h"
    shutil.copyfile(architecture, headers / "pyconfig.h")


def _write_sysconfig(staging: Path, own: Path, path: Path, version: str) -> None:
    source = staging / f"usr/lib/python{version}/_sysconfigdata__linux_{TRIPLE}.py"
    tree = ast.parse(source.read_text(encoding="utf-8"))
    assigned = next(node for node in tree.body if isinstance(node, ast.Assign))
    variables = ast.literal_eval(assigned.value)
    headers = str(path / f"rvbuild/include/python{version}")
    variables |= {
        "INCLUDEPY": headers,
        "CONFINCLUDEPY": headers,
        "LIBPC": str(path / "rvbuild/pkgconfig"),
        "LIBDIR": str(path / "rvbuild/lib"),
        "LIBPL": str(path / "rvbuild/lib"),
    }
    (own / "sysconfig.json").write_text(
        json.dumps(variables, indent=1, sort_keys=True), encoding="utf-8"
    )


def _write_pkg_config(own: Path, path: Path, version: str) -> None:
    folder = own / "pkgconfig"
    folder.mkdir()
    include = path / f"rvbuild/include/python{version}"
    # No Libs: an extension module takes its symbols from the interpreter that loads it.
    text = f"Name: Python\nDescription: CPython for {TRIPLE}\nVersion: {version}\n"
    text += f"Cflags: -I{include}\nLibs:\n"
    for name in (f"python-{version}.pc", "python3.pc"):
        (folder / name).write_text(text, encoding="utf-8")
