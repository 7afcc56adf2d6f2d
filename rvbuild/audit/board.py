"""Whether a wheel runs on one board, and what of its vector code it uses there."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rvbuild.audit.identity import BASELINE_EXTENSIONS
from rvbuild.audit.isa import LEAST_SPLIT, count
from rvbuild.audit.model import Binary, Finding
from rvbuild.isa import kernel_length
from rvbuild.target import Board

OBSTACLES = frozenset(
    {"wrong-machine", "wrong-float-abi", "wrong-loader", "misaligned-load", "unreadable-elf"}
)
HWCAP = "`getauxval`"
SHORTEST = 128


@dataclass(frozen=True, slots=True)
class BoardAnswer:
    """Whether a wheel runs on a board, whether it uses the vector unit there, and why."""

    board: Board
    runs: bool
    uses_vector: bool
    reasons: tuple[str, ...]


def answer_board(
    binaries: Iterable[Binary], findings: Iterable[Finding], board: Board
) -> BoardAnswer:
    """Say whether the wheel of these binaries runs on a board, and uses its vector unit."""
    loaded = [binary for binary in binaries if binary.facts.kind != "rel"]
    obstacles = [
        f"`{each.member}` {each.message}"
        for each in findings
        if each.code in OBSTACLES and each.severity == "error"
    ]
    for binary in loaded:
        obstacles += _obstacles(binary, board)
    benefits = [text for binary in loaded for text in _benefits(binary, board)]
    warnings = [text for binary in loaded for text in _dangers(binary, board)]
    if not loaded:
        warnings.append("nothing in it is compiled")
    versions = {version for binary in loaded if binary.isa for version in binary.isa.vector}
    if not versions:
        warnings.append("there is no vector code in it")
    elif board.rvv not in versions:
        names = " and ".join(sorted(versions))
        warnings.append(f"its vector code is of RVV {names}, which the board does not have")
    return BoardAnswer(
        board, not obstacles, bool(benefits) and not obstacles, (*obstacles, *benefits, *warnings)
    )


def _obstacles(binary: Binary, board: Board) -> Iterator[str]:
    facts = binary.isa
    if facts is None:
        return
    known = board.extensions | BASELINE_EXTENSIONS
    if facts.vector == {board.rvv}:
        known |= {"v"}
    missing = sorted(facts.leaked - known)
    if missing:
        yield f"`{binary.member}` needs {', '.join(missing)} and does not ask for it"
    for load in binary.facts.loads:
        if 1 < load.alignment < board.page_size_bytes:
            yield f"`{binary.member}` is linked for pages of {load.alignment} bytes"
            break


def _benefits(binary: Binary, board: Board) -> Iterator[str]:
    """Say which vector code of a file such a processor runs."""
    facts = binary.isa
    if facts is None or board.rvv not in facts.vector:
        return
    known = board.extensions | BASELINE_EXTENSIONS | {"v"}
    usable = [
        each
        for each in facts.functions
        if each.vector == board.rvv
        and kernel_length(each.function.names) <= board.vlen
        and known >= each.extensions.keys()
    ]
    if usable:
        yield f"`{binary.member}` has vector code for it in {count(len(usable), 'function')}"


def _dangers(binary: Binary, board: Board) -> Iterator[str]:
    facts = binary.isa
    if facts is None or not facts.vector:
        return
    if board.rvv == "0.7.1" and "1.0" in facts.vector and facts.guards == (HWCAP,):
        yield (
            f"`{binary.member}` asks HWCAP only, which on the vendor's kernel cannot tell the "
            "board's RVV 0.7.1 from 1.0"
        )
    shorter = {
        kernel_length(each.function.names) for each in facts.functions if each.split >= LEAST_SPLIT
    } & set(range(SHORTEST, board.vlen))
    if shorter and board.rvv == "1.0":
        yield (
            f"`{binary.member}` has kernels for VLEN {max(shorter)} that take register groups "
            f"apart, and the board has VLEN {board.vlen}: test the numbers"
        )
