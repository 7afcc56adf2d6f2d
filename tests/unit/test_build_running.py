"""Commands of a job: how a failure is told, and what is expected of a result."""

import json
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from rvbuild.build.cross import check_cross, check_cross_files, check_environment
from rvbuild.build.expect import check_members, check_prefix, prefix_members, wheel_members
from rvbuild.build.requirements import lay_target_over, read_report
from rvbuild.build.running import run, run_with_network
from rvbuild.build.settings import static_requires
from rvbuild.errors import AuditError, BuildError
from rvbuild.executor import Completed
from tests.build_samples import FakeExecutor, bench_at, job_of, recipe_of, workshop_at, write_tree

ELF = Path(__file__).parents[1] / "data" / "elf"
GOOD = Completed(0, None, timed_out=False, seconds=0.1, output="")


def fail(folder: Path, completed: Completed) -> BuildError:
    bench = bench_at(folder, job_of(recipe_of("demo", resources={"memory_mb": 900})))
    workshop = workshop_at(folder, FakeExecutor(completed))
    with pytest.raises(BuildError) as caught:
        run(workshop, bench, ("/x/ninja", "-j2"), {})
    return caught.value


def test_a_failed_command_says_all_there_is_to_know(tmp_path: Path) -> None:
    output = "".join(f"line {number}\n" for number in range(100))
    error = fail(tmp_path, replace(GOOD, exit_code=2, output=output))
    assert error.message == "`ninja` failed while building `demo-1.0:cp313`"
    assert error.causes == ("it ended with exit code 2",)
    assert (error.tail[0], error.tail[-1]) == ("line 60", "line 99")
    assert error.log == tmp_path / "log"
    assert error.reproduce == "rvbuild shell demo-1.0:cp313"
    assert error.hint is None


@pytest.mark.parametrize(
    ("completed", "cause", "hint"),
    [
        (replace(GOOD, exit_code=137, signal=9), "killed by signal 9", "out of memory? 900 MiB"),
        (
            replace(GOOD, exit_code=1, output="c++: fatal error: Killed signal terminated"),
            "killed by signal 9",
            "out of memory?",
        ),
        (replace(GOOD, exit_code=139, signal=11), "killed by signal 11", None),
        (replace(GOOD, exit_code=1, timed_out=True, seconds=7), "ran out of time after 7 s", None),
        (
            replace(GOOD, exit_code=1, output="x: No space left on device\n"),
            "exit code 1",
            "`--cache`",
        ),
        (
            replace(GOOD, exit_code=1, output="`-I/usr/include` is a folder of the build machine"),
            "exit code 1",
            "`requires.libraries`",
        ),
        (
            replace(GOOD, exit_code=1, output="asks for the build machine's processor"),
            "exit code 1",
            "`-march=native`",
        ),
        (
            replace(
                GOOD, exit_code=1, output='meson.build:3:0: ERROR: Dependency "openblas" not found'
            ),
            "exit code 1",
            "brings `openblas` in `requires.libraries`",
        ),
        (
            replace(
                GOOD,
                exit_code=1,
                output="CMake Error at F.cmake:1 (message):\n  Could NOT find BLAS",
            ),
            "exit code 1",
            "brings `BLAS` in `requires.libraries`",
        ),
        # CMake says the same of what a project can do without.
        (replace(GOOD, exit_code=1, output="-- Could NOT find ZLIB\n"), "exit code 1", None),
    ],
)
def test_known_endings_come_with_the_next_move(
    tmp_path: Path, completed: Completed, cause: str, hint: str | None
) -> None:
    error = fail(tmp_path, completed)
    assert cause in error.causes[0]
    assert (error.hint is None) if hint is None else (hint in (error.hint or ""))


def test_planned_memory_counts_every_compiler(tmp_path: Path) -> None:
    resources = {"memory_mb": 900, "compiler_mb": 1400}
    bench = bench_at(tmp_path, job_of(recipe_of("demo", resources=resources)))
    workshop = workshop_at(tmp_path, FakeExecutor(replace(GOOD, exit_code=137, signal=9)))
    with pytest.raises(BuildError) as caught:
        run(workshop, bench, ("/x/ninja",), {})
    assert (caught.value.hint or "").startswith("out of memory? 4200 MiB")


