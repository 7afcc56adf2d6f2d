"""Made packages, pin files and small projects, for the tests of kits, toolchains and builds."""

import gzip
import hashlib
import io
import os
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from rvbuild.build import Bench, Workshop
from rvbuild.emulator import Emulator
from rvbuild.events import Silent, Watcher
from rvbuild.executor import Command, Completed
from rvbuild.fetch import Network
from rvbuild.kit import Pin, PinnedTree, Supplies
from rvbuild.places import Places
from rvbuild.plan import Job
from rvbuild.pythons import Interpreter
from rvbuild.recipe.model import Recipe
from rvbuild.sysroot import Sysroot
from rvbuild.target import Floor
from rvbuild.toolchain import Toolchain

FLOOR = Floor(2, 31)


def supplies_of(folder: Path, watch: Watcher | None = None) -> Supplies:
    """Give supplies that know the files of `folder/offline` and nothing else."""
    network = Network((), (), offline_folder=folder / "offline", offline=True)
    return Supplies(Places(folder / "cache"), network, watch or Silent())


def make_deb(path: Path, members: Mapping[str, str], links: Mapping[str, str] | None = None) -> Pin:
    """Write a Debian package with executable files and symbolic links; give its pin."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:xz") as data:
        for name, text in members.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(text.encode()), 0o755
            data.addfile(entry, io.BytesIO(text.encode()))
        for name, target in (links or {}).items():
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            data.addfile(entry)
    control = io.BytesIO()
    with tarfile.open(fileobj=control, mode="w:xz"):
        pass
    parts = {"debian-binary": b"2.0\n", "control.tar.xz": control.getvalue()}
    parts["data.tar.xz"] = stream.getvalue()
    written = b"!<arch>\n"
    for name, content in parts.items():
        head = f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n"
        written += head.encode() + content + b"\n" * (len(content) % 2)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(written)
    return Pin(debian=f"pool/main/{path.name}", sha256=hashlib.sha256(written).hexdigest())


def make_package(path: Path, members: Mapping[str, str], executable: bool = True) -> Pin:  # noqa: FBT001, FBT002 - one switch of a sample
    """Write a wheel as programs are packed in; give its pin."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as bundle:
        for name, text in members.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (0o755 if executable else 0o644) << 16
            bundle.writestr(entry, text)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Pin(pypi=path.name.partition("-")[0], file=path.name, sha256=digest)


def tree_text(name: str, tree: PinnedTree) -> str:
    """Write one tree as it stands in a pin file."""
    lines = [f"  {name}:"]
    lines += [f"    only: [{', '.join(tree.only)}]"] if tree.only else []
    lines += ["    pins:"]
    for pin in tree.pins:
        given = {key: text for key, text in pin.model_dump().items() if text}
        lines.append("    - {" + ", ".join(f"{key}: {given[key]}" for key in given) + "}")
    return "\n".join(lines) + "\n"


def recipe_of(name: str, **fields: object) -> Recipe:
    """Make a recipe with what it cannot do without."""
    source = {"pypi": name, "sha256": "0" * 64}
    data = {"name": name, "version": "1.0", "license": "MIT", "sources": [source], **fields}
    return Recipe.model_validate(data)


def job_of(recipe: Recipe, python: str | None = "3.13", **fields: object) -> Job:
    """Make a job of a recipe; `fields` are those of `Job` that matter."""
    kind = "library" if python is None else f"cp{python.replace('.', '')}"
    job = Job(
        id=f"{recipe.label}:{kind}",
        recipe=recipe,
        python=python,
        mode="cross",
        floor=FLOOR,
        key=hashlib.sha256(f"{recipe.label} {kind}".encode()).hexdigest(),
        inputs={},
        needs=(),
        level=0,
    )
    return replace(job, **fields)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class FakeExecutor:
    """Remembers commands, and answers each with the same ending."""

    answer: Completed = Completed(0, None, timed_out=False, seconds=0.1, output="")  # noqa: RUF009 - frozen
    commands: list[Command] = field(default_factory=list)

    def run(self, command: Command, log: Path | None = None, on_line: object = None) -> Completed:  # noqa: ARG002 - an executor's own signature
        """Take a command."""
        self.commands.append(command)
        return self.answer


