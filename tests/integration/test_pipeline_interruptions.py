"""Whole runs as programs: the same bytes anywhere, going on after a kill, and ending on Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path

import pytest
import yaml

from rvbuild.kit import Supplies
from rvbuild.pipeline import House
from tests.build_samples import pack_source
from tests.integration.conftest import PINS, house_at

pytestmark = pytest.mark.needs("qemu")

REPOSITORY = Path(__file__).parents[2]
CYTHON = """
cdef extern from "where.h":
    const char *where_am_i()
def where():
    return where_am_i()
def fails():
    raise ValueError("a traceback names the source file")
"""
WHERE = """
#include <assert.h>
#include "where.h"
const char *where_am_i(void) { assert(__FILE__[0]); return __FILE__; }
"""
CYTHON_PROJECT = """
[build-system]
requires = ["setuptools", "Cython"]
build-backend = "setuptools.build_meta"
"""
SETUP = """
from setuptools import Extension, setup
names = ["a", "b", "c", "d"]
setup(name="demo", version="1.0", packages=["demo"], package_data={"demo": ["*.txt"]}, ext_modules=[
    Extension("demo." + name, ["demo/" + name + ".pyx", "demo/where.c"]) for name in names])
"""
# Says that it has begun, and waits until it may go on or nobody waits for it any more.
SLOW_PROJECT = """
[build-system]
requires = []
build-backend = "slow"
backend-path = ["."]
"""
SLOW = """
import base64, hashlib, os, subprocess, sys, time, zipfile
def digest(text):
    hashed = hashlib.sha256(text.encode()).digest()
    return "sha256=" + base64.urlsafe_b64encode(hashed).decode().rstrip("=")
def build_wheel(folder, settings):
    parent = os.getppid()
    subprocess.Popen(["sleep", "60"])
    subprocess.run([os.environ["CC"], "-c", "demo.c", "-o", "demo.o"], check=True)
    open("begun", "a").write("x")
    while not os.path.exists("go"):
        time.sleep(0.05)
        if os.getppid() != parent:
            sys.exit(1)
    info = "demo-1.0.dist-info/"
    about = ["Wheel-Version: 1.0", "Generator: slow", "Root-Is-Purelib: true", "Tag: py3-none-any"]
    members = {
        "demo.py": "begun = " + repr(open("begun").read()),
        info + "METADATA": "Metadata-Version: 2.1\\nName: demo\\nVersion: 1.0\\n",
        info + "WHEEL": "\\n".join([*about, ""]),
    }
    rows = [f"{name},{digest(text)},{len(text)}" for name, text in members.items()]
    members[info + "RECORD"] = "\\n".join([*rows, info + "RECORD,,", ""])
    with zipfile.ZipFile(os.path.join(folder, "demo-1.0-py3-none-any.whl"), "w") as wheel:
        for name, text in members.items():
            wheel.writestr(name, text)
    return "demo-1.0-py3-none-any.whl"
"""
SLOW_FILES = {"pyproject.toml": SLOW_PROJECT, "slow.py": SLOW, "demo.c": "int demo;\n"}


def prepare(house: House, files: Mapping[str, str], **recipe: object) -> Path:
    """Write the recipe and its source; give the house's folder."""
    root = house.places.cache.parent
    source = pack_source(root / "made", "demo-1.0", files)
    text = {"name": "demo", "version": "1.0", "license": "MIT", "sources": [source], **recipe}
    (root / "recipes/demo.yaml").write_text(yaml.safe_dump(text), encoding="utf-8")
    return root


def start(
    root: Path, compiler_cache: str = "off", umask: str = "022", jobs: str = "2", **variables: str
) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "tests.pipeline_program", str(root), str(PINS)]
    return subprocess.Popen(
        [*words, compiler_cache, umask, jobs],
        cwd=REPOSITORY,
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def events(process: subprocess.Popen[str]) -> list[list[str]]:
    out, err = process.communicate(timeout=120)
    found = [json.loads(line) for line in out.splitlines()]
    assert found, err
    return found


def built_wheel(process: subprocess.Popen[str]) -> Path:
    last = events(process)[-1]
    assert last[:2] == ["outcome", "built"], last
    return Path(last[2])


def steps(found: list[list[str]]) -> list[str]:
    return [step for kind, job, step, *_ in found if kind == "started" and job == "demo-1.0:cp313"]


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str] | None = None) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert process is None or process.poll() is None, "it ended before its time"
        assert time.monotonic() < end
        time.sleep(0.05)


