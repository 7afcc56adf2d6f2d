"""Images made from pinned packages: one to build in, one for cibuildwheel, one to build across in.

Owns what is in them and how their archives are written; talking to an engine is `executor`'s.
"""

from rvbuild.image.base import (
    ARCHITECTURES,
    BaseImage,
    base_digest,
    base_name,
    install_base,
    provide_base,
)

__all__ = [
    "ARCHITECTURES",
    "BaseImage",
    "base_digest",
    "base_name",
    "install_base",
    "provide_base",
]
