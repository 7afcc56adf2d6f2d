"""Making sense of failures: what kind they are, where they happen, the smallest case, and a report.

Runs nothing; what it knows comes from reports of `testing` and from the catalogue of failures.
"""

from rvbuild.triage.cluster import triage
from rvbuild.triage.markdown import write_up
from rvbuild.triage.model import Cluster, Occurrence, Reach, Triage
from rvbuild.triage.reading import read_references, read_reports

__all__ = [
    "Cluster",
    "Occurrence",
    "Reach",
    "Triage",
    "read_references",
    "read_reports",
    "triage",
    "write_up",
]
