"""Trying again: which failures may pass by themselves, and how long to wait for that."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

import requests

from rvbuild.fetch.model import Network

LONGEST_WAIT_SECONDS = 60.0
_TOO_MANY_REQUESTS = 429
_SERVER_ERRORS = 500

Result = TypeVar("Result")


class OriginError(Exception):
    """One address did not give what was wanted; the text is the reason."""


class PassingError(OriginError):
    """A reason that may be gone in a moment; the server may have said in how many seconds."""

    def __init__(self, reason: str, wait_seconds: float | None = None) -> None:
        super().__init__(reason)
        self.wait_seconds = wait_seconds


def with_attempts(network: Network, attempt: Callable[[], Result]) -> Result:
    """Call `attempt` again after each `PassingError`, as often as `network` allows."""
    for number in range(1, network.attempts):
        try:
            return attempt()
        except PassingError as error:
            wait = error.wait_seconds
            if wait is None:
                wait = network.backoff_seconds * 2 ** (number - 1)
            time.sleep(min(wait, LONGEST_WAIT_SECONDS))
    return attempt()


def refuse_status(response: requests.Response) -> None:
    """Raise `OriginError` for a status that is not 2xx, `PassingError` for 429 and 5xx."""
    status = response.status_code
    if response.ok:
        return
    reason = f"{status} {response.reason or 'no reason given'}".lower()
    if status == _TOO_MANY_REQUESTS or status >= _SERVER_ERRORS:
        raise PassingError(reason, _retry_after(response.headers.get("Retry-After", "")))
    raise OriginError(reason)


def as_origin_error(error: requests.RequestException) -> OriginError:
    """Turn a failure of `requests` into one with a short reason."""
    if isinstance(error, requests.exceptions.SSLError):
        return OriginError(f"TLS: {_innermost(error)}")
    if isinstance(error, requests.Timeout):
        return PassingError("no answer in time")
    if isinstance(error, requests.exceptions.ProxyError):
        return PassingError(f"proxy: {_innermost(error)}")
    if isinstance(error, requests.ConnectionError):
        return PassingError(f"no connection: {_innermost(error)}")
    return OriginError(_innermost(error))


def _innermost(error: BaseException) -> str:
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(text).split())


def _retry_after(text: str) -> float | None:
    if text.strip().isdigit():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        return None
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
