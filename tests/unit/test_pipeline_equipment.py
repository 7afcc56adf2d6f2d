"""What a run is equipped with, recipes for names that have none, and public wheels that fit."""

import os
import sys
from pathlib import Path

import pytest

from rvbuild.build import Launcher
from rvbuild.errors import UsageError
from rvbuild.events import Silent
from rvbuild.executor.local import LocalExecutor
from rvbuild.fetch import Network
from rvbuild.fetch.index import PublicWheel
from rvbuild.pipeline import House, OpenCatalogue, Options
from rvbuild.pipeline.advice import _takes
from rvbuild.pipeline.compiler_cache import cache_environment, serving, socket_of
from rvbuild.pipeline.equipment import _programs, workshop
from rvbuild.pipeline.inputs import reachable
from rvbuild.pipeline.metering import Meter
from rvbuild.places import Places
from rvbuild.recipe.catalogue import Catalogue
from rvbuild.recipe.model import Recipe
from rvbuild.target import Floor
from tests.build_samples import job_of, recipe_of
from tests.conftest import Recorder
from tests.fetch_site import Reply, Site, running_site

HASH = "5" * 64


def launcher_at(folder: Path, program: Path) -> Launcher:
    return Launcher(program, cache_environment("local", folder))


def test_the_cache_lies_where_it_is_told(tmp_path: Path) -> None:
    told = cache_environment("local", tmp_path / "sccache")
    assert told["SCCACHE_DIR"] == f"{tmp_path}/sccache"
    assert (tmp_path / "sccache").is_dir()


def test_every_job_has_a_socket_of_its_own_that_fits(tmp_path: Path) -> None:
    launcher = launcher_at(tmp_path / ("x" * 120), tmp_path)
    sockets = [socket_of(launcher, job) for job in ("a", "b", "a")]
    assert all(len(os.fsencode(socket)) <= 107 for socket in sockets)
    assert sockets[0] == sockets[2] != sockets[1]


# Listens as sccache does, works for a while, and ends when it is told to.
SERVER = """\
#!{python}
import os, socket, sys, time
place = os.environ["SCCACHE_SERVER_UDS"]
door = socket.socket(socket.AF_UNIX)
if sys.argv[1:] == ["--stop-server"]:
    door.connect(place)
    door.send(b"stop")
    sys.exit()
assert os.environ["SCCACHE_NO_DAEMON"] == "1" and os.environ["PROXY"] == "here"
door.bind(place)
door.listen()
while os.times().user < 0.3:
    pass
while door.accept()[0].recv(4) != b"stop":
    pass
"""


def test_what_a_job_s_server_used_is_the_job_s(tmp_path: Path) -> None:
    program = tmp_path / "sccache"
    program.write_text(SERVER.format(python=sys.executable))
    program.chmod(0o755)
    meter = Meter(LocalExecutor())
    launcher = launcher_at(tmp_path / "cache", program)
    with serving(launcher, "demo-1:cp313", {"PROXY": "here"}, meter) as served:
        assert served is not None
        place = Path(served.environment["SCCACHE_SERVER_UDS"])
        assert place.is_socket()
        while meter.cpu_seconds < 0.2:
            pass
    assert meter.cpu_seconds >= 0.3
    assert meter.used.peak_mb > 1
    assert not place.exists()


def test_a_server_that_does_not_come_up_stops_nobody(tmp_path: Path) -> None:
    program = tmp_path / "sccache"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    meter = Meter(LocalExecutor())
    with serving(launcher_at(tmp_path, program), "demo", {}, meter) as served:
        assert served is not None
    with serving(None, "demo", {}, meter) as served:
        assert served is None


@pytest.mark.parametrize(
    ("choice", "variable"),
    [
        ("redis://cache:6379", "SCCACHE_REDIS_ENDPOINT"),
        ("https://cache/store", "SCCACHE_WEBDAV_ENDPOINT"),
    ],
)
def test_a_shared_storage_is_named(tmp_path: Path, choice: str, variable: str) -> None:
    assert cache_environment(choice, tmp_path)[variable] == choice


def test_build_systems_and_recipes_say_which_programs_are_wanted() -> None:
    cmake = recipe_of("a", kind="library", build={"system": "cmake"})
    assert _programs(job_of(cmake, None)) == ("cmake", "ninja")
    asked = recipe_of("b", requires={"tools": ["cc", "make"]})
    assert _programs(job_of(asked)) == ("make",)


