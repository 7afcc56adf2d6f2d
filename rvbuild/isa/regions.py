"""Which bytes of a file are executable: what the loader maps so, less what sections say is data."""

from collections.abc import Iterator
from itertools import pairwise

from rvbuild.isa.image import NO_BITS, RELOCATABLE, SEGMENT_LOAD, Image, Section, damaged
from rvbuild.isa.model import Region

SEGMENT_EXECUTABLE = 1
SECTION_ALLOCATED = 2
SECTION_EXECUTABLE = 4
ADDRESS_SPACE = 1 << 64
Span = tuple[int, int]


def executable_regions(image: Image) -> tuple[Region, ...]:
    """List executable bytes, by address; raise `AuditError` where the file does not have them.

    Sections may be stripped, or lie: what a segment maps as executable and no section describes
    counts as code.
    """
    sections = [each for each in image.sections if each.flags & SECTION_ALLOCATED and each.size]
    _refuse_wrapping(image)
    code = [each for each in sections if each.flags & SECTION_EXECUTABLE and each.kind != NO_BITS]
    if image.kind == RELOCATABLE:
        found = [_region(image, _span(each), each.offset, trusted=True) for each in code]
        return _in_order(image, found)
    regions = []
    for segment in image.segments:
        if segment.kind != SEGMENT_LOAD or not segment.flags & SEGMENT_EXECUTABLE:
            continue
        whole = (segment.address, segment.address + segment.size)
        shift = segment.offset - segment.address
        trusted = [span for each in code if (span := _overlap(_span(each), whole))]
        # The file's own header is mapped with the code where there is only one segment.
        header = (
            [(whole[0], whole[0] + 64 + 56 * len(image.segments))] if not segment.offset else []
        )
        rest = _without(whole, [*header, *map(_span, sections)])
        regions += [_region(image, span, span[0] + shift, trusted=True) for span in trusted]
        regions += [_region(image, span, span[0] + shift, trusted=False) for span in rest]
    return _in_order(image, regions)


def _refuse_wrapping(image: Image) -> None:
    ends = [each.address + each.size for each in image.segments]
    ends += [each.address + each.size for each in image.sections]
    if max(ends, default=0) > ADDRESS_SPACE:
        raise damaged(image.name, "an address lies beyond the last one")


def _in_order(image: Image, regions: list[Region]) -> tuple[Region, ...]:
    ordered = sorted((each for each in regions if each.data), key=lambda each: each.address)
    if any(one.end > other.address for one, other in pairwise(ordered)):
        raise damaged(image.name, "some of its code is there twice")
    return tuple(ordered)


def _span(section: Section) -> Span:
    return section.address, section.address + section.size


def _region(image: Image, span: Span, offset: int, *, trusted: bool) -> Region:
    start, end = span
    return Region(start, image.piece(offset, end - start, "code"), trusted)


def _overlap(span: Span, whole: Span) -> Span | None:
    start, end = max(span[0], whole[0]), min(span[1], whole[1])
    return (start, end) if start < end else None


def _without(whole: Span, spans: list[Span]) -> Iterator[Span]:
    """Give the parts of `whole` that none of the spans has, from an even address on."""
    position = whole[0]
    for start, end in sorted(spans):
        if position < min(start, whole[1]):
            yield position, min(start, whole[1])
        position = max(position, end + end % 2)
    if position < whole[1]:
        yield position, whole[1]
