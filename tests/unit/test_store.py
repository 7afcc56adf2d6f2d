import os
import shutil
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from rvbuild.errors import BuildError
from rvbuild.events import Silent
from rvbuild.store import Draft, Store, Stored
from rvbuild.store.disk import safe_name
from rvbuild.store.record import record_as_text, record_from_text

KEY = "ab" + "0" * 62
JOB = "libyaml-0.2.5:library"


class Notes(Silent):
    """A watcher that keeps notes."""

    def __init__(self) -> None:
        self.notes: list[tuple[str, str]] = []

    def note(self, job: str, text: str) -> None:
        self.notes.append((job, text))


def stage(folder: Path, text: str = "library") -> Path:
    staging = folder / "staging"
    (staging / "lib").mkdir(parents=True)
    (staging / "bin").mkdir()
    (staging / "lib" / "libyaml.so.1").write_text(text)
    (staging / "lib" / "libyaml.so").symlink_to("libyaml.so.1")
    (staging / "bin" / "tool").write_text("#!/bin/sh\n")
    (staging / "bin" / "tool").chmod(0o755)
    return staging


def draft(job: str = JOB, created: float = 1000.0, **inputs: str) -> Draft:
    return Draft(
        job=job,
        inputs={"schema": "1", **inputs},
        rvbuild_version="0.1.0",
        seconds={"configure": 1.5, "build": 20.0},
        requirements=("cython==3.1 --hash=sha256:00",),
        notes=("default recipe",),
        created=created,
    )


def published(tmp_path: Path, key: str = KEY) -> tuple[Store, Stored]:
    store = Store(tmp_path / "store")
    return store, store.publish(key, stage(tmp_path), draft())


def loosen(path: Path) -> Path:
    path.chmod(0o644)
    return path


def test_an_empty_store_has_nothing_and_makes_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    assert store.find(KEY) is None
    assert store.peek(KEY) is None
    assert store.latest(JOB) is None
    assert not store.root.exists()


def test_what_is_published_is_found_with_all_that_was_said(tmp_path: Path) -> None:
    store, stored = published(tmp_path)
    assert store.find(KEY) == stored
    assert store.peek(KEY) == stored.record
    record = stored.record
    assert (record.key, record.job, record.rvbuild_version) == (KEY, JOB, "0.1.0")
    assert record.requirements == ("cython==3.1 --hash=sha256:00",)
    assert record.notes == ("default recipe",)
    assert record.total_seconds == 21.5
    files = {file.path: file for file in record.files}
    assert list(files) == ["bin/tool", "lib/libyaml.so", "lib/libyaml.so.1"]
    assert files["bin/tool"].executable
    assert files["lib/libyaml.so"].target == "libyaml.so.1"
    assert files["lib/libyaml.so.1"].size_bytes == len("library")
    assert stored.files == tmp_path / "store" / "ab" / KEY / "files"
    assert (stored.files / "lib" / "libyaml.so").read_text() == "library"


def test_a_record_survives_its_text(tmp_path: Path) -> None:
    record = published(tmp_path)[1].record
    assert record_from_text(record_as_text(record)) == record


def test_results_are_read_only_and_staging_is_gone(tmp_path: Path) -> None:
    _, stored = published(tmp_path)
    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode)
        for path in stored.folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }
    assert modes == {"record.json": 0o444, "libyaml.so.1": 0o444, "tool": 0o555}
    assert not (tmp_path / "staging").exists()


def test_the_first_result_of_a_key_stays(tmp_path: Path) -> None:
    store, stored = published(tmp_path)
    second = store.publish(KEY, stage(tmp_path, "other bytes"), draft(created=2000.0))
    assert second == stored
    assert (stored.files / "lib" / "libyaml.so.1").read_text() == "library"
    assert not (tmp_path / "staging").exists()
    assert not list((store.root / "incoming").iterdir())


