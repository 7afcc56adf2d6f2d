from pathlib import Path

import keyring
import pytest
from keyring.core import load_keyring

from rvbuild.errors import UsageError
from rvbuild.publish.credentials import TOKEN_USER, Credentials, ask_keyring, find
from rvbuild.publish.indexes import IndexTarget

URL = "https://wheels.example/upload/"


def _nobody(url: str, username: str | None) -> Credentials | None:
    return None


def _find(environment: dict[str, str]) -> Credentials | None:
    return find("my-index", URL, environment, keyring=_nobody)


def _netrc(folder: Path, text: str) -> dict[str, str]:
    (folder / ".netrc").write_text(text)
    return {"HOME": str(folder)}


def test_user_and_password_of_the_environment() -> None:
    found = _find({"RVBUILD_MY_INDEX_USERNAME": "me", "RVBUILD_MY_INDEX_PASSWORD": "pass\n"})

    assert found == Credentials("me", "pass")


def test_a_token_has_its_own_user_unless_one_is_given() -> None:
    token = {"RVBUILD_MY_INDEX_TOKEN": "t0ken"}

    assert _find(token) == Credentials(TOKEN_USER, "t0ken")
    assert _find(token | {"RVBUILD_MY_INDEX_USERNAME": "ci"}) == Credentials("ci", "t0ken")


def test_half_an_answer_is_an_error() -> None:
    with pytest.raises(UsageError, match="without a user"):
        _find({"RVBUILD_MY_INDEX_PASSWORD": "pass"})
    with pytest.raises(UsageError, match="both"):
        _find({"RVBUILD_MY_INDEX_PASSWORD": "pass", "RVBUILD_MY_INDEX_TOKEN": "t0ken"})


def test_netrc_of_the_home_folder(tmp_path: Path) -> None:
    environment = _netrc(tmp_path, "machine wheels.example login me password pass\n")

    assert _find(environment) == Credentials("me", "pass")


def test_netrc_that_the_environment_names(tmp_path: Path) -> None:
    file = tmp_path / "elsewhere"
    file.write_text("machine wheels.example login me password pass\n")

    assert _find({"NETRC": str(file)}) == Credentials("me", "pass")


def test_netrc_of_another_host_or_user_is_not_taken(tmp_path: Path) -> None:
    other = _netrc(tmp_path, "machine other.example login me password pass\n")
    assert _find(other) is None

    user = _netrc(tmp_path, "machine wheels.example login me password pass\n")
    assert _find(user | {"RVBUILD_MY_INDEX_USERNAME": "you"}) is None


def test_environment_goes_before_netrc(tmp_path: Path) -> None:
    environment = _netrc(tmp_path, "machine wheels.example login me password pass\n")

    assert _find(environment | {"RVBUILD_MY_INDEX_TOKEN": "t"}) == Credentials(TOKEN_USER, "t")


def test_a_malformed_netrc_is_told_without_its_text(tmp_path: Path) -> None:
    environment = _netrc(tmp_path, "machine wheels.example login me\npasswrd hunter2\n")

    with pytest.raises(UsageError, match="line 2") as caught:
        _find(environment)

    assert "hunter2" not in caught.value.message
    assert caught.value.__cause__ is None


def test_a_missing_netrc_is_an_error_only_when_named(tmp_path: Path) -> None:
    assert _find({"HOME": str(tmp_path)}) is None
    with pytest.raises(UsageError, match="cannot be read"):
        _find({"NETRC": str(tmp_path / "none")})


def test_keyring_is_asked_last_and_for_the_given_user() -> None:
    asked: list[tuple[str, str | None]] = []

    def ring(url: str, username: str | None) -> Credentials | None:
        asked.append((url, username))
        return Credentials("ring", "pass")

    found = find("my-index", URL, {"RVBUILD_MY_INDEX_USERNAME": "me"}, ring)

    assert found == Credentials("ring", "pass")
    assert asked == [(URL, "me")]


def test_a_machine_without_keyring_has_none() -> None:
    before = keyring.get_keyring()
    keyring.set_keyring(load_keyring("keyring.backends.fail.Keyring"))
    try:
        assert ask_keyring(URL, None) is None
    finally:
        keyring.set_keyring(before)


def test_a_password_is_never_shown() -> None:
    found = Credentials("me", "p&ss")

    assert "p&ss" not in repr(found)
    assert found.mask("p&ss and p%26ss") == "*** and ***"


@pytest.mark.parametrize(
    "url", ["https://me:pass@wheels.example/", "https://pass@wheels.example/", "ftp://x/", "wheels"]
)
def test_an_index_address_is_checked(url: str) -> None:
    for addresses in ((url, URL), (URL, url)):
        with pytest.raises(UsageError) as caught:
            IndexTarget("my", *addresses)
        assert "pass@" not in caught.value.message
