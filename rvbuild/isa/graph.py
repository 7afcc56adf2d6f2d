"""Which function calls which, and where each of them asks the processor; looked up when wanted."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rvbuild.isa.calls import Reference, Uppers, find_uses
from rvbuild.isa.guards import Guards
from rvbuild.isa.model import Layout, Region
from rvbuild.isa.references import References
from rvbuild.isa.variables import written

# How many calls lie between a function and the one that asks on its behalf, or that looks up on its
# behalf what was answered.
DEPTH, DEPTH_OF_ANSWERS = 3, 1
Pairs = Sequence[tuple[int, int]]


@dataclass(slots=True)
class Graph:
    """The calls between the functions of a file, by their index in its layout.

    `asks` gives for a function the first address at which it asks the processor, itself or through
    a function it calls; `stubs` gives by name the places through which an exported function is
    called, as another library may have one of that name.
    """

    layout: Layout
    regions: Sequence[Region]
    references: References
    stubs: Mapping[str, Sequence[int]] = field(default_factory=dict)
    asks: dict[int, int] = field(default_factory=dict)
    _inward: dict[int, Pairs] = field(default_factory=dict)
    _outward: dict[int, Pairs] = field(default_factory=dict)

    def inward(self, index: int) -> Pairs:
        """Give site and caller of the calls of a function."""
        if index not in self._inward:
            start, end = self.layout.starts[index], self.layout.ends[index]
            found = [*self.references.into(start, end), *self._through_stubs(start)]
            pairs = [(each.site, each.site) for each in found if each.kind != "take"]
            self._inward[index] = self._between(index, pairs)
        return self._inward[index]

    def outward(self, index: int) -> Pairs:
        """Give site and callee of the calls in a function."""
        if index not in self._outward:
            start, end = self.layout.starts[index], self.layout.ends[index]
            found = self.references.out_of(start, end)
            pairs = [(each.site, each.target) for each in found if each.kind != "take"]
            self._outward[index] = self._between(index, pairs)
        return self._outward[index]

    def asked_before(self, caller: int, site: int) -> bool:
        """Say whether a function has asked when it comes to `site`."""
        return self.asks.get(caller, site) < site

    def names(self, index: int) -> Sequence[str]:
        """Give the names of a function."""
        return self.layout.names.get(self.layout.starts[index], ())

    def label(self, index: int) -> str:
        """Give the name of a function to show."""
        return self.layout.function(index).label

    def region_of(self, address: int) -> Region:
        """Give the region that an address of code is in."""
        starts = [each.address for each in self.regions]
        return self.regions[bisect_right(starts, address) - 1]

    def ask_at(self, sites: Iterable[int], depth: int) -> None:
        """Note where functions ask, and that those which call them so ask too."""
        newest = set()
        for site in sites:
            index = self.layout.function_at(site)
            # Stubs of imports lie in no function: what they use is used by their callers.
            if index is not None and self.layout.starts[index] not in self.layout.unrooted:
                newest.add(index)
                self._ask(index, site)
        for _ in range(depth):
            following = set()
            for index in newest:
                for site, caller in self.inward(index):
                    following.add(caller)
                    self._ask(caller, site)
            newest = following

    def _ask(self, index: int, site: int) -> None:
        self.asks[index] = min(self.asks.get(index, site), site)

    def _through_stubs(self, start: int) -> Iterator[Reference]:
        for name in self.layout.names.get(start, ()):
            for stub in self.stubs.get(name, ()):
                yield from self.references.into_stub(stub)

    def _between(self, index: int, pairs: Pairs) -> Pairs:
        found = ((site, self.layout.function_at(other)) for site, other in pairs)
        return sorted(
            (site, other) for site, other in found if other is not None and other != index
        )


def mark_asking(
    graph: Graph, uppers: Sequence[Uppers], sites: Iterable[int], known: Guards
) -> None:
    """Mark where the processor is asked: at `sites`, and where its answer is kept and looked up."""
    layout = graph.layout
    named = [start for start, names in layout.names.items() if known.imports.intersection(names)]
    asking = [*sites, *named]
    graph.ask_at(asking, 0)
    answers = set(_answers(graph))
    graph.ask_at(asking, DEPTH)
    if answers:
        kept = {place: "" for place, address in layout.filled.items() if address in answers}
        kept.update((address, "") for address in answers)
        graph.ask_at([site for site, _ in find_uses(uppers, kept)], DEPTH_OF_ANSWERS)


def _answers(graph: Graph) -> Iterator[int]:
    """List the variables that functions write which ask."""
    for index in graph.asks:
        function = graph.layout.function(index)
        region = graph.region_of(function.start)
        for address in written(function, region, graph.layout.filled):
            if graph.layout.function_at(address) is None:
                yield address
