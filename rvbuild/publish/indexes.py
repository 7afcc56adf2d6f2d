"""What a package index is to rvbuild. Which indexes there are is a setting, and `cli`'s to read."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from rvbuild.errors import UsageError


@dataclass(frozen=True, slots=True)
class IndexTarget:
    """An index that takes uploads.

    `url` takes the upload form, `simple_url` is the root of the simple index that lists what is
    there. `allowed_tags` are globs of platform tags; none means every tag that was ever defined. A
    bare `linux_…` tag or one that was never defined passes only when written there in full. Raises
    `UsageError` for addresses that are not http(s) or that carry a user or password.
    """

    name: str
    url: str
    simple_url: str
    allowed_tags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for address in (self.url, self.simple_url):
            parts = urlsplit(address)
            if parts.username is not None or parts.password is not None:
                raise UsageError(
                    f"an address of index `{self.name}` has credentials inside",
                    hint=f"take them out and set `{variable(self.name, 'USERNAME')}` and "
                    f"`{variable(self.name, 'PASSWORD')}`",
                )
            if parts.scheme not in {"http", "https"} or not parts.hostname:
                raise UsageError(f"`{address}` of index `{self.name}` is not an http(s) address")

    def project_url(self, project: str) -> str:
        """Give the address of a project's page; `project` is a normalised name."""
        return f"{self.simple_url.rstrip('/')}/{project}/"


def variable(index: str, what: str) -> str:
    """Name the environment variable of an index, such as `RVBUILD_MY_INDEX_TOKEN`."""
    name = "".join(char if char.isalnum() and char.isascii() else "_" for char in index.upper())
    return f"RVBUILD_{name}_{what}"