def test_only_requirements_may_use_the_network(tmp_path: Path) -> None:
    executor = FakeExecutor()
    workshop, bench = workshop_at(tmp_path, executor), bench_at(tmp_path, job_of(recipe_of("a")))
    run(workshop, bench, ("make",), {})
    run_with_network(workshop, bench, ("pip",), {})
    assert [command.network for command in executor.commands] == [False, True]
    assert executor.commands[0].cwd == bench.project


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_meson_for_another_machine_stops_the_build(tmp_path: Path, machine: str) -> None:
    bench = bench_at(tmp_path, job_of(recipe_of("demo")))
    log = f"The Meson build system\nHost machine cpu family: {machine}\nHost machine cpu: x\n"
    with pytest.raises(BuildError, match=f"for {machine} and not for riscv64"):
        check_cross(log, bench)


def test_meson_for_the_target_goes_on(tmp_path: Path) -> None:
    bench = bench_at(tmp_path, job_of(recipe_of("demo")))
    check_cross("Build machine cpu family: x86_64\nHost machine cpu family: riscv64\n", bench)
    check_cross("nothing of Meson", bench)


def test_a_log_of_two_configurations_is_read_to_its_end(tmp_path: Path) -> None:
    bench = bench_at(tmp_path, job_of(recipe_of("demo")))
    log = "Host machine cpu family: riscv64\n...\nHost machine cpu family: x86_64\n"
    with pytest.raises(BuildError, match="for x86_64"):
        check_cross(log, bench)


def test_mesons_record_speaks_when_its_log_is_gone(tmp_path: Path) -> None:
    bench = bench_at(tmp_path, job_of(recipe_of("demo")))
    record = {"host": {"cpu_family": "riscv64"}, "build": {"cpu_family": "x86_64"}}
    info = "build/meson-info/intro-machines.json"
    write_tree(tmp_path, {info: json.dumps(record)})
    check_cross("", bench)
    write_tree(tmp_path, {info: json.dumps(record | {"host": {"cpu_family": "x86"}})})
    with pytest.raises(BuildError, match="for x86 and not for riscv64"):
        check_cross("", bench)


@pytest.mark.parametrize("told", ["INTEL_EXTENDED_16_BYTES_LE", "IEEE_DOUBLE_LE"])
def test_another_long_double_in_a_cross_file_is_refused(tmp_path: Path, told: str) -> None:
    bench = bench_at(tmp_path, job_of(recipe_of("demo")))
    own = write_tree(tmp_path, {"own.ini": f"[properties]\nlongdouble_format = '{told}'\n"})
    options = ("-Dx=1", f"setup-args=--cross-file={own}/own.ini")
    with pytest.raises(BuildError, match=f"`longdouble_format = '{told}'`"):
        check_cross_files(options, bench)
    write_tree(tmp_path, {"own.ini": "[properties]\nlongdouble_format = 'IEEE_QUAD_LE'\n"})
    check_cross_files((*options, "--cross-file=/nowhere.ini"), bench)


def test_members_are_held_against_the_recipe(tmp_path: Path) -> None:
    expect = {"files": ["demo/_c.*.so", "demo/missing*"], "absent": ["*.c", "tests/*"]}
    bench = bench_at(tmp_path, job_of(recipe_of("demo", expect=expect)))
    members = ("demo/_c.cpython-313-riscv64-linux-gnu.so", "demo/_c.c", "tests/x.py")
    with pytest.raises(AuditError) as caught:
        check_members(bench.job, members)
    assert caught.value.causes == (
        "nothing matches `demo/missing*`",
        "`demo/_c.c` should not be there",
        "`tests/x.py` should not be there",
    )
    good = {"files": ["demo/_c.*.so"], "absent": ["*.h"]}
    check_members(job_of(recipe_of("demo", expect=good)), members)


