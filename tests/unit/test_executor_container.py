"""The container executor against a pretended daemon: frames, endings, what a container sees."""

import os
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest
from docker.errors import DockerException, ImageNotFound
from docker.errors import NotFound as Gone
from requests.exceptions import ConnectionError as RequestsConnectionError
from urllib3.exceptions import ProtocolError

from rvbuild.errors import MissingToolError, UsageError
from rvbuild.executor import Command, Completed
from rvbuild.executor.container import ContainerExecutor
from rvbuild.executor.daemon import (
    Daemon,
    ImageFacts,
    Wish,
    foreign,
    require_riscv64,
    talking,
    unreachable,
)

Script = Callable[[socket.socket, threading.Event], None]


def frame(number: int, data: bytes) -> bytes:
    return struct.pack(">BxxxI", number, len(data)) + data


@dataclass
class PretendedClient:
    """Stands for the SDK's client: its containers do what `script` says, once started."""

    script: Script
    calls: list[tuple[str, object]] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)
    ours: socket.socket | None = None
    alive: bool = True

    def ping(self) -> None:
        if not self.alive:
            raise RequestsConnectionError(ConnectionRefusedError(111, "refused"))

    def attach_socket(self, container: str, _wanted: object) -> socket.SocketIO:
        self.ours, theirs = socket.socketpair()
        self.calls.append(("attach", container))
        return theirs.makefile("rwb", buffering=0)

    def start(self, container: str) -> None:
        self.calls.append(("start", container))
        assert self.ours is not None
        threading.Thread(target=self._live, args=(self.ours,)).start()

    def _live(self, ours: socket.socket) -> None:
        with ours:
            self.script(ours, self.ended)

    def kill(self, _container: str, signal: int) -> None:
        self.calls.append(("kill", int(signal)))
        self.ended.set()

    def remove_container(self, _container: str, *, force: bool) -> None:
        self.calls.append(("remove", force))
        self.ended.set()


@dataclass(frozen=True)
class PretendedDaemon(Daemon):
    """A daemon whose containers are not made; `wishes` are remembered."""

    wishes: list[Wish] = field(default_factory=list)

    def create(self, wish: Wish) -> str:
        self.wishes.append(wish)
        return "c1"


def pretend(script: Script) -> tuple[PretendedDaemon, PretendedClient]:
    client = PretendedClient(script)
    return PretendedDaemon(cast("object", client)), client  # type: ignore[arg-type]


def run(
    folder: Path, script: Script, *, network: bool = False, timeout: float | None = 10
) -> tuple[Completed, PretendedDaemon, PretendedClient]:
    daemon, client = pretend(script)
    executor = ContainerExecutor(daemon, "image", (folder,), (Path("/etc"),), {"QEMU_CPU": "rv64"})
    told = Command(("prog", "a b"), folder, {"A": "1"}, timeout, 0.2, network)
    return executor.run(told, folder / "log", None), daemon, client


def says(*frames: bytes) -> Script:
    def script(ours: socket.socket, _ended: threading.Event) -> None:
        for each in frames:
            ours.sendall(each)

    return script


def test_output_and_ending_are_told_apart(tmp_path: Path) -> None:
    whole = frame(1, b"one\n") + frame(1, b"two\n") + frame(2, b"exit 3\n")
    # Cut where it hurts: inside headers, lengths and texts.
    done, _, client = run(tmp_path, says(whole[:3], whole[3:10], whole[10:-4], whole[-4:]))
    assert (done.exit_code, done.signal, done.timed_out) == (3, None, False)
    assert done.output == "one\ntwo\n"
    assert (tmp_path / "log").read_text() == "one\ntwo\n"
    # It removes itself.
    assert [name for name, _ in client.calls] == ["attach", "start"]


def test_a_signal_is_seen_behind_what_the_shell_says_of_it(tmp_path: Path) -> None:
    done, _, _ = run(tmp_path, says(frame(2, b"Killed\nexit 137\n")))
    assert (done.exit_code, done.signal) == (137, 9)


def test_a_container_sees_what_it_has_to(tmp_path: Path) -> None:
    for network in (False, True):
        _, daemon, _ = run(tmp_path, says(frame(2, b"exit 0\n")), network=network)
        (wish,) = daemon.wishes
        seen = [(binding.path, binding.writable) for binding in wish.bindings]
        assert seen == [(tmp_path, True), *([(Path("/etc"), False)] if network else [])]
        assert wish.network is network
        assert wish.user == f"{os.getuid()}:{os.getgid()}"
        assert wish.environment == {"QEMU_CPU": "rv64", "A": "1"}
        assert wish.words[-2:] == ("prog", "a b")


def test_a_folder_elsewhere_is_seen_too(tmp_path: Path) -> None:
    daemon, _ = pretend(says(frame(2, b"exit 0\n")))
    (tmp_path / "other").mkdir()
    executor = ContainerExecutor(daemon, "image", (tmp_path / "cache",))
    executor.run(Command(("x",), tmp_path / "other"))
    assert [binding.path for binding in daemon.wishes[0].bindings][-1] == tmp_path / "other"


def test_a_pipe_lives_as_long_as_its_command(tmp_path: Path) -> None:
    found: list[bool] = []

    def script(ours: socket.socket, _ended: threading.Event) -> None:
        found.extend(path.is_fifo() for path in tmp_path.glob(".alive-*"))
        ours.sendall(frame(2, b"exit 0\n"))

    _, daemon, _ = run(tmp_path, script)
    assert found == [True]
    assert list(tmp_path.glob(".alive-*")) == []
    assert Path(daemon.wishes[0].words[-3]).parent == tmp_path


