"""Walking a plan: what it reads and needs on this machine, its jobs in order, and their proofs.

The only room that knows in which order the others work.
"""

from rvbuild.pipeline.inputs import plan_inputs
from rvbuild.pipeline.model import House, Options, Outcome
from rvbuild.pipeline.recipes import OpenCatalogue
from rvbuild.pipeline.run import plan_for, run_plan, states

__all__ = [
    "House",
    "OpenCatalogue",
    "Options",
    "Outcome",
    "plan_for",
    "plan_inputs",
    "run_plan",
    "states",
]
