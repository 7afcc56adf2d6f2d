"""Walking a plan with jobs that only pretend to build: order, shares, failures, interruption."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from rvbuild.build import Workshop
from rvbuild.errors import BuildError
from rvbuild.events import Silent
from rvbuild.executor.local import LocalExecutor
from rvbuild.fetch import Network
from rvbuild.pipeline import House, Options, Outcome, plan_for, run_plan, states
from rvbuild.pipeline import run as running
from rvbuild.pipeline.job import Ground
from rvbuild.pipeline.run import Budget
from rvbuild.places import Places, builtin_folder
from rvbuild.plan import Inputs, Job, Plan, Request, make_plan
from rvbuild.recipe.catalogue import Catalogue
from rvbuild.recipe.model import Recipe
from rvbuild.store import Draft, Store, Stored, mark_done, open_work
from tests.build_samples import FLOOR, job_of, recipe_of, workshop_at
from tests.cli_samples import write_wheel
from tests.conftest import Recorder

OPTIONS = Options(names=(), pythons=("3.13",), floor=FLOOR, jobs=4, test=False)


class Shelf:
    """Recipes in memory."""

    def __init__(self, recipes: tuple[Recipe, ...]) -> None:
        self.recipes = {recipe.name: recipe for recipe in recipes}

    def find(self, name: str, version: str | None = None) -> Recipe:
        recipe = self.recipes[name]
        assert version in {None, recipe.version}
        return recipe


@dataclass(slots=True)
class Builder:
    """Pretends to build: remembers what ran with what, fails where it is told to."""

    failing: frozenset[str] = frozenset()
    pause_seconds: float = 0.0
    begun: list[str] = field(default_factory=list)
    cores: dict[str, int] = field(default_factory=dict)
    now: set[str] = field(default_factory=set)
    together: set[frozenset[str]] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, job: Job, ground: Ground) -> Stored:
        name = job.recipe.name
        with self.lock:
            self.begun.append(name)
            self.cores[name] = ground.cores
            self.now.add(name)
            self.together.add(frozenset(self.now))
        time.sleep(self.pause_seconds)
        with self.lock:
            self.now.discard(name)
        if name in self.failing:
            raise BuildError(f"no luck with `{name}`")
        staging = ground.house.places.work / name
        (staging / "prefix").mkdir(parents=True)
        if job.python is not None:
            write_wheel(staging, name)
        assert all(need in ground.results for need in job.needs)
        return ground.house.store.publish(job.key, staging, Draft(job.id, {}, "0"))


@pytest.fixture
def house(tmp_path: Path) -> House:
    places = Places(tmp_path / "cache")
    network = Network((), (), offline=True)
    folder = tmp_path / "recipes"
    folder.mkdir()
    pins = builtin_folder("sysroots")
    return House(places, network, Silent(), LocalExecutor(), Catalogue((folder,)), pins, "x86_64")


@pytest.fixture
def builder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Builder:
    """Put a pretending builder and an empty workshop in place of the real ones."""
    made = Builder()

    @contextmanager
    def workshop(options: Options, house: House, jobs: tuple[Job, ...]) -> Iterator[Workshop]:
        yield workshop_at(tmp_path / "shop")

    monkeypatch.setattr(running, "build_job", made)
    monkeypatch.setattr(running, "workshop", workshop)
    return made


def plan_of(*recipes: Recipe, names: tuple[str, ...] = ()) -> Plan:
    asked = names or tuple(recipe.name for recipe in recipes)
    inputs = Inputs("t", "s", pythons={"3.13": "p"})
    return make_plan(Request(asked, ("3.13",), FLOOR), Shelf(recipes), inputs)


def library(name: str, *libraries: str, **fields: object) -> Recipe:
    return recipe_of(name, kind="library", requires={"libraries": list(libraries)}, **fields)


def wheel(name: str, *libraries: str, target: tuple[str, ...] = (), **fields: object) -> Recipe:
    requires = {"libraries": list(libraries), "target": list(target)}
    return recipe_of(name, requires=requires, **fields)


def by_name(outcomes: tuple[Outcome, ...]) -> dict[str, str]:
    return {each.job.partition("-")[0]: each.state for each in outcomes}


def test_what_is_below_is_built_first(house: House, builder: Builder) -> None:
    plan = plan_of(wheel("top", "middle"), library("middle", "bottom"), library("bottom"))
    outcomes = run_plan(plan, OPTIONS, house)
    assert builder.begun == ["bottom", "middle", "top"]
    assert by_name(outcomes) == {"bottom": "built", "middle": "built", "top": "built"}
    assert [each.job for each in outcomes] == [job.id for job in plan.jobs]
    top = outcomes[-1]
    assert top.wheel is not None
    assert top.wheel.name == "top-1.0-py3-none-any.whl"
    assert outcomes[0].prefix is not None
    assert outcomes[0].prefix.is_dir()


def test_what_is_stored_is_not_built_again(house: House, builder: Builder) -> None:
    plan = plan_of(wheel("top", "bottom"), library("bottom"))
    run_plan(plan, OPTIONS, house)
    builder.begun.clear()
    assert set(by_name(run_plan(plan, OPTIONS, house)).values()) == {"cached"}
    assert builder.begun == []
    assert {state.kind for state in states(plan, house).values()} == {"cached"}


def test_a_failed_job_hides_no_others(house: House, builder: Builder) -> None:
    builder.failing = frozenset({"broken"})
    plan = plan_of(
        wheel("above", "broken"),
        wheel("higher", target=("above",)),
        wheel("beside", "sound"),
        library("broken"),
        library("sound"),
    )
    outcomes = run_plan(plan, OPTIONS, house)
    assert by_name(outcomes) == {
        "broken": "failed",
        "above": "not started",
        "higher": "not started",
        "sound": "built",
        "beside": "built",
    }
    assert set(builder.begun) == {"broken", "sound", "beside"}
    failed = next(each for each in outcomes if each.state == "failed")
    assert failed.error is not None
    assert failed.error.exit_code == 6


def test_independent_jobs_run_together_within_the_cores(house: House, builder: Builder) -> None:
    builder.pause_seconds = 0.15
    recipes = [library(name, resources={"memory_mb": 1}) for name in "abcdef"]
    run_plan(plan_of(*recipes), replace(OPTIONS, jobs=2), house)
    assert max(map(len, builder.together)) == 2


def test_a_job_that_wants_all_cores_runs_alone(house: House, builder: Builder) -> None:
    builder.pause_seconds = 0.1
    all_cores = library("greedy", resources={"cores": 0, "memory_mb": 1})
    others = [library(name, resources={"memory_mb": 1}) for name in "abc"]
    run_plan(plan_of(*others, all_cores), OPTIONS, house)
    assert builder.cores == {"greedy": 4, "a": 1, "b": 1, "c": 1}
    assert [group for group in builder.together if "greedy" in group] == [frozenset({"greedy"})]


def test_memory_bounds_what_runs_together(
    house: House, builder: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "memory_mb", lambda: 4000)
    builder.pause_seconds = 0.1
    big = [library(name, resources={"memory_mb": 3000}) for name in "ab"]
    huge = library("huge", resources={"memory_mb": 99_000})
    outcomes = run_plan(plan_of(*big, huge), OPTIONS, house)
    assert set(by_name(outcomes).values()) == {"built"}
    assert max(map(len, builder.together)) == 1


def test_a_budget_hands_back_what_it_gave(tmp_path: Path) -> None:
    budget = Budget(4, 1000)
    job = job_of(recipe_of("a", resources={"cores": 3, "memory_mb": 600}))
    with budget.share(job) as cores:
        assert (cores, budget.free_cores, budget.free_memory_mb) == (3, 1, 400)
    with suppress(ValueError), budget.share(job):
        raise ValueError
    assert (budget.free_cores, budget.free_memory_mb) == (4, 1000)


@pytest.mark.parametrize(
    ("cores", "compiler_mb", "free_mb", "expected"),
    [
        (0, 1400, 100_000, 8),
        (0, 1400, 6000, 4),
        (2, 1400, 100_000, 2),
        (0, 1400, 900, 1),
        (0, 0, 900, 8),
    ],
)
def test_so_many_compilers_run_as_memory_allows(
    cores: int, compiler_mb: int, free_mb: int, expected: int
) -> None:
    budget = Budget(8, 64_000, lambda: free_mb)
    resources = {"cores": cores, "compiler_mb": compiler_mb}
    with budget.share(job_of(recipe_of("a", resources=resources))) as given:
        assert given == expected
        assert budget.free_memory_mb == 64_000 - max(1024, expected * compiler_mb)


def test_a_job_that_memory_slows_down_says_so(
    house: House, builder: Builder, monkeypatch: pytest.MonkeyPatch, recorder: Recorder
) -> None:
    monkeypatch.setattr(running, "memory_mb", lambda: 3000)
    big = library("big", resources={"cores": 0, "compiler_mb": 1400})
    small = library("small")
    run_plan(plan_of(big, small), OPTIONS, replace(house, watch=recorder))
    assert builder.cores == {"big": 2, "small": 1}
    words = "builds with 2 of 4 cores: each compiler may take 1400 MiB, and no more memory is free"
    assert recorder.of("note") == [("big-1.0:library", words)]


def test_an_interrupt_ends_what_runs_and_starts_nothing_more(
    house: House, builder: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def build(job: Job, ground: Ground) -> Stored:
        builder.begun.append(job.recipe.name)
        if job.recipe.name == "a":
            raise KeyboardInterrupt
        house.executor.stop.wait(10)
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "build_job", build)
    big = {"memory_mb": 1, "cores": 2}
    recipes = [library(name, resources=big) for name in "abcdefgh"]
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_plan(plan_of(*recipes), OPTIONS, house)
    assert time.monotonic() - begin < 5
    assert house.executor.stop.is_set()
    # Two shares of two cores, one of which may have gone on before the interrupt was seen.
    assert len(builder.begun) <= 3


def test_a_fault_of_our_own_is_not_hidden(
    house: House, builder: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def build(job: Job, ground: Ground) -> Stored:
        raise ZeroDivisionError

    monkeypatch.setattr(running, "build_job", build)
    with pytest.raises(ZeroDivisionError):
        run_plan(plan_of(library("a")), OPTIONS, house)


def test_states_tell_what_a_stopped_run_left(house: House) -> None:
    plan = plan_of(wheel("top", "bottom"), library("bottom"))
    bottom, top = plan.jobs
    assert states(plan, house)[top.id].kind == "to build"
    work = open_work(house.places, top.id, top.key)
    work = mark_done(mark_done(work, "source", 1.0), "surroundings", 0.1)
    found = states(plan, house)
    assert (found[top.id].kind, found[top.id].step) == ("resumes", "environment")
    assert found[bottom.id].kind == "to build"


def write_recipe(house: House, name: str, *lines: str) -> None:
    text = [f"name: {name}", 'version: "1.0"', "license: MIT", "sources:"]
    text += [f"  - {{pypi: {name}-1.0.tar.gz, sha256: {'0' * 64}}}", *lines]
    (house.catalogue.folders[0] / f"{name}.yaml").write_text("\n".join(text) + "\n")


def test_planning_reads_pins_and_fetches_nothing(house: House) -> None:
    write_recipe(house, "libdemo", "kind: library", "build: {system: cmake}")
    write_recipe(house, "demo", "requires: {libraries: [libdemo]}")
    plan = plan_for(replace(OPTIONS, names=("demo",)), house)
    assert [job.id for job in plan.jobs] == ["libdemo-1.0:library", "demo-1.0:cp313"]
    assert plan.jobs[0].inputs["sysroot"]
    assert not house.places.cache.exists()
    again = plan_for(replace(OPTIONS, names=("demo",)), house)
    assert [job.key for job in again.jobs] == [job.key for job in plan.jobs]


def test_a_library_that_changes_changes_what_is_above(house: House) -> None:
    write_recipe(house, "libdemo", "kind: library", "build: {system: cmake}")
    write_recipe(house, "demo", "requires: {libraries: [libdemo]}")
    before = plan_for(replace(OPTIONS, names=("demo",)), house)
    write_recipe(house, "libdemo", "kind: library", "build: {system: cmake, options: [-DX=1]}")
    after = plan_for(replace(OPTIONS, names=("demo",)), house)
    assert all(one.key != two.key for one, two in zip(before.jobs, after.jobs, strict=True))


def test_a_stored_result_can_be_found_by_its_job(house: House, builder: Builder) -> None:
    plan = plan_of(library("a"))
    run_plan(plan, OPTIONS, house)
    assert isinstance(house.store, Store)
    assert house.store.latest(plan.jobs[0].id) is not None
