"""A plan drawn as text: a tree of what needs what, or a graph for Graphviz."""

from collections.abc import Iterator, Mapping

from rvbuild.plan.model import Job, Plan


def graph_text(plan: Plan) -> str:
    """Draw a tree from each job that nothing else needs; a part drawn before is only named."""
    needed = {need for job in plan.jobs for need in job.needs}
    roots = [job for job in plan.jobs if job.id not in needed]
    jobs = plan.by_id
    drawn: set[str] = set()
    lines: list[str] = []
    for root in sorted(roots, key=lambda job: job.id):
        lines += _branch(root, jobs, drawn)
    return "".join(f"{line}\n" for line in lines)


def graph_dot(plan: Plan) -> str:
    """Write the graph in Graphviz's language, arrows from a job to what it needs."""
    lines = ["digraph rvbuild {", "  rankdir=LR;", "  node [shape=box];"]
    for job in plan.jobs:
        shape = " [style=bold]" if job.id in plan.requested else ""
        lines.append(f"  {_quoted(job.id)}{shape};")
    lines += [f"  {_quoted(job.id)} -> {_quoted(need)};" for job in plan.jobs for need in job.needs]
    return "\n".join([*lines, "}", ""])


def _branch(job: Job, jobs: Mapping[str, Job], drawn: set[str]) -> Iterator[str]:
    if job.id in drawn and job.needs:
        yield f"{job.id} (see above)"
        return
    drawn.add(job.id)
    yield job.id
    for index, need in enumerate(job.needs):
        last = index == len(job.needs) - 1
        first, rest = ("└── ", "    ") if last else ("├── ", "│   ")
        for line in _branch(jobs[need], jobs, drawn):
            yield first + line
            first = rest


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
