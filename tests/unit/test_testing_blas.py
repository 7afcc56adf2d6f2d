"""The check of a BLAS: names of every shape are found, and a wrong element is told."""

import time
from pathlib import Path

import pytest

from rvbuild.data.testing import blas


def table(*names: str) -> bytes:
    return b"\0\x7f" + b"\0".join(name.encode() for name in ("", *names, ""))


@pytest.mark.parametrize(
    ("prefix", "suffix"), [("", ""), ("scipy_", "64_"), ("", "_64"), ("x", "")]
)
def test_names_have_any_beginning_and_end(prefix: str, suffix: str) -> None:
    names = [f"{prefix}cblas_{each}{suffix}" for each in ("dgemm", "daxpy")]
    batch = f"{prefix}cblas_dgemm_batch{suffix}"
    assert blas.affixes(table(batch, f"{prefix}cblas_dgemmt{suffix}", *names)) == (prefix, suffix)


def test_another_library_has_none() -> None:
    assert blas.affixes(table("cblas_dgemm_batch", "cblas_ddot")) is None
    assert blas.affixes(b"") is None
    assert blas.affixes(b"cblas_dgemm") is None


def test_a_large_library_is_looked_through_at_once() -> None:
    begin = time.monotonic()
    assert blas.affixes(b"a" * 20_000_000 + table("cblas_dgemm", "cblas_daxpy")) == ("", "")
    assert time.monotonic() - begin < 2


def test_differences_are_counted_and_placed() -> None:
    assert blas.differences([[1, 2], [3, 4]], [[1, 2], [3, 4]]) == ""
    assert blas.differences([[1, 2], [3, 5]], [[1, 2], [3, 4]]) == (
        "1 of 4 elements wrong, at [1, 1] it gave 5 for 4"
    )


@pytest.mark.parametrize("kind", blas.KINDS, ids=lambda kind: kind.letter)
def test_rows_come_back_as_they_were(kind: blas.Kind) -> None:
    rows = blas.matrix(3, 5, 7, kind)
    assert kind.unpack(kind.pack(rows), 5) == rows


def test_nothing_to_check_is_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.so").write_bytes(b"nothing")
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    assert blas.main() == 1
    assert "no library with CBLAS" in capsys.readouterr().out