@pytest.mark.parametrize(
    ("tags", "python", "fits"),
    [
        ("cp313-cp313-manylinux_2_31_riscv64", "3.13", True),
        ("cp313-cp313-manylinux_2_31_riscv64.manylinux_2_39_riscv64", "3.13", True),
        ("cp313-cp313-manylinux_2_39_riscv64", "3.13", False),
        ("cp312-cp312-manylinux_2_31_riscv64", "3.13", False),
        ("cp39-abi3-manylinux_2_31_riscv64", "3.13", True),
        ("cp39-abi3-manylinux_2_31_riscv64", "3.13t", False),
        ("cp314-abi3-manylinux_2_31_riscv64", "3.13", False),
        ("cp313-cp313t-manylinux_2_31_riscv64", "3.13t", True),
        ("cp313-cp313t-manylinux_2_31_riscv64", "3.13", False),
        ("py3-none-manylinux_2_31_riscv64", "3.13", True),
        ("py3-none-any", "3.13", True),
        ("py2.py3-none-any", "3.13", True),
        ("py2-none-any", "3.13", False),
        ("cp313-cp313-musllinux_1_2_riscv64", "3.13", False),
        ("cp313-cp313-manylinux_2_31_x86_64", "3.13", False),
    ],
)
def test_a_public_wheel_fits_by_its_tags(tags: str, python: str, *, fits: bool) -> None:
    wheel = PublicWheel(f"demo-1.0-{tags}.whl", HASH)
    assert _takes(python, Floor(2, 31), wheel) is fits


class Shelf:
    """Recipes in memory, and what was asked for."""

    def __init__(self, *recipes: Recipe) -> None:
        self.recipes = {recipe.name: recipe for recipe in recipes}
        self.asked: list[tuple[str, str | None]] = []

    def find(self, name: str, version: str | None = None) -> Recipe:
        self.asked.append((name, version))
        return self.recipes[name]


def test_everything_below_a_name_is_reached_once() -> None:
    shelf = Shelf(
        recipe_of("top", requires={"libraries": ["left", "right"], "target": ["numpy"]}),
        recipe_of("left", kind="library", requires={"libraries": ["base"]}),
        recipe_of("right", kind="library", requires={"libraries": ["base"]}),
        recipe_of("base", kind="library"),
        recipe_of("numpy"),
    )
    found = [recipe.name for recipe in reachable(("top==1.0",), shelf)]
    assert sorted(found) == ["base", "left", "numpy", "right", "top"]
    assert ("top", "1.0") in shelf.asked


def index(site: Site, name: str, *versions: str) -> Network:
    links = "".join(
        f'<a href="/{name}-{version}.tar.gz#sha256={HASH}">{name}-{version}.tar.gz</a>'
        for version in versions
    )
    page = Reply(
        f"<html><body>{links}</body></html>".encode(), headers={"Content-Type": "text/html"}
    )
    site.serve(f"/simple/{name}/", page)
    return Network((f"{site.address}/simple/",), (), attempts=1, backoff_seconds=0)


def test_a_name_without_a_recipe_gets_a_default_one_and_says_so(
    tmp_path: Path, recorder: Recorder
) -> None:
    with running_site() as local:
        network = index(local, "demo", "1.0", "2.0")
        catalogue = OpenCatalogue(Catalogue((tmp_path,)), network, recorder, ("3.13",))
        recipe = catalogue.find("Demo")
        assert (recipe.label, recipe.build.system) == ("demo-2.0", "pep517")
        assert recipe.sources[0].sha256 == HASH
        asked = len(local.asked)
        assert catalogue.find("demo") is recipe
        assert len(local.asked) == asked
        assert catalogue.find("demo", "1.0").version == "1.0"
    notes = recorder.of("note")
    assert [note for note in notes if "no recipe for `demo`" in note[1]]


def test_a_name_that_nobody_has_tells_the_nearest(tmp_path: Path, recorder: Recorder) -> None:
    source = f"{{pypi: numpy-1.tar.gz, sha256: {HASH}}}"
    text = f"name: numpy\nversion: '1'\nlicense: MIT\nsources: [{source}]\n"
    (tmp_path / "numpy.yaml").write_text(text)
    with running_site() as local:
        network = index(local, "other", "1.0")
        catalogue = OpenCatalogue(Catalogue((tmp_path,)), network, recorder, ("3.13",))
        with pytest.raises(UsageError, match="nothing to build `nunpy` from") as caught:
            catalogue.find("nunpy")
    assert "`numpy`" in (caught.value.hint or "")
    assert any("no index has a project" in cause for cause in caught.value.causes)


@pytest.mark.parametrize("name", ["my cache", "a:b", "a$b", "it's"])
def test_a_cache_that_no_flag_can_name_is_refused(tmp_path: Path, name: str) -> None:
    network = Network((), (), offline=True)
    house = House(
        places=Places(tmp_path / name),
        network=network,
        watch=Silent(),
        executor=LocalExecutor(),
        catalogue=Catalogue((tmp_path,)),
        pins=tmp_path,
        host="x86_64",
    )
    options = Options((), ("3.13",), Floor(2, 31))
    with pytest.raises(UsageError, match="nothing can be built in"):
        workshop(options, house, ())
