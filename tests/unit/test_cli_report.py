"""What running work looks like on stderr."""

import io
import re
import threading

import pytest

from rvbuild.cli.live import LiveArea, draw_running
from rvbuild.cli.report import (
    ConsoleWatcher,
    Manner,
    SummaryRow,
    draw_summary,
    duration,
    plain,
    size,
    table,
)
from rvbuild.events import Progress

JOB = "markupsafe-3.0.3:cp313"


def drawn(manner: Manner) -> tuple[ConsoleWatcher, io.StringIO]:
    stream = io.StringIO()
    return ConsoleWatcher(stream, manner), stream


def run_a_step(watch: ConsoleWatcher) -> None:
    watch.started(JOB, "build")
    watch.line(JOB, "compiling")
    watch.finished(JOB, "build", 83.2, "from cache")


def test_one_line_for_a_finished_step_with_the_duration_at_the_right() -> None:
    watch, stream = drawn(Manner())
    with watch:
        run_a_step(watch)

    (line,) = stream.getvalue().splitlines()
    assert line.startswith(f"{JOB}  build")
    assert "from cache" in line
    assert line.endswith("  1 min 23 s")
    assert len(line) == 100


def test_a_long_detail_is_whole_where_no_terminal_is() -> None:
    watch, stream = drawn(Manner())
    detail = "x" * 200
    watch.finished(JOB, "build", 1.0, detail)

    assert f"{detail}  1.0 s" in stream.getvalue()


def test_lines_of_tools_come_with_v_and_a_prefix() -> None:
    watch, stream = drawn(Manner(verbosity=1))
    run_a_step(watch)

    assert "markupsafe-3.0.3: compiling\n" in stream.getvalue()


def test_quiet_draws_nothing() -> None:
    watch, stream = drawn(Manner(quiet=True, verbosity=1))
    run_a_step(watch)
    watch.note(JOB, "a default recipe is used")
    watch.failed(JOB, "test", 1.0)

    assert stream.getvalue() == ""


def test_notes_say_whose_they_are() -> None:
    watch, stream = drawn(Manner())
    watch.note(JOB, "a default recipe is used")
    watch.note("", "nothing to do")

    assert stream.getvalue() == f"note: {JOB}: a default recipe is used\nnote: nothing to do\n"


def test_github_folds_the_lines_of_a_step_and_leaves_a_failure_open() -> None:
    watch, stream = drawn(Manner(groups=True))
    run_a_step(watch)
    watch.started(JOB, "test")
    watch.line(JOB, "::add-mask::oops")
    watch.failed(JOB, "test", 2.0)

    lines = stream.getvalue().splitlines()
    assert lines[0].startswith(f"::group::{JOB}  build")
    assert lines[1:3] == ["markupsafe-3.0.3: compiling", "::endgroup::"]
    assert lines[3] == "markupsafe-3.0.3: ::add-mask::oops"
    assert lines[4].startswith(f"{JOB}  test failed")


def test_github_groups_of_parallel_jobs_do_not_mix() -> None:
    watch, stream = drawn(Manner(groups=True))
    watch.started("a-1:cp313", "build")
    watch.started("b-1:cp313", "build")
    watch.line("a-1:cp313", "of a")
    watch.line("b-1:cp313", "of b")
    watch.finished("b-1:cp313", "build", 1.0, "")
    watch.finished("a-1:cp313", "build", 1.0, "")

    kinds = [line.split("  ")[0] for line in stream.getvalue().splitlines()]
    assert kinds == [
        *("::group::b-1:cp313", "b-1: of b", "::endgroup::"),
        *("::group::a-1:cp313", "a-1: of a", "::endgroup::"),
    ]


def test_colour_only_where_it_is_wanted() -> None:
    coloured, stream = drawn(Manner(color=True))
    run_a_step(coloured)

    assert f"\x1b[32m{JOB}\x1b[0m" in stream.getvalue()

    bare, stream = drawn(Manner())
    run_a_step(bare)
    assert "\x1b" not in stream.getvalue()


def test_lines_of_many_threads_stay_whole() -> None:
    watch, stream = drawn(Manner(verbosity=1))

    def work(name: str) -> None:
        for number in range(200):
            watch.line(f"{name}-1:cp313", f"line {number}")

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    lines = stream.getvalue().splitlines()
    assert len(lines) == 800
    assert all(re.fullmatch(r"[abcd]-1: line \d+", line) for line in lines)


