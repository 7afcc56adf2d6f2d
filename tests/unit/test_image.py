"""Images: archives with the same bytes each time, the root folder, the context, the proofs."""

import hashlib
import json
import os
import tarfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from rvbuild.errors import MissingToolError, SourceError
from rvbuild.executor import Command, Completed
from rvbuild.image import base, base_digest, base_name
from rvbuild.image.archive import Described, write_archive
from rvbuild.image.context import Contents, recipe_text
from rvbuild.image.verify import Proof, proofs, verify
from rvbuild.target import Floor
from tests.build_samples import write_tree

PINS = Path(__file__).parents[2] / "sysroots"
DESCRIBED = Described("made/up:1", "riscv64", {"made.by": "hand"}, ("PATH=/bin",), "a test")


def root_at(folder: Path) -> Path:
    write_tree(folder, {"usr/bin/sh": "#!", "etc/passwd": "root", "tmp/.keep": ""})
    (folder / "usr/bin/sh").chmod(0o700)
    (folder / "bin").symlink_to("usr/bin")
    return folder


def test_the_same_folder_gives_the_same_archive(tmp_path: Path) -> None:
    digests = set()
    for name in ("a", "b"):
        root = root_at(tmp_path / name)
        os.utime(root / "etc/passwd", (1, len(name) + ord(name)))
        write_archive(root, DESCRIBED, tmp_path / f"{name}.tar")
        digests.add(hashlib.sha256((tmp_path / f"{name}.tar").read_bytes()).hexdigest())
    assert len(digests) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b", "a.tar", "b.tar"}


def test_an_archive_says_what_it_is(tmp_path: Path) -> None:
    write_archive(root_at(tmp_path / "root"), DESCRIBED, tmp_path / "image.tar")
    with tarfile.open(tmp_path / "image.tar") as whole:

        def text(name: str) -> bytes:
            stream = whole.extractfile(name)
            assert stream is not None
            return stream.read()

        (manifest,) = json.loads(text("manifest.json"))
        config = json.loads(text(manifest["Config"]))
        layer = text(manifest["Layers"][0])
        whole.extract(manifest["Layers"][0], tmp_path / "out", filter="data")
    assert manifest["RepoTags"] == ["made/up:1"]
    assert manifest["Config"] == hashlib.sha256(_dumped(config)).hexdigest() + ".json"
    assert (config["architecture"], config["os"]) == ("riscv64", "linux")
    assert config["config"]["Labels"] == {"made.by": "hand"}
    assert config["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(layer).hexdigest()}"]
    with tarfile.open(tmp_path / "out" / manifest["Layers"][0]) as packed:
        modes = {entry.name: (entry.mode, entry.uid, entry.linkname) for entry in packed}
    assert modes["usr/bin/sh"] == (0o755, 0, "")
    assert modes["etc/passwd"] == (0o644, 0, "")
    assert modes["tmp"] == (0o1777, 0, "")
    assert modes["bin"] == (0o777, 0, "usr/bin")


def _dumped(config: object) -> bytes:
    return json.dumps(config, sort_keys=True).encode()


def test_a_root_folder_gets_what_packages_leave_to_their_scripts(tmp_path: Path) -> None:
    root = write_tree(
        tmp_path / "root", {"usr/bin/dash": "", "usr/lib/ld-linux-riscv64-lp64d.so.1": ""}
    )
    base._finish(root, "riscv64")
    assert (root / "bin/sh").resolve() == root / "usr/bin/dash"
    assert (root / "lib/ld-linux-riscv64-lp64d.so.1").exists()
    assert (root / "tmp").is_dir()
    assert "root:x:0:0" in (root / "etc/passwd").read_text()


def test_packages_without_a_shell_are_refused(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "root", {"usr/lib/ld-linux-riscv64-lp64d.so.1": ""})
    with pytest.raises(SourceError, match="hold no `usr/bin/dash`"):
        base._finish(root, "riscv64")


def test_names_follow_the_inputs() -> None:
    assert base_name(PINS) == f"rvbuild/base-riscv64:{base_digest(PINS)[:16]}"
    both, one = (
        Contents(Floor(2, 31), pythons, "x86_64", PINS) for pythons in (("3.13", "3.14"), ("3.13",))
    )
    assert both.digest != one.digest
    assert both.name.startswith("rvbuild/manylinux_2_31_riscv64:")
    # What puts an image together has no part in it.
    assert one.digest == Contents(Floor(2, 31), ("3.13",), "aarch64", PINS).digest


def test_the_recipe_at_the_top_is_the_one_that_ships() -> None:
    top = PINS.parent / "Dockerfile.manylinux-riscv64"
    assert top.read_text(encoding="utf-8") == recipe_text()


@dataclass(frozen=True)
class Answers:
    """An executor that answers by program; what is not known is missing."""

    answers: dict[str, tuple[int, str]]
    commands: list[Command] = field(default_factory=list)

    def run(self, command: Command, log: Path | None = None, on_line: object = None) -> Completed:  # noqa: ARG002 - an executor's own signature
        self.commands.append(command)
        if command.argv[0] not in self.answers:
            raise MissingToolError(f"program `{command.argv[0]}` was not found")
        code, text = self.answers[command.argv[0]]
        return Completed(code, None, timed_out=False, seconds=0.1, output=text)


def test_every_proof_says_what_is_wrong(tmp_path: Path) -> None:
    program = "/opt/python/cp313-cp313/bin/python"
    answers = {program: (0, "3.13\n"), "sh": (1, "x.c: no Python.h\n"), "auditwheel": (0, "")}
    executor = Answers(answers)
    found = dict(verify(executor, proofs(("3.13",)), tmp_path))
    assert found == {
        "Python 3.13": "",
        "pip of Python 3.13": "3.13",
        "compiler and headers of Python 3.13": "x.c: no Python.h",
        "auditwheel": "exit code 0",
        "patchelf": "program `patchelf` was not found",
    }
    assert not any(command.network for command in executor.commands)


def test_a_failed_program_is_no_proof_whatever_it_says(tmp_path: Path) -> None:
    executor = Answers({"a": (1, "right")})
    assert dict(verify(executor, iter([Proof("a", ("a",), "right")]), tmp_path)) == {"a": "right"}
