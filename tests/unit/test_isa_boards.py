"""The catalogue of boards: complete, consistent, with sources, and reachable by every name."""

import pytest

from rvbuild.target import boards, cpus, extensions_of, find_board, profiles

EXPECTED = {"k1", "k3", "th1520", "sg2042", "sg2044", "jh7110", "eic7700x", "fu740", "x280", "k230"}


def test_has_the_chips_that_people_use() -> None:
    assert len(boards()) >= 15
    assert boards().keys() >= EXPECTED


@pytest.mark.parametrize("name", boards())
def test_every_entry_is_consistent(name: str) -> None:
    board = boards()[name]
    assert board.sources
    assert all(source.startswith("https://") for source in board.sources)
    assert board.extensions >= set("imafdc")
    assert board.page_size_bytes == 4096
    assert (board.vlen > 0) == (board.rvv != "none")
    assert ("v" in board.extensions) == (board.rvv == "1.0")
    assert ("xtheadvector" in board.extensions) == (board.rvv == "0.7.1")
    assert (f"vlen={board.vlen}" in board.qemu) == (board.rvv == "1.0")
    if board.vlen > 128:
        assert f"zvl{board.vlen}b" in board.extensions


def test_no_name_is_there_twice() -> None:
    names = [each for chip in boards().values() for each in (chip.name, *chip.boards)]
    assert len({*names, *profiles()}) == len(names) + len(profiles())


@pytest.mark.parametrize(
    ("name", "chip"),
    [("k1", "k1"), ("bpi-f3", "k1"), ("scaleway-em-rv1", "th1520"), ("milkv-duo-s", "sg2000")],
)
def test_boards_are_found_by_every_name(name: str, chip: str) -> None:
    board = find_board(name)
    assert board is not None
    assert board.name == chip
    assert cpus()[name].qemu == board.qemu


def test_profiles_are_no_boards() -> None:
    assert find_board("rv64gc") is None
    assert "rv64gc" in cpus()


def test_a_vector_unit_that_the_emulator_lacks_has_no_length() -> None:
    assert cpus()["th1520"].vlen == 0
    assert cpus()["k1"].vlen == 256


@pytest.mark.parametrize(
    ("isa", "more"),
    [
        ("rv64gc", {"i", "m", "a", "f", "d", "c", "zicsr", "zifencei"}),
        ("rv64gcb", {"zba", "zbb", "zbs"}),
        ("rv64gcv_zvfh", {"v", "zvfh", "zvfhmin"}),
        ("rv64gcv_zvkng", {"zvkned", "zvknhb", "zvkg", "zvkb"}),
    ],
)
def test_extensions_bring_those_they_imply(isa: str, more: set[str]) -> None:
    assert extensions_of(isa) >= more
