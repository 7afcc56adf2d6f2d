import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from rvbuild.errors import UsageError
from rvbuild.matrix import github_matrix, github_workflow, matrix_as_json, matrix_entries
from rvbuild.plan import Inputs, Plan, Request, make_plan
from rvbuild.recipe.model import Mode, Recipe
from rvbuild.target import Floor

DATA = Path(__file__).parents[1] / "data" / "plans"
RUNNERS = {"cross": "ubuntu-latest", "emulated": "ubuntu-latest", "native": "ubuntu-24.04-riscv"}


class Shelf:
    """The recipes of the test data."""

    def __init__(self) -> None:
        entries = yaml.safe_load((DATA / "recipes.yaml").read_text(encoding="utf-8"))
        self.by_name = {
            name: Recipe.model_validate({"name": name, **entry}) for name, entry in entries.items()
        }

    def find(self, name: str, version: str | None = None) -> Recipe:
        if name not in self.by_name or version not in {None, self.by_name[name].version}:
            raise UsageError(f"there is no recipe `{name}`")
        return self.by_name[name]


def plan(
    *names: str,
    pythons: tuple[str, ...] = ("3.13",),
    mode: Mode = "cross",
    shelf: Shelf | None = None,
) -> Plan:
    inputs = Inputs(
        toolchain="clang-22",
        sysroot="glibc-2.31",
        pythons={python: f"kit-{python}" for python in pythons},
        patches={("openblas", "vlen.patch"): "patch-1"},
    )
    return make_plan(Request(names, pythons, Floor(2, 31), mode), shelf or Shelf(), inputs)


def steps(workflow: str, job: str) -> dict[str, str]:
    found = yaml.safe_load(workflow)["jobs"][job]["steps"]
    return {step["name"]: step["run"] for step in found if "run" in step}


def test_entries_follow_the_plan_and_its_levels() -> None:
    made = plan("scipy", "pyyaml", pythons=("3.13", "3.14"))
    entries = matrix_entries(made, {"libyaml-0.2.5:library": 12.5})
    assert [entry.name for entry in entries] == [job.id for job in made.jobs]
    assert [entry.level for entry in entries] == sorted(entry.level for entry in entries)
    assert entries[0].expected_seconds == 12.5
    assert entries[1].expected_seconds is None


def test_a_wheel_and_a_library_have_their_commands() -> None:
    library, wheel = matrix_entries(plan("pyyaml"))
    assert shlex.join(library.command) == "rvbuild build libyaml==0.2.5 --cross --floor 2_31"
    assert shlex.join(wheel.command) == (
        "rvbuild wheel pyyaml==6.0.3 --python 3.13 --cross --floor 2_31"
    )


@pytest.mark.parametrize("mode", ["cross", "emulated", "native"])
def test_the_runner_follows_the_mode(mode: Mode) -> None:
    for entry in matrix_entries(plan("pyyaml", mode=mode)):
        assert entry.runner == RUNNERS[mode]
        assert f"--{mode}" in entry.command


def test_json_is_versioned_and_keeps_versions_text() -> None:
    document = json.loads(json.dumps(matrix_as_json(matrix_entries(plan("numpy")))))
    assert document["schema"] == "rvbuild.matrix/1"
    assert [job["python"] for job in document["jobs"]] == [None, "3.13"]


