import os
from pathlib import Path

from rvbuild.store import (
    Draft,
    Store,
    clean,
    entries,
    named,
    older_than,
    remove,
    verify_all,
)

DAY = 24 * 3600.0


def put(store: Store, folder: Path, digit: str, job: str, created: float) -> None:
    staging = folder / f"staging-{digit}"
    staging.mkdir(parents=True)
    (staging / "file").write_text(digit * 100)
    store.publish(digit * 64, staging, Draft(job, {}, "0.1.0", created=created))


def filled(tmp_path: Path) -> Store:
    store = Store(tmp_path / "store")
    put(store, tmp_path, "1", "numpy-2.5.5:cp313", 10 * DAY)
    put(store, tmp_path, "2", "numpy-2.5.5:cp313", 20 * DAY)
    put(store, tmp_path, "3", "numpy-financial-1.0:cp313", 30 * DAY)
    put(store, tmp_path, "4", "openblas-0.3.34:library", 5 * DAY)
    return store


def test_entries_are_listed_with_sizes_and_ages(tmp_path: Path) -> None:
    assert entries(Store(tmp_path / "none")) == ()
    listed = entries(filled(tmp_path))
    assert [entry.key[0] for entry in listed] == ["2", "1", "3", "4"]
    assert sum(entry.size_bytes for entry in listed) == 400
    assert [entry.age_seconds(31 * DAY) / DAY for entry in listed] == [11, 21, 1, 26]


def test_entries_are_chosen_by_recipe_by_job_and_by_pattern(tmp_path: Path) -> None:
    listed = entries(filled(tmp_path))

    def keys(pattern: str) -> str:
        return "".join(entry.key[0] for entry in named(listed, pattern))

    assert keys("numpy") == "21"
    assert keys("numpy-2.5.5:cp313") == "21"
    assert keys("*:cp313") == "213"
    assert keys("openblas") == "4"
    assert keys("num") == ""


def test_entries_are_chosen_by_age(tmp_path: Path) -> None:
    listed = entries(filled(tmp_path))
    old = older_than(listed, 15 * DAY, now=31 * DAY)
    assert [entry.key[0] for entry in old] == ["1", "4"]


def test_removed_entries_are_gone_and_others_stay(tmp_path: Path) -> None:
    store = filled(tmp_path)
    assert remove(store, named(entries(store), "numpy")) == 200
    assert store.find("1" * 64) is None
    assert store.latest("numpy-2.5.5:cp313") is None
    assert store.find("3" * 64) is not None
    assert len(entries(store)) == 2
    assert not (store.root / "damaged").exists()


def test_verify_all_finds_what_is_damaged(tmp_path: Path) -> None:
    store = filled(tmp_path)
    assert verify_all(store) == ()
    broken = store.folder_of("2" * 64) / "files" / "file"
    broken.chmod(0o644)
    broken.write_text("x" * 100)
    assert verify_all(store) == ("2" * 64,)
    assert verify_all(store) == ()
    assert len(entries(store)) == 3


def test_a_damaged_entry_is_listed_and_can_be_removed(tmp_path: Path) -> None:
    store = filled(tmp_path)
    (store.folder_of("4" * 64) / "record.json").unlink()
    (damaged,) = (entry for entry in entries(store) if entry.job == "")
    assert (damaged.key, damaged.size_bytes) == ("4" * 64, 100)
    remove(store, [damaged])
    assert len(entries(store)) == 3


def test_clean_removes_what_kills_left_but_not_what_still_goes_on(tmp_path: Path) -> None:
    store = filled(tmp_path)
    (store.root / "damaged" / "x").mkdir(parents=True)
    (store.root / "damaged" / "x" / "file").write_text("12345")
    for name, age in (("old", 2 * DAY), ("young", 0.0)):
        left = store.root / "incoming" / name
        left.mkdir()
        (left / "file").write_text("123")
        os.utime(left, (100 * DAY - age, 100 * DAY - age))
    assert clean(store, now=100 * DAY) == 8
    assert [path.name for path in (store.root / "incoming").iterdir()] == ["young"]
    assert list((store.root / "damaged").iterdir()) == []
    assert len(entries(store)) == 4
    assert clean(Store(tmp_path / "none")) == 0
