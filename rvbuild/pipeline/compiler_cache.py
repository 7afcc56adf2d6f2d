"""The compiler cache of a job: what it is told, and its server, which does the compiling.

Each job has a server of its own. What it used of the machine then is the job's, and one job's end
takes nothing from another; the results of all are in one folder.
"""

import hashlib
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import gettempdir

from rvbuild.build import Launcher
from rvbuild.kit.programs import install_program
from rvbuild.pipeline.metering import Meter
from rvbuild.pipeline.model import House, Options
from rvbuild.pipeline.modes import in_container

IDLE_SECONDS = 600
START_SECONDS = 10
STOP_SECONDS = 30
POLL_SECONDS = 0.02


def compiler_cache(options: Options, house: House) -> Launcher | None:
    """Have the compiler cache's program on disk; None where it is off, or could not be used."""
    # Its server starts the compilers itself, and is outside of any container.
    if options.compiler_cache == "off" or in_container(options):
        return None
    program = install_program("sccache", house.host, house.pins, house.supplies)
    return Launcher(program, cache_environment(options.compiler_cache, house.places.compiler_cache))


def cache_environment(choice: str, folder: Path) -> dict[str, str]:
    """Tell sccache where it keeps things; `choice` is `local` or a shared storage's address."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {
        "SCCACHE_IDLE_TIMEOUT": str(IDLE_SECONDS),
        "SCCACHE_DIR": str(folder),
        "HOME": str(folder),
    }
    if choice.startswith(("redis://", "rediss://", "tcp://")):
        return environment | {"SCCACHE_REDIS_ENDPOINT": choice}
    if choice.startswith(("http://", "https://")):
        return environment | {"SCCACHE_WEBDAV_ENDPOINT": choice}
    return environment


def socket_of(launcher: Launcher, job: str) -> Path:
    """Say where a job's server listens: a short path, since it has to fit in 108 (unix(7))."""
    identity = f"{launcher.environment['SCCACHE_DIR']}\0{job}\0{os.getpid()}"
    digest = hashlib.sha256(identity.encode()).hexdigest()[:16]
    return Path(gettempdir()) / f"rvbuild-sccache-{digest}.sock"


@contextmanager
def serving(
    launcher: Launcher | None, job: str, own: Mapping[str, str], meter: Meter
) -> Iterator[Launcher | None]:
    """Run a job's server; `own` is what it may see of the user's environment, such as proxies."""
    if launcher is None:
        yield None
        return
    place = socket_of(launcher, job)
    told = {**launcher.environment, "SCCACHE_SERVER_UDS": str(place)}
    # In front, as a child: its end then tells what it and its compilers used.
    environment = {**told, **own, "SCCACHE_START_SERVER": "1", "SCCACHE_NO_DAEMON": "1"}
    server = subprocess.Popen(
        [str(launcher.program)],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _wait_for(server, place)
        meter.watch(server.pid)
        yield replace(launcher, environment=told)
    finally:
        _stop(server, launcher, {**told, **own})
        meter.collect(server)
        with suppress(OSError):
            place.unlink()


def _wait_for(server: subprocess.Popen[bytes], place: Path) -> None:
    """Wait until the server answers; without one the first compile starts its own."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and os.waitid(os.P_PID, server.pid, _LOOK) is None:
        with suppress(OSError), socket.socket(socket.AF_UNIX) as door:
            door.connect(str(place))
            return
        time.sleep(POLL_SECONDS)


# The process is left to be collected with what it used.
_LOOK = os.WEXITED | os.WNOHANG | os.WNOWAIT


def _stop(server: subprocess.Popen[bytes], launcher: Launcher, told: Mapping[str, str]) -> None:
    words = [str(launcher.program), "--stop-server"]
    with suppress(subprocess.TimeoutExpired):
        subprocess.run(words, env=told, capture_output=True, check=False, timeout=STOP_SECONDS)
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if os.waitid(os.P_PID, server.pid, _LOOK) is not None:
            return
        time.sleep(POLL_SECONDS)
    server.kill()
