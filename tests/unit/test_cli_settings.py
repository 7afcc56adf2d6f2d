"""Who sets what: precedence, origins, and what is said of settings that make no sense."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from rvbuild.cli.settings import Settings, Surroundings, find_index, load_settings, settings_files
from rvbuild.cli.settings_file import read_settings_file
from rvbuild.errors import Problem, RecipeError, UsageError


def around(tmp_path: Path, environment: Mapping[str, str] | None = None) -> Surroundings:
    project = tmp_path / "project" / "below"
    project.mkdir(parents=True, exist_ok=True)
    return Surroundings(
        environment=environment or {},
        folder=project,
        user_file=tmp_path / "user" / "rvbuild.toml",
        user_cache=tmp_path / "user" / "cache",
    )


def write_project(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "project" / "rvbuild.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def write_user(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "user" / "rvbuild.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def load(tmp_path: Path, environment: Mapping[str, str] | None = None) -> Settings:
    return load_settings({}, around(tmp_path, environment))


def problems_of(path: Path) -> tuple[Problem, ...]:
    with pytest.raises(RecipeError) as raised:
        read_settings_file(path)
    return raised.value.problems


def test_defaults_name_themselves(tmp_path: Path) -> None:
    settings = load(tmp_path)

    assert settings.cache == tmp_path / "user" / "cache"
    assert settings.dist == tmp_path / "project" / "below" / "dist"
    assert (settings.floor, settings.toolchain, settings.pythons) == ("2_31", "clang", ("3.13",))
    assert settings.offline_dir is None
    assert settings.jobs >= 1
    assert set(settings.origins.values()) == {"default"}


def test_each_source_hides_the_weaker_ones(tmp_path: Path) -> None:
    user = write_user(tmp_path, 'jobs = 1\nfloor = "2_35"\ncolor = "always"\ntoolchain = "gcc"\n')
    project = write_project(tmp_path, 'jobs = 2\nfloor = "2_39"\ncolor = "never"\n')
    surroundings = around(tmp_path, {"RVBUILD_JOBS": "3", "RVBUILD_FLOOR": "2.31"})

    settings = load_settings({"jobs": ("4",)}, surroundings)

    assert (settings.jobs, settings.origins["jobs"]) == (4, "option")
    assert (settings.floor, settings.origins["floor"]) == ("2_31", "RVBUILD_FLOOR")
    assert (settings.color, settings.origins["color"]) == ("never", f"{project}:3")
    assert (settings.toolchain, settings.origins["toolchain"]) == ("gcc", f"{user}:4")


def test_only_the_nearest_project_file_counts(tmp_path: Path) -> None:
    write_project(tmp_path, "jobs = 7\n")
    nearer = tmp_path / "project" / "below" / "rvbuild.toml"
    surroundings = around(tmp_path)
    nearer.write_text("offline = true\n")

    settings = load_settings({}, surroundings)

    assert settings_files(surroundings) == (nearer,)
    assert settings.offline
    assert settings.origins["jobs"] == "default"


def test_paths_start_from_where_they_were_written(tmp_path: Path) -> None:
    write_project(tmp_path, 'cache = "kept"\nrecipes = ["mine", "/elsewhere"]\n')

    settings = load(tmp_path, {"RVBUILD_DIST": "out"})

    assert settings.cache == tmp_path / "project" / "kept"
    assert settings.recipes == (tmp_path / "project" / "mine", Path("/elsewhere"))
    assert settings.dist == tmp_path / "project" / "below" / "out"
    assert settings.places.logs == tmp_path / "project" / "kept" / "logs"


def test_lists_of_the_environment(tmp_path: Path) -> None:
    environment = {
        "RVBUILD_PYTHONS": "3.13, 3.14 3.13",
        "RVBUILD_CPUS": "rv64gc,vlen256",
        "RVBUILD_RECIPES": "/with space:/b",
    }

    settings = load(tmp_path, environment)

    assert settings.pythons == ("3.13", "3.14")
    assert settings.cpus == ("rv64gc", "vlen256")
    assert settings.recipes == (Path("/with space"), Path("/b"))


@pytest.mark.parametrize(
    ("word", "offline"), [("1", True), ("YES", True), ("off", False), ("", False)]
)
def test_flags_of_the_environment(tmp_path: Path, word: str, offline: bool) -> None:  # noqa: FBT001 - a case
    assert load(tmp_path, {"RVBUILD_OFFLINE": word}).offline is offline


def test_no_color_is_stronger_than_files_and_weaker_than_our_variable(tmp_path: Path) -> None:
    write_project(tmp_path, 'color = "always"\n')

    assert load(tmp_path, {"NO_COLOR": "1"}).color == "never"
    assert load(tmp_path, {"NO_COLOR": ""}).color == "always"
    assert load(tmp_path, {"NO_COLOR": "1", "RVBUILD_COLOR": "auto"}).color == "auto"


@pytest.mark.parametrize(
    ("variable", "word"),
    [
        ("RVBUILD_JOBS", "0"),
        ("RVBUILD_JOBS", "-1"),
        ("RVBUILD_JOBS", "²"),
        ("RVBUILD_PYTHONS", "3"),
        ("RVBUILD_PYTHONS", "cp313"),
        ("RVBUILD_PYTHONS", "3.13t3"),
        ("RVBUILD_FLOOR", "manylinux_2_31"),
        ("RVBUILD_TOOLCHAIN", "zig"),
        ("RVBUILD_COLOR", "yes"),
        ("RVBUILD_OFFLINE", "maybe"),
        ("RVBUILD_COMPILER_CACHE", "remote"),
    ],
)
def test_a_value_that_makes_no_sense_names_who_gave_it(
    tmp_path: Path, variable: str, word: str
) -> None:
    with pytest.raises(UsageError) as raised:
        load(tmp_path, {variable: word})

    assert f"`{word}`" in raised.value.message
    assert variable in raised.value.causes[0]
    assert raised.value.hint


def test_free_threaded_pythons_are_pythons(tmp_path: Path) -> None:
    assert load(tmp_path, {"RVBUILD_PYTHONS": "3.13t"}).pythons == ("3.13t",)


def test_every_problem_of_a_file_is_told_with_its_place(tmp_path: Path) -> None:
    path = write_project(
        tmp_path,
        'jbos = 2\n  jobs = "2"\npythons = [3.10]\nfloor = 2.31\noffline = "no"\ncache = ""\n'
        '[indexes.my]\nurl = 1\nsimpel = "x"\n',
    )

    found = {problem.line: problem for problem in problems_of(path)}

    assert sorted(found) == [1, 2, 3, 4, 5, 6, 8, 9]
    assert found[1].message == "there is no setting `jbos`"
    assert found[1].hint is not None
    assert "`jobs`" in found[1].hint
    assert (found[2].column, found[2].excerpt) == (3, '  jobs = "2"')
    assert "quote it" in (found[3].hint or "")
    assert "quote it" in (found[4].hint or "")
    assert found[9].message == "there is no setting `indexes.my.simpel`"
    assert "`simple`" in (found[9].hint or "")


def test_a_syntax_error_has_its_place(tmp_path: Path) -> None:
    (problem,) = problems_of(write_project(tmp_path, "jobs = 2\nfloor = = 3\n"))

    assert (problem.line, problem.column) == (2, 9)
    assert problem.excerpt == "floor = = 3"


@pytest.mark.parametrize("text", ["jobs =", "jobs = [", "[indexes", 'cache = "', ""])
def test_a_cut_file_is_a_problem_or_nothing(tmp_path: Path, text: str) -> None:
    path = write_project(tmp_path, text)

    if text:
        assert problems_of(path)[0].line == 1
    else:
        assert read_settings_file(path) == {}


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    path = write_project(tmp_path, "")
    path.write_bytes(b"\xff\xfe")

    with pytest.raises(UsageError, match="cannot be read"):
        load(tmp_path)


def test_indexes_of_both_files(tmp_path: Path) -> None:
    write_user(
        tmp_path,
        '[indexes.my]\nurl = "https://old.example/up"\nsimple = "https://old.example/simple"\n'
        '[indexes.other]\nurl = "https://other.example/"\n',
    )
    project = write_project(
        tmp_path, '[indexes.my]\nurl = "https://new.example/"\nallowed = ["linux_riscv64"]\n'
    )

    settings = load(tmp_path)
    mine = find_index("my", settings)

    assert [index.name for index in settings.indexes] == ["my", "other"]
    assert (mine.url, mine.simple) == ("https://new.example/", None)
    assert mine.allowed == ("linux_riscv64",)
    assert mine.origin == f"{project}:2"
    with pytest.raises(UsageError) as raised:
        find_index("myy", settings)
    assert raised.value.hint == "did you mean `my` or `other`?"


def test_dotted_and_inline_indexes_have_places_too(tmp_path: Path) -> None:
    path = write_project(
        tmp_path,
        'indexes.a.url = "https://a.example/"\nindexes.b = { url = "https://b.example/", x = 1 }\n',
    )

    (problem,) = problems_of(path)

    assert problem.line == 2
    assert problem.message == "there is no setting `indexes.b.x`"


def test_a_password_is_refused_and_not_repeated(tmp_path: Path) -> None:
    path = write_project(tmp_path, '[indexes.my]\nurl = "https://me:secret@a.example/"\n')

    (problem,) = problems_of(path)

    assert "secret" not in problem.message + (problem.hint or "") + problem.excerpt


@pytest.mark.parametrize(
    "text", ["indexes = 1\n", "[indexes]\nmy = 1\n", '[indexes."a.b"]\nurl = "x"\n']
)
def test_indexes_have_to_be_tables_with_plain_names(tmp_path: Path, text: str) -> None:
    (problem,) = problems_of(write_project(tmp_path, text))

    assert problem.hint
    assert "[indexes.my]" in problem.hint
