"""Which sdists and wheels the indexes offer, in JSON, in HTML and as files."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rvbuild.errors import SourceError, UsageError
from rvbuild.fetch import Network, PypiFile
from rvbuild.fetch.index import newest, public_wheels, sdist
from tests.fetch_site import Reply, Site, network_of, running_site

JSON = "application/vnd.pypi.simple.v1+json"


@pytest.fixture
def site() -> Iterator[Site]:
    with running_site() as running:
        yield running


def entry(name: str, **more: object) -> dict[str, object]:
    sha256 = {"sha256": f"{sum(name.encode()):064x}"}
    return {"filename": name, "url": f"../../files/{name}", "hashes": sha256, **more}


def serve(site: Site, index: str, project: str, *files: dict[str, object]) -> None:
    page = {"meta": {"api-version": "1.0"}, "name": project, "files": files}
    body = json.dumps(page).encode()
    site.serve(f"/{index}/{project}/", Reply(body, headers={"Content-Type": JSON}))


def network(site: Site, *indexes: str) -> Network:
    addresses = tuple(f"{site.address}/{index}" for index in indexes)
    return replace(network_of(), pypi_indexes=addresses)


def test_newest_passes_over_what_is_not_final(site: Site) -> None:
    serve(
        site,
        "simple",
        "demo",
        entry("demo-1.9.tar.gz"),
        entry("demo-1.10.tar.gz", **{"requires-python": ">=3.9"}),
        entry("demo-1.11.tar.gz", yanked="broken"),
        entry("demo-2.0rc1.tar.gz"),
        entry("demo-1.12-py3-none-any.whl"),
        entry("demo-garbage"),
    )
    choice = newest("Demo", network(site, "simple"))
    assert (choice.version, choice.requires_python) == ("1.10", ">=3.9")
    assert choice.remote.file_name == "demo-1.10.tar.gz"
    assert choice.remote.sha256 == f"{sum(b'demo-1.10.tar.gz'):064x}"
    assert choice.remote.origins == (PypiFile("Demo", "demo-1.10.tar.gz"),)


def test_newest_takes_every_given_python(site: Site) -> None:
    serve(
        site,
        "simple",
        "demo",
        entry("demo-1.0.tar.gz", **{"requires-python": ">=3.8"}),
        entry("demo-2.0.tar.gz", **{"requires-python": ">=3.12.1"}),
    )
    simple = network(site, "simple")
    assert newest("demo", simple, ("3.12", "3.13t")).version == "2.0"
    assert newest("demo", simple, ("3.11", "3.13")).version == "1.0"


def test_indexes_are_joined_and_the_first_wins(site: Site) -> None:
    serve(site, "one", "demo", entry("demo-1.0.tar.gz", **{"requires-python": ">=3.1"}))
    serve(site, "two", "demo", entry("demo-1.0.tar.gz"), entry("demo-2.0.tar.gz"))
    both = network(site, "none", "one", "two")
    assert newest("demo", both).version == "2.0"
    assert sdist("demo", "1.0.0", both).requires_python == ">=3.1"


def test_a_version_without_sdist_names_those_there_are(site: Site) -> None:
    serve(site, "simple", "demo", entry("demo-1.0.tar.gz"), entry("demo-2.0-py3-none-any.whl"))
    with pytest.raises(UsageError) as caught:
        sdist("demo", "2.0", network(site, "simple"))
    assert caught.value.message == "`demo` has no sdist of version `2.0`"
    assert caught.value.causes == ("sdists: 1.0",)


def test_a_project_of_wheels_alone_is_said_to_be(site: Site) -> None:
    serve(site, "simple", "demo", entry("demo-2.0-py3-none-any.whl"))
    with pytest.raises(UsageError, match="has no sdist, only built files"):
        sdist("demo", None, network(site, "simple"))


def test_an_unknown_project_is_a_usage_error(site: Site) -> None:
    with pytest.raises(UsageError) as caught:
        newest("dmeo", network(site, "simple"))
    assert caught.value.message == "no index has a project `dmeo`"
    assert caught.value.causes == (f"{site.address}/simple: 404 not found",)


def test_an_index_that_cannot_be_asked_is_a_source_error(site: Site) -> None:
    site.serve("/broken/demo/", Reply(status=502))
    with pytest.raises(SourceError) as caught:
        newest("demo", network(site, "simple", "broken"))
    assert caught.value.causes[1] == f"{site.address}/broken: 502 bad gateway"


def test_a_page_that_is_no_index_is_a_source_error(site: Site) -> None:
    site.serve("/odd/demo/", Reply(b"{}", headers={"Content-Type": "application/json"}))
    with pytest.raises(SourceError) as caught:
        newest("demo", network(site, "odd"))
    assert "not a page of a package index" in caught.value.causes[0]


def test_broken_json_is_a_source_error(site: Site) -> None:
    site.serve("/odd/demo/", Reply(b'{"files": 3}', headers={"Content-Type": JSON}))
    with pytest.raises(SourceError):
        newest("demo", network(site, "odd"))


def test_offline_asks_nobody(site: Site) -> None:
    with pytest.raises(SourceError, match="offline"):
        newest("demo", replace(network(site, "simple"), offline=True))
    assert site.asked == []


def test_folders_are_indexes(tmp_path: Path) -> None:
    page = tmp_path / "demo" / "index.html"
    page.parent.mkdir()
    sha256 = "a" * 64
    page.write_text(f'<a href="demo-1.0.tar.gz#sha256={sha256}">demo-1.0.tar.gz</a>')
    folder = replace(network_of(), pypi_indexes=(tmp_path.as_uri(),))
    assert newest("demo", folder).remote.sha256 == sha256


def test_wheels_for_riscv64_and_pure_ones(site: Site) -> None:
    fitting = [
        "demo-1.0-cp313-cp313-manylinux_2_31_riscv64.manylinux_2_39_riscv64.whl",
        "demo-1.0-cp313-cp313-linux_riscv64.whl",
        "demo-1.0-1-py3-none-any.whl",
    ]
    others = [
        "demo-1.0-cp313-cp313-musllinux_1_2_riscv64.whl",
        "demo-1.0-cp313-cp313-manylinux_2_17_x86_64.whl",
        "demo-1.1-py3-none-any.whl",
        "demo-1.0.tar.gz",
        "demo-nonsense.whl",
    ]
    files = [entry(name) for name in fitting + others]
    serve(site, "simple", "demo", *files, entry("demo-1.0-py2-none-any.whl", yanked=True))
    found = public_wheels("demo", "1.0", network(site, "simple"))
    assert [wheel.file_name for wheel in found] == fitting
    assert found[0].sha256 == f"{sum(fitting[0].encode()):064x}"
