"""Problems as plain text: place, message, excerpt with a caret, hint."""

from rvbuild.errors import Problem


def render_problem(problem: Problem) -> str:
    """Draw one problem on three or four lines, without an end of line after the last."""
    # Tabs stay tabs, so that the caret stands below its character whatever their width is.
    before = problem.excerpt[: problem.column - 1]
    indent = "".join("\t" if char == "\t" else " " for char in before)
    number = str(problem.line)
    place = f"{problem.file}:{problem.line}:{problem.column}"
    lines = [
        f"{place}: {problem.severity}: {problem.message}",
        f"  {number} | {problem.excerpt}".rstrip(),
        f"  {' ' * len(number)} | {indent}^",
    ]
    if problem.hint is not None:
        lines.append(f"  hint: {problem.hint}")
    return "\n".join(lines)
