"""What the commands print: results on stdout, everything else on stderr."""

import base64
import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import pytest

import rvbuild
from rvbuild.cli.main import main
from rvbuild.cli.release import read_info
from rvbuild.errors import SourceError
from rvbuild.recipe.read import read_recipe
from rvbuild.store import Draft, Store

RECIPE = """\
name: {name}
version: "1.0"
license: MIT
description: a thing
sources:
  - pypi: {name}-{{version}}.tar.gz
    sha256: "{digest}"
test: {{imports: [thing]}}
"""


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, object]:
        document = json.loads(self.out)
        assert isinstance(document, dict)
        assert str(document["schema"]).startswith("rvbuild.")
        return document


Run = Callable[..., Ended]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith(("RVBUILD_", "XDG_", "PIP_"))]:
        monkeypatch.delenv(name)
    for name in ("NO_COLOR", "GITHUB_ACTIONS", "NETRC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(home: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    before = signal.getsignal(signal.SIGTERM)

    def call(*words: str) -> Ended:
        with pytest.raises(SystemExit) as ended:
            main(words)
        captured = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Ended(ended.value.code, captured.out, captured.err)

    yield call
    signal.signal(signal.SIGTERM, before)


def write_wheel(folder: Path, name: str = "thing", version: str = "1.0") -> Path:
    info = f"{name}-{version}.dist-info"
    members = {
        f"{name}.py": b"",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(
        f"{member},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')},{len(data)}\n"
        for member, data in members.items()
    )
    members[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for member, data in members.items():
            archive.writestr(member, data)
    return path


def write_recipe(folder: Path, name: str, text: str = RECIPE) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.yaml"
    path.write_text(text.format(name=name, digest="0" * 64))
    return path


def test_config_shows_value_and_origin(run: Run, home: Path) -> None:
    (home / "rvbuild.toml").write_text(
        'jobs = 3\ncompiler_cache = "redis://me:secret@cache.example/"\n[indexes.my]\nurl = "https://a.example/"\n'
    )

    text = run("--cache", "kept", "config")
    document = run("--cache", "kept", "config", "--json").document
    settings = document["settings"]

    assert (text.code, text.err) == (0, "")
    rows = [line.split() for line in text.out.splitlines()]
    assert ["cache", str(home / "kept"), "option"] in rows
    assert ["jobs", "3", f"{home}/rvbuild.toml:1"] in rows
    assert ["indexes.my", "https://a.example/", f"{home}/rvbuild.toml:4"] in rows
    assert isinstance(settings, dict)
    assert settings["jobs"] == {"value": 3, "origin": f"{home}/rvbuild.toml:1"}
    assert settings["offline_dir"] == {"value": None, "origin": "default"}
    assert document["files"] == [f"{home}/rvbuild.toml"]
    assert "secret" not in text.out + json.dumps(document)


def test_cpus(run: Run) -> None:
    listed = run("cpu", "list")
    document = run("cpu", "show", "vlen256", "--json").document

    assert (listed.code, listed.err) == (0, "")
    assert [line.split()[0] for line in listed.out.splitlines()][:3] == [
        "name",
        "rv64gc",
        "vlen128",
    ]
    assert document["cpus"][0]["vlen"] == 256  # type: ignore[index]


def test_an_index_is_built_verified_and_served(run: Run, home: Path) -> None:
    wheel = write_wheel(home / "dist")

    built = run("index", "build", "dist")
    verified = run("index", "verify", "dist")

    assert (built.code, built.out) == (0, f"{home}/dist/simple\n")
    assert built.err.startswith("1 wheels of 1 projects")
    assert (verified.code, verified.out, verified.err) == (0, f"{home}/dist/simple\n", "")

    wheel.write_bytes(b"other")
    broken = run("index", "verify", "dist")
    assert (broken.code, broken.out) == (9, "")
    assert f"cause: {wheel}" in broken.err


def test_quiet_leaves_only_results(run: Run, home: Path) -> None:
    write_wheel(home / "dist")

    assert run("-q", "index", "build", "dist").err == ""


def test_a_served_index_answers_at_the_printed_address(home: Path, run: Run) -> None:
    write_wheel(home / "dist")
    run("index", "build", "dist")
    process = subprocess.Popen(
        [
            # What a shell starts in the background ignores interrupts, and that is inherited.
            *("env", "--default-signal=INT"),
            sys.executable,
            "-c",
            "from rvbuild.cli.main import main; main()",
            "index",
            "serve",
            "dist",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(rvbuild.__file__).parents[1])},
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        with urlopen(f"{address}thing/", timeout=10) as answer:
            assert b"thing-1.0-py3-none-any.whl" in answer.read()
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    assert process.returncode == 0


def test_publish_wants_a_whole_index(run: Run, home: Path) -> None:
    write_wheel(home / "dist")
    (home / "rvbuild.toml").write_text('[indexes.my]\nurl = "http://127.0.0.1:9/"\n')

    ended = run("publish", "dist", "--index", "my")

    assert (ended.code, ended.out) == (2, "")
    assert "hint: add `simple` below `[indexes.my]`" in ended.err


@pytest.mark.parametrize(
    ("path", "code", "message"),
    [
        ("gone.whl", 2, "does not exist"),
        ("notes.txt", 2, "is not a wheel"),
        ("empty", 3, "no wheels"),
    ],
)
def test_publish_wants_wheels(run: Run, home: Path, path: str, code: int, message: str) -> None:
    (home / "notes.txt").write_text("")
    (home / "empty").mkdir()
    (home / "rvbuild.toml").write_text(
        '[indexes.my]\nurl = "http://127.0.0.1:9/"\nsimple = "http://127.0.0.1:9/"\n'
    )

    ended = run("publish", path, "--index", "my")

    assert (ended.code, ended.out) == (code, "")
    assert message in ended.err


def test_audit_reports_each_wheel_even_after_a_damaged_one(run: Run, home: Path) -> None:
    good = write_wheel(home / "dist")
    bad = home / "dist" / "bad-1.0-py3-none-any.whl"
    bad.write_bytes(b"no zip")

    text = run("audit", str(bad), str(good))
    ended = run("audit", "dist", "--json")
    reports = ended.document["reports"]

    assert text.code == ended.code == 7
    assert text.err == "error: 1 of 2 wheels do not keep to manylinux_2_31_riscv64\n"
    assert text.out.splitlines()[0] == f"{bad.name} cannot be audited"
    assert f"{good.name} keeps to manylinux_2_31_riscv64" in text.out
    assert isinstance(reports, list)
    assert [(report["wheel"], report["ok"]) for report in reports] == [
        (bad.name, False),
        (good.name, True),
    ]


def test_audit_holds_wheels_against_the_floor_that_is_asked_for(run: Run, home: Path) -> None:
    wheel = write_wheel(home)

    assert "manylinux_2_39_riscv64" in run("audit", str(wheel), "--floor", "2_39").out
    wrong = run("audit", str(wheel), "--floor", "2_17")
    assert (wrong.code, wrong.out) == (2, "")


def test_recipes_are_listed_and_linted(run: Run, home: Path) -> None:
    path = write_recipe(home / "mine", "zz-thing")
    (home / "rvbuild.toml").write_text('recipes = ["mine"]\n')

    listed = run("recipe", "list", "--json").document["recipes"]
    linted = run("recipe", "lint", "zz-thing")

    assert isinstance(listed, list)
    assert {
        "name": "zz-thing",
        "version": "1.0",
        "kind": "wheel",
        "description": "a thing",
    } in listed
    assert (linted.code, linted.out, linted.err) == (0, "", "no errors in 1 recipe\n")
    assert run("recipe", "lint", str(path)).code == run("recipe", "lint", "mine").code == 0


def test_lint_tells_errors_and_advice_with_their_places(run: Run, home: Path) -> None:
    write_recipe(home / "mine", "zz-thing", RECIPE.replace("license", "licence"))
    write_recipe(home / "mine", "zz-other", RECIPE.replace("description: a thing\n", ""))

    text = run("recipe", "lint", "mine")
    problems = run("recipe", "lint", "mine", "--json").document["problems"]

    assert (text.code, text.out) == (2, "")
    assert "mine/zz-thing.yaml:3:1: error: " in text.err
    assert "mine/zz-other.yaml" in text.err
    assert "warning: the recipe has no description" in text.err
    assert isinstance(problems, list)
    assert {"error", "warning"} == {problem["severity"] for problem in problems}
    assert "warning" not in run("-q", "recipe", "lint", "mine").err


def test_one_unreadable_recipe_does_not_hide_the_others(run: Run, home: Path) -> None:
    write_recipe(home / "mine", "zz-thing")
    write_recipe(home / "mine", "zz-bad", "name: zz-bad\n")
    (home / "rvbuild.toml").write_text('recipes = ["mine"]\n')

    ended = run("recipe", "list")

    assert ended.code == 2
    assert any(line.startswith("zz-thing") for line in ended.out.splitlines())
    assert "zz-bad.yaml:" in ended.err


def test_a_recipe_folder_that_is_gone_names_who_asked_for_it(run: Run, home: Path) -> None:
    (home / "rvbuild.toml").write_text('recipes = ["gone"]\n')

    ended = run("recipe", "list")

    assert ended.code == 2
    assert f"cause: it was given by {home}/rvbuild.toml:1" in ended.err


def test_the_schema_is_one_json_document(run: Run) -> None:
    ended = run("recipe", "schema")

    assert ended.err == ""
    assert json.loads(ended.out)["title"] == "rvbuild recipe"


def write_sdist(folder: Path, info: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "zz_thing-1.5.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in ("zz_thing-1.5/src/zz_thing.egg-info/PKG-INFO", "zz_thing-1.5/PKG-INFO"):
            data = info.encode() if name.count("/") == 1 else b"Summary: the wrong one\n"
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def serve_project(home: Path, sdist: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = hashlib.sha256(sdist.read_bytes()).hexdigest()
    page = home / "index" / "zz-thing" / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text(f'<a href="{sdist.as_uri()}#sha256={digest}">{sdist.name}</a>')
    monkeypatch.setenv("RVBUILD_PYPI_INDEX", (home / "index").as_uri())


def test_a_new_recipe_comes_from_the_index(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sdist = write_sdist(
        home / "files", "Metadata-Version: 2.4\nSummary: does  things\nLicense-Expression: MIT\n"
    )
    serve_project(home, sdist, monkeypatch)

    ended = run("recipe", "new", "ZZ.thing")
    again = run("recipe", "new", "zz-thing")
    recipe = read_recipe(home / "recipes" / "zz-thing.yaml")

    assert (ended.code, ended.out) == (0, "recipes/zz-thing.yaml\n")
    assert (recipe.name, recipe.version) == ("zz-thing", "1.5")
    assert (recipe.license, recipe.description) == ("MIT", "does things")
    assert (again.code, again.out) == (2, "")
    assert "exists already" in again.err


def test_an_old_licence_field_counts_only_as_a_short_name(tmp_path: Path) -> None:
    from rvbuild.cli.release import _license

    short = read_info(write_sdist(tmp_path / "a", "License: Apache-2.0\nSummary: UNKNOWN\n"))
    long = read_info(write_sdist(tmp_path / "b", "License: Copyright somebody, all rights\n"))

    assert _license(short) == "Apache-2.0"
    assert _license(long) == ""


def test_an_sdist_that_is_no_archive(tmp_path: Path) -> None:
    path = tmp_path / "x-1.tar.gz"
    path.write_bytes(b"<html>")

    with pytest.raises(SourceError, match="cannot be read"):
        read_info(path)


@pytest.fixture
def filled(home: Path) -> Store:
    store = Store(home / "kept" / "store")
    for number, job in enumerate(("numpy-2.5.5:cp313", "scipy-1.18.0:cp313")):
        staging = home / f"staging{number}"
        staging.mkdir()
        (staging / "file").write_bytes(b"x" * 1500)
        store.publish(f"{number:064x}", staging, Draft(job, {}, "0.1.0"))
    return store


def write_download(home: Path, data: bytes = b"bytes") -> Path:
    digest = hashlib.sha256(b"bytes").hexdigest()
    path = home / "kept" / "downloads" / digest[:2] / digest / "file.tar.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    return path


def test_cache_show(run: Run, filled: Store) -> None:
    text = run("--cache", "kept", "cache", "show")
    document = run("--cache", "kept", "cache", "show", "--json").document
    results = document["results"]

    assert text.err == ""
    assert any(
        line.split()[:2] == ["numpy-2.5.5:cp313", "000000000000"] for line in text.out.splitlines()
    )
    assert isinstance(results, list)
    assert [result["size_bytes"] for result in results] == [1500, 1500]


def test_cache_clean_takes_only_what_was_named(run: Run, home: Path, filled: Store) -> None:
    kept = write_download(home)

    ended = run("--cache", "kept", "cache", "clean", "numpy")

    assert ended.out == f"numpy-2.5.5:cp313 {0:064x}\n"
    assert ended.err.startswith("1 results removed, 1.5 kB freed")
    assert filled.peek(f"{0:064x}") is None
    assert filled.peek(f"{1:064x}") is not None
    assert kept.exists()
    assert run("--cache", "kept", "cache", "clean", "numpy").code == 3


def test_cache_clean_by_age_and_downloads(run: Run, home: Path, filled: Store) -> None:
    download = write_download(home)
    foreign = home / "kept" / "downloads" / "photos" / "mine" / "holiday.jpg"
    foreign.parent.mkdir(parents=True)
    foreign.write_bytes(b"")

    assert run("--cache", "kept", "cache", "clean", "--older-than", "1", "--downloads").out == ""
    assert download.exists()
    assert len(run("--cache", "kept", "cache", "clean", "--older-than", "0").out.splitlines()) == 2
    run("--cache", "kept", "cache", "clean", "--downloads")
    assert not download.exists()
    assert foreign.exists()


def test_cache_verify_puts_damage_aside_once(run: Run, home: Path, filled: Store) -> None:
    path = write_download(home)
    assert run("--cache", "kept", "cache", "verify").err == "2 results and 1 downloads are whole\n"

    path.write_bytes(b"other")
    damaged = run("--cache", "kept", "cache", "verify")
    again = run("--cache", "kept", "cache", "verify")

    assert (damaged.code, damaged.out) == (5, "")
    assert f"cause: download {path}" in damaged.err
    assert not path.exists()
    assert again.code == 0
