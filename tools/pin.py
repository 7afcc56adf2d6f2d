"""Write the pin files of `sysroots/` from `tools/pins.yaml`: address and sha256 of every package.

Run it to move the pins to newer packages: `python tools/pin.py [FILE...]`. It reads the Debian and
PyPI indexes that this machine is configured for; the pin files it writes hold no host names.
"""

import argparse
import lzma
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import requests
import yaml
from debian.deb822 import Packages
from packaging.requirements import Requirement
from packaging.tags import Tag
from packaging.utils import parse_wheel_filename
from pypi_simple import PyPISimple

from rvbuild.fetch.configuration import discover

HERE = Path(__file__).parent
SYSROOTS = HERE.parent / "sysroots"
NETWORK = discover(os.environ)


@cache
def packages(release: str, architecture: str) -> dict[str, Packages]:
    """Read the Packages index of a Debian release for an architecture, newest version last."""
    found: dict[str, Packages] = {}
    for mirror in NETWORK.debian_mirrors:
        address = f"{mirror.rstrip('/')}/dists/{release}/main/binary-{architecture}/Packages.xz"
        answer = requests.get(address, timeout=NETWORK.timeout_seconds)
        if answer.status_code != requests.codes.ok:
            continue
        text = lzma.decompress(answer.content).decode()
        for entry in Packages.iter_paragraphs(text.splitlines(), use_apt_pkg=False):
            found[entry["Package"]] = entry
        return found
    sys.exit(f"no mirror has {release} for {architecture}")


def debian_pins(
    tree: dict[str, Any], architecture: str, sets: dict[str, Any]
) -> Iterator[dict[str, str]]:
    """Look up each package of a tree."""
    index = packages(tree["release"], tree.get("architecture", architecture))
    everything = packages(tree["release"], "all") if architecture != "all" else index
    for name in tree.get("packages", []) + sets.get(tree.get("use", ""), []):
        entry = index.get(name) or everything.get(name)
        if entry is None:
            sys.exit(f"{tree['release']} has no {name} for {architecture}")
        yield {"debian": entry["Filename"], "sha256": entry["SHA256"]}


def fits(file_name: str, host: str | None) -> bool:
    """Say whether a wheel runs on a glibc host, or everywhere when no host is given."""
    tags: frozenset[Tag] = parse_wheel_filename(file_name)[3]
    if host is None:
        return any(tag.platform == "any" for tag in tags)
    return any("manylinux" in tag.platform and tag.platform.endswith(host) for tag in tags)


def pypi_pins(requirement: str, host: str | None) -> Iterator[dict[str, str]]:
    """Look up the wheel of a pinned requirement for a host."""
    wanted = Requirement(requirement)
    version = next(iter(wanted.specifier)).version
    for index in NETWORK.pypi_indexes:
        if not index.startswith("http"):
            continue
        with PyPISimple(index) as client:
            for file in client.get_project_page(wanted.name).packages:
                if (
                    file.package_type == "wheel"
                    and file.version == version
                    and fits(file.filename, host)
                ):
                    yield {
                        "pypi": wanted.name,
                        "file": file.filename,
                        "sha256": (file.digests or {})["sha256"],
                    }
                    return
    sys.stderr.write(f"no wheel of {requirement} for {host or 'any host'}\n")


def pin_tree(tree: dict[str, Any], host: str | None, plan: dict[str, Any]) -> dict[str, Any]:
    """Pin one tree, keeping what it selects of its packages."""
    if "pypi" in tree:
        pins = list(pypi_pins(tree["pypi"], host))
    else:
        architecture = plan["hosts"][host] if host else tree.get("architecture", "all")
        pins = list(debian_pins(tree, architecture, plan["sets"]))
    kept: dict[str, Any] = {key: tree[key] for key in ("only", "skip") if key in tree}
    return kept | {"pins": pins}


def pin_file(name: str, plan: dict[str, Any]) -> dict[str, Any]:
    """Pin every tree of one file, once for each host where its name says so."""
    written: dict[str, Any] = {"name": name, "trees": {}}
    for tree_name, tree in plan["files"][name].items():
        if tree_name == "description":
            written["description"] = tree
            continue
        hosts = list(plan["hosts"]) if "{host}" in tree_name else [None]
        for host in hosts:
            pinned = pin_tree(tree, host, plan)
            if pinned["pins"]:
                written["trees"][tree_name.format(host=host)] = pinned
    return written


class Plain(yaml.SafeDumper):
    """Writes no aliases: a pin file is read by people."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - PyYAML's own signature
        """Say that nothing is worth an alias."""
        return True


def main() -> None:
    """Write the named pin files, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--plan", type=Path, default=HERE / "pins.yaml")
    parser.add_argument("--into", type=Path, default=SYSROOTS, help="folder of the pin files")
    chosen = parser.parse_args()
    plan = yaml.safe_load(chosen.plan.read_text(encoding="utf-8"))
    for name in chosen.files or plan["files"]:
        text = yaml.dump(pin_file(name, plan), Dumper=Plain, sort_keys=False, width=200)
        (chosen.into / f"{name}.yaml").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
