"""`rvbuild cpu`: the processors that wheels can be tested on, profiles and real chips."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from rvbuild.cli.invocation import JsonOption, emit, emit_json
from rvbuild.cli.spelling import did_you_mean
from rvbuild.cli.usage import command_group
from rvbuild.errors import UsageError

if TYPE_CHECKING:
    from rvbuild.target import Board, Cpu

SCHEMA = "rvbuild.cpus/1"

app = command_group("List the CPUs and boards that wheels can be tested on.")


@app.command("list")
def list_cpus(as_json: JsonOption = False) -> None:
    """List the CPUs, then real chips and their boards. `vlen` is the vector length in bits."""
    from rvbuild.cli.report import table
    from rvbuild.target import boards, cpus, find_board

    known = [cpu for cpu in cpus().values() if find_board(cpu.name) is None]
    chips = list(boards().values())
    if as_json:
        values = [asdict(cpu) for cpu in known]
        real = [_board_values(chip) for chip in chips]
        emit_json({"schema": SCHEMA, "cpus": values, "boards": real})
        return
    rows = [(cpu.name, _length(cpu.vlen), cpu.isa, cpu.description) for cpu in known]
    emit(table([("name", "vlen", "isa", "description"), *rows], right=(1,)))
    real_rows = [
        (chip.name, _length(chip.vlen), chip.rvv, chip.description, ", ".join(chip.boards) or "-")
        for chip in chips
    ]
    emit(table([("chip", "vlen", "rvv", "description", "boards"), *real_rows], right=(1,)))


@app.command("show")
def show_cpu(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name that `cpu list` shows.")],
    as_json: JsonOption = False,
) -> None:
    """Show one CPU or board, with the words that QEMU takes for it."""
    from rvbuild.cli.report import table
    from rvbuild.target import find_board

    cpu, board = _find(name), find_board(name)
    if board is None:
        if as_json:
            emit_json({"schema": SCHEMA, "cpus": [asdict(cpu)]})
        else:
            emit(table([(key, str(value)) for key, value in asdict(cpu).items()]))
    elif as_json:
        emit_json({"schema": SCHEMA, "boards": [_board_values(board)]})
    else:
        emit(table(_board_rows(board)))


def _board_values(board: "Board") -> dict[str, object]:
    """Give a board as values for JSON, with what it does not spell out."""
    return {**asdict(board), "extensions": sorted(board.extensions)}


def _board_rows(board: "Board") -> list[tuple[str, str]]:
    """Lay a board out in rows; a key is said once."""
    rows = [("name", board.name), ("description", board.description)]
    rows += _under("boards", [f"{name}: {text}" for name, text in board.boards.items()])
    rows += [
        ("isa", board.isa),
        ("vlen", _length(board.vlen)),
        ("rvv", board.rvv),
        ("page size", str(board.page_size_bytes)),
        ("qemu", board.qemu),
    ]
    rows += _under("caveats", board.caveats)
    return rows + _under("sources", board.sources)


def _under(key: str, values: "list[str] | tuple[str, ...]") -> list[tuple[str, str]]:
    return [(key if number == 0 else "", value) for number, value in enumerate(values)]


def _length(bits: int) -> str:
    return str(bits or "-")


def _find(name: str) -> "Cpu":
    from rvbuild.target import cpus

    if name not in cpus():
        raise UsageError(f"there is no CPU `{name}`", hint=did_you_mean(name, cpus()))
    return cpus()[name]
