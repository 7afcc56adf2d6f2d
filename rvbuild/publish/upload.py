"""Uploading wheels to an index: nothing is overwritten, everything can be run again."""

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Literal

from rvbuild.errors import NothingSelectedError, PublishError
from rvbuild.events import Watcher, step
from rvbuild.publish.candidate import Candidate, check_wheels
from rvbuild.publish.connection import Answer, Connection, Patience, connect
from rvbuild.publish.credentials import Credentials
from rvbuild.publish.indexes import IndexTarget, variable
from rvbuild.publish.shelf import Shelf

State = Literal["uploaded", "already there", "resumed"]


@dataclass(frozen=True, slots=True)
class Published:
    """A wheel that is on the index with these bytes.

    `resumed` means that an upload seemed to fail and the index had stored the file all the same.
    """

    file: Path
    sha256: str
    state: State


class _DeniedError(PublishError):
    """The index does not know us, so trying the next wheel is of no use."""


def publish(
    wheels: Sequence[Path],
    index: IndexTarget,
    credentials: Credentials | None,
    watch: Watcher,
    patience: Patience | None = None,
) -> tuple[Published, ...]:
    """Put wheels on an index, those first that others depend on; say for each what happened.

    All are checked before the first is sent. A wheel that is there with the same sha256 is
    skipped; one that is there with another is an error and stays as it is. A failure does not
    stop the others: one `PublishError` at the end names all. Raises `NothingSelectedError`
    without wheels.
    """
    if not wheels:
        raise NothingSelectedError("there are no wheels to publish")
    candidates = check_wheels(wheels, index)
    limits = patience or Patience()
    with connect(index.url, credentials, limits) as connection:
        desk = _Desk(index, connection, Shelf(index, connection, limits), limits)
        return _publish_all(candidates, desk, watch)


@dataclass(frozen=True, slots=True)
class _Desk:
    """What publishing one wheel needs."""

    index: IndexTarget
    connection: Connection
    shelf: Shelf
    patience: Patience

    def has(self, candidate: Candidate) -> bool:
        """Say whether the index has these bytes; raise `PublishError` for others of that name."""
        there = self.shelf.sha256(candidate.name.project, candidate.path.name)
        if there is not None and there != candidate.sha256:
            raise PublishError(
                f"index `{self.index.name}` has other bytes under this name",
                causes=(f"its sha256 is {there}, ours {candidate.sha256}",),
            )
        return there is not None


def _publish_all(
    candidates: Sequence[Candidate], desk: _Desk, watch: Watcher
) -> tuple[Published, ...]:
    done: list[Published] = []
    faults: list[str] = []
    hints: list[str] = []
    for candidate in candidates:
        try:
            with step(watch, candidate.job, "publish") as detail:
                state = _publish_one(candidate, desk, watch)
                detail.text = f"{candidate.path.name} {state}"
        except PublishError as error:
            faults.append(": ".join((candidate.path.name, error.message, *error.causes)))
            hints += [error.hint] if error.hint else []
            if isinstance(error, _DeniedError):
                break
            continue
        done.append(Published(candidate.path, candidate.sha256, state))
    if faults:
        missing = len(candidates) - len(done)
        raise PublishError(
            f"{missing} of {len(candidates)} wheels are not on `{desk.index.name}`",
            causes=faults,
            hint=hints[0] if hints else "run it again to publish what is missing",
        )
    return tuple(done)


def _publish_one(candidate: Candidate, desk: _Desk, watch: Watcher) -> State:
    if desk.has(candidate):
        return "already there"
    doubtful = False
    answer = Answer(0, "")
    for attempt in range(desk.patience.attempts):
        if attempt:
            watch.note(candidate.job, f"index `{desk.index.name}` {answer}; trying again")
            desk.patience.wait(attempt - 1, answer.retry_after_seconds)
        answer = desk.connection.send(candidate.package)
        if answer.accepted:
            return "uploaded"
        if answer.status == HTTPStatus.UNAUTHORIZED:
            raise _denied(desk.index, answer)
        # Whatever it says, the index may have the file: stored before a 5xx, or by someone else.
        if desk.has(candidate):
            return "resumed" if doubtful or answer.undecided else "already there"
        if not answer.undecided:
            break
        doubtful = True
    raise _refused(desk.index, answer)


def _refused(index: IndexTarget, answer: Answer) -> PublishError:
    if answer.status == HTTPStatus.FORBIDDEN:
        return _denied(index, answer)
    if answer.duplicate:
        return PublishError(
            f"index `{index.name}` says that it has this file and does not list it",
            causes=(str(answer),),
            hint=f"check the simple address of `{index.name}`, {index.simple_url}",
        )
    return PublishError(f"index `{index.name}` did not take it", causes=(str(answer),))


def _denied(index: IndexTarget, answer: Answer) -> PublishError:
    hint = (
        f"check `{variable(index.name, 'USERNAME')}` and `{variable(index.name, 'PASSWORD')}`, "
        f"or `{variable(index.name, 'TOKEN')}`"
    )
    if answer.status == HTTPStatus.UNAUTHORIZED:
        message = f"index `{index.name}` wants a user and password, or does not know these"
        return _DeniedError(message, causes=(str(answer),), hint=hint)
    message = f"index `{index.name}` does not let us upload this"
    return PublishError(message, causes=(str(answer),), hint=hint)
