"""Reading the instruction set of one ELF file: scan, divide, tell data from code, judge."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rvbuild.isa.calls import (
    OPCODE,
    Uppers,
    find_uppers,
    find_uses,
)
from rvbuild.isa.encodings import encodings
from rvbuild.isa.flow import executed_hits
from rvbuild.isa.graph import Graph, mark_asking
from rvbuild.isa.guards import PROBING, SYSTEM_CALLER, guards, probe_sites
from rvbuild.isa.image import RELOCATABLE, Image, open_image
from rvbuild.isa.judge import judge, leaks_of
from rvbuild.isa.layout import divide_further, read_layout
from rvbuild.isa.model import (
    Function,
    FunctionIsa,
    IsaFacts,
    Layout,
    Region,
    VectorVersion,
    Verdict,
    is_vector,
)
from rvbuild.isa.references import References
from rvbuild.isa.regions import executable_regions
from rvbuild.isa.scan import Hits, find_hits
from rvbuild.isa.vector import (
    configured,
    count_half_floats,
    count_split_groups,
    valid_configuration,
    vector_version,
)

# So many in one function, with one that sets vtype, are no accident, whatever leads there.
PLAIN_HITS = 16
# Beyond that, groups of registers are not followed: it is a note, and takes a second each.
MOST_FOLLOWED = 1_000_000
SYSTEM = 0x73
Scanned = Sequence[tuple[Region, Hits]]


@dataclass(slots=True)
class _Found:
    """Functions with something beyond rv64gc, by index, and how many words were taken for data."""

    functions: dict[int, FunctionIsa] = field(default_factory=dict)
    doubted: int = 0


@dataclass(slots=True)
class _Uses:
    """Where the processor may be asked, and by what name."""

    found: list[tuple[int, str]] = field(default_factory=list)

    def sites_of(self, name: str) -> list[int]:
        """List the addresses at which one is used."""
        return [site for site, other in self.found if other == name]


def read_isa_facts(data: bytes, name: str, claimed: str | None = None) -> IsaFacts:
    """Read what a 64-bit little-endian RISC-V file has beyond rv64gc, and who asks before it runs.

    `claimed` is the file's own arch string; it is passed on and decides nothing. Raises
    `AuditError` when code cannot be told from the rest; never takes unreadable code for clean.
    """
    image = open_image(data, name)
    scanned = [(each, find_hits(each, encodings())) for each in executable_regions(image)]
    if not any(len(hits) for _, hits in scanned):
        return IsaFacts(claimed, "baseline")
    return _read_further(image, scanned, claimed)


def _read_further(image: Image, scanned: Scanned, claimed: str | None) -> IsaFacts:
    regions = [region for region, _ in scanned]
    layout = read_layout(image, regions)
    uppers = [find_uppers(region) for region in regions]
    references = References(uppers)
    uses = _uses(image, layout, uppers, references)
    places = {layout.covering(address) for _, hits in scanned for address in hits.addresses}
    leading = (
        each
        for index in sorted(places)
        for each in references.into(layout.starts[index], layout.ends[index])
    )
    layout = divide_further(layout, regions, leading)
    found = _Found()
    for region, hits in scanned:
        _read_region(region, hits, layout, found)
    functions = _same_version(found.functions, claimed)
    if image.kind == RELOCATABLE:
        # What calls it is not known before it is linked.
        return _facts(claimed, functions.values(), (), found.doubted)
    probes = list(probe_sites(regions, sorted(uses.sites_of(SYSTEM_CALLER))))
    asking = [site for site, name in uses.found if name != SYSTEM_CALLER]
    stubs = _stubs(layout, uppers, functions.values())
    graph = Graph(layout, regions, references, stubs)
    mark_asking(graph, uppers, [*probes, *asking], guards())
    judged = judge(functions, graph, guards())
    words = tuple(_guard_words(layout, uses, probes))
    return _facts(claimed, judged.values(), words, found.doubted)


def _uses(image: Image, layout: Layout, uppers: Sequence[Uppers], references: References) -> _Uses:
    """Find where the processor is asked through imports, or through a setting's name."""
    asked = guards().imports | {SYSTEM_CALLER}
    wanted = {place: name for place, name in layout.slots.items() if name in asked}
    for name in guards().settings:
        wanted.update((address, name) for address in image.addresses_of(name))
    uses = _Uses()
    for site, name in find_uses(uppers, wanted):
        uses.found.append((site, name))
        if name in asked:
            calls = references.into_stub(site)
            uses.found += [(each.site, name) for each in calls if each.kind != "take"]
    return uses