def test_members_of_wheels_and_prefixes_are_listed(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as bundle:
        bundle.writestr("a/b.py", "")
    assert wheel_members(tmp_path / "a.whl") == ("a/b.py",)
    write_tree(tmp_path / "prefix", {"lib/x.so.1": "", "include/x.h": ""})
    (tmp_path / "prefix/lib/x.so").symlink_to("x.so.1")
    assert prefix_members(tmp_path / "prefix") == ("include/x.h", "lib/x.so", "lib/x.so.1")


def test_code_for_another_machine_in_a_prefix_is_named(tmp_path: Path) -> None:
    bench = bench_at(tmp_path / "job", job_of(recipe_of("demo", kind="library"), None))
    prefix = write_tree(
        tmp_path / "prefix", {"lib/words.so": "GROUP ( x )", "bin/tool": "#!/bin/sh"}
    )
    shutil.copy(ELF / "extension.so", prefix / "lib/good.so")
    check_prefix(bench, prefix)
    foreign = bytearray((ELF / "extension.so").read_bytes())
    foreign[18:20] = (62).to_bytes(2, "little")
    (prefix / "bin/generator").write_bytes(bytes(foreign))
    with pytest.raises(AuditError) as caught:
        check_prefix(bench, prefix)
    assert caught.value.causes == ("`bin/generator` is for EM_X86_64",)


def test_build_requirements_are_read_from_the_project(tmp_path: Path) -> None:
    assert static_requires(tmp_path) == ("setuptools>=70",)
    project = tmp_path / "pyproject.toml"
    project.write_text('[build-system]\nrequires = ["meson-python", "Cython>=3"]\n')
    assert static_requires(tmp_path) == ("meson-python", "Cython>=3")
    project.write_text("[build-system\n")
    with pytest.raises(BuildError, match=r"`pyproject\.toml` of the source cannot be read"):
        static_requires(tmp_path)


def test_what_pip_installed_is_remembered_with_its_hash(tmp_path: Path) -> None:
    found = [
        {
            "metadata": {"name": "Cython", "version": "3.1"},
            "download_info": {"archive_info": {"hashes": {"sha256": "ab"}}},
        },
        {"metadata": {"name": "own", "version": "1"}, "download_info": {"dir_info": {}}},
    ]
    (tmp_path / "report.json").write_text(json.dumps({"install": found}))
    assert read_report(tmp_path / "report.json") == {"Cython==3.1 sha256:ab", "own==1"}


def test_headers_of_the_target_replace_those_of_this_machine(tmp_path: Path) -> None:
    site = write_tree(
        tmp_path / "site",
        {"numpy/include/config.h": "here", "numpy/core.so": "here", "numpy/lib/m.ini": "here"},
    )
    with zipfile.ZipFile(tmp_path / "numpy.whl", "w") as bundle:
        for name in ("include/config.h", "include/new.h", "core.so", "lib/m.ini", "a.py"):
            bundle.writestr(f"numpy/{name}", "there")
    lay_target_over(tmp_path / "numpy.whl", site)
    texts = {str(path.relative_to(site)): path.read_text() for path in site.rglob("*.*")}
    assert texts == {
        "numpy/include/config.h": "there",
        "numpy/include/new.h": "there",
        "numpy/core.so": "here",
        "numpy/lib/m.ini": "there",
    }


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        (
            "PKG_CONFIG_PATH",
            "/job/prefix/lib:/usr/lib/x86_64-linux-gnu/pkgconfig",
            "/usr/lib/x86_64",
        ),
        ("LDFLAGS", "-Wl,-O1 -L/usr/local/lib -lz", "/usr/local/lib"),
        ("CPATH", "/usr/include", "/usr/include"),
        ("LDFLAGS", "-Wl,-Bsymbolic -L/job/sysroot/usr/lib", None),
        ("CMAKE_PREFIX_PATH", "/job/usr/lib", None),
        ("DOCUMENTATION", "/usr/lib/doc", None),
    ],
)
def test_search_paths_of_the_build_machine_are_refused(
    tmp_path: Path, name: str, text: str, found: str | None
) -> None:
    bench = bench_at(tmp_path, job_of(recipe_of("a")))
    if found is None:
        check_environment({name: text}, bench)
        return
    with pytest.raises(BuildError, match=f"names `{found}.*` of the build machine"):
        check_environment({name: text}, bench)