def test_a_folder_without_pipes_is_one_lifeline_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, mode: int) -> None:
        raise PermissionError(1, "no pipes here", str(path))

    monkeypatch.setattr(os, "mkfifo", refuse)
    done, daemon, _ = run(tmp_path, says(frame(2, b"exit 0\n")))
    assert (done.ok, daemon.wishes[0].words[-3]) == (True, "")


def test_time_runs_out_politely_then_hard(tmp_path: Path) -> None:
    def deaf(ours: socket.socket, ended: threading.Event) -> None:
        ours.sendall(frame(1, b"begin\n"))
        ended.wait(5)
        time.sleep(0.5)

    done, _, client = run(tmp_path, deaf, timeout=0.1)
    assert (done.timed_out, done.signal, done.output) == (True, 9, "begin\n")
    assert [name for name, _ in client.calls][2:] == ["kill", "remove", "remove"]


def test_an_interrupt_removes_the_container(tmp_path: Path) -> None:
    daemon, client = pretend(lambda _, ended: (ended.wait(5), None)[1])
    executor = ContainerExecutor(daemon, "image", (tmp_path,))
    threading.Timer(0.2, executor.stop.set).start()
    with pytest.raises(KeyboardInterrupt):
        executor.run(Command(("x",), tmp_path))
    assert client.calls[-1] == ("remove", True)


@pytest.mark.parametrize(
    ("frames", "words"),
    [
        ([frame(2, b"missing\n")], "`prog` was not found"),
        ([frame(2, b"exec /bin/sh: exec format error\n")], "cannot run riscv64 programs"),
        ([frame(2, b"standard_init_linux.go:228: Exec Format Error")], "cannot run riscv64"),
        ([frame(1, b"so far\n")], "ended before its command did"),
        ([frame(1, b"sh: Exec format error\n"), frame(2, b"exit 126\n")], "cannot be executed"),
    ],
)
def test_commands_that_did_not_run_are_errors(
    tmp_path: Path, frames: list[bytes], words: str
) -> None:
    with pytest.raises(MissingToolError, match=words):
        run(tmp_path, says(*frames))


def test_a_daemon_that_went_away_is_told_from_a_container_that_did(tmp_path: Path) -> None:
    daemon, client = pretend(says(frame(1, b"so far\n")))
    client.alive = False
    executor = ContainerExecutor(daemon, "image", (tmp_path,))
    with pytest.raises(MissingToolError, match="daemon went away while") as lost:
        executor.run(Command(("x",), tmp_path))
    assert "start the daemon" in (lost.value.hint or "")


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    daemon, _ = pretend(says())
    with pytest.raises(MissingToolError, match="does not exist"):
        ContainerExecutor(daemon, "image", ()).run(Command(("x",), tmp_path / "nowhere"))
    assert daemon.wishes == []


def wrapped(reason: OSError) -> DockerException:
    """Wrap a reason as requests and the SDK do."""
    inner = RequestsConnectionError(ProtocolError("Connection aborted.", reason))
    error = DockerException(f"Error while fetching server API version: {inner}")
    error.__cause__ = inner
    return error


@pytest.mark.parametrize(
    ("reason", "has_client", "words"),
    [
        (FileNotFoundError(2, "No such file"), False, "there is no Docker on this machine"),
        (FileNotFoundError(2, "No such file"), True, "daemon does not run"),
        (ConnectionRefusedError(111, "refused"), False, "daemon does not run"),
        (PermissionError(13, "denied"), True, "may not use Docker"),
        (OSError("odd"), True, "gives no answer"),
    ],
)
def test_reasons_for_no_daemon_are_told_apart(
    reason: OSError, has_client: object, words: str
) -> None:
    error = unreachable(wrapped(reason), installed=bool(has_client))
    assert words in error.message
    assert error.hint or error.causes


def test_what_the_sdk_raises_is_said_in_words() -> None:
    with pytest.raises(MissingToolError, match="cannot look") as gone, talking("cannot look"):
        raise DockerException("socket closed")
    assert "went away" in gone.value.causes[0]
    with pytest.raises(MissingToolError) as full, talking("cannot make"):
        raise Gone("write /x: no space left on device")
    assert full.value.hint is not None
    assert "full" in full.value.hint
    with pytest.raises(MissingToolError) as odd, talking("cannot make"):
        raise Gone("exec format error")
    assert "riscv64 programs" in odd.value.message
    assert foreign("x", ["all is well"]) is None


def test_images_for_other_machines_are_refused() -> None:
    with pytest.raises(MissingToolError, match="has no image `a`"):
        require_riscv64("a", None)
    with pytest.raises(UsageError, match="is for amd64 and not for riscv64"):
        require_riscv64("a", ImageFacts("1", "amd64", 1, {}, ()))
    good = ImageFacts("1", "riscv64", 1, {}, ())
    assert require_riscv64("a", good) is good


def test_an_unknown_image_is_none() -> None:
    class Client:
        def inspect_image(self, name: str) -> object:
            raise ImageNotFound(name)

    assert Daemon(cast("object", Client())).image("a") is None  # type: ignore[arg-type]