def test_threads_that_publish_one_key_end_with_one_result(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    barrier = threading.Barrier(6)
    results: list[Stored] = []

    def work(number: int) -> None:
        staging = stage(tmp_path / str(number), f"by {number}")
        barrier.wait()
        results.append(store.publish(KEY, staging, draft()))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 6
    found = store.find(KEY)
    assert all(result == found for result in results)
    assert not list((store.root / "incoming").iterdir())


def test_a_build_tree_that_shares_bytes_cannot_change_a_result(tmp_path: Path) -> None:
    staging = stage(tmp_path)
    tree = tmp_path / "tree.so"
    tree.hardlink_to(staging / "lib" / "libyaml.so.1")
    store = Store(tmp_path / "store")
    stored = store.publish(KEY, staging, draft())
    tree.write_text("rewritten in place")
    assert store.verify(stored)


@pytest.mark.parametrize("target", ["/etc/passwd", "../../outside", "../.."])
def test_links_that_leave_the_result_are_refused(tmp_path: Path, target: str) -> None:
    staging = stage(tmp_path)
    (staging / "lib" / "link").symlink_to(target)
    store = Store(tmp_path / "store")
    with pytest.raises(BuildError, match=r"`lib/link` of the result is a link to"):
        store.publish(KEY, staging, draft())
    assert (staging / "lib" / "libyaml.so.1").exists()
    assert store.find(KEY) is None


def test_a_link_between_folders_of_the_result_is_fine(tmp_path: Path) -> None:
    staging = stage(tmp_path)
    (staging / "bin" / "link").symlink_to("../lib/libyaml.so.1")
    (staging / "bin" / "..dots").write_text("a name that only looks like a way out")
    (staging / "dots").symlink_to("bin/..dots")
    stored = Store(tmp_path / "store").publish(KEY, staging, draft())
    assert (stored.files / "bin" / "link").read_text() == "library"


def test_a_pipe_in_a_result_is_refused(tmp_path: Path) -> None:
    staging = stage(tmp_path)
    os.mkfifo(staging / "pipe")
    with pytest.raises(BuildError, match="neither a file nor a folder nor a link"):
        Store(tmp_path / "store").publish(KEY, staging, draft())


def damage_content(files: Path) -> None:
    loosen(files / "lib" / "libyaml.so.1").write_text("Library")


def damage_length(files: Path) -> None:
    loosen(files / "lib" / "libyaml.so.1").write_text("")


def damage_mode(files: Path) -> None:
    (files / "lib" / "libyaml.so.1").chmod(0o755)


def damage_missing(files: Path) -> None:
    (files / "bin" / "tool").unlink()


def damage_more(files: Path) -> None:
    (files / "more").write_text("")


def damage_link(files: Path) -> None:
    (files / "lib" / "libyaml.so").unlink()
    (files / "lib" / "libyaml.so").symlink_to("/dev/nul")


def damage_folder(files: Path) -> None:
    shutil.rmtree(files)


def damage_kind(files: Path) -> None:
    shutil.rmtree(files)
    files.write_text("")


def damage_record(files: Path) -> None:
    loosen(files.parent / "record.json").write_text("{")


def damage_record_binary(files: Path) -> None:
    loosen(files.parent / "record.json").write_bytes(b"\xff\xfe")


def damage_record_gone(files: Path) -> None:
    (files.parent / "record.json").unlink()


def damage_key(files: Path) -> None:
    record = loosen(files.parent / "record.json")
    record.write_text(record.read_text().replace(KEY, "cd" + KEY[2:]))


DAMAGES = [
    damage_content,
    damage_length,
    damage_mode,
    damage_missing,
    damage_more,
    damage_link,
    damage_folder,
    damage_kind,
    damage_record,
    damage_record_binary,
    damage_record_gone,
    damage_key,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_result_is_moved_aside_and_never_given(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    notes = Notes()
    _, stored = published(tmp_path)
    store = Store(tmp_path / "store", notes)
    damage(stored.files)
    assert store.find(KEY) is None
    assert not stored.folder.exists()
    assert len(list((store.root / "damaged").iterdir())) == 1
    assert "a damaged result was moved aside" in notes.notes[0][1]
    again = store.publish(KEY, stage(tmp_path), draft())
    assert store.find(KEY) == again


@pytest.mark.parametrize(
    "damage", [damage_length, damage_missing, damage_more, damage_folder, damage_record]
)
def test_peek_sees_what_can_be_seen_without_reading(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    store, stored = published(tmp_path)
    damage(stored.files)
    assert store.peek(KEY) is None
    assert stored.folder.exists()


def test_publishing_over_a_damaged_result_replaces_it(tmp_path: Path) -> None:
    store, stored = published(tmp_path)
    damage_content(stored.files)
    again = store.publish(KEY, stage(tmp_path), draft())
    assert store.verify(again)


def test_verify_hashes(tmp_path: Path) -> None:
    store, stored = published(tmp_path)
    assert store.verify(stored)
    damage_content(stored.files)
    assert not store.verify(stored)


def test_latest_is_the_newest_whatever_its_key(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    for digit, created in (("1", 50.0), ("2", 70.0), ("3", 60.0)):
        staging = stage(tmp_path / digit)
        store.publish(digit * 64, staging, draft(created=created, toolchain=digit))
    store.publish("4" * 64, stage(tmp_path / "4"), draft("other-1:cp313", created=90.0))
    latest = store.latest(JOB)
    assert latest is not None
    assert latest.inputs["toolchain"] == "2"
    shutil.rmtree(store.folder_of("2" * 64))
    latest = store.latest(JOB)
    assert latest is not None
    assert latest.key == "3" * 64


def test_job_ids_become_readable_and_different_file_names() -> None:
    assert safe_name("markupsafe-3.0.3:cp313") == "markupsafe-3.0.3_cp313"
    ids = ["a-1:cp313", "a-1_cp313", "a-1:cp313:x", "a/1:cp313", "a 1:cp313", "../a:cp313", ".", ""]
    ids += ["a-1_cp313:library", "a-1:cp313_library", "x" * 300 + ":cp313", "x" * 301 + ":cp313"]
    names = [safe_name(job) for job in ids]
    assert len(set(names)) == len(names)
    assert all("/" not in name and len(name) < 200 and name[0] not in ".~" for name in names)


def test_two_threads_do_not_hold_one_lock_and_the_waiting_one_says_so(tmp_path: Path) -> None:
    notes = Notes()
    store = Store(tmp_path / "store", notes)
    order: list[str] = []
    waiting = threading.Event()

    def second() -> None:
        waiting.set()
        with store.lock(JOB):
            order.append("second")

    thread = threading.Thread(target=second)
    with store.lock(JOB):
        thread.start()
        waiting.wait()
        thread.join(0.3)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]
    assert notes.notes == [(JOB, f"waiting for another rvbuild that works on `{JOB}`")]


def test_different_names_do_not_wait(tmp_path: Path) -> None:
    notes = Notes()
    store = Store(tmp_path / "store", notes)
    with store.lock("a-1:cp313"), store.lock("a-1:cp314"):
        assert notes.notes == []


def test_a_lock_is_free_after_an_error(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    with pytest.raises(BuildError), store.lock(JOB):
        raise BuildError("step failed")
    with store.lock(JOB):
        pass
