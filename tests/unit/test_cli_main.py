"""The frame of the command line: help, global options, how failures are drawn, exit codes."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer
from typer._click.core import Command
from typer.core import TyperGroup

import rvbuild
from rvbuild.cli.failures import draw_failure
from rvbuild.cli.main import app, main
from rvbuild.errors import (
    AuditError,
    BuildError,
    MissingToolError,
    Problem,
    RecipeError,
    RvbuildError,
    UsageError,
)

GOLDEN = Path(__file__).parents[1] / "data" / "cli"
UPDATE = "RVBUILD_UPDATE_GOLDEN"
PROGRAM = (sys.executable, "-c", "from rvbuild.cli.main import main; main()")
# What only commands may import; `--help` has to do without.
HEAVY = (
    "auditwheel",
    "elftools",
    "keyring",
    "platformdirs",
    "pydantic",
    "requests",
    "rich",
    "twine",
    "yaml",
)


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


Run = Callable[..., Ended]


@pytest.fixture
def quiet_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith(("RVBUILD_", "XDG_"))]:
        if name != UPDATE:
            monkeypatch.delenv(name)
    for name in ("NO_COLOR", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "80")
    # Programs that tests start find the package as the tests themselves do.
    monkeypatch.setenv("PYTHONPATH", str(Path(rvbuild.__file__).parents[1]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(quiet_home: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    before = signal.getsignal(signal.SIGTERM)

    def call(*words: str) -> Ended:
        with pytest.raises(SystemExit) as ended:
            main(words)
        captured = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Ended(ended.value.code, captured.out, captured.err)

    yield call
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """Make the command `cpu list` fail."""

    def plant(error: BaseException) -> None:
        def explode() -> None:
            raise error

        monkeypatch.setattr("rvbuild.target.cpus", explode)

    return plant


def same_as_golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get(UPDATE):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.is_file(), f"{path} is missing; run the tests with {UPDATE}=1 and look at it"
    assert text == path.read_text(encoding="utf-8"), f"{UPDATE}=1 writes {path.name} anew"


def all_commands() -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    waiting: list[tuple[str, ...]] = [()]
    while waiting:
        path = waiting.pop()
        found.append(path)
        command = command_at(path)
        if isinstance(command, TyperGroup):
            waiting += [(*path, name) for name in command.commands]
    return sorted(found)


def command_at(path: tuple[str, ...]) -> Command:
    command = typer.main.get_command(app)
    for name in path:
        assert isinstance(command, TyperGroup)
        command = command.commands[name]
    return command


def options_of(path: tuple[str, ...]) -> list[str]:
    parameters = command_at(path).params
    options = [each for each in parameters if each.param_type_name == "option"]
    return [name for option in options for name in option.opts]


@pytest.mark.parametrize("path", all_commands(), ids="-".join)
def test_help_names_every_option_and_stays_as_it_was_agreed(
    path: tuple[str, ...], run: Run
) -> None:
    ended = run(*path, "--help")

    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith(f"Usage: {' '.join(('rvbuild', *path))} ")
    for option in options_of(path):
        assert option in ended.out
    same_as_golden(f"help/{'-'.join(('rvbuild', *path))}.txt", ended.out)


@pytest.mark.parametrize("path", all_commands(), ids="-".join)
def test_short_descriptions_fit_the_list_of_commands(path: tuple[str, ...], run: Run) -> None:
    assert "..." not in run(*path, "--help").out.partition("Commands:")[2]


def test_help_imports_nothing_heavy_and_touches_nothing(quiet_home: Path) -> None:
    code = (
        "import sys\n"
        "from rvbuild.cli.main import main\n"
        "try: main(['--help'])\n"
        f"finally: print(sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stderr.strip() == "[]"
    assert list(quiet_home.iterdir()) == []


def test_help_loads_nothing_that_takes_long(quiet_home: Path) -> None:
    words = [sys.executable, "-X", "importtime", "-m", "rvbuild", "--help"]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stderr
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in told.splitlines()}
    assert "typer" in loaded
    heavy = {"pydantic", "pydantic_core", "requests", "rich", "auditwheel", "docker", "ruamel"}
    assert not loaded & heavy


def test_no_command_shows_the_help_and_is_wrong_usage(run: Run) -> None:
    for words in ((), ("cpu",)):
        ended = run(*words)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err.startswith(f"Usage: {' '.join(('rvbuild', *words))} ")


def test_version(run: Run) -> None:
    ended = run("--version")

    assert ended.code == 0
    assert ended.out.startswith("rvbuild ")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("unknown-command", ("cahce",)),
        ("unknown-subcommand", ("cache", "sohw")),
        ("unknown-option", ("cpu", "list", "--jsno")),
        ("unknown-global-option", ("--verison",)),
        ("unknown-short-option", ("-x",)),
        ("misplaced-global-option", ("config", "--offline")),
        ("missing-argument", ("cpu", "show")),
        ("missing-option", ("publish", "x.whl")),
        ("missing-value", ("--cache",)),
        ("wrong-number", ("index", "serve", ".", "--port", "many")),
        ("too-many-arguments", ("cpu", "list", "more")),
        ("unknown-cpu", ("cpu", "show", "vlen12")),
        ("unknown-index", ("publish", "x.whl", "--index", "my")),
    ],
)
def test_wrong_usage_is_explained(name: str, words: tuple[str, ...], run: Run) -> None:
    ended = run(*words)

    assert (ended.code, ended.out) == (2, "")
    same_as_golden(f"errors/{name}.txt", ended.err)


def test_a_wrong_settings_file_shows_every_place(run: Run, quiet_home: Path) -> None:
    (quiet_home / "rvbuild.toml").write_text('jbos = 2\nfloor = 2.31\n[indexes.my]\nurls = "x"\n')

    ended = run("config")

    assert (ended.code, ended.out) == (2, "")
    same_as_golden("errors/settings-file.txt", ended.err.replace(f"{quiet_home}/", ""))


FULL = BuildError(
    "`build` of `numpy-2.5.5:cp313` failed",
    causes=("`ninja` ended with exit code 1", "`npymath.c:3` does not compile"),
    tail=[f"line {number}\x1b[31m" for number in range(50)],
    log=Path("logs/numpy.log"),
    reproduce="rvbuild shell numpy",
    hint="`rvbuild shell numpy` opens its work folder",
)
WRONG = RecipeError(
    "`numpy.yaml` does not say what it has to",
    [
        Problem(
            Path("numpy.yaml"),
            3,
            4,
            "there is no key `licence`",
            "\tlicence: MIT",
            "did you mean `license`?",
        ),
        Problem(Path("numpy.yaml"), 9, 1, "`version` is missing", ""),
    ],
)


@pytest.mark.parametrize(("name", "error"), [("full", FULL), ("recipe", WRONG)])
def test_a_failure_is_drawn_in_full(name: str, error: RvbuildError) -> None:
    lines = draw_failure(error, color=False)

    same_as_golden(f"errors/{name}.txt", "\n".join(lines) + "\n")


def test_colour_marks_the_words_only() -> None:
    first = draw_failure(FULL, color=True)[0]

    assert first == "\x1b[1;31merror:\x1b[0m `build` of `numpy-2.5.5:cp313` failed"


def test_a_cause_that_python_chained_is_told_once() -> None:
    inner = OSError("disk on fire")
    error = MissingToolError("no tool", causes=["it is not there"])
    error.__cause__ = inner
    told = MissingToolError("no tool", causes=["disk on fire, again"])
    told.__cause__ = inner

    assert "cause: disk on fire" in draw_failure(error, color=False)
    assert draw_failure(told, color=False) == ["error: no tool", "cause: disk on fire, again"]


@pytest.mark.parametrize("kind", [UsageError, MissingToolError, BuildError, AuditError])
def test_each_failure_has_its_exit_code(
    kind: type[RvbuildError], run: Run, failing: Callable[[BaseException], None]
) -> None:
    failing(kind("it went wrong"))

    ended = run("cpu", "list")

    assert ended.code == kind.exit_code
    assert ended.err == "error: it went wrong\n"
    assert ended.out == ""


def test_of_several_failures_the_lowest_code_counts(
    run: Run, failing: Callable[[BaseException], None]
) -> None:
    failing(ExceptionGroup("jobs", [AuditError("audit"), BuildError("build")]))

    ended = run("cpu", "list")

    assert ended.code == BuildError.exit_code
    assert ended.err == "error: audit\nerror: build\n"


def test_a_bug_is_kept_in_a_file_and_not_thrown_at_the_user(
    run: Run, quiet_home: Path, failing: Callable[[BaseException], None]
) -> None:
    failing(ZeroDivisionError("division by zero"))

    ended = run("--cache", "kept", "cpu", "list")

    assert ended.code == 1
    assert "Traceback" not in ended.err
    assert ended.err.startswith("error: this is a bug in rvbuild\ncause: ZeroDivisionError: ")
    (log,) = (quiet_home / "kept" / "logs").iterdir()
    assert f"log: {log}\n" in ended.err
    assert "Traceback" in log.read_text()


def test_a_bug_is_shown_with_vv(run: Run, failing: Callable[[BaseException], None]) -> None:
    failing(ZeroDivisionError("division by zero"))

    assert "Traceback" in run("-vv", "cpu", "list").err


def test_a_bug_is_shown_where_it_cannot_be_kept(
    run: Run, quiet_home: Path, failing: Callable[[BaseException], None]
) -> None:
    (quiet_home / "file").write_text("")
    failing(ZeroDivisionError("division by zero"))

    ended = run("--cache", "file", "cpu", "list")

    assert ended.code == 1
    assert "Traceback" in ended.err


def test_a_bug_that_is_a_group_with_a_foreseen_failure_stays_a_bug(
    run: Run, failing: Callable[[BaseException], None]
) -> None:
    failing(ExceptionGroup("jobs", [BuildError("build"), ZeroDivisionError("zero")]))

    assert run("cpu", "list").code == 1


def test_an_interrupt_takes_one_line(run: Run, failing: Callable[[BaseException], None]) -> None:
    failing(KeyboardInterrupt())

    ended = run("cpu", "list")

    assert (ended.code, ended.err) == (130, "interrupted\n")


def test_sigterm_ends_like_an_interrupt(quiet_home: Path) -> None:
    process = subprocess.Popen(
        [*PROGRAM, "index", "serve", "."], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("http://127.0.0.1:")
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=20)

    assert process.returncode == 0
    assert "Traceback" not in err


def test_a_reader_that_left_is_no_failure_to_draw(quiet_home: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*PROGRAM, "cpu", "list"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)

    assert (done.returncode, done.stderr) == (141, "")


def test_a_broken_pipe_to_something_else_is_not_hidden(
    run: Run, failing: Callable[[BaseException], None]
) -> None:
    failing(BrokenPipeError("a tool died"))

    ended = run("cpu", "list")

    assert ended.code == 1
    assert "a tool died" in ended.err


def test_a_folder_that_is_gone(quiet_home: Path) -> None:
    gone = quiet_home / "gone"
    gone.mkdir()
    code = (
        f"import os; os.rmdir({str(gone)!r}); from rvbuild.cli.main import main; main(['config'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=gone, capture_output=True, text=True, check=False
    )

    assert done.returncode == 2
    assert done.stderr.startswith("error: the current folder does not exist any more\n")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str, quiet_home: Path) -> None:
    # The shell is told and not looked for among the parents, of which a CI runner may have none.
    environment = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    words = [*PROGRAM, "--show-completion", shell]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "_RVBUILD_COMPLETE" in done.stdout


def test_completion_knows_the_commands(quiet_home: Path) -> None:
    environment = {
        **os.environ,
        "_RVBUILD_COMPLETE": "complete_bash",
        "COMP_WORDS": "rvbuild ca",
        "COMP_CWORD": "1",
    }
    done = subprocess.run([*PROGRAM], env=environment, capture_output=True, text=True, check=False)

    assert done.stdout.split() == ["cache"]
