"""The one door to Docker: reaching its daemon, what images it has, and its failures told apart.

Works through the socket's API, which Podman serves too. Runs no commands: that is `container`'s.
"""

import errno
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from docker import APIClient
from docker.errors import APIError, BuildError, DockerException, ImageNotFound
from docker.types import Mount
from docker.utils import kwargs_from_env
from requests.exceptions import RequestException

from rvbuild.errors import MissingToolError, RvbuildError, UsageError

# A daemon under load takes its time; a dead one closes the socket at once.
TIMEOUT_SECONDS = 120
PLATFORM = "linux/riscv64"
FOREIGN = "exec format error"
NO_BINFMT = (
    "as root, register `qemu-riscv64` with binfmt_misc, with flag `F`; `rvbuild doctor` checks it"
)


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """What the daemon says of an image: id, architecture such as `riscv64`, size in bytes."""

    id: str
    architecture: str
    size: int
    labels: Mapping[str, str]
    environment: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Binding:
    """A folder or file of this machine that a container sees at the same path."""

    path: Path
    writable: bool = False


@dataclass(frozen=True, slots=True)
class Wish:
    """A container to be made: image, words, and all that it sees of this machine."""

    image: str
    words: tuple[str, ...]
    environment: Mapping[str, str]
    folder: Path
    user: str
    network: bool
    bindings: tuple[Binding, ...]


@dataclass(frozen=True, slots=True)
class Daemon:
    """A connection to a daemon that answered; threads may share it."""

    client: APIClient

    def image(self, name: str) -> ImageFacts | None:
        """Look an image up by name or id; None when the daemon does not have it."""
        with talking(f"cannot look at image `{name}`"):
            try:
                found = self.client.inspect_image(name)
            except ImageNotFound:
                return None
        config = found.get("Config") or {}
        return ImageFacts(
            id=str(found["Id"]),
            architecture=str(found["Architecture"]),
            size=int(found["Size"]),
            labels=dict(config.get("Labels") or {}),
            environment=tuple(config.get("Env") or ()),
        )

    def load(self, archive: Path) -> None:
        """Give the daemon an image archive."""
        with talking(f"cannot load `{archive.name}`"), archive.open("rb") as stream:
            for told in self.client.load_image(stream):
                if "error" in told:
                    raise MissingToolError(f"cannot load `{archive.name}`", causes=[told["error"]])

    def build(
        self, context: Path, recipe: str, arguments: Mapping[str, str], tag: str, platform: str
    ) -> str:
        """Build an image from a context folder without network; give what was told meanwhile.

        `platform` is that of the image, such as `linux/riscv64`.
        """
        lines: list[str] = []
        with talking(f"cannot build image `{tag}`"):
            told = self.client.build(
                path=str(context),
                dockerfile=recipe,
                tag=tag,
                buildargs=dict(arguments),
                platform=platform,
                network_mode="none",
                rm=True,
                forcerm=True,
                decode=True,
            )
            for event in told:
                lines += str(event.get("stream", "")).splitlines()
                if "error" in event:
                    raise foreign(tag, lines) or MissingToolError(
                        f"cannot build image `{tag}`", causes=[event["error"]], tail=lines[-40:]
                    )
        return "\n".join(lines)

    def export(self, name: str, archive: Path) -> None:
        """Write an image as an archive that any engine loads; it appears whole or not at all."""
        staging = archive.with_name(archive.name + ".tmp")
        with talking(f"cannot export image `{name}`"):
            try:
                with staging.open("wb") as stream:
                    for chunk in self.client.get_image(name):
                        stream.write(chunk)
                staging.rename(archive)
            finally:
                staging.unlink(missing_ok=True)

    def push(self, name: str, remote: str) -> None:
        """Push an image to a registry under the name `remote`."""
        with talking(f"cannot push image `{name}`"):
            self.client.tag(name, remote)
            for event in self.client.push(remote, stream=True, decode=True):
                if "error" in event:
                    raise MissingToolError(
                        f"cannot push image `{name}` to `{remote}`", causes=[event["error"]]
                    )

    def create(self, wish: Wish) -> str:
        """Make a container that removes itself at its end; give its id."""
        client = self.client
        with talking(f"cannot make a container of image `{wish.image}`"):
            host = client.create_host_config(
                auto_remove=True,
                read_only=True,
                tmpfs={"/tmp": "exec,mode=1777"},  # noqa: S108 - inside the container
                # Named, since the default network may be switched off.
                network_mode="host" if wish.network else "none",
                security_opt=["no-new-privileges"],
                mounts=[
                    Mount(str(each.path), str(each.path), type="bind", read_only=not each.writable)
                    for each in wish.bindings
                ],
            )
            made = client.create_container(
                wish.image,
                list(wish.words),
                stdin_open=True,
                environment=dict(wish.environment),
                working_dir=str(wish.folder),
                user=wish.user,
                host_config=host,
                entrypoint=[],
                labels={"rvbuild": "command"},
            )
            return str(made["Id"])

    def answers(self) -> bool:
        """Say whether the daemon is still there."""
        try:
            self.client.ping()
        except (DockerException, RequestException):
            return False
        return True

    def end(self, container: str, signal: int | None = None) -> None:
        """Send a container a signal, or remove it with all that runs in it; gone ones are fine.

        A daemon that is gone too is not told of here: it would hide the failure that led to this.
        """
        with suppress(DockerException, RequestException):
            if signal is None:
                self.client.remove_container(container, force=True)
            else:
                self.client.kill(container, signal)


