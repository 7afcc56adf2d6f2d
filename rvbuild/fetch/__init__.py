"""Getting bytes that were pinned by sha256: from PyPI, the Debian pool, an address or a folder.

The one place that opens network connections for files. Unpacking and patching are `sources`'.
"""

from rvbuild.fetch.download import fetch
from rvbuild.fetch.model import DebianFile, Network, Origin, PypiFile, Remote, Url

__all__ = ["DebianFile", "Network", "Origin", "PypiFile", "Remote", "Url", "fetch"]
