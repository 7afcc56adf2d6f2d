"""The failures rvbuild can end in, and their exit codes; drawing them is the command line's."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


class RvbuildError(Exception):
    """A failure with a message, what caused it and the next move.

    `message` is lower case without a full stop; `causes` run from the outermost in; `hint` is one
    thing that can be typed or done; `log` is the full log, `tail` its last lines; `reproduce` is a
    command that shows the failure again.
    """

    exit_code = 1

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        causes: Sequence[str] = (),
        log: Path | None = None,
        tail: Sequence[str] = (),
        reproduce: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.causes = tuple(causes)
        self.log = log
        self.tail = tuple(tail)
        self.reproduce = reproduce


class UsageError(RvbuildError):
    """The command line or the configuration asks for something that does not exist."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault in a document: where it is (1-based line and column), what it is, what to do."""

    file: Path
    line: int
    column: int
    message: str
    excerpt: str
    hint: str | None = None
    severity: str = "error"


class RecipeError(RvbuildError):
    """A recipe or a pin file does not say what it has to; carries every problem at once."""

    exit_code = 2

    def __init__(
        self, message: str, problems: Sequence[Problem], *, hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.problems = tuple(problems)


class NothingSelectedError(RvbuildError):
    """The selection is valid and empty."""

    exit_code = 3


class MissingToolError(RvbuildError):
    """A program, image, sysroot or device that is needed is not there."""

    exit_code = 4


class SourceError(RvbuildError):
    """A source cannot be had, is not what was pinned, or cannot be unpacked or patched."""

    exit_code = 5


class BuildError(RvbuildError):
    """A build step failed."""

    exit_code = 6


class AuditError(RvbuildError):
    """A wheel is not what its name, its tags or its policy say."""

    exit_code = 7


class CheckError(RvbuildError):
    """A test of a built wheel failed, crashed or ran out of time."""

    exit_code = 8


class PublishError(RvbuildError):
    """An index refused, or holds other bytes under the same name."""

    exit_code = 9