def toolchain_at(folder: Path) -> Toolchain:
    """Describe a toolchain in a folder where nothing is."""
    return Toolchain(
        family="clang",
        version="22.1.0",
        folder=folder / "bin",
        c=folder / "bin/riscv64-linux-gnu-clang",
        cxx=folder / "bin/riscv64-linux-gnu-clang++",
        linker=folder / "bin/riscv64-linux-gnu-ld",
        archiver=folder / "bin/riscv64-linux-gnu-ar",
        ranlib=folder / "bin/riscv64-linux-gnu-ranlib",
        objcopy=folder / "bin/riscv64-linux-gnu-objcopy",
        build_c=folder / "build/cc",
        build_cxx=folder / "build/c++",
        emulated=folder / "bin/riscv64-linux-gnu-run",
        pkg_config=folder / "bin/riscv64-linux-gnu-pkg-config",
        sysroot=Path("/kits/sysroot"),
        digest="d" * 64,
    )


def interpreter_at(folder: Path) -> Interpreter:
    """Describe Python 3.13 in a folder; its sysconfig data alone is written."""
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / "sysconfig.json"
    data.write_text('{"EXT_SUFFIX": ".cpython-313-riscv64-linux-gnu.so", "CC": "gcc"}')
    return Interpreter(
        version="3.13",
        full_version="3.13.5",
        root=folder,
        program=folder / "usr/bin/python3.13",
        include=(folder / "include/python3.13",),
        pkg_config=folder / "pkgconfig",
        sysconfig_data=data,
        extension_suffix=".cpython-313-riscv64-linux-gnu.so",
        build_program=folder / "build/python3.13",
        pip=folder / "pip.whl",
        digest="e" * 64,
    )


def workshop_at(folder: Path, executor: FakeExecutor | None = None) -> Workshop:
    """Describe a workshop whose kits are not there."""
    sysroot = Path("/kits/sysroot")
    return Workshop(
        toolchain=toolchain_at(folder / "toolchain"),
        sysroot=Sysroot(FLOOR, sysroot, (sysroot / "lib",), sysroot / "gcc/10", "f" * 64),
        emulator=Emulator(Path("/kits/qemu-riscv64"), "10.0.13"),
        interpreters={"3.13": interpreter_at(folder / "python")},
        programs={},
        executor=executor or FakeExecutor(),
        watch=Silent(),
        cache=folder / "cache",
    )


def bench_at(folder: Path, job: Job) -> Bench:
    """Make a job's folders."""
    (folder / "source").mkdir(parents=True, exist_ok=True)
    return Bench(job, folder, folder / "source", folder / "log", cores=3)


def write_tree(folder: Path, files: Mapping[str, str]) -> Path:
    """Write text files below a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def pack_source(folder: Path, name: str, files: Mapping[str, str]) -> dict[str, str]:
    """Pack a source archive with one top folder; give the recipe's source entry for it."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for path, text in files.items():
            entry = tarfile.TarInfo(f"{name}/{path}")
            entry.size, entry.mode = len(text.encode()), 0o644
            archive.addfile(entry, io.BytesIO(text.encode()))
    folder.mkdir(parents=True, exist_ok=True)
    packed = folder / f"{name}.tar.gz"
    packed.write_bytes(gzip.compress(stream.getvalue(), mtime=0))
    return {"url": packed.as_uri(), "sha256": hashlib.sha256(packed.read_bytes()).hexdigest()}


def check_golden(name: str, text: str) -> None:
    """Hold text against a file of `tests/data/toolchain`; `RVBUILD_UPDATE_GOLDEN=1` rewrites it."""
    path = Path(__file__).parent / "data" / "toolchain" / name
    if os.environ.get("RVBUILD_UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
