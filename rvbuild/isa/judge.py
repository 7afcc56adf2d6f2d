"""Deciding for each function beyond rv64gc whether the processor was asked before it runs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rvbuild.isa.calls import Reference
from rvbuild.isa.guards import Guards
from rvbuild.isa.model import Function, FunctionIsa, Layout, Leak

# How many calls lie between a function and the one that asks on its behalf.
DEPTH = 3
# Names of a path that are shown.
SHOWN = 4


@dataclass(frozen=True, slots=True)
class Graph:
    """Calls between functions by index: (site, callee) out of and (site, caller) into each.

    `asks` gives for a function the first address at which it asks the processor, itself or through
    a function it calls.
    """

    functions: tuple[Function, ...]
    outward: Mapping[int, Sequence[tuple[int, int]]]
    inward: Mapping[int, Sequence[tuple[int, int]]]
    asks: Mapping[int, int]

    def asked_before(self, caller: int, site: int) -> bool:
        """Say whether a function has asked when it comes to `site`."""
        return self.asks.get(caller, site) < site


def build_graph(
    layout: Layout, references: Sequence[Reference], probes: Iterable[int], known: Guards
) -> Graph:
    """Put calls between functions, and mark where the processor is asked."""
    outward: dict[int, list[tuple[int, int]]] = {}
    inward: dict[int, list[tuple[int, int]]] = {}
    for each in references:
        if each.kind not in ("call", "jump"):
            continue
        caller, callee = layout.function_at(each.site), layout.function_at(each.target)
        if caller is not None and callee is not None and caller != callee:
            outward.setdefault(caller, []).append((each.site, callee))
            inward.setdefault(callee, []).append((each.site, caller))
    uses = [each.site for each in references if each.imported in known.imports]
    asks = _askers(layout, [*probes, *uses], known)
    _pass_on(asks, inward)
    return Graph(layout.functions, outward, inward, asks)


def _askers(layout: Layout, sites: Sequence[int], known: Guards) -> dict[int, int]:
    """Map functions that ask by themselves to the first address where they do."""
    asks: dict[int, int] = {}
    for site in sites:
        index = layout.function_at(site)
        # Stubs of imports lie in no function: what they use is used by their callers.
        if index is not None and layout.functions[index].rooted:
            _ask(index, site, asks)
    for index, function in enumerate(layout.functions):
        if known.imports.intersection(function.names):
            asks[index] = function.start
    return asks


def _ask(index: int, site: int, asks: dict[int, int]) -> None:
    asks[index] = min(asks.get(index, site), site)


def _pass_on(asks: dict[int, int], inward: Mapping[int, Sequence[tuple[int, int]]]) -> None:
    """Let a function that calls one that asks count as asking there."""
    newest = set(asks)
    for _ in range(DEPTH):
        following = set()
        for index in newest:
            for site, caller in inward.get(index, ()):
                following.add(caller)
                _ask(caller, site, asks)
        newest = following


def judge(
    found: Mapping[int, FunctionIsa], graph: Graph, layout: Layout, known: Guards
) -> dict[int, FunctionIsa]:
    """Give each function its status and the reason for it."""
    judged = {index: _by_itself(index, each, graph, layout, known) for index, each in found.items()}
    _leak_at_loading(judged, graph, layout)
    _inherit(judged, graph)
    guarded = bool(graph.asks) or bool(layout.indirect)
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


def _by_itself(
    index: int, each: FunctionIsa, graph: Graph, layout: Layout, known: Guards
) -> FunctionIsa:
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


def _leak_at_loading(judged: dict[int, FunctionIsa], graph: Graph, layout: Layout) -> None:
    """Follow what runs when the file is loaded, as far as nobody has asked."""
    for start, what in layout.starters.items():
        first = layout.function_at(start)
        if first is None:
            continue
        paths: dict[int, tuple[int, ...]] = {first: (first,)}
        waiting = [first]
        while waiting:
            index = waiting.pop()
            status = judged[index].status if index in judged else None
            if status == "unseen":
                names = [graph.functions[each].label for each in paths[index]]
                reason = f"runs as {what}" + (f": {_arrows(names)}" if len(names) > 1 else "")
                judged[index] = replace(judged[index], status="leak", reason=reason)
            if status == "named":
                continue
            for site, callee in graph.outward.get(index, ()):
                if callee not in paths and not graph.asked_before(index, site):
                    paths[callee] = (*paths[index], callee)
                    waiting.append(callee)


def _arrows(names: Sequence[str]) -> str:
    shown = names if len(names) <= SHOWN else [*names[:2], "…", *names[-2:]]
    return " → ".join(f"`{name}`" if name != "…" else name for name in shown)


def _inherit(judged: dict[int, FunctionIsa], graph: Graph) -> None:
    """Let a function that only guarded functions call be guarded, until nothing changes."""
    changed = True
    while changed:
        changed = False
        for index, each in judged.items():
            if each.status != "unseen":
                continue
            callers = graph.inward.get(index, ())
            if callers and all(_guarded(site, caller, judged, graph) for site, caller in callers):
                reason = f"called by `{graph.functions[callers[0][1]].label}` and the like only"
                judged[index] = replace(each, status="inherits", reason=reason)
                changed = True


def _guarded(site: int, caller: int, judged: Mapping[int, FunctionIsa], graph: Graph) -> bool:
    status = judged[caller].status if caller in judged else "unseen"
    return status in ("named", "checks", "inherits") or graph.asked_before(caller, site)


def _conclude(index: int, each: FunctionIsa, graph: Graph, *, guarded: bool) -> FunctionIsa:
    callers = graph.inward.get(index, ())
    if each.function.exported:
        reason = "is exported under a name that does not say so"
    elif callers:
        reason = f"is called by `{graph.functions[callers[0][1]].label}`"
    elif guarded:
        return replace(each, status="by pointer", reason="is reached through a pointer")
    else:
        reason = "is in the file"
    if guarded:
        return replace(each, reason=f"{reason}, where no check is seen")
    return replace(each, status="leak", reason=f"{reason}, and nothing in it asks the processor")
