"""Count the instructions that operations execute: ours against Debian's and a public wheel's.

`instructions.py --wheel NUMPY.whl` compares NumPy and the BLAS inside, `--wheel TORCH.whl --wheel
NUMPY.whl --torch` the operators of PyTorch. The wheels are ours, for CPython 3.13. A count is work,
not time: a vector instruction is one, however many registers it works on.
"""

import argparse
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import platformdirs
from counting.count import Counted, Program, count
from counting.emulator import CountingEmulator, install_counting_emulator
from counting.products import Product, debian, debian_torch, our_wheels, public_openblas

from rvbuild.errors import RvbuildError
from rvbuild.events import Silent
from rvbuild.fetch.configuration import discover
from rvbuild.kit import Supplies
from rvbuild.places import Places
from rvbuild.target import cpus

CACHE = Path(os.environ.get("RVBUILD_CACHE") or platformdirs.user_cache_path("rvbuild"))
OURS = "ours"
NONE = "-"


def array_products(supplies: Supplies, wheels: tuple[Path, ...], folder: Path) -> list[Product]:
    """Give everything with a BLAS; our wheels only where some are named."""
    others = [
        debian("trixie", "3.13", supplies),
        debian("forky", "3.14", supplies),
        public_openblas(supplies),
    ]
    return ([our_wheels(wheels, folder, supplies)] if wheels else []) + others


def torch_products(supplies: Supplies, wheels: tuple[Path, ...], folder: Path) -> list[Product]:
    """Give everything with PyTorch; our wheels only where some are named."""
    ours = [our_wheels(wheels, folder, supplies)] if wheels else []
    return [*ours, debian_torch(supplies)]


def programs(product: Product, *, torch: bool) -> tuple[Program, ...]:
    """Say what can be counted of a product."""
    if torch:
        return (Program("tensors.py"),)
    found = (Program("blas.py", (str(product.blas),)),) if product.blas else ()
    return (*found, Program("arrays.py")) if product.runtime.modules else found


def counts_of(
    product: Product, cpu: str, emulator: CountingEmulator, *, torch: bool
) -> dict[str, Counted]:
    """Count every operation of a product on a CPU; a program that fails is told and left out."""
    found: dict[str, Counted] = {}
    for program in programs(product, torch=torch):
        try:
            for each in count(program, cpus()[cpu], product.runtime, emulator):
                found[each.name] = each
        except RvbuildError as error:
            print(f"{product.name}, {cpu}: {error}", *error.causes, sep="\n  ", file=sys.stderr)
    return found


def table(cpu: str, counts: dict[str, dict[str, Counted]]) -> str:
    """Draw the counts of one CPU, and ours as a share of the best of the others that are right."""
    names = list(dict.fromkeys(name for found in counts.values() for name in found))
    lines = [f"| {cpu} | " + " | ".join(counts) + " | ours / best right |"]
    lines.append("|---" * (len(counts) + 2) + "|")
    for name in names:
        cells = [cell(found.get(name)) for found in counts.values()]
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {share(name, counts)} |")
    return "\n".join(lines)


def cell(counted: Counted | None) -> str:
    """Draw one count in thousands."""
    if counted is None:
        return NONE
    return f"{counted.instructions / 1000:.1f}" + ("" if counted.right else " WRONG")


def share(name: str, counts: dict[str, dict[str, Counted]]) -> str:
    """Divide our count by the best of the others whose result was right."""
    right = {
        product: found[name].instructions
        for product, found in counts.items()
        if name in found and found[name].right
    }
    ours = right.pop(OURS, None)
    return f"{ours / min(right.values()):.2f}" if ours is not None and right else NONE


def main() -> None:
    """Count on every CPU and print one table for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", type=Path, action="append", default=[], metavar="FILE")
    parser.add_argument("--torch", action="store_true", help="operators of PyTorch")
    parser.add_argument("--cpu", action="append", choices=sorted(cpus()), metavar="NAME")
    parser.add_argument("--jobs", type=int, default=2, help="for building the emulator")
    chosen = parser.parse_args()
    supplies = Supplies(Places(CACHE), discover(os.environ), Silent())
    emulator = install_counting_emulator(supplies, chosen.jobs)
    choose = torch_products if chosen.torch else array_products
    usual = ("vlen256",) if chosen.torch else ("rv64gc", "vlen128", "vlen256", "vlen512")
    with TemporaryDirectory() as folder:
        products = choose(supplies, tuple(chosen.wheel), Path(folder))
        for cpu in chosen.cpu or usual:
            counts = {
                product.name: counts_of(product, cpu, emulator, torch=chosen.torch)
                for product in products
            }
            print(table(cpu, counts), end="\n\n", flush=True)


if __name__ == "__main__":
    try:
        main()
    except RvbuildError as error:
        sys.exit("\n".join([f"error: {error}", *error.causes, f"hint: {error.hint}"]))
