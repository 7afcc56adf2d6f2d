"""What a job sees: placeholders, its environment, its programs, and the facts of its target."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from rvbuild.build import Bench, Launcher, Workshop
from rvbuild.build.surroundings import (
    applying,
    base_environment,
    build_environment,
    command,
    interpreter_of,
    lay_out,
    placeholders,
    surroundings,
)
from rvbuild.errors import BuildError
from rvbuild.recipe.placeholder import PLACEHOLDERS
from tests.build_samples import bench_at, job_of, recipe_of, workshop_at, write_tree


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return workshop_at(tmp_path / "shop")


def bench(folder: Path, python: str | None = "3.13", **fields: object) -> Bench:
    kind = {"kind": "library"} if python is None else {}
    return bench_at(folder / "job", job_of(recipe_of("demo", **kind, **fields), python))


def test_every_placeholder_of_recipes_has_a_value(tmp_path: Path, workshop: Workshop) -> None:
    for python in ("3.13", None):
        assert set(placeholders(workshop, bench(tmp_path, python))) == set(PLACEHOLDERS)
    found = placeholders(workshop, bench(tmp_path))
    assert found["prefix"] == f"{tmp_path}/job/prefix"
    assert found["python"] == f"{tmp_path}/job/venv/bin/python"
    assert found["target_python"] == f"{tmp_path}/shop/python/usr/bin/python3.13"
    assert (found["jobs"], found["version"]) == ("3", "1.0")


def test_only_what_applies_is_taken_and_filled_in(tmp_path: Path, workshop: Workshop) -> None:
    options = [
        "-Da={prefix}",
        {"value": "-Db={{x}}", "when": {"python": ">=3.13"}},
        {"value": "-Dc=1", "when": {"python": "<3.13"}},
        {"value": "-Dd=1", "when": {"floor": ">=2.35"}},
        {"value": "-De=1", "when": {"mode": "native"}},
    ]
    job = bench(tmp_path, build={"options": options})
    found = applying(job.job.recipe.build.options, workshop, job)
    assert found == (f"-Da={tmp_path}/job/prefix", "-Db={x}")


def test_a_library_has_no_interpreter(tmp_path: Path, workshop: Workshop) -> None:
    job = bench(tmp_path, None)
    assert surroundings(workshop, job).python is None
    with pytest.raises(BuildError, match=r"`demo-1\.0:library` is a library"):
        interpreter_of(workshop, job)


def test_flags_of_the_recipe_reach_the_compiler(tmp_path: Path, workshop: Workshop) -> None:
    flags = {"cflags": ["-I{source}/x"], "cxxflags": ["-std=c++20"], "ldflags": ["-L{prefix}"]}
    told = build_environment(workshop, bench(tmp_path, build=flags))
    assert told["CFLAGS"].endswith(f" -I{tmp_path}/job/source/x")
    assert told["CXXFLAGS"].endswith(" -std=c++20")
    assert told["LDFLAGS"].endswith(f" -L{tmp_path}/job/prefix")


def test_the_environment_is_a_list_and_inherits_nothing(
    tmp_path: Path, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CFLAGS", "-march=native")
    monkeypatch.setenv("PYTHONPATH", "/mine")
    monkeypatch.setenv("MY_SECRET", "1")
    told = build_environment(workshop, bench(tmp_path))
    assert not {"PYTHONPATH", "MY_SECRET", "LD_LIBRARY_PATH"} & set(told)
    assert "native" not in told["CFLAGS"]
    assert told["PATH"].split(":") == [
        f"{tmp_path}/shop/toolchain/bin",
        f"{tmp_path}/job/venv/bin",
        f"{tmp_path}/job/bin",
    ]
    dated = ("SOURCE_DATE_EPOCH", "TZ", "LC_ALL", "PYTHONHASHSEED")
    assert [told[name] for name in dated] == ["1580601600", "UTC", "C.UTF-8", "0"]


def test_the_target_answers_while_building_and_not_while_installing(
    tmp_path: Path, workshop: Workshop
) -> None:
    assert "RVBUILD_TARGET_FACTS" not in base_environment(workshop, bench(tmp_path))
    assert "CC" not in base_environment(workshop, bench(tmp_path))
    told = build_environment(workshop, bench(tmp_path))
    assert told["RVBUILD_TARGET_FACTS"] == f"{tmp_path}/job/target-facts.json"
    assert "RVBUILD_TARGET_FACTS" not in build_environment(workshop, bench(tmp_path, None))


def test_the_recipes_environment_wins_and_is_filled_in(tmp_path: Path, workshop: Workshop) -> None:
    fields = {"environment": {"BLAS": "{prefix}/lib", "MAX_JOBS": "1"}}
    told = build_environment(workshop, bench(tmp_path, build=fields))
    assert told["BLAS"] == f"{tmp_path}/job/prefix/lib"
    assert told["MAX_JOBS"] == "1"
    assert told["CMAKE_BUILD_PARALLEL_LEVEL"] == "3"


def test_a_compiler_cache_and_the_build_machines_compiler(
    tmp_path: Path, workshop: Workshop
) -> None:
    plain = build_environment(workshop, bench(tmp_path))
    assert not {"RVBUILD_COMPILER_LAUNCHER", "HOSTCC"} & set(plain)
    cached = replace(workshop, launcher=Launcher(Path("/kits/sccache"), {"SCCACHE_DIR": "/c"}))
    told = build_environment(cached, bench(tmp_path, requires={"tools": ["cc"]}))
    assert (told["RVBUILD_COMPILER_LAUNCHER"], told["SCCACHE_DIR"]) == ("/kits/sccache", "/c")
    assert told["HOSTCC"] == f"{tmp_path}/shop/toolchain/build/cc"


def test_a_job_starts_listed_programs_alone(tmp_path: Path, workshop: Workshop) -> None:
    write_tree(tmp_path / "shop/toolchain/build", {"cc": "", "gcc": ""})
    equipped = replace(workshop, programs={"make": Path("/kits/make")})
    job = bench(tmp_path)
    lay_out(equipped, job)
    names = {path.name for path in (job.folder / "bin").iterdir()}
    assert {"sh", "sed", "make", "cross-python"} <= names
    assert not {"gcc", "cc", "g++", "ld", "pkg-config", "python3", "curl", "sudo"} & names
    assert (job.folder / "bin/make").readlink() == Path("/kits/make")
    with_cc = bench(tmp_path, requires={"tools": ["cc"]})
    lay_out(equipped, with_cc)
    assert (with_cc.folder / "bin/gcc").readlink() == tmp_path / "shop/toolchain/build/gcc"


def test_the_facts_name_the_cross_compiler(tmp_path: Path, workshop: Workshop) -> None:
    job = bench(tmp_path)
    lay_out(workshop, job)
    facts = json.loads((job.folder / "target-facts.json").read_text())
    assert (facts["platform"], facts["machine"]) == ("linux-riscv64", "riscv64")
    assert facts["variables"]["EXT_SUFFIX"] == ".cpython-313-riscv64-linux-gnu.so"
    assert facts["variables"]["CC"] == str(workshop.toolchain.c)
    assert facts["variables"]["LDCXXSHARED"] == f"{workshop.toolchain.cxx} -shared"


def test_the_cross_python_hands_its_words_on(tmp_path: Path, workshop: Workshop) -> None:
    job = bench(tmp_path)
    lay_out(workshop, job)
    python = job.folder / "venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "$RVBUILD_TARGET_FACTS" "$@"\n')
    python.chmod(0o755)
    words = [str(job.folder / "bin/cross-python"), "-c", "a b"]
    done = subprocess.run(words, env={}, capture_output=True, text=True, check=True)
    assert done.stdout == f"{job.folder}/target-facts.json -c a b\n"


def test_a_command_has_no_network_and_a_known_umask(tmp_path: Path) -> None:
    made = command(("echo", "a b", "$HOME"), tmp_path, {"PATH": "/usr/bin"})
    assert not made.network
    # The shell sets its umask itself, whatever the caller's is.
    told = made.argv[2].replace("exec", "umask; exec")
    words = [*made.argv[:2], f"umask 077; {told}", *made.argv[3:]]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == "0022\na b $HOME\n"
