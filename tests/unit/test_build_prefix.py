"""Prefixes: made free of the place they were configured for, and laid together."""

from pathlib import Path

from rvbuild.build import stage_prefix
from rvbuild.build.prefix import make_relocatable
from tests.build_samples import write_tree

PC = """\
prefix=/opt/rvbuild
exec_prefix=${prefix}
libdir=/opt/rvbuild/lib
Name: demo
Cflags: -I/opt/rvbuild/include/demo -I/opt/other
Libs: -L${libdir} -ldemo
"""


def test_pkg_config_files_find_their_prefix_from_where_they_are(tmp_path: Path) -> None:
    files = {"lib/pkgconfig/demo.pc": PC, "share/pkgconfig/x/y.pc": "prefix = /opt/rvbuild/\n"}
    write_tree(tmp_path, files)
    make_relocatable(tmp_path, "/opt/rvbuild")
    assert (tmp_path / "lib/pkgconfig/demo.pc").read_text() == PC.replace(
        "prefix=/opt/rvbuild\n", "prefix=${pcfiledir}/../..\n", 1
    ).replace("/opt/rvbuild", "${prefix}")
    deeper = (tmp_path / "share/pkgconfig/x/y.pc").read_text()
    assert deeper == "prefix=${pcfiledir}/../../..\n"


def test_pkg_config_files_that_name_no_prefix_are_given_one(tmp_path: Path) -> None:
    # OpenBLAS begins with its folders: an unknown `${prefix}` would leave `/lib` and `/include`.
    write_tree(tmp_path, {"lib/pkgconfig/demo.pc": "libdir=/opt/rvbuild/lib\nLibs: -L${libdir}\n"})
    make_relocatable(tmp_path, "/opt/rvbuild")
    text = (tmp_path / "lib/pkgconfig/demo.pc").read_text()
    assert text == "prefix=${pcfiledir}/../..\nlibdir=${prefix}/lib\nLibs: -L${libdir}\n"


def test_archives_of_libtool_are_dropped(tmp_path: Path) -> None:
    write_tree(tmp_path, {"lib/libdemo.la": "libdir='/opt/rvbuild/lib'", "lib/libdemo.a": ""})
    make_relocatable(tmp_path, "/opt/rvbuild")
    assert [path.name for path in (tmp_path / "lib").iterdir()] == ["libdemo.a"]


def test_results_are_laid_together_and_later_ones_win(tmp_path: Path) -> None:
    first = write_tree(tmp_path / "first", {"lib/a.so.1": "1", "include/a.h": "1"})
    second = write_tree(tmp_path / "second", {"lib/b.so": "2", "include/a.h": "2"})
    (first / "lib/a.so").symlink_to("a.so.1")
    (first / "include/a.h").chmod(0o444)
    (first / "lib").chmod(0o755)
    stage_prefix(tmp_path / "prefix", [first, second])
    assert (tmp_path / "prefix/include/a.h").read_text() == "2"
    assert (tmp_path / "prefix/lib/a.so").readlink() == Path("a.so.1")
    assert (tmp_path / "prefix/lib/b.so").read_text() == "2"
    # What is in the store stays as it was, and what a job may change is its own.
    assert (first / "include/a.h").read_text() == "1"
    assert (first / "include/a.h").stat().st_mode & 0o222 == 0
    assert (tmp_path / "prefix/lib/a.so.1").stat().st_mode & 0o200


def test_a_new_prefix_replaces_the_old_one(tmp_path: Path) -> None:
    write_tree(tmp_path / "prefix", {"lib/stale.so": ""})
    stage_prefix(tmp_path / "prefix", [])
    assert sorted(path.name for path in (tmp_path / "prefix").iterdir()) == ["include", "lib"]
    assert not list((tmp_path / "prefix/lib").iterdir())
