"""What CI has to build, where and in which order, made from a plan. Starts nothing."""

from rvbuild.matrix.entries import MatrixEntry, matrix_as_json, matrix_entries
from rvbuild.matrix.github import github_matrix, github_workflow

__all__ = [
    "MatrixEntry",
    "github_matrix",
    "github_workflow",
    "matrix_as_json",
    "matrix_entries",
]
