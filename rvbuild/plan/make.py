"""From a request to a plan: jobs in order, each with the key of all that it reads."""

from rvbuild.plan.key import Situation, inputs_of, key_of
from rvbuild.plan.model import Inputs, Job, Plan, Recipes, Request
from rvbuild.plan.resolve import Node, levels, select


def make_plan(request: Request, recipes: Recipes, inputs: Inputs) -> Plan:
    """Plan a request; the same arguments give the same plan.

    Raises `UsageError` for what cannot be planned, `NothingSelectedError` when a name builds for
    none of the Pythons, `MissingToolError` for a Python without a digest.
    """
    selection = select(request, recipes)
    level_of = levels(selection.nodes)
    jobs: dict[str, Job] = {}
    for name in sorted(level_of, key=lambda each: (level_of[each], each)):
        needed = {need: jobs[need].key for need in selection.nodes[name].needs}
        jobs[name] = _job(selection.nodes[name], level_of[name], request, inputs, needed)
    return Plan(tuple(jobs.values()), selection.requested, selection.skipped)


def _job(node: Node, level: int, request: Request, inputs: Inputs, needed: dict[str, str]) -> Job:
    situation = Situation(node.python, request.floor, request.mode)
    read = inputs_of(node.recipe, situation, inputs, needed)
    return Job(
        id=node.id,
        recipe=node.recipe,
        python=node.python,
        mode=request.mode,
        floor=request.floor,
        key=key_of(read),
        inputs=read,
        needs=node.needs,
        level=level,
    )
