import json
import os
from pathlib import Path

import pytest

from rvbuild.errors import NothingSelectedError, PublishError
from rvbuild.publish.index import build_index
from rvbuild.publish.listing import read_html, read_json, read_root
from rvbuild.publish.verify import verify_index
from tests.publish_samples import make_wheel, metadata_of, sha256

FIRST = "foo_bar-1.0-cp313-cp313-manylinux_2_31_riscv64.whl"
LOCAL = "foo_bar-1.0+rv.1-cp313-cp313-manylinux_2_31_riscv64.whl"
OTHER = "zed-2.0-py3-none-any.whl"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "dist"
    make_wheel(folder, FIRST, metadata=metadata_of("Foo.Bar", "1.0", "Requires-Python: >=3.11,<4"))
    make_wheel(folder / "sub", LOCAL, metadata=metadata_of("foo-bar", "1.0+rv.1"))
    make_wheel(folder, OTHER)
    return folder


def test_both_pages_say_the_same_of_each_wheel(folder: Path) -> None:
    report = build_index(folder)

    page = folder / "simple" / "foo-bar"
    html = read_html((page / "index.html").read_text())
    from_json = read_json((page / "index.json").read_text())
    assert report.projects == ("foo-bar", "zed")
    assert [link.file_name for link in html] == [FIRST, LOCAL]
    assert html[0].sha256 == from_json[0].sha256 == sha256(folder / FIRST)
    assert html[0].requires_python == from_json[0].requires_python == ">=3.11,<4"
    assert html[0].metadata_sha256 == from_json[0].metadata_sha256
    assert from_json[0].size == (folder / FIRST).stat().st_size
    assert html[1].url == "../../sub/foo_bar-1.0%2Brv.1-cp313-cp313-manylinux_2_31_riscv64.whl"


def test_json_page_has_what_version_1_1_wants(folder: Path) -> None:
    build_index(folder)

    page = json.loads((folder / "simple/foo-bar/index.json").read_text())
    assert page["meta"] == {"api-version": "1.1"}
    assert page["name"] == "foo-bar"
    assert page["versions"] == ["1.0", "1.0+rv.1"]
    assert "dist-info-metadata" not in page["files"][0]


def test_html_page_has_both_names_of_the_metadata_hash(folder: Path) -> None:
    build_index(folder)

    text = (folder / "simple/foo-bar/index.html").read_text()
    side = sha256(folder / f"{FIRST}.metadata")
    assert f'data-core-metadata="sha256={side}"' in text
    assert f'data-dist-info-metadata="sha256={side}"' in text
    assert 'data-requires-python="&gt;=3.11,&lt;4"' in text


def test_second_run_writes_nothing(folder: Path) -> None:
    first = build_index(folder)
    again = build_index(folder)

    assert len(first.written) == 3 + 2 * 2 + 2
    assert again.written == ()
    assert again.removed == ()


def test_pages_can_be_read_by_others_and_nothing_unfinished_stays(folder: Path) -> None:
    umask = os.umask(0o022)
    try:
        report = build_index(folder)
    finally:
        os.umask(umask)

    assert {path.stat().st_mode & 0o777 for path in report.written} == {0o644}
    assert not list(folder.rglob(".*"))


def test_a_wheel_that_is_gone_leaves_the_index(folder: Path) -> None:
    build_index(folder)
    (folder / OTHER).unlink()
    keep = folder / "simple" / "mine" / "index.html"
    keep.parent.mkdir()
    keep.write_text("not from here")

    report = build_index(folder)

    assert read_root((folder / "simple/index.json").read_text()) == ("foo-bar",)
    assert folder / f"{OTHER}.metadata" in report.removed
    assert not (folder / "simple/zed").exists()
    assert keep.exists()


def test_same_bytes_in_two_folders_are_listed_once(folder: Path) -> None:
    make_wheel(folder / "copy", OTHER)

    report = build_index(folder)

    assert len(report.wheels) == 3


@pytest.mark.parametrize("twin", [OTHER, "Zed-2.0-py3-none-any.whl", "zed-2-py3-none-any.whl"])
def test_one_name_with_other_bytes_is_refused(folder: Path, twin: str) -> None:
    make_wheel(folder / "copy", twin, payload="other")

    with pytest.raises(PublishError) as caught:
        build_index(folder)

    assert len(caught.value.causes) == 2
    assert not (folder / "simple").exists()


def test_every_unreadable_wheel_is_named(folder: Path) -> None:
    (folder / "a-1.0-py3-none-any.whl").write_bytes(b"no zip")
    (folder / "b-1.0-py3-none-linux-riscv64.whl").write_bytes(b"")
    make_wheel(folder, "c-1.0-py3-none-any.whl", metadata=metadata_of("d", "1.0"))

    with pytest.raises(PublishError) as caught:
        build_index(folder)

    assert caught.value.message == "3 of 6 wheels cannot be indexed"
    for name, cause in zip("abc", caught.value.causes, strict=True):
        assert f"`{name}-1.0-" in cause


def test_no_wheels_is_nothing_selected(tmp_path: Path) -> None:
    with pytest.raises(NothingSelectedError):
        build_index(tmp_path)


def test_destination_may_lie_elsewhere(folder: Path) -> None:
    target = folder.parent / "public" / "simple"

    build_index(folder, target)

    link = read_html((target / "zed/index.html").read_text())[0]
    assert (target / "zed" / link.url).resolve() == folder / OTHER
    assert verify_index(folder, target) == ()


def test_verify_finds_nothing_in_a_fresh_index(folder: Path) -> None:
    build_index(folder)

    assert verify_index(folder) == ()


def test_verify_finds_what_was_broken(folder: Path) -> None:
    make_wheel(folder, "gone-1.0-py3-none-any.whl")
    build_index(folder)
    make_wheel(folder, OTHER, payload="new bytes")
    (folder / "gone-1.0-py3-none-any.whl").unlink()
    (folder / f"{FIRST}.metadata").unlink()
    (folder / "sub" / f"{LOCAL}.metadata").write_text("changed")
    make_wheel(folder, "unlisted-1.0-py3-none-any.whl")

    problems = {finding.file.name: finding.problem for finding in verify_index(folder)}

    assert problems == {
        OTHER: "is not the file that was listed: its sha256 differs",
        "gone-1.0-py3-none-any.whl": "is listed and missing",
        f"{FIRST}.metadata": "is missing",
        f"{LOCAL}.metadata": "is not the file that was listed: its sha256 differs",
        "unlisted-1.0-py3-none-any.whl": "is on no page",
    }


def test_verify_finds_pages_that_differ(folder: Path) -> None:
    build_index(folder)
    page = folder / "simple/zed/index.html"
    page.write_text(page.read_text().replace(sha256(folder / OTHER), "0" * 64))
    (folder / "simple/foo-bar/index.json").write_text("[]")

    problems = [finding.problem for finding in verify_index(folder)]

    assert problems == [
        "a project's JSON page is malformed",
        "does not list what `index.json` does",
    ]


def test_verify_without_an_index_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(PublishError, match="there is no index"):
        verify_index(tmp_path)
