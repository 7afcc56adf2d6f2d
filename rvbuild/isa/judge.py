"""Deciding for each function beyond rv64gc whether the processor was asked before it runs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from rvbuild.isa.graph import Graph
from rvbuild.isa.guards import Guards
from rvbuild.isa.model import FunctionIsa, Leak

# Names of a path that are shown.
SHOWN = 4


def judge(found: Mapping[int, FunctionIsa], graph: Graph, known: Guards) -> dict[int, FunctionIsa]:
    """Give each function its status and the reason for it."""
    judged = {index: _by_itself(index, each, graph, known) for index, each in found.items()}
    _leak_at_loading(judged, graph)
    _inherit(judged, graph, known)
    guarded = bool(graph.asks) or bool(graph.layout.indirect)
    for index, each in judged.items():
        if each.status == "unseen":
            judged[index] = _conclude(index, each, graph, guarded=guarded)
    return judged


def leaks_of(judged: Iterable[FunctionIsa]) -> tuple[Leak, ...]:
    """List what leaks."""
    return tuple(
        Leak(each.function.label, tuple(each.extensions), each.reason)
        for each in judged
        if each.status == "leak"
    )


def _by_itself(index: int, each: FunctionIsa, graph: Graph, known: Guards) -> FunctionIsa:
    layout = graph.layout
    family = known.family(each.function.names)
    if family is not None:
        return replace(each, status="named", reason=family.name)
    if graph.asked_before(index, each.first):
        return replace(each, status="checks", reason="asks the processor first")
    if each.registers_only and each.function.start not in layout.starters:
        # Unwinders read the length of a vector register when unwind tables speak of one.
        return replace(each, status="reads", reason="reads registers of the vector unit")
    if each.function.start in layout.indirect:
        return replace(each, status="leak", reason="the loader calls it to choose a function")
    return each


def _leak_at_loading(judged: dict[int, FunctionIsa], graph: Graph) -> None:
    """Follow what runs when the file is loaded, as far as nobody has asked."""
    for start, what in graph.layout.starters.items():
        first = graph.layout.function_at(start)
        if first is None:
            continue
        paths: dict[int, tuple[int, ...]] = {first: (first,)}
        waiting = [first]
        while waiting:
            index = waiting.pop()
            status = judged[index].status if index in judged else None
            if status == "unseen":
                names = [graph.label(each) for each in paths[index]]
                reason = f"runs as {what}" + (f": {_arrows(names)}" if len(names) > 1 else "")
                judged[index] = replace(judged[index], status="leak", reason=reason)
            if status == "named":
                continue
            for site, callee in graph.outward(index):
                if callee not in paths and not graph.asked_before(index, site):
                    paths[callee] = (*paths[index], callee)
                    waiting.append(callee)


def _arrows(names: Sequence[str]) -> str:
    shown = names if len(names) <= SHOWN else [*names[:2], "…", *names[-2:]]
    return " → ".join(f"`{name}`" if name != "…" else name for name in shown)


def _inherit(judged: dict[int, FunctionIsa], graph: Graph, known: Guards) -> None:
    """Let a function that only guarded functions call be guarded, until nothing changes."""
    changed = True
    while changed:
        changed = False
        for index, each in judged.items():
            if each.status != "unseen":
                continue
            callers = graph.inward(index)
            if callers and all(
                known.family(graph.names(caller)) is not None
                or _guarded(site, caller, judged, graph)
                for site, caller in callers
            ):
                reason = f"called by `{graph.label(callers[0][1])}` and the like only"
                judged[index] = replace(each, status="inherits", reason=reason)
                changed = True


def _guarded(site: int, caller: int, judged: Mapping[int, FunctionIsa], graph: Graph) -> bool:
    status = judged[caller].status if caller in judged else "unseen"
    return status in ("named", "checks", "inherits") or graph.asked_before(caller, site)


def _conclude(index: int, each: FunctionIsa, graph: Graph, *, guarded: bool) -> FunctionIsa:
    callers = graph.inward(index)
    if each.function.exported:
        reason = "is exported under a name that does not say so"
    elif callers:
        reason = f"is called by `{graph.label(callers[0][1])}`"
    elif guarded:
        return replace(each, status="by pointer", reason="is reached through a pointer")
    else:
        reason = "is in the file"
    if guarded:
        return replace(each, reason=f"{reason}, where no check is seen")
    return replace(each, status="leak", reason=f"{reason}, and nothing in it asks the processor")
