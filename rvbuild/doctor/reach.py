"""The way out: whether pinned files can be had from the index and the mirror, and the clock."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

from rvbuild.doctor.model import Finding, Patient
from rvbuild.errors import RvbuildError
from rvbuild.fetch import Network, Remote
from rvbuild.fetch.reach import Found, locate
from rvbuild.kit import load_pins

TIMEOUT_SECONDS = 5.0
# Certificates and signatures are made with some slack, but not with more.
CLOCK_SLACK_SECONDS = 300
# Before this there was no rvbuild.
EARLIEST = datetime(2026, 1, 1, tzinfo=UTC)


def check_reach(patient: Patient) -> Iterator[Finding]:
    """Ask for a pinned file of the index and one of the Debian pool; compare the clocks."""
    network = replace(patient.network, attempts=1, timeout_seconds=TIMEOUT_SECONDS)
    pins = load_pins(patient.pins / "tools.yaml")
    index = pins.tree("pip").pins[0].remote
    pool = pins.tree(f"programs-{patient.machine}").pins[0].remote
    found: list[Found] = []
    yield _ask("package index", index, network, "`RVBUILD_PYPI_INDEX`", found)
    yield _ask("debian mirror", pool, network, "`RVBUILD_DEBIAN_MIRROR`", found)
    told = next((each.server_time for each in found if each.server_time), None)
    yield judge_clock(datetime.now(UTC), told)


def _ask(name: str, remote: Remote, network: Network, setting: str, found: list[Found]) -> Finding:
    try:
        place = locate(remote, network)
    except RvbuildError as error:
        what = "; ".join((error.message, *error.causes))
        return Finding(name, "problem", what, f"set {setting}, or `RVBUILD_OFFLINE_DIR` to a copy")
    found.append(place)
    return Finding(name, "ok", place.address)


def judge_clock(here: datetime, there: datetime | None) -> Finding:
    """Hold this machine's clock against a server's, or against what cannot be for None."""
    fix = "set the clock; wrong ones break certificates and dates in wheels"
    if there is not None and abs((here - there).total_seconds()) > CLOCK_SLACK_SECONDS:
        what = f"{here:%Y-%m-%d %H:%M} UTC here, {there:%Y-%m-%d %H:%M} UTC on a server"
        return Finding("clock", "warning", what, fix)
    if here < EARLIEST:
        return Finding("clock", "warning", f"{here:%Y-%m-%d %H:%M} UTC is in the past", fix)
    return Finding("clock", "ok", f"{here:%Y-%m-%d %H:%M} UTC")
