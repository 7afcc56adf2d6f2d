"""Folders of the build machine in a wheel's text files, such as NumPy's words on compilers.

Machine code is not touched: there `-ffile-prefix-map` has said the same while compiling.
"""

from collections.abc import Mapping
from pathlib import Path


def hide_places(folder: Path, members: frozenset[str], places: Mapping[str, str]) -> None:
    """Write what stands for each place into the files below `folder` that are text.

    Of places inside each other the innermost counts; `members` are left as they are.
    """
    inner_first = sorted(places.items(), key=lambda pair: len(pair[0]), reverse=True)
    for file in sorted(folder.rglob("*")):
        if not file.is_file() or str(file.relative_to(folder)) in members:
            continue
        content = file.read_bytes()
        hidden = content
        for place, name in inner_first:
            hidden = hidden.replace(place.encode(), name.encode())
        if hidden != content and b"\0" not in content:
            file.write_bytes(hidden)
