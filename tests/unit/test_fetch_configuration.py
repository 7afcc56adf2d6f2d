"""How the machine's own configuration of pip and apt becomes a network."""

from pathlib import Path

import pytest
from pypi_simple import PYPI_SIMPLE_ENDPOINT

from rvbuild.errors import UsageError
from rvbuild.fetch.configuration import discover


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_nothing_said_means_the_default_index_and_no_mirror(tmp_path: Path) -> None:
    network = discover({}, tmp_path)
    assert network.pypi_indexes == (PYPI_SIMPLE_ENDPOINT,)
    assert network.debian_mirrors == ()
    assert network.mirrors == ()
    assert not network.offline
    assert network.offline_folder is None


def test_own_variables_come_first(tmp_path: Path) -> None:
    write(tmp_path / "etc/pip.conf", "[global]\nindex-url = https://pip.example/simple\n")
    write(tmp_path / "etc/apt/sources.list", "deb http://apt.example/debian stable main\n")
    environment = {
        "RVBUILD_PYPI_INDEX": "https://one.example/simple file:///two",
        "RVBUILD_DEBIAN_MIRROR": "http://one.example/debian http://two.example/d",
        "RVBUILD_DEBIAN_SNAPSHOT": "http://old.example/20250101T000000Z",
        "RVBUILD_MIRRORS": "https://a.example/=http://b.example/a/ https://c.example=file:///c",
        "RVBUILD_OFFLINE_DIR": str(tmp_path),
        "RVBUILD_OFFLINE": "1",
    }
    network = discover(environment, tmp_path)
    assert network.pypi_indexes == ("https://one.example/simple", "file:///two")
    assert network.debian_mirrors == (
        "http://one.example/debian",
        "http://two.example/d",
        "http://old.example/20250101T000000Z",
    )
    assert network.mirrors == (
        ("https://a.example/", "http://b.example/a/"),
        ("https://c.example", "file:///c"),
    )
    assert network.offline_folder == tmp_path
    assert network.offline


def test_pip_files_in_pips_order(tmp_path: Path) -> None:
    home = tmp_path / "home"
    environment = {"HOME": str(home)}
    write(
        tmp_path / "etc/xdg/pip/pip.conf",
        "[global]\nindex-url = https://xdg.example/simple\nextra-index-url = https://x.example\n",
    )
    assert discover(environment, tmp_path).pypi_indexes == (
        "https://xdg.example/simple",
        "https://x.example",
    )
    write(
        home / ".pip/pip.conf",
        "[install]\nindex-url = https://install.example\n[global]\nindex-url = https://g.example\n",
    )
    indexes = discover(environment, tmp_path).pypi_indexes
    assert indexes == ("https://install.example", "https://x.example")
    write(home / ".config/pip/pip.conf", "[global]\nindex_url = https://user.example\n")
    assert discover(environment, tmp_path).pypi_indexes[0] == "https://user.example"
    own = write(tmp_path / "own.conf", "[global]\nindex-url = https://own.example\n")
    environment["PIP_CONFIG_FILE"] = str(own)
    assert discover(environment, tmp_path).pypi_indexes[0] == "https://own.example"
    environment["PIP_INDEX_URL"] = "https://variable.example/simple"
    environment["PIP_EXTRA_INDEX_URL"] = "https://variable.example/more  file:///opt/simple"
    assert discover(environment, tmp_path).pypi_indexes == (
        "https://variable.example/simple",
        "https://variable.example/more",
        "file:///opt/simple",
    )


def test_pip_files_can_be_switched_off(tmp_path: Path) -> None:
    write(tmp_path / "etc/pip.conf", "[global]\nindex-url = https://pip.example/simple\n")
    network = discover({"PIP_CONFIG_FILE": "/dev/null"}, tmp_path)
    assert network.pypi_indexes == (PYPI_SIMPLE_ENDPOINT,)


def test_pip_without_indexes(tmp_path: Path) -> None:
    links = tmp_path / "wheels"
    links.mkdir()
    text = f"[global]\nno-index = true\nfind-links = {links}\n  /gone\n"
    write(tmp_path / "etc/pip.conf", text)
    network = discover({}, tmp_path)
    assert network.pypi_indexes == ()
    assert network.find_links == (links,)


def test_percent_signs_and_folders_as_indexes_do_no_harm(tmp_path: Path) -> None:
    text = "[global]\nindex-url = https://u:p%40w@pip.example/simple\nextra-index-url = /srv\n"
    write(tmp_path / "etc/pip.conf", text)
    assert discover({}, tmp_path).pypi_indexes == ("https://u:p%40w@pip.example/simple",)


@pytest.mark.parametrize("text", ["index-url = x\n", "[global]\na = 1\na = 2\n"])
def test_a_broken_pip_file_is_named(text: str, tmp_path: Path) -> None:
    path = write(tmp_path / "etc/pip.conf", text)
    with pytest.raises(UsageError) as caught:
        discover({}, tmp_path)
    assert caught.value.message == f"pip's configuration `{path}` cannot be read"


def test_apt_lists_and_stanzas(tmp_path: Path) -> None:
    apt = tmp_path / "etc/apt"
    write(
        apt / "sources.list",
        "# deb http://comment.example/debian stable main\n"
        "deb http://safe.example/debian-security stable-security main\n"
        "deb [arch=amd64 signed-by=/k.gpg] http://one.example/debian/ stable main\n"
        "deb-src http://one.example/debian stable main\n"
        "deb http://other.example/ubuntu noble main\n"
        "deb cdrom:[Debian]/debian stable main\n",
    )
    write(apt / "sources.list.d/three.list", "deb http://three.example/debian testing main\n")
    write(
        apt / "sources.list.d/two.sources",
        "Types: deb\n"
        "# note\n"
        "URIs: http://two.example/debian\n"
        "  https://snap.example/archive/debian/20250520T000000Z/\n"
        "Suites: stable\n"
        "Signed-By:\n"
        " -----BEGIN PGP PUBLIC KEY BLOCK-----\n"
        " .\n"
        "\n"
        "Types: deb\nURIs: http://off.example/debian\nEnabled: no\n"
        "\n"
        "Types: deb\nURIs: http://vendor.example/apt\n",
    )
    write(apt / "sources.list.d/off.sources.disabled", "URIs: http://disabled.example/debian\n")
    assert discover({}, tmp_path).debian_mirrors == (
        "http://one.example/debian",
        "http://three.example/debian",
        "http://two.example/debian",
        "https://snap.example/archive/debian/20250520T000000Z",
        "http://safe.example/debian-security",
    )


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("RVBUILD_PYPI_INDEX", "pip.example/simple"),
        ("RVBUILD_DEBIAN_MIRROR", "ftp://mirror.example/debian"),
        ("RVBUILD_MIRRORS", "https://a.example"),
        ("RVBUILD_OFFLINE_DIR", "/does/not/exist"),
        ("RVBUILD_OFFLINE", "maybe"),
    ],
)
def test_nonsense_is_named(variable: str, value: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        discover({variable: value}, tmp_path)
    assert variable in caught.value.message
    assert value in caught.value.message


def test_pips_certificates_are_trusted(tmp_path: Path) -> None:
    found = discover({"PIP_CERT": "/certs/company.pem", "SSL_CERT_FILE": "/other.pem"}, tmp_path)
    assert found.verify == "/certs/company.pem"
    assert discover({"SSL_CERT_FILE": "/other.pem"}, tmp_path).verify == "/other.pem"
    assert discover({}, tmp_path).verify is True
