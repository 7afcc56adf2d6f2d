"""The bill of materials of a wheel that is made of several projects."""

import hashlib
import json
from pathlib import Path

import pytest

from rvbuild.pipeline.sbom import Bill, is_composed, sbom_text
from tests.build_samples import job_of, recipe_of

COMMIT = "c" * 40
EXTRA = [
    {
        "into": "third_party/fmt",
        "sources": [
            {"debian": "pool/main/f/fmtlib/fmtlib_11.1.1+ds1.orig.tar.xz", "sha256": "1" * 64}
        ],
    },
    {
        "into": "third_party/pybind11",
        "sources": [{"pypi": "pybind11-2.13.6.tar.gz", "sha256": "2" * 64}],
    },
    {
        "into": "third_party/demo",
        "sources": [
            {"url": "https://example.org/a/v{version}.tar.gz", "sha256": "3" * 64},
            {"url": "https://example.org/b/other-2.1.zip", "sha256": "4" * 64},
        ],
    },
    {
        "into": "third_party/tool",
        "sources": [{"git": "https://example.org/x/tool.git", "tag": "v3", "commit": COMMIT}],
    },
    {
        "into": "third_party/inside",
        "unless": "third_party/inside/a.h",
        "sources": [{"pypi": "inside-9.tar.gz", "sha256": "5" * 64}],
    },
]
USED = frozenset(digit * 64 for digit in "0124")


def components(folder: Path, grafted: dict[str, Path] | None = None) -> list[dict[str, object]]:
    recipe = recipe_of("demo", extra_sources=EXTRA)
    library = recipe_of("blas", kind="library", extra_sources=EXTRA[:1])
    bill = Bill(job_of(recipe), USED, (job_of(library, None),), folder / "prefix", "manylinux")
    document = json.loads(sbom_text(bill, grafted or {}))
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    assert document["metadata"]["component"]["purl"] == "pkg:pypi/demo@1.0"
    (dependencies,) = document["dependencies"]
    assert dependencies["dependsOn"] == [each["bom-ref"] for each in document["components"]]
    assert len(set(dependencies["dependsOn"])) == len(document["components"])
    found: list[dict[str, object]] = document["components"]
    return found


def test_each_third_party_is_there_as_it_was_fetched(tmp_path: Path) -> None:
    told = [(each["name"], each.get("version"), each.get("purl")) for each in components(tmp_path)]
    assert told == [
        ("demo", "1.0", "pkg:pypi/demo@1.0"),
        ("fmtlib", "11.1.1+ds1", "pkg:deb/debian/fmtlib@11.1.1%2Bds1?arch=source"),
        ("pybind11", "2.13.6", "pkg:pypi/pybind11@2.13.6"),
        (
            *("other", "2.1"),
            "pkg:generic/other@2.1?download_url=https%3A%2F%2Fexample.org%2Fb%2Fother-2.1.zip",
        ),
        (
            *("tool", "v3"),
            f"pkg:generic/tool@v3?vcs_url=git%2Bhttps%3A%2F%2Fexample.org%2Fx%2Ftool.git%40{COMMIT}",
        ),
        ("inside", None, None),
        ("blas", "1.0", "pkg:generic/blas@1.0"),
    ]


def test_hashes_and_places_are_told(tmp_path: Path) -> None:
    found = {str(each["name"]): each for each in components(tmp_path)}
    assert found["fmtlib"]["hashes"] == [{"alg": "SHA-256", "content": "1" * 64}]
    assert found["fmtlib"]["description"] == "third_party/fmt"
    assert found["inside"]["description"] == "in `third_party/inside` of the source"


def test_a_library_tells_what_it_was_made_of(tmp_path: Path) -> None:
    (blas,) = [each for each in components(tmp_path) if each["name"] == "blas"]
    inner = blas["components"]
    assert isinstance(inner, list)
    assert [each["name"] for each in inner] == ["blas", "fmtlib"]


def test_grafts_of_the_sysroot_are_told_and_our_own_are_known(tmp_path: Path) -> None:
    files = {}
    for name, folder in (("libopenblas.so.0", "prefix/lib"), ("libgfortran.so.5", "sysroot")):
        (tmp_path / folder).mkdir(parents=True)
        files[name] = tmp_path / folder / name
        files[name].write_bytes(name.encode())
    last = components(tmp_path, files)[-1]
    assert (last["name"], last["bom-ref"]) == ("libgfortran.so.5", "manylinux/libgfortran.so.5")
    digest = hashlib.sha256(b"libgfortran.so.5").hexdigest()
    assert last["hashes"] == [{"alg": "SHA-256", "content": digest}]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"extra_sources": EXTRA}, True),
        ({}, False),
        ({"extra_sources": EXTRA, "kind": "library"}, False),
    ],
)
def test_only_wheels_of_several_projects_tell(fields: dict[str, object], expected: bool) -> None:  # noqa: FBT001 - a case
    assert is_composed(recipe_of("demo", **fields)) is expected
