"""What has to be built, in which order and under which content keys.

Pure: reads no disk, no network and no clock. What is already built is for `store` to say.
"""

from rvbuild.plan.graph import graph_dot, graph_text
from rvbuild.plan.key import Change, explain, key_of, test_key
from rvbuild.plan.make import make_plan
from rvbuild.plan.model import Inputs, Job, Plan, Recipes, Request, Skipped
from rvbuild.plan.report import State, plan_as_json

__all__ = [
    "Change",
    "Inputs",
    "Job",
    "Plan",
    "Recipes",
    "Request",
    "Skipped",
    "State",
    "explain",
    "graph_dot",
    "graph_text",
    "key_of",
    "make_plan",
    "plan_as_json",
    "test_key",
]
