"""Running a plan: independent jobs side by side within the cores and memory there are.

A failed job hides no others: what does not stand on it is still built, what does is not started.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from rvbuild.build import Workshop
from rvbuild.build.expect import check_members, result_members
from rvbuild.errors import RvbuildError
from rvbuild.fetch.index import PublicWheel
from rvbuild.pipeline.advice import public_wheel, take_public
from rvbuild.pipeline.equipment import workshop
from rvbuild.pipeline.inputs import plan_inputs, reachable
from rvbuild.pipeline.job import Ground, build_job
from rvbuild.pipeline.model import House, Options, Outcome
from rvbuild.pipeline.programs import LibraryTrial, programs_job, prove_library
from rvbuild.pipeline.proof import Trial, failure, prove
from rvbuild.pipeline.recipes import OpenCatalogue
from rvbuild.plan import Job, Plan, Request, State, make_plan
from rvbuild.store import Stored
from rvbuild.store.work import find_work
from rvbuild.testing import TestReport
from rvbuild.testing.budget import available_mb

LIBRARY_STEPS = ("source", "surroundings", "build")
WHEEL_STEPS = ("source", "surroundings", "environment", "build", "audit")


def plan_for(options: Options, house: House) -> Plan:
    """Plan what is asked for; asks the index only for names without a recipe."""
    recipes = OpenCatalogue(house.catalogue, house.network, house.watch, options.pythons)
    request = Request(options.names, options.pythons, options.floor, options.mode)
    inputs = plan_inputs(options, house, reachable(options.names, recipes))
    return make_plan(request, recipes, inputs)


def states(plan: Plan, house: House) -> dict[str, State]:
    """Say of each job whether it is stored, stopped half-way or to be built, and for how long."""
    return {job.id: _state(job, house) for job in plan.jobs}


def _state(job: Job, house: House) -> State:
    if house.store.peek(job.key) is not None:
        return State("cached")
    earlier = house.store.latest(job.id)
    expected = earlier.total_seconds if earlier is not None else None
    work = find_work(house.places, job.id, job.key)
    if work is not None and work.steps:
        steps = LIBRARY_STEPS if job.python is None else WHEEL_STEPS
        left = [name for name in steps if not work.is_done(name)]
        return State("resumes", left[0] if left else None, expected)
    return State("to build", None, expected)


@dataclass(slots=True)
class Budget:
    """Cores and memory that running jobs share; a job that wants more than there is runs alone."""

    cores: int
    memory_mb: int
    available: Callable[[], int] = available_mb
    free_cores: int = 0
    free_memory_mb: int = 0
    change: threading.Condition = field(default_factory=threading.Condition)

    def __post_init__(self) -> None:
        self.free_cores, self.free_memory_mb = self.cores, self.memory_mb

    def wanted(self, job: Job) -> int:
        """Say how many cores a job would take if memory did not matter."""
        return min(job.recipe.resources.cores or self.cores, self.cores)

    def cores_for(self, job: Job) -> int:
        """Say how many cores a job gets, one at least: each compiler needs its memory."""
        each_mb = job.recipe.resources.compiler_mb
        cores = self.wanted(job)
        if not each_mb or cores == 1:
            return cores
        return max(1, min(cores, min(self.available(), self.memory_mb) // each_mb))

    @contextmanager
    def share(self, job: Job) -> Iterator[int]:
        """Wait for a job's cores and memory, give the number of cores, and hand them back."""
        cores = self.cores_for(job)
        resources = job.recipe.resources
        memory_mb = min(max(resources.memory_mb, cores * resources.compiler_mb), self.memory_mb)
        with self.change:
            self.change.wait_for(
                lambda: self.free_cores >= cores and self.free_memory_mb >= memory_mb
            )
            self.free_cores -= cores
            self.free_memory_mb -= memory_mb
        try:
            yield cores
        finally:
            with self.change:
                self.free_cores += cores
                self.free_memory_mb += memory_mb
                self.change.notify_all()


@dataclass(frozen=True, slots=True)
class Run:
    """A run under way: what is asked, where, with what, and the results so far."""

    options: Options
    house: House
    plan: Plan
    bench: Workshop | None
    budget: Budget
    results: dict[str, Stored] = field(default_factory=dict)


def run_plan(plan: Plan, options: Options, house: House) -> tuple[Outcome, ...]:
    """Build, audit and test every job of a plan; give the outcome of each, in the plan's order.

    Failures are in the outcomes; `KeyboardInterrupt` ends everything that was started.
    """
    wanted = (*plan.jobs, *_tests(plan, options, house))
    missing = tuple(job for job in wanted if house.store.peek(job.key) is None)
    budget = Budget(options.jobs, memory_mb())
    if not missing:
        return _walk(Run(options, house, plan, None, budget))
    return _walk(Run(options, house, plan, workshop(options, house, missing), budget))


def _tests(plan: Plan, options: Options, house: House) -> tuple[Job, ...]:
    """Give the jobs of the test programs of libraries that were asked for."""
    asked = (plan.job(name) for name in plan.requested) if options.test else ()
    found = (programs_job(job, house) for job in asked)
    return tuple(job for job in found if job is not None)


