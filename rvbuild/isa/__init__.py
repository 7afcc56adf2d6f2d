"""Machine code as a processor sees it: instructions beyond rv64gc, and who asks before they run.

What is claimed never decides; what is found in the code, and what leads there, does. Turning the
answer into findings is `audit`'s.
"""

from rvbuild.isa.guards import kernel_length
from rvbuild.isa.model import FunctionIsa, IsaFacts, Leak, Verdict
from rvbuild.isa.read import read_isa_facts

__all__ = ["FunctionIsa", "IsaFacts", "Leak", "Verdict", "kernel_length", "read_isa_facts"]
