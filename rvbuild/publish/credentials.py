"""Finding an index's user and password: environment, netrc, keyring; never the command line."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from netrc import NetrcParseError, netrc
from pathlib import Path
from urllib.parse import quote, urlsplit

from rvbuild.errors import UsageError
from rvbuild.publish.indexes import variable

TOKEN_USER = "__token__"  # noqa: S105 - a user name that stands for "the password is a token"


@dataclass(frozen=True, slots=True)
class Credentials:
    """A user and a password or token; neither shows the password when printed."""

    username: str
    password: str = field(repr=False)

    def mask(self, text: str) -> str:
        """Replace the password, plain or quoted, wherever it stands in `text`."""
        for secret in (self.password, quote(self.password, safe="")):
            if secret:
                text = text.replace(secret, "***")
        return text


Lookup = Callable[[str, str | None], Credentials | None]


def ask_keyring(url: str, username: str | None) -> Credentials | None:
    """Ask the system's keyring for an address; none there, or none that answers, is None."""
    import keyring
    from keyring.errors import KeyringError

    try:
        found = keyring.get_credential(url, username)
    except (KeyringError, RuntimeError, OSError):
        return None
    return None if found is None else Credentials(found.username, found.password)


def find(
    index: str, url: str, environment: Mapping[str, str], keyring: Lookup = ask_keyring
) -> Credentials | None:
    """Find the credentials of an index; None when there are none anywhere.

    In order: `RVBUILD_<INDEX>_TOKEN`, or `_USERNAME` and `_PASSWORD`, of `environment`; the host's
    entry in the file that `NETRC` names or in `~/.netrc`; the keyring, by `url`. A user name alone
    picks among the entries of the last two. Raises `UsageError` for half an answer.
    """
    username = _value(environment, index, "USERNAME")
    password = _value(environment, index, "PASSWORD")
    token = _value(environment, index, "TOKEN")
    if token and password:
        raise UsageError(
            f"both `{variable(index, 'TOKEN')}` and `{variable(index, 'PASSWORD')}` are set",
            hint="unset one of them",
        )
    if token:
        return Credentials(username or TOKEN_USER, token)
    if password and not username:
        raise UsageError(
            f"`{variable(index, 'PASSWORD')}` is set without a user",
            hint=f"set `{variable(index, 'USERNAME')}`, or use `{variable(index, 'TOKEN')}`",
        )
    if username and password:
        return Credentials(username, password)
    return _from_netrc(url, username, environment) or keyring(url, username)


def _value(environment: Mapping[str, str], index: str, what: str) -> str | None:
    # A secret that was read from a file often still has its line end.
    return environment.get(variable(index, what), "").rstrip("\r\n") or None


def _from_netrc(
    url: str, username: str | None, environment: Mapping[str, str]
) -> Credentials | None:
    file = _netrc_file(environment)
    if file is None:
        return None
    try:
        entry = netrc(file).authenticators(urlsplit(url).hostname or "")
    except NetrcParseError as error:
        # Its text may quote the password, so only the place is told, and nothing is chained.
        raise UsageError(f"`{file}` is malformed at line {error.lineno}") from None
    except (OSError, UnicodeDecodeError):
        raise UsageError(f"`{file}` cannot be read") from None
    if entry is None:
        return None
    user, account, password = entry
    found = Credentials(user or account or "", password or "")
    return found if username in {None, found.username} else None


def _netrc_file(environment: Mapping[str, str]) -> Path | None:
    named = environment.get("NETRC")
    if named:
        return Path(named)
    home = environment.get("HOME")
    file = Path(home) / ".netrc" if home else None
    return file if file is not None and file.is_file() else None
