"""Whether the kernel starts riscv64 programs by itself, through binfmt_misc and QEMU."""

from dataclasses import dataclass
from pathlib import Path

REGISTRY = Path("/proc/sys/fs/binfmt_misc")


@dataclass(frozen=True, slots=True)
class BinfmtState:
    """The entry for riscv64; `flags` such as `OCF`, where `F` makes it work in containers too."""

    registered: bool
    enabled: bool = False
    flags: str = ""
    interpreter: Path | None = None

    @property
    def fixed(self) -> bool:
        """True when the emulator is held open, so that it needs not exist inside a container."""
        return "F" in self.flags


def binfmt_state(registry: Path = REGISTRY) -> BinfmtState:
    """Read the `qemu-riscv64` entry of the kernel's registry."""
    try:
        text = (registry / "qemu-riscv64").read_text(encoding="utf-8")
    except OSError:
        return BinfmtState(registered=False)
    facts = dict(line.partition(" ")[::2] for line in text.splitlines())
    interpreter = facts.get("interpreter")
    return BinfmtState(
        registered=True,
        enabled="enabled" in facts,
        flags=facts.get("flags:", ""),
        interpreter=Path(interpreter) if interpreter else None,
    )


def describe_need(state: BinfmtState) -> str:
    """Say why a riscv64 program could not start another one, and what would let it."""
    if not state.registered:
        missing = "`qemu-riscv64` is not registered with binfmt_misc"
    elif not state.enabled:
        missing = "`qemu-riscv64` is registered with binfmt_misc, and disabled"
    else:
        missing = f"binfmt_misc starts `{state.interpreter}`, which did not work here"
    return f"needs binfmt: the program under test started a riscv64 program, but {missing}"
