"""Libraries by each build system: which commands are run, with what, and what is made of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from rvbuild.build import Bench, build_library
from rvbuild.errors import BuildError
from rvbuild.executor import Command, Completed
from rvbuild.recipe.model import BuildSystem
from tests.build_samples import FakeExecutor, bench_at, job_of, recipe_of, workshop_at, write_tree

Act = Callable[[Command], None]


@dataclass(frozen=True, slots=True)
class ActingExecutor(FakeExecutor):
    """Does something for each command, as the real programs would."""

    act: Act = field(default=lambda _: None)

    def run(self, command: Command, log: Path | None = None, on_line: object = None) -> Completed:
        self.act(command)
        return FakeExecutor.run(self, command, log, on_line)


def bench_of(folder: Path, system: BuildSystem, **build: object) -> Bench:
    recipe = recipe_of("demo", kind="library", build={"system": system, **build})
    return bench_at(folder / "job", job_of(recipe, None))


def build(
    folder: Path, bench: Bench, act: Act
) -> tuple[Path, list[tuple[str, ...]], list[Command]]:
    executor = ActingExecutor(act=act)
    result = build_library(workshop_at(folder, executor), bench)
    return result, [command.argv[4:] for command in executor.commands], executor.commands


def installs(folder: Path) -> Act:
    """Install a header when asked to install."""

    def act(command: Command) -> None:
        if "install" in command.argv or "--install" in command.argv or command.argv[4] == "cp":
            destination = Path(command.environment["DESTDIR"])
            write_tree(destination / "opt/rvbuild", {"include/demo.h": "x"})
        if "-S" in command.argv:
            write_tree(folder / "job/build", {"CMakeCache.txt": "x=/target/toolchain.cmake"})

    return act


def test_cmake_configures_builds_and_installs(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, "cmake", options=["-DX=1"])
    result, words, commands = build(tmp_path, bench, installs(tmp_path))
    assert result == tmp_path / "job/destination/opt/rvbuild"
    assert [each[:2] for each in words] == [
        ("cmake", "-S"),
        ("cmake", "--build"),
        ("cmake", "--install"),
    ]
    assert {"-DCMAKE_INSTALL_PREFIX=/opt/rvbuild", "-DCMAKE_BUILD_TYPE=Release", "-DX=1"} <= set(
        words[0]
    )
    told = commands[0].environment
    assert told["CMAKE_TOOLCHAIN_FILE"] == f"{tmp_path}/job/target/toolchain.cmake"


def test_cmake_that_did_not_read_the_toolchain_file_stops(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, "cmake")

    def act(command: Command) -> None:
        write_tree(tmp_path / "job/build", {"CMakeCache.txt": "CMAKE_C_COMPILER=/usr/bin/cc"})

    with pytest.raises(BuildError, match="without the toolchain file"):
        build(tmp_path, bench, act)


def test_meson_is_set_up_once(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, "meson", options=["-Dx=1"])
    _, words, _ = build(tmp_path, bench, installs(tmp_path))
    assert [each[:2] for each in words] == [
        ("meson", "setup"),
        ("meson", "compile"),
        ("meson", "install"),
    ]
    assert f"--cross-file={tmp_path}/job/target/meson-cross.ini" in words[0]
    assert words[0][-1] == "-Dx=1"
    write_tree(tmp_path / "job/build", {"build.ninja": ""})
    _, words, _ = build(tmp_path, bench, installs(tmp_path))
    assert words[0][:2] == ("meson", "compile")


def test_autotools_are_told_both_machines(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, "autotools", options=["--disable-x"])
    _, words, commands = build(tmp_path, bench, installs(tmp_path))
    assert words[0][0] == f"{tmp_path}/job/source/configure"
    assert "--host=riscv64-linux-gnu" in words[0]
    assert any(word.startswith("--build=") for word in words[0])
    assert words[0][-1] == "--disable-x"
    assert words[1:] == [("make",), ("make", "install")]
    assert commands[0].cwd == tmp_path / "job/build"


def test_make_gets_variables_and_keeps_its_own_flags(tmp_path: Path) -> None:
    bench = bench_of(
        tmp_path,
        "make",
        options=["TARGET=RISCV64_GENERIC", "PREFIX={prefix}"],
        targets=["libs", "netlib"],
        environment={"LDFLAGS": "-s -L{prefix}/lib"},
    )
    _, words, commands = build(tmp_path, bench, installs(tmp_path))
    variables = ("PREFIX=/opt/rvbuild", "TARGET=RISCV64_GENERIC", f"PREFIX={tmp_path}/job/prefix")
    assert words == [
        ("make", "-j3", *variables, "libs"),
        ("make", "-j3", *variables, "netlib"),
        ("make", *variables, "install"),
    ]
    told = commands[0].environment
    assert "CFLAGS" not in told
    assert told["LDFLAGS"] == f"-s -L{tmp_path}/job/prefix/lib"
    assert told["CC"].endswith("riscv64-linux-gnu-clang")


def test_make_without_targets_makes_what_the_makefile_means(tmp_path: Path) -> None:
    _, words, _ = build(tmp_path, bench_of(tmp_path, "make"), installs(tmp_path))
    assert words == [
        ("make", "-j3", "PREFIX=/opt/rvbuild"),
        ("make", "PREFIX=/opt/rvbuild", "install"),
    ]


def test_a_script_runs_its_commands_in_their_folders(tmp_path: Path) -> None:
    script = [
        {"run": ["make", "-j{jobs}"], "directory": "sub"},
        {"run": ["cp", "x", "{destination}"]},
    ]
    bench = bench_of(tmp_path, "script", script=script)
    _, words, commands = build(tmp_path, bench, installs(tmp_path))
    assert words == [("make", "-j3"), ("cp", "x", f"{tmp_path}/job/destination")]
    assert [command.cwd for command in commands] == [bench.source / "sub", bench.source]


def test_commands_before_the_build_run_first(tmp_path: Path) -> None:
    before = [{"run": ["sed", "-i", "x", "{source}/a"]}]
    bench = bench_of(tmp_path, "make", before=before)
    _, words, _ = build(tmp_path, bench, installs(tmp_path))
    assert words[0] == ("sed", "-i", "x", f"{tmp_path}/job/source/a")
    # A build that goes on does not change its source twice.
    _, words, _ = build(tmp_path, bench, installs(tmp_path))
    assert words[0][0] == "make"


def test_a_library_that_installs_nothing_fails(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"`demo-1\.0:library` installed nothing"):
        build(tmp_path, bench_of(tmp_path, "make"), lambda _: None)


def test_what_an_earlier_try_installed_does_not_count(tmp_path: Path) -> None:
    write_tree(tmp_path / "job/destination/opt/rvbuild", {"lib/stale": ""})
    result, _, _ = build(tmp_path, bench_of(tmp_path, "make"), installs(tmp_path))
    assert [path.name for path in result.rglob("*") if path.is_file()] == ["demo.h"]
