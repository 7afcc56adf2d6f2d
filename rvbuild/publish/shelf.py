"""What an index already has, read from its simple pages."""

from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urljoin

import requests

from rvbuild.errors import PublishError
from rvbuild.publish.connection import Connection, Patience
from rvbuild.publish.indexes import IndexTarget, variable
from rvbuild.publish.listing import read_html, read_json
from rvbuild.publish.pages import HTML_TYPE, JSON_TYPE, Link

_ACCEPT = f"{JSON_TYPE}, {HTML_TYPE};q=0.2, text/html;q=0.1"
_ABSENT = {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}
_DENIED = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}


@dataclass(frozen=True, slots=True)
class Shelf:
    """The files that one index lists."""

    index: IndexTarget
    connection: Connection
    patience: Patience

    def sha256(self, project: str, file_name: str) -> str | None:
        """Give the sha256 of a file on the index, None when it is not there.

        The file is downloaded when its page has no sha256. Raises `PublishError` when the page
        or the file cannot be had.
        """
        page = self._page(project)
        if page is None:
            return None
        link = next((link for link in _links(page) if link.file_name == file_name), None)
        if link is None or link.sha256 is not None:
            return None if link is None else link.sha256
        try:
            return self.connection.hash_file(urljoin(page.url, link.url), page.url)
        except requests.RequestException as error:
            raise PublishError(
                f"`{file_name}` is on `{self.index.name}` and cannot be compared",
                causes=("its page gives no sha256", self.connection.clean(str(error))),
            ) from error

    def _page(self, project: str) -> requests.Response | None:
        url = self.index.project_url(project)
        fault = ""
        for attempt in range(self.patience.attempts):
            if attempt:
                self.patience.wait(attempt - 1, None)
            try:
                response = self.connection.get(url, _ACCEPT)
            except requests.RequestException as error:
                fault = self.connection.clean(str(error))
                continue
            if response is None or response.status_code in _ABSENT:
                return None
            if response.ok:
                return response
            fault = f"{url} answered {response.status_code}"
            if response.status_code < HTTPStatus.INTERNAL_SERVER_ERROR:
                raise self._unreadable(fault, denied=response.status_code in _DENIED)
        raise self._unreadable(fault, denied=False)

    def _unreadable(self, fault: str, *, denied: bool) -> PublishError:
        name = self.index.name
        return PublishError(
            f"cannot see what index `{name}` has",
            causes=(fault,),
            hint=f"check `{variable(name, 'USERNAME')}` and `{variable(name, 'PASSWORD')}`"
            if denied
            else f"check the simple address of `{name}`, {self.index.simple_url}",
        )


def _links(page: requests.Response) -> tuple[Link, ...]:
    content_type = page.headers.get("Content-Type", "").partition(";")[0].strip()
    # The text is UTF-8 by PEP 691 and 503; requests would take latin-1 where no charset is given.
    text = page.content.decode("utf-8", errors="replace")
    return read_json(text) if content_type == JSON_TYPE else read_html(text)