def test_the_github_matrix_is_golden() -> None:
    made = plan("scipy", "pyyaml", pythons=("3.13", "3.14"))
    text = json.dumps(github_matrix(matrix_entries(made, {made.jobs[0].id: 9.0})), indent=2) + "\n"
    assert text == (DATA / "github-matrix.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("mode", ["cross", "native"])
def test_the_workflow_is_golden(mode: Mode) -> None:
    made = plan("scipy", "pyyaml", pythons=("3.13", "3.14"), mode=mode)
    assert github_workflow(made) == (DATA / f"wheels-{mode}.yml").read_text(encoding="utf-8")


def test_the_workflow_is_yaml_where_levels_wait_for_each_other() -> None:
    workflow = yaml.safe_load(github_workflow(plan("scipy", pythons=("3.13", "3.14"))))
    assert "on" in workflow  # unquoted, it would be the boolean true
    jobs = workflow["jobs"]
    assert [job.get("needs") for job in jobs.values()] == [
        None,
        ["level-0"],
        ["level-1"],
        ["level-0", "level-1", "level-2"],
    ]
    pythons = [entry["python"] for entry in jobs["level-1"]["strategy"]["matrix"]["include"]]
    assert pythons == ["3.13", "3.14"]


def test_artifact_names_are_unique_and_free_of_refused_characters() -> None:
    entries = matrix_entries(plan("scipy", "pyyaml", pythons=("3.13", "3.14")))
    names = [entry.artifact for entry in entries]
    assert len(set(names)) == len(names)
    assert not set("".join(names)) & set('":<>|*?\r\n\\/')


def test_a_level_above_githubs_limit_is_split() -> None:
    shelf = Shelf()
    template = shelf.by_name["libyaml"]
    names = [f"lib{number}" for number in range(257)]
    shelf.by_name |= {name: template.model_copy(update={"name": name}) for name in names}
    shelf.by_name["pyyaml"] = shelf.by_name["pyyaml"].model_copy(
        update={
            "requires": shelf.by_name["pyyaml"].requires.model_copy(update={"libraries": names})
        }
    )
    jobs = yaml.safe_load(github_workflow(plan("pyyaml", shelf=shelf)))["jobs"]
    assert list(jobs) == ["level-0-1", "level-0-2", "level-1", "collect"]
    sizes = [len(jobs[name]["strategy"]["matrix"]["include"]) for name in list(jobs)[:2]]
    assert sizes == [256, 1]
    assert jobs["level-1"]["needs"] == ["level-0-1", "level-0-2"]


def run(script: str, folder: Path) -> None:
    environment = {"PATH": f"{folder}/bin:{os.defpath}"}
    argv = ["bash", "-e", "-c", script]
    subprocess.run(argv, cwd=folder, env=environment, check=True, capture_output=True)


def test_results_pass_from_level_to_level_with_links_and_modes(tmp_path: Path) -> None:
    workflow = github_workflow(plan("pyyaml"))
    low, high, last = (tmp_path / name for name in ("low", "high", "last"))
    for folder in (low, high, last):
        folder.mkdir()

    run(steps(workflow, "level-0")["Note what is there"], low)
    entry = low / ".rvbuild/store/ab/abcd/files"
    entry.mkdir(parents=True)
    (entry / "libx.so.1").write_text("library")
    (entry / "libx.so.1").chmod(0o555)
    (entry / "libx.so").symlink_to("libx.so.1")
    run(steps(workflow, "level-0")["Pack what is new"], low)

    (high / "built/built-low").mkdir(parents=True)
    (low / "built.tar").rename(high / "built/built-low/built.tar")
    run(steps(workflow, "level-1")["Unpack it"], high)
    arrived = high / ".rvbuild/store/ab/abcd/files"
    assert (arrived / "libx.so").readlink() == Path("libx.so.1")
    assert (arrived / "libx.so.1").stat().st_mode & 0o777 == 0o555
    run(steps(workflow, "level-1")["Note what is there"], high)
    (high / "dist/x-1-py3-none-any.whl").write_text("wheel")
    run(steps(workflow, "level-1")["Pack what is new"], high)

    (last / "built/built-high").mkdir(parents=True)
    (high / "built.tar").rename(last / "built/built-high/built.tar")
    run(steps(workflow, "collect")["Unpack it"], last)
    assert (last / "dist/x-1-py3-none-any.whl").read_text() == "wheel"
    assert not (last / ".rvbuild/store/ab/abcd").exists()


def test_unpacking_nothing_is_fine_and_a_broken_archive_is_not(tmp_path: Path) -> None:
    script = steps(github_workflow(plan("pyyaml")), "level-1")["Unpack it"]
    run(script, tmp_path)
    (tmp_path / "built/built-x").mkdir(parents=True)
    (tmp_path / "built/built-x/built.tar").write_bytes(b"no archive")
    with pytest.raises(subprocess.CalledProcessError):
        run(script, tmp_path)
