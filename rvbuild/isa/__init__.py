"""Machine code as its processor sees it: which instructions a file has beyond rv64gc, and who checks.

What is claimed never decides; what is found in the code, and what leads there, does. Turning the
answer into findings is `audit`'s.
"""

from rvbuild.isa.model import FunctionIsa, IsaFacts, Leak, Verdict
from rvbuild.isa.read import read_isa_facts

__all__ = ["FunctionIsa", "IsaFacts", "Leak", "Verdict", "read_isa_facts"]