def test_the_live_area_shows_what_runs_and_lines_stay_above_it() -> None:
    watch, stream = drawn(Manner(live=True))
    with watch:
        watch.started(JOB, "build")
        assert [(job, step) for job, step, _ in watch.running()] == [(JOB, "build")]
        watch.finished(JOB, "build", 1.0, "done")
        assert watch.running() == ()

    assert "done" in stream.getvalue()
    assert stream.getvalue().rindex("\x1b[?25h") > stream.getvalue().rindex("\x1b[?25l")


def test_the_live_area_does_not_block_under_load() -> None:
    watch, stream = drawn(Manner(live=True, verbosity=1))

    def work(name: str) -> None:
        for number in range(50):
            watch.started(f"{name}-1:cp313", f"step{number}")
            watch.line(f"{name}-1:cp313", "line")
            watch.finished(f"{name}-1:cp313", f"step{number}", 0.1, "")

    threads = [threading.Thread(target=work, args=(name,), daemon=True) for name in "abc"]
    with watch:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=30)

    assert not any(thread.is_alive() for thread in threads)
    assert stream.getvalue().count("a-1: line") == 50


def test_markup_of_a_tool_is_no_markup_of_ours() -> None:
    stream = io.StringIO()
    area = LiveArea(stream, lambda: (), color=False)
    area.write("[bold]x[/bold] :smile: [/]")
    area.stop()

    assert "[bold]x[/bold] :smile: [/]" in stream.getvalue()


def test_many_running_steps_end_in_their_number() -> None:
    table_of_many = draw_running(tuple((f"job{n}", "build", 1.0) for n in range(20)))

    assert table_of_many.row_count == 13


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("10%\r20%\r30%", "30%"),
        ("done\r\n", "done"),
        ("a\tb", "a\tb"),
        ("\x1b]0;title\x07x", "x"),
        ("bell\x07\x00\x9b", "bell"),
        ("größe ≥ 1", "größe ≥ 1"),
    ],
)
def test_tools_cannot_move_the_cursor(text: str, expected: str) -> None:
    assert plain(text) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.04, "0.0 s"),
        (59.94, "59.9 s"),
        (60, "1 min 00 s"),
        (3599.6, "1 h 00 min"),
        (7260, "2 h 01 min"),
    ],
)
def test_durations(seconds: float, expected: str) -> None:
    assert duration(seconds) == expected


def test_a_duration_never_shows_sixty_seconds() -> None:
    assert duration(59.97) == "1 min 00 s"


@pytest.mark.parametrize(
    ("size_bytes", "expected"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (999_960, "1.0 MB"),
        (11_234_567, "11.2 MB"),
        (2_500_000_000, "2.5 GB"),
    ],
)
def test_sizes(size_bytes: int, expected: str) -> None:
    assert size(size_bytes) == expected


def test_the_summary_tells_name_size_time_and_sha256() -> None:
    rows = [
        SummaryRow("a-1-cp313-cp313-manylinux_2_31_riscv64.whl", 1000, 1.0, "0" * 64),
        SummaryRow("b-1-py3-none-any.whl", 12_000_000, 3600.0, "f" * 64),
    ]

    assert draw_summary(rows).splitlines() == [
        "name                                           size        time  sha256",
        f"a-1-cp313-cp313-manylinux_2_31_riscv64.whl   1.0 kB       1.0 s  {'0' * 64}",
        f"b-1-py3-none-any.whl                        12.0 MB  1 h 00 min  {'f' * 64}",
    ]
    assert draw_summary([]) == ""


def test_a_table_has_no_blanks_at_line_ends() -> None:
    assert table([("a", ""), ("bbb", "c")]) == "a\nbbb  c"


def test_progress_is_shown_beside_the_running_step() -> None:
    watch, stream = drawn(Manner())
    watch.started(JOB, "build")
    watch.progress(JOB, Progress(412, 1491, 2832.0))
    ((job, step, _),) = watch.running()
    assert (job, step) == (JOB, "build  412 of 1491, 47 min 12 s left")
    assert stream.getvalue() == ""

    watch.finished(JOB, "build", 1.0, "")
    watch.started(JOB, "audit")
    assert [step for _, step, _ in watch.running()] == ["audit"]


@pytest.mark.parametrize("manner", [Manner(), Manner(groups=True)])
def test_a_log_gets_a_line_of_progress_now_and_then(
    manner: Manner, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr("rvbuild.cli.report.time.monotonic", lambda: now[0])
    watch, stream = drawn(manner)
    watch.started(JOB, "build")
    for part in range(1, 6):
        now[0] += 50.0
        watch.progress(JOB, Progress(part, 5, 50.0 * (5 - part)))

    assert stream.getvalue().splitlines() == [
        f"{JOB}  3 of 5, 1 min 40 s left",
    ]
