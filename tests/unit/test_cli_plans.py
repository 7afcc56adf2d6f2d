"""`plan`, `graph`, `why`, `matrix` and `status`: what they say of the store and of the recipes."""

import json
from pathlib import Path

import pytest

from rvbuild.cli.page import draw_page
from rvbuild.cli.status import Line, count, draw
from rvbuild.store import mark_done, open_work
from tests.cli_samples import Desk


@pytest.fixture
def iceberg(desk: Desk) -> Desk:
    """Give a desk with a library, a wheel on it, and a wheel for new Pythons only."""
    desk.write_recipe("low", "library")
    desk.write_recipe("high", more="requires: {libraries: [low]}\n")
    desk.write_recipe("new", more='python: ">=3.14"\n')
    return desk


def plan_rows(desk: Desk) -> list[list[str]]:
    ended = desk.run("plan", "high")
    assert ended.code == 0
    return [line.split() for line in ended.out.splitlines()[1:]]


def test_a_plan_shows_level_state_step_and_time(iceberg: Desk) -> None:
    assert plan_rows(iceberg) == [
        ["0", "low-1.0:library", "to", "build"],
        ["1", "high-1.0:cp313", "to", "build"],
    ]
    iceberg.run("build", "low")
    jobs = iceberg.run("plan", "high", "--json").document["jobs"]
    assert isinstance(jobs, list)
    work = open_work(iceberg.places, "high-1.0:cp313", jobs[1]["key"])
    mark_done(work, "source", 1.0)

    assert plan_rows(iceberg) == [
        ["0", "low-1.0:library", "cached"],
        ["1", "high-1.0:cp313", "resumes", "surroundings"],
    ]


def test_planning_leaves_no_trace(iceberg: Desk) -> None:
    iceberg.run("plan", "high")
    iceberg.run("why", "high")
    iceberg.run("status")

    assert not iceberg.places.cache.exists()


def test_graph(iceberg: Desk) -> None:
    tree = iceberg.run("graph", "high")
    dot = iceberg.run("graph", "high", "--format", "dot")

    assert tree.out == "high-1.0:cp313\n└── low-1.0:library\n"
    assert '"high-1.0:cp313" -> "low-1.0:library";' in dot.out
    assert iceberg.run("graph", "high", "--format", "png").code == 2


def test_why_names_the_inputs_that_changed(iceberg: Desk) -> None:
    assert "low-1.0:library: never built" in iceberg.run("why", "high").out
    iceberg.run("wheel", "high", "--no-test")
    assert "high-1.0:cp313: in the store" in iceberg.run("why", "high").out

    iceberg.write_recipe("high", more="requires: {libraries: [low]}\nbuild: {cflags: [-g]}\n")
    text = iceberg.run("why", "high").out
    document = iceberg.run("why", "high", "--json").document

    assert text.splitlines() == [
        "low-1.0:library: in the store",
        "high-1.0:cp313: changed since it was built",
        '  recipe.build.cflags: nothing → ["-g"]',
    ]
    jobs = document["jobs"]
    assert isinstance(jobs, list)
    assert jobs[1]["changes"] == [
        {"input": "recipe.build.cflags", "before": None, "after": '["-g"]'}
    ]


def test_what_is_left_out_is_told(iceberg: Desk) -> None:
    ended = iceberg.run("plan", "new", "--python", "3.13", "--python", "3.14")

    assert "new-1.0:cp314" in ended.out
    assert "new-1.0:cp313" not in ended.out
    assert "note: new: left out for Python 3.13" in ended.err
    assert iceberg.run("plan", "new").code == 3


def test_a_matrix_takes_every_wheel_of_the_folders(
    iceberg: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = iceberg.run("matrix", "--format", "github")
    workflow = iceberg.run("matrix", "high", "--native", "--format", "workflow")
    plain = iceberg.run("matrix", "high").document

    assert len(ended.out.splitlines()) == 1
    found = json.loads(ended.out)
    assert set(found) == {"include"}
    names = {entry["recipe"] for entry in found["include"]}
    assert {"low", "high", "markupsafe"} <= names
    assert "new" not in names
    assert "rvbuild build low==1.0 --native" in workflow.out
    assert plain["schema"] == "rvbuild.matrix/1"


def test_status_tells_what_there_is(iceberg: Desk) -> None:
    assert "0 of 2 jobs are built" in iceberg.run("status", "high").out
    iceberg.run("build", "low")
    iceberg.run("wheel", "high", "--no-test")
    iceberg.write_recipe("high", more="requires: {libraries: [low]}\nbuild: {cflags: [-g]}\n")

    ended = iceberg.run("status", "high")
    document = iceberg.run("status", "high", "--json").document

    assert "1 of 2 jobs are built, 0 tested" in ended.out
    jobs = document["jobs"]
    assert isinstance(jobs, list)
    states = {job["job"]: (job["state"], job["seconds"]) for job in jobs}
    assert states == {
        "low-1.0:library": ("built", 2.0),
        "high-1.0:cp313": ("to build anew", 2.0),
    }


def test_a_status_page_stands_alone(iceberg: Desk) -> None:
    ended = iceberg.run("status", "high", "--html", "site/status.html")
    text = (iceberg.home / "site/status.html").read_text()

    assert ended.out == "site/status.html\n"
    assert "high-1.0:cp313" in text
    assert "src=" not in text
    assert "href=" not in text
    (iceberg.home / "file").write_text("")
    assert iceberg.run("status", "high", "--html", "file/page.html").code == 2


def test_a_page_escapes_what_it_shows() -> None:
    page = draw_page((Line("<b>-1.0:cp313", 0, "never built", tested=False),), 0.0)

    assert "&lt;b&gt;-1.0:cp313" in page
    assert "<b>" not in page


def test_a_line_shows_only_what_is_known() -> None:
    lines = (
        Line("a-1:cp313", 0, "built", tested=True, size_bytes=1500, seconds=61.0, created=86400.0),
        Line("b-1:cp313", 0, "never built", tested=False),
        Line("c-1:cp313", 0, "built", tested=False, cpu_seconds=95.0, peak_mb=640),
    )

    rows = [" ".join(line.split()) for line in draw(lines, 2 * 86400.0).splitlines()]

    assert rows[1] == "a-1:cp313 built passed 1.5 kB 1 min 01 s 1.0 days"
    assert rows[2] == "b-1:cp313 never built"
    assert rows[3] == "c-1:cp313 built 1 min 35 s 640 MiB"
    assert count(lines) == "2 of 3 jobs are built, 1 tested"


def test_a_folder_of_recipes_without_wheels_has_no_matrix(desk: Desk, tmp_path: Path) -> None:
    assert desk.run("matrix", "--python", "3.99").code in (2, 3)
