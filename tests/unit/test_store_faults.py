"""Full, read-only and broken disks, and processes that are killed at any moment."""

import contextlib
import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from rvbuild.errors import MissingToolError
from rvbuild.places import Places
from rvbuild.store import Draft, Store, close_work, entries, find_work, mark_done, open_work
from rvbuild.store.record import record_from_text

JOB = "libyaml-0.2.5:library"
KEY, OTHER = "a" * 64, "b" * 64
DRAFT = Draft(JOB, {"schema": "1"}, "0.1.0", created=1.0)
OBJECTS = [f"object-{number}.o" for number in range(9)]
STEPS = ("sources", "configure", "build", "stage")


def stage(staging: Path, size: int = 10) -> Path:
    (staging / "lib").mkdir(parents=True, exist_ok=True)
    (staging / "lib" / "libyaml.so.1").write_bytes(b"x" * size)
    (staging / "lib" / "libyaml.so").symlink_to("libyaml.so.1")
    return staging


def build(cache: Path, key: str) -> None:
    """Do what a pipeline does for one job."""
    places = Places(cache)
    store = Store(places.store)
    with store.lock(JOB):
        if store.find(key) is None:
            work = open_work(places, JOB, key)
            staging = work.folder / "staging"
            for step in STEPS:
                if not work.is_done(step):
                    if step == "stage":
                        (staging / "lib" / "libyaml.so").unlink(missing_ok=True)
                        stage(staging)
                    work = mark_done(work, step, 1.0)
            store.publish(key, staging, DRAFT)
        close_work(open_work(places, JOB, key))


def check(cache: Path) -> None:
    """Fail unless everything in the cache is whole."""
    places = Places(cache)
    store = Store(places.store)
    for folder in places.store.glob("??/*"):
        record_from_text((folder / "record.json").read_text())
        assert store.find(folder.name) is not None
    assert not (places.store / "damaged").exists()
    for key in (KEY, OTHER):
        work = find_work(places, JOB, key)
        if work is not None:
            assert [step.name for step in work.steps] == list(STEPS[: len(work.steps)])
            if work.is_done("stage") and store.find(key) is None:
                assert (work.folder / "staging" / "lib" / "libyaml.so").read_bytes() == b"x" * 10


CHANGES = {"open", "os.mkdir", "os.rename", "os.link", "os.symlink", "os.chmod", "os.remove"}
CHANGES |= {"os.rmdir", "os.listdir", "shutil.rmtree"}


def killed_after(events: int, work: Callable[[], None]) -> bool:
    """Run `work` in a child that is killed as it begins its nth file operation."""
    child = os.fork()
    if child == 0:
        seen = 0

        def count(event: str, arguments: object) -> None:
            nonlocal seen
            if event in CHANGES:
                seen += 1
                if seen == events:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        with contextlib.suppress(BaseException):
            work()
            os._exit(0)
        os._exit(1)
    status = os.waitpid(child, 0)[1]
    assert not os.WIFEXITED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def test_a_kill_at_any_file_operation_leaves_everything_whole(tmp_path: Path) -> None:
    build(tmp_path / "warm", KEY)
    kills = 0
    for point in range(1, 400):
        cache = tmp_path / str(point)
        if not killed_after(point, partial(build, cache, KEY)):
            break
        kills += 1
        check(cache)
        build(cache, KEY)
        check(cache)
        assert Store(cache / "store").find(KEY) is not None
        assert list((cache / "work").iterdir()) == []
    assert 40 < kills < 399


def test_a_kill_while_a_changed_job_starts_anew_never_mixes_two_keys(tmp_path: Path) -> None:
    def restart(cache: Path) -> None:
        work = open_work(Places(cache), JOB, OTHER)
        mark_done(work, "sources", 1.0)

    for point in range(1, 100):
        places = Places(tmp_path / str(point))
        work = open_work(places, JOB, KEY)
        for step in STEPS[:3]:
            work = mark_done(work, step, 1.0)
        for name in OBJECTS:
            (work.folder / name).write_text("of the old key")
        killed = killed_after(point, partial(restart, places.cache))
        old = find_work(places, JOB, KEY)
        if old is not None:
            assert len(old.steps) == 3
            assert all((old.folder / name).exists() for name in OBJECTS)
        new = open_work(places, JOB, OTHER)
        assert not list(new.folder.glob("*.o"))
        if not killed:
            break
    assert 5 < point < 99


LOOP = """
import sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from test_store_faults import build
build(Path({cache!r}) / "warm", "c" * 64)
print("ready", flush=True)
number = 0
while True:
    number += 1
    build(Path({cache!r}), format(number, "064x"))
"""


