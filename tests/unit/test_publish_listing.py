import pytest

from rvbuild.errors import PublishError
from rvbuild.publish.listing import read_html, read_json


def test_links_may_be_relative_to_a_base() -> None:
    text = '<base href="https://files.example/x/"><a href="a-1-py3-none-any.whl#sha256=AB">a</a>'

    (link,) = read_html(text)

    assert link.url == "https://files.example/x/a-1-py3-none-any.whl"
    assert link.sha256 == "ab"


def test_the_file_name_comes_from_the_address_not_from_the_text() -> None:
    (link,) = read_html('<a href="/p/a-1%2Bx-py3-none-any.whl?token=1#md5=00">other</a>')

    assert link.file_name == "a-1+x-py3-none-any.whl"
    assert link.sha256 is None


def test_metadata_without_a_hash_is_no_hash() -> None:
    (link,) = read_html('<a href="a.whl" data-core-metadata="true">a</a>')

    assert link.metadata_sha256 is None


def test_json_of_other_servers_is_read() -> None:
    text = """{"meta": {"api-version": "1.4"}, "name": "a", "extra": [],
      "files": [{"filename": "a.whl", "url": "/a.whl", "hashes": {"blake2b": "0"},
                 "core-metadata": true, "yanked": false}]}"""

    (link,) = read_json(text)

    assert (link.file_name, link.sha256, link.metadata_sha256) == ("a.whl", None, None)


@pytest.mark.parametrize("text", ["", "[]", '{"files": [{"filename": 1, "url": 2}]}'])
def test_other_documents_are_refused(text: str) -> None:
    with pytest.raises(PublishError, match="malformed"):
        read_json(text)