def processes_of(root: Path) -> list[str]:
    """List the processes that have anything to do with a folder."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()
        except OSError:
            continue
        if str(root).encode() in words and folder.name != str(os.getpid()):
            found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    return found


def test_two_builds_in_different_places_give_the_same_bytes(
    house: House, supplies: Supplies, tmp_path: Path
) -> None:
    files = {"pyproject.toml": CYTHON_PROJECT, "setup.py": SETUP, "demo/__init__.py": ""}
    files |= {f"demo/{name}.pyx": CYTHON for name in "abcd"}
    files |= {"demo/where.c": WHERE, "demo/where.h": "const char *where_am_i(void);\n"}
    files |= {f"demo/{name}.txt": name for name in ("z", "m", "a")}
    build = {"cflags": ["-g", "-UNDEBUG"]}
    resources = {"cores": "0"}
    first = prepare(house, files, build=build, resources=resources)
    elsewhere = house_at(tmp_path / "quite-another-place-with-a-longer-name", supplies)
    second = prepare(elsewhere, files, build=build, resources=resources)
    one = built_wheel(start(first, jobs="2", LC_ALL="C", TZ="Asia/Tokyo"))
    two = built_wheel(start(second, umask="077", jobs="1", LC_ALL="C.UTF-8", LANG="de_DE.UTF-8"))
    assert one.name == two.name == "demo-1.0-cp313-cp313-manylinux_2_31_riscv64.whl"
    assert members(one) == members(two)
    assert sha256(one.read_bytes()).hexdigest() == sha256(two.read_bytes()).hexdigest()
    texts = b"".join(zipfile.ZipFile(one).read(name) for name in zipfile.ZipFile(one).namelist())
    for folder in (tmp_path, supplies.places.cache):
        assert str(folder).encode() not in texts
    assert b"/rvbuild/kits/python-3.13" in texts


def members(wheel: Path) -> dict[str, tuple[str, int]]:
    """Give the hash and the mode of each member, in order."""
    with zipfile.ZipFile(wheel) as bundle:
        return {
            entry.filename: (sha256(bundle.read(entry)).hexdigest(), entry.external_attr)
            for entry in bundle.infolist()
        }


def test_a_killed_build_goes_on_at_the_step_it_died_in(house: House) -> None:
    root = prepare(house, SLOW_FILES)
    source = house.places.work / "demo-1.0_cp313/source"
    first = start(root)
    wait_for((source / "begun").exists, first)
    os.kill(first.pid, signal.SIGKILL)
    assert steps(events(first)) == ["source", "surroundings", "environment", "build"]
    wait_for(lambda: not [line for line in processes_of(root) if "backend.py" in line])
    (source / "go").touch()
    second = start(root)
    found = events(second)
    assert steps(found) == ["build", "audit"]
    assert found[-1][:2] == ["outcome", "built"]
    # The source was not unpacked again: it remembers both tries.
    with zipfile.ZipFile(found[-1][2]) as wheel:
        assert wheel.read("demo.py") == b"begun = 'xx'"
    third = events(start(root))
    assert steps(third) == []
    assert third[-1][:2] == ["outcome", "cached"]
    assert not list(house.places.work.glob("demo*"))


def test_an_interrupt_leaves_no_process_and_can_be_gone_on_from(house: House) -> None:
    root = prepare(house, SLOW_FILES)
    source = house.places.work / "demo-1.0_cp313/source"
    process = start(root, compiler_cache="local")
    wait_for((source / "begun").exists, process)
    assert [line for line in processes_of(root) if "sleep 60" in line]
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert time.monotonic() - begin < 15
    assert process.returncode != 0
    assert "KeyboardInterrupt" in err
    assert "outcome" not in out
    assert processes_of(root) == []
    (source / "go").touch()
    again = events(start(root, compiler_cache="local"))
    assert steps(again) == ["build", "audit"]
    assert again[-1][:2] == ["outcome", "built"]
    assert processes_of(root) == []