def memory_mb() -> int:
    """Give the memory of this machine in MiB."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20


def _walk(run: Run) -> tuple[Outcome, ...]:
    outcomes: dict[str, Outcome] = {}
    running: dict[Future[Outcome], str] = {}
    waiting = {job.id: job for job in run.plan.jobs}
    with ThreadPoolExecutor(max(run.options.jobs, 1)) as pool:
        try:
            while waiting or running:
                for job in _ready(waiting, outcomes):
                    del waiting[job.id]
                    broken = [
                        need for need in job.needs if outcomes[need].error or _lost(outcomes[need])
                    ]
                    if broken:
                        outcomes[job.id] = Outcome(job.id, "not started")
                    else:
                        running[pool.submit(_one, job, run)] = job.id
                if running:
                    ended, _ = wait(running, timeout=0.2, return_when=FIRST_COMPLETED)
                    for future in ended:
                        outcomes[running.pop(future)] = future.result()
        except BaseException:
            # Threads do not get the signal: their commands are ended, then the threads follow.
            run.house.executor.stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return tuple(outcomes[job.id] for job in run.plan.jobs)


def _lost(outcome: Outcome) -> bool:
    return outcome.state == "not started"


def _ready(waiting: Mapping[str, Job], outcomes: Mapping[str, Outcome]) -> list[Job]:
    return [job for job in waiting.values() if all(need in outcomes for need in job.needs)]


def _one(job: Job, run: Run) -> Outcome:
    begin = time.monotonic()
    with run.budget.share(job) as cores:
        if run.house.executor.stop.is_set():
            # Interrupted while this job waited for its share: it is not begun at all.
            raise KeyboardInterrupt
        _tell_short_memory(job, run, cores)
        try:
            return _outcome(job, run, cores, begin)
        except RvbuildError as error:
            return Outcome(job.id, "failed", time.monotonic() - begin, error=error)


def _tell_short_memory(job: Job, run: Run, cores: int) -> None:
    wanted = run.budget.wanted(job)
    if cores < wanted and run.house.store.peek(job.key) is None:
        each = job.recipe.resources.compiler_mb
        words = f"{cores} of {wanted} cores: each compiler may take {each} MiB"
        run.house.watch.note(job.id, f"builds with {words}, and no more memory is free")


def _outcome(job: Job, run: Run, cores: int, begin: float) -> Outcome:
    house, options = run.house, run.options
    public = _public(job, run)
    if public is not None and options.prefer_public:
        wheel = take_public(public, job, house, house.places.work / "public")
        return Outcome(job.id, "public", time.monotonic() - begin, wheel)
    cached = house.store.find(job.key)
    stored = cached or _build(job, run, cores)
    run.results[job.id] = stored
    state: Literal["cached", "built"] = "built" if cached is None else "cached"
    if cached is not None:
        # Expectations are no part of the key: a corrected one must not throw hours of work away.
        check_members(job, result_members(cached))
    if job.python is None:
        report = _library_report(job, run, cores)
        prefix = stored.files / "prefix"
        return Outcome(job.id, state, time.monotonic() - begin, prefix=prefix, report=report)
    wheel = next(stored.files.glob("*.whl"))
    report = None
    if options.test:
        report = prove(Trial(job, stored, _below(job, run)), options, house)
        if not report.ok:
            raise failure(report, job.recipe.name)
    return Outcome(job.id, state, time.monotonic() - begin, wheel, report=report)


def _library_report(job: Job, run: Run, cores: int) -> TestReport | None:
    """Prove a library that was asked for; those below a wheel are proven with it."""
    asked = run.options.test and job.id in run.plan.requested
    if not asked or job.recipe.test.programs is None:
        return None
    trial = LibraryTrial(job, run.plan, run.results, cores, run.bench)
    report = prove_library(trial, run.options, run.house)
    if not report.ok:
        raise failure(report, job.recipe.name)
    return report


def _public(job: Job, run: Run) -> PublicWheel | None:
    """Tell of a public wheel of what was asked for, and give it where it fits."""
    done = run.house.store.peek(job.key) is not None
    if job.id not in run.plan.requested or (done and not run.options.prefer_public):
        return None
    advice = public_wheel(job, run.house)
    if advice is None:
        return None
    if not advice.fits:
        move = f"it needs a newer glibc than {job.floor}"
    else:
        move = "taken" if run.options.prefer_public else "take it by `--prefer-public`"
    run.house.watch.note(job.id, f"the public index has `{advice.wheel.file_name}`: {move}")
    return advice.wheel if advice.fits else None


def _build(job: Job, run: Run, cores: int) -> Stored:
    bench = run.bench or workshop(run.options, run.house, (job,))
    return build_job(job, Ground(bench, run.house, run.plan.by_id, run.results, cores))


def _below(job: Job, run: Run) -> tuple[Path, ...]:
    """Give our own wheels of what a wheel stands on: nobody else may have them."""
    found: dict[str, Path] = {}
    waiting = list(job.needs)
    while waiting:
        need = waiting.pop()
        waiting += run.plan.job(need).needs
        if need in run.results:
            found.update((need, path) for path in run.results[need].files.glob("*.whl"))
    return tuple(found.values())