def test_a_process_killed_at_random_loses_nothing_and_frees_its_lock(tmp_path: Path) -> None:
    code = LOOP.format(tests=str(Path(__file__).parent), cache=str(tmp_path))
    source = random.Random(2311)  # noqa: S311 - moments of a kill need no secrecy
    for _ in range(4):
        argv = [sys.executable, "-c", code]
        path = str(Path(__file__).parents[2])
        with subprocess.Popen(argv, stdout=subprocess.PIPE, env={"PYTHONPATH": path}) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(source.uniform(0.01, 0.3))
            process.kill()
        check(tmp_path)
        began = time.monotonic()
        with Store(tmp_path / "store").lock(JOB):
            assert time.monotonic() - began < 5
    listed = entries(Store(tmp_path / "store"))
    assert listed
    assert {entry.job for entry in listed} == {JOB}


def mounted(folder: Path, options: str) -> Iterator[Path]:
    folder.mkdir()
    argv = ["mount", "-t", "tmpfs", "-o", options, "none", str(folder)]
    if subprocess.run(argv, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting is not allowed here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    yield from mounted(tmp_path / "small", "size=1m,nr_inodes=200")


def fill(folder: Path) -> None:
    with contextlib.suppress(OSError), (folder / "filler").open("wb", buffering=0) as stream:
        while True:
            stream.write(b"x" * 4096)


@pytest.mark.needs("root")
def test_a_full_disk_is_one_clear_error_and_nothing_is_lost(small: Path) -> None:
    places = Places(small / "cache")
    store = Store(places.store)
    work = mark_done(open_work(places, JOB, KEY), "sources", 1.0)
    staging = stage(work.folder / "staging", 100_000)
    fill(small)
    for attempt in (
        lambda: mark_done(work, "build", 2.0),
        lambda: store.publish(KEY, staging, DRAFT),
    ):
        with pytest.raises(MissingToolError) as caught:
            attempt()
        assert (
            caught.value.message
            == f"no space is left for the cache in `{places_of(caught, places)}`"
        )
        assert "`--cache`" in (caught.value.hint or "")
        assert caught.value.causes[0].startswith("no space left on device")
    assert open_work(places, JOB, KEY) == work
    assert store.find(KEY) is None
    (small / "filler").unlink()
    assert mark_done(work, "build", 2.0).is_done("build")
    assert store.publish(KEY, staging, DRAFT).record.size_bytes == 100_012
    assert not list((store.root / "incoming").iterdir())


def places_of(caught: pytest.ExceptionInfo[MissingToolError], places: Places) -> Path:
    return places.store if str(places.store) in caught.value.message else places.cache


@pytest.mark.needs("root")
def test_a_read_only_disk_still_gives_what_it_has(small: Path) -> None:
    places = Places(small / "cache")
    store = Store(places.store)
    stored = store.publish(KEY, stage(small / "staging"), DRAFT)
    spoiled = store.publish(OTHER, stage(small / "staging"), DRAFT).files / "lib" / "libyaml.so.1"
    spoiled.chmod(0o644)
    spoiled.write_bytes(b"y" * 10)
    subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
    assert store.find(KEY) == stored
    assert store.latest(JOB) is not None
    assert store.find(OTHER) is None
    for attempt in (
        lambda: open_work(places, JOB, KEY),
        lambda: store.publish("c" * 64, stage(small.parent / "staging"), DRAFT),
    ):
        with pytest.raises(MissingToolError, match="cannot be written") as caught:
            attempt()
        assert "`--cache`" in (caught.value.hint or "")
    with pytest.raises(MissingToolError, match="cannot be written"), store.lock(JOB):
        pass


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_of_somebody_else_is_one_clear_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(MissingToolError, match="cannot be written"):
        open_work(Places(tmp_path / "cache"), JOB, KEY)
    tmp_path.chmod(0o755)


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (errno.ENOSPC, "no space is left"),
        (errno.EDQUOT, "no space is left"),
        (errno.EROFS, "cannot be written"),
        (errno.EACCES, "cannot be written"),
        (errno.EIO, "does not work"),
    ],
)
def test_an_error_while_data_goes_to_the_disk_keeps_the_old_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, message: str
) -> None:
    places = Places(tmp_path / "cache")
    store = Store(places.store)
    work = mark_done(open_work(places, JOB, KEY), "sources", 1.0)
    staging = stage(tmp_path / "staging")

    def fail(descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fail)
        with pytest.raises(MissingToolError, match=message):
            mark_done(work, "build", 1.0)
        with pytest.raises(MissingToolError, match=message):
            store.publish(KEY, staging, DRAFT)
    assert open_work(places, JOB, KEY) == work
    assert store.find(KEY) is None
    assert store.publish(KEY, staging, DRAFT).record.key == KEY
    assert json.loads((work.folder / "state.json").read_text())["key"] == KEY
    assert [path.name for path in work.folder.iterdir()] == ["state.json"]


def test_without_hard_links_bytes_are_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, target: Path) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    store = Store(tmp_path / "store")
    stored = store.publish(KEY, stage(tmp_path / "staging"), DRAFT)
    assert store.find(KEY) == stored
