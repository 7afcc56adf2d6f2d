"""Who refers to a place in code: found page by page, as only few places are ever asked about."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rvbuild.isa.calls import NEAR, Reference, Uppers, far_references, near_references

# Pages are what is asked about. Code is read by blocks of the reach of `jal`, so that a page is
# called from its own block and both neighbours, or by `auipc`.
PAGE_BITS, BLOCK_BITS = 12, 20


@dataclass(slots=True)
class _Page:
    """The references into one page by target, and the targets in order."""

    by_target: dict[int, list[Reference]] = field(default_factory=dict)
    targets: list[int] = field(default_factory=list)


@dataclass(slots=True)
class References:
    """The references from code to code in a file. Whatever was found once is kept."""

    uppers: Sequence[Uppers]
    _pages: dict[int, _Page] = field(default_factory=dict)
    _near: dict[int, dict[int, list[Reference]]] = field(default_factory=dict)
    _far: dict[int, dict[int, list[int]]] = field(default_factory=dict)

    def into(self, start: int, end: int) -> Iterator[Reference]:
        """List those with a target from `start` on and before `end`."""
        for number in range(start >> PAGE_BITS, (end - 1 >> PAGE_BITS) + 1):
            page = self._page(number)
            first, last = bisect_left(page.targets, start), bisect_left(page.targets, end)
            for target in page.targets[first:last]:
                yield from page.by_target[target]

    def into_stub(self, site: int) -> Iterator[Reference]:
        """List those to the stub of an import whose `auipc` is at `site`.

        It is the first instruction, or the second where the first only marks a landing place.
        """
        for start in (site, site - 4):
            yield from self.into(start, start + 1)

    def out_of(self, start: int, end: int) -> Iterator[Reference]:
        """List those with a site from `start` on and before `end`."""
        for upper in self.uppers:
            if upper.region.address <= start < upper.region.end:
                yield from near_references(upper.region, start, end)
                yield from far_references(upper, upper.between(start, end))

    def _page(self, number: int) -> _Page:
        if number not in self._pages:
            page = _Page()
            block = number << PAGE_BITS >> BLOCK_BITS
            found = [
                each
                for neighbour in (block - 1, block, block + 1)
                for each in self._near_from(neighbour).get(number, ())
            ]
            for each in (*found, *self._far_into(number)):
                page.by_target.setdefault(each.target, []).append(each)
            page.targets = sorted(page.by_target)
            self._pages[number] = page
        return self._pages[number]

    def _near_from(self, block: int) -> dict[int, list[Reference]]:
        """Give by page of the target what one block refers to in its neighbourhood."""
        if block not in self._near:
            start, end = block << BLOCK_BITS, (block + 1) << BLOCK_BITS
            found: dict[int, list[Reference]] = {}
            for upper in self.uppers:
                if start < upper.region.end and upper.region.address < end:
                    for each in near_references(upper.region, start, end):
                        found.setdefault(each.target >> PAGE_BITS, []).append(each)
            self._near[block] = found
        return self._near[block]

    def _far_into(self, number: int) -> Iterator[Reference]:
        if not self._far:
            self._sort_uppers()
        start, end = number << PAGE_BITS, (number + 1) << PAGE_BITS
        # The instruction behind `auipc` may still lead over the edge of a page.
        for page in (number - 1, number, number + 1):
            for place, chosen in self._far.get(page, {}).items():
                for found in far_references(self.uppers[place], chosen):
                    if start <= found.target < end:
                        yield found

    def _sort_uppers(self) -> None:
        """Sort all `auipc` that may refer to code by the page they lead to."""
        lowest = min((each.region.address for each in self.uppers), default=0) - NEAR
        highest = max((each.region.end for each in self.uppers), default=0) + NEAR
        self._far[lowest >> PAGE_BITS] = {}
        for place, upper in enumerate(self.uppers):
            for number, base in enumerate(upper.bases):
                if lowest <= base < highest:
                    self._far.setdefault(base >> PAGE_BITS, {}).setdefault(place, []).append(number)
