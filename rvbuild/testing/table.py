"""Reports as a table of wheels and CPUs: what each cell says. Drawing it is others' work."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rvbuild.target import cpus
from rvbuild.testing.model import CpuResult, TestReport

INSTALL = "install"


@dataclass(frozen=True, slots=True)
class Cell:
    """Everything that was run of one wheel on one CPU."""

    cpu: str
    results: tuple[CpuResult, ...]

    @property
    def wrong(self) -> CpuResult | None:
        """The first check that went wrong."""
        return next((result for result in self.results if not result.ok), None)

    @property
    def state(self) -> str:
        """How it went: `passed`, the status of what went wrong, or `-` where nothing ran."""
        if self.wrong is not None:
            return self.wrong.status
        return "passed" if any(each.status == "passed" for each in self.results) else "-"

    @property
    def words(self) -> str:
        """The state, with the name of the check that went wrong."""
        return self.state if self.wrong is None else f"{self.wrong.check} {self.wrong.status}"

    @property
    def seconds(self) -> float:
        """How long all checks took together."""
        return sum(result.seconds for result in self.results)


@dataclass(frozen=True, slots=True)
class Row:
    """One wheel with one Python; `runners` are what its CPUs were."""

    wheel: str
    python: str
    runners: tuple[str, ...]
    cells: Mapping[str, Cell]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of wheels, columns of CPUs: those of the catalogue in its order, then boards."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def tabulate(reports: Sequence[TestReport]) -> Table:
    """Put reports of the same file and Python into one row, unless they are of the same CPU."""
    groups: list[list[TestReport]] = []
    for report in reports:
        group = next((group for group in groups if all(map(_beside(report), group))), None)
        if group is None:
            groups.append([report])
        else:
            group.append(report)
    rows = tuple(_row(group[0].wheel, group[0].python, group) for group in groups)
    seen = dict.fromkeys(cpu for row in rows for cpu in row.cells)
    order = {name: place for place, name in enumerate(cpus())}
    columns = sorted(seen, key=lambda cpu: order.get(cpu, len(order)))
    return Table(tuple(columns), rows)


def _beside(report: TestReport) -> Callable[[TestReport], bool]:
    name, own = (report.wheel, report.sha256, report.python), _cpus(report)

    def fits(other: TestReport) -> bool:
        same = name == (other.wheel, other.sha256, other.python)
        return same and own.isdisjoint(_cpus(other))

    return fits


def _cpus(report: TestReport) -> set[str]:
    return {result.cpu for result in report.results if _is_news(result)}


def _is_news(result: CpuResult) -> bool:
    # That a wheel could be installed is no news of a CPU.
    return result.check != INSTALL or not result.ok


def _row(wheel: str, python: str, reports: Iterable[TestReport]) -> Row:
    cells: dict[str, list[CpuResult]] = {}
    runners: dict[str, None] = {}
    for report in reports:
        runners[report.emulator] = None
        for result in report.results:
            if _is_news(result):
                cells.setdefault(result.cpu, []).append(result)
    made = {cpu: Cell(cpu, tuple(results)) for cpu, results in cells.items()}
    return Row(wheel, python, tuple(runners), made)
