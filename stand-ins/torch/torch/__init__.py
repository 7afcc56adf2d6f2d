"""Stands in for PyTorch where extensions of it are built, and where it cannot run itself.

It answers what `torch.utils.cpp_extension` and the like ask while they build for riscv64: which
version this is, how it was built, and that there is nothing beside the processor.
"""

from types import SimpleNamespace

from torch import _C as _C
from torch import _appdirs as _appdirs
from torch import version as version
from torch.torch_version import __version__ as __version__


def _no(*_: object) -> bool:
    return False


_nothing = SimpleNamespace(
    is_available=_no, is_built=_no, _is_compiled=_no, device_count=lambda: 0, get_arch_list=list
)
cuda = xpu = mps = _nothing
backends = SimpleNamespace(cuda=_nothing, mps=_nothing, cudnn=_nothing)


def compiled_with_cxx11_abi() -> bool:
    """Say that strings and lists are those of C++11."""
    return True