def connect() -> Daemon:
    """Reach the daemon that the environment names; raise `MissingToolError` with the reason."""
    try:
        client = APIClient(version="auto", timeout=TIMEOUT_SECONDS, **kwargs_from_env())
        client.ping()
    except (DockerException, RequestException, OSError) as error:
        raise unreachable(error, installed=shutil.which("docker") is not None) from error
    return Daemon(client)


def unreachable(error: BaseException, *, installed: bool) -> MissingToolError:
    """Say why there is no daemon to talk to."""
    number = _errno(error)
    if number == errno.EACCES:
        return MissingToolError(
            "this user may not use Docker", hint="join the group `docker`, then log in again"
        )
    if number == errno.ENOENT and not installed:
        return MissingToolError(
            "there is no Docker on this machine",
            hint="install Docker, or leave `--emulated` out: building across needs none",
        )
    if number in (errno.ENOENT, errno.ECONNREFUSED):
        return MissingToolError(
            "the Docker daemon does not run",
            hint="start it, as by `systemctl start docker`, or name another in `DOCKER_HOST`",
        )
    return MissingToolError("the Docker daemon gives no answer", causes=[str(error)])


def _errno(error: BaseException) -> int | None:
    """Find the system's reason, which lies in causes or arguments of the SDK's exceptions."""
    waiting: list[object] = [error]
    seen: list[object] = []
    while waiting:
        found = waiting.pop(0)
        # An exception of two arguments takes its first for a number, whatever it is.
        if isinstance(found, OSError) and isinstance(found.errno, int):
            return found.errno
        if isinstance(found, BaseException) and found not in seen:
            seen.append(found)
            waiting += [*found.args, found.__cause__, found.__context__]
    return None


@contextmanager
def talking(what: str) -> Iterator[None]:
    """Turn what the SDK raises into a `MissingToolError` that says `what` failed, and why."""
    try:
        yield
    except RvbuildError:
        raise
    except (BuildError, APIError) as error:
        text = str(getattr(error, "explanation", None) or error)
        raise foreign(what, [text]) or _told(what, text) from error
    except (DockerException, RequestException) as error:
        raise MissingToolError(
            what, causes=["the Docker daemon went away", str(error)], hint="start the daemon anew"
        ) from error


def foreign(what: str, lines: list[str]) -> MissingToolError | None:
    """Make the error of programs that the kernel cannot start, where some line tells of that."""
    if not any(FOREIGN in line.lower() for line in lines):
        return None
    return MissingToolError(
        f"this machine cannot run riscv64 programs in containers: {what}",
        causes=["exec format error: binfmt_misc does not know `qemu-riscv64`"],
        hint=NO_BINFMT,
    )


def _told(what: str, text: str) -> MissingToolError:
    hint = None
    if "no space left" in text.lower():
        hint = "the disk of the Docker daemon is full: free some space, as by `docker system prune`"
    return MissingToolError(what, causes=[text], hint=hint)


def require_image(name: str, facts: ImageFacts | None) -> ImageFacts:
    """Give back an image's facts; raise `MissingToolError` when it is absent."""
    if facts is None:
        raise MissingToolError(
            f"the Docker daemon has no image `{name}`",
            hint="`rvbuild image build` makes one; `docker load` takes an exported one",
        )
    return facts


def require_riscv64(name: str, found: ImageFacts | None) -> ImageFacts:
    """Give back an image's facts; raise `MissingToolError` when it is absent or not for riscv64."""
    facts = require_image(name, found)
    if facts.architecture != "riscv64":
        raise UsageError(
            f"image `{name}` is for {facts.architecture} and not for riscv64",
            hint="take one of platform `linux/riscv64`",
        )
    return facts
