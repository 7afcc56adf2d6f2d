"""`rvbuild cpu`: the processors that wheels can be tested on."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from rvbuild.cli.invocation import JsonOption, emit, emit_json
from rvbuild.cli.spelling import did_you_mean
from rvbuild.cli.usage import command_group
from rvbuild.errors import UsageError

if TYPE_CHECKING:
    from rvbuild.target import Cpu

SCHEMA = "rvbuild.cpus/1"

app = command_group("List the CPUs that wheels can be tested on.")


@app.command("list")
def list_cpus(as_json: JsonOption = False) -> None:
    """List the CPUs. `vlen` is the vector length in bits."""
    from rvbuild.cli.report import table
    from rvbuild.target import cpus

    known = list(cpus().values())
    if as_json:
        emit_json({"schema": SCHEMA, "cpus": [asdict(cpu) for cpu in known]})
        return
    rows = [(cpu.name, str(cpu.vlen or "-"), cpu.isa, cpu.description) for cpu in known]
    emit(table([("name", "vlen", "isa", "description"), *rows], right=(1,)))


@app.command("show")
def show_cpu(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name that `cpu list` shows.")],
    as_json: JsonOption = False,
) -> None:
    """Show one CPU, with the words that QEMU takes for it."""
    from rvbuild.cli.report import table

    cpu = _find(name)
    if as_json:
        emit_json({"schema": SCHEMA, "cpus": [asdict(cpu)]})
        return
    emit(table([(key, str(value)) for key, value in asdict(cpu).items()]))


def _find(name: str) -> "Cpu":
    from rvbuild.target import cpus

    if name not in cpus():
        raise UsageError(f"there is no CPU `{name}`", hint=did_you_mean(name, cpus()))
    return cpus()[name]