def _stubs(
    layout: Layout, uppers: Sequence[Uppers], functions: Iterable[FunctionIsa]
) -> dict[str, list[int]]:
    """Find the stubs through which exported functions are called in the file itself."""
    names = {name for each in functions if each.function.exported for name in each.function.names}
    wanted = {place: name for place, name in layout.slots.items() if name in names}
    stubs: dict[str, list[int]] = {}
    for site, name in find_uses(uppers, wanted):
        stubs.setdefault(name, []).append(site)
    return stubs


def _read_region(region: Region, hits: Hits, layout: Layout, found: _Found) -> None:
    data = [span for span in layout.data if span[0] < region.end and region.address < span[1]]
    if data:
        # Behind data, instructions may begin at other places than it seemed.
        hits = find_hits(region, encodings(), data)
    position = 0
    while position < len(hits):
        index = layout.covering(hits.addresses[position])
        function = layout.function(index)
        inside = hits.between(function.start, function.end)
        position += len(inside)
        believed = _believed(inside, function, region, layout)
        found.doubted += len(inside) - len(believed)
        if len(believed):
            found.functions[index] = _describe(function, believed)


def _believed(hits: Hits, function: Function, region: Region, layout: Layout) -> Hits:
    """Drop what is data that looks like instructions."""
    meant = hits.only(n for n, word in enumerate(hits.words) if valid_configuration(word))
    configuring = any(configured(word) is not None for word in meant.words)
    if layout.mapped and region.trusted:
        return meant
    plain = configuring and len(meant) >= PLAIN_HITS
    if function.rooted and (region.trusted or function.names or configuring):
        executed = executed_hits(meant, function, region, encodings())
        return executed if len(executed) or not plain else meant
    if plain:
        return meant
    # Nothing is known to lead here; single words count only where a section says that it is code
    # and has no entry at all.
    alone = region.trusted and (function.start, function.end) == (region.address, region.end)
    return meant if alone else meant.only(())


def _describe(function: Function, hits: Hits) -> FunctionIsa:
    counts = Counter(hits.extensions)
    pairs = zip(hits.words, hits.extensions, strict=True)
    vector = [word for word, extension in pairs if is_vector(extension)]
    halves = count_half_floats(vector)
    if halves:
        counts["zvfh"] = halves
    return FunctionIsa(
        function=function,
        extensions=dict(sorted(counts.items())),
        first=hits.addresses[0],
        vector=vector_version(vector) if vector else None,
        registers_only=all(word & OPCODE == SYSTEM for word in hits.words),
        split=count_split_groups(vector) if len(vector) < MOST_FOLLOWED else 0,
    )


def _same_version(found: Mapping[int, FunctionIsa], claimed: str | None) -> dict[int, FunctionIsa]:
    """Give functions that could be of either version that of the others, else the claimed one."""
    usual: VectorVersion = "0.7.1" if "xtheadvector" in (claimed or "") else "1.0"
    known = Counter(each.vector for each in found.values() if each.vector is not None)
    for version, _ in known.most_common(1):
        usual = version
    return {
        index: replace(each, vector=usual)
        if each.vector is None and any(map(is_vector, each.extensions))
        else each
        for index, each in found.items()
    }


def _guard_words(layout: Layout, uses: _Uses, probes: Sequence[int]) -> Iterator[str]:
    if probes:
        yield PROBING
    known = guards()
    used = {name for _, name in uses.found}
    used.update(name for names in layout.names.values() for name in names)
    for name in sorted(known.imports & used):
        yield f"`{name}`"
    for name in sorted(known.settings & used):
        yield f"the setting `{name}`"
    if layout.indirect:
        yield "functions that the loader chooses (ifunc)"


def _facts(
    claimed: str | None, functions: Iterable[FunctionIsa], asking: tuple[str, ...], doubted: int
) -> IsaFacts:
    ordered = tuple(sorted(functions, key=lambda each: each.function.start))
    totals: Counter[str] = Counter()
    for each in ordered:
        totals.update(each.extensions)
    leaks = leaks_of(ordered)
    instructing = any(each.status != "reads" for each in ordered)
    verdict: Verdict = "leaks" if leaks else "dispatched" if instructing else "baseline"
    families = Counter(each.reason for each in ordered if each.status == "named")
    return IsaFacts(
        claimed=claimed,
        verdict=verdict,
        extensions=dict(sorted(totals.items())),
        functions=ordered,
        guards=asking,
        families=dict(families.most_common()),
        leaks=leaks,
        doubted=doubted,
    )
