"""The doctor: what each check makes of a machine, and which ways of building that leaves."""

import json
import platform
import socket
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rvbuild.doctor import Finding, Patient, examine, modes
from rvbuild.doctor.containers import check_binfmt, check_docker, check_isolation, judge_docker
from rvbuild.doctor.kits import check_emulator, check_pythons, check_sysroot, check_toolchain
from rvbuild.doctor.machine import (
    check_cache,
    check_compiler_cache,
    check_host,
    check_python,
    judge_space,
)
from rvbuild.doctor.reach import check_reach, judge_clock
from rvbuild.emulator import emulator_tree
from rvbuild.fetch import Network
from rvbuild.kit import load_pins
from rvbuild.kit.tree import kit_path
from rvbuild.places import Places, builtin_folder
from rvbuild.target import Floor
from rvbuild.testing import BinfmtState
from tests.cli_samples import Desk

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
HOST = platform.machine()


@pytest.fixture
def patient(tmp_path: Path) -> Patient:
    return Patient(
        places=Places(tmp_path / "cache"),
        network=Network((), (), offline=True),
        pins=builtin_folder("sysroots"),
        machine=HOST,
        system="Linux",
        floor=Floor(2, 31),
        pythons=("3.13",),
    )


def all_well(patient: Patient) -> tuple[Finding, ...]:
    """Give findings of a machine with everything."""
    names = [finding.name for finding in examine(patient)]
    return tuple(Finding(name, "ok", "fine") for name in dict.fromkeys(names))


def changed(findings: tuple[Finding, ...], *others: Finding) -> tuple[Finding, ...]:
    named = {finding.name: finding for finding in (*findings, *others)}
    return tuple(named.values())


def test_an_examination_is_whole_and_changes_nothing(patient: Patient) -> None:
    names = {finding.name for finding in examine(patient)}

    assert names >= {
        *("machine", "python", "cache", "disk", "sysroot", "toolchain", "emulator", "python 3.13"),
        *("compiler cache", "package index", "debian mirror", "clock"),
        *("isolation", "binfmt", "docker"),
    }
    assert not patient.places.cache.exists()


def test_a_check_that_fails_is_a_finding(patient: Patient) -> None:
    odd = replace(patient, machine="ppc64le", floor=Floor(2, 99), toolchain="gcc")

    found = {finding.name: finding for finding in examine(odd)}

    assert found["machine"].state == "problem"
    assert found["sysroot"].state == "problem"
    assert "2.99" in found["sysroot"].what
    assert found["docker"].state == "warning"


@pytest.mark.parametrize(
    ("system", "machine", "state"),
    [("Linux", "riscv64", "ok"), ("Linux", "i686", "problem"), ("Darwin", "x86_64", "problem")],
)
def test_machines(patient: Patient, system: str, machine: str, state: str) -> None:
    assert check_host(replace(patient, system=system, machine=machine)).state == state


def test_old_pythons_are_problems() -> None:
    assert check_python((3, 11, 0)).state == "ok"
    assert check_python((3, 10, 9)).state == "problem"


@pytest.mark.parametrize(("gigabytes", "state"), [(0.5, "problem"), (5, "warning"), (50, "ok")])
def test_space(gigabytes: float, state: str) -> None:
    assert judge_space(int(gigabytes * 10**9)).state == state


def test_a_cache_below_a_file_cannot_be_written(patient: Patient, tmp_path: Path) -> None:
    # Root may write into any folder, but not into this one.
    places = Places(Path("/proc/cache"))

    good = next(iter(check_cache(patient)))
    bad = next(iter(check_cache(replace(patient, places=places))))

    assert (good.state, bad.state) == ("ok", "problem")
    assert "cannot be written" in bad.what


def test_the_compiler_cache_keeps_its_secrets(patient: Patient) -> None:
    address = "redis://me:secret@store.example"
    shared = check_compiler_cache(replace(patient, compiler_cache=address))

    assert shared.what == "shared storage at store.example"
    assert check_compiler_cache(replace(patient, compiler_cache="off")).state == "warning"


def test_kits_that_are_not_there_are_fetched_later(patient: Patient) -> None:
    found = [check_sysroot(patient), check_toolchain(patient), check_emulator(patient)]
    found += check_pythons(replace(patient, pythons=("3.13", "3.1")))

    assert [each.to_fetch for each in found] == [True, True, True, True, False]
    assert [each.state for each in found] == [*["warning"] * 4, "problem"]


def test_an_emulator_that_does_not_run_is_a_problem(patient: Patient) -> None:
    program = kit_path(emulator_tree(HOST, patient.pins), patient.places) / "usr/bin/qemu-riscv64"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho qemu-riscv64 version 10.0.13\n")
    program.chmod(0o755)
    assert check_emulator(patient).state == "ok"
    program.write_text("no program")
    program.chmod(0o644)

    assert {each.name: each.state for each in examine(patient)}["emulator"] == "problem"


def test_an_offline_folder_is_a_way_to_files(patient: Patient, tmp_path: Path) -> None:
    folder = tmp_path / "offline"
    folder.mkdir()
    pins = load_pins(patient.pins / "tools.yaml")
    (folder / pins.tree("pip").pins[0].remote.file_name).write_bytes(b"")

    found = {
        each.name: each
        for each in check_reach(
            replace(patient, network=replace(patient.network, offline_folder=folder))
        )
    }

    assert found["package index"].state == "ok"
    assert found["debian mirror"].state == "problem"
    assert "RVBUILD_DEBIAN_MIRROR" in (found["debian mirror"].fix or "")


def test_a_mirror_that_refuses_is_told_with_its_reason(patient: Patient) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        mirror = f"http://127.0.0.1:{nobody.getsockname()[1]}/debian"
        network = Network((), (mirror,))
        found = {each.name: each for each in check_reach(replace(patient, network=network))}

    assert found["debian mirror"].state == "problem"
    assert "no connection" in found["debian mirror"].what


@pytest.mark.parametrize(
    ("off", "state"), [(timedelta(0), "ok"), (timedelta(minutes=20), "warning")]
)
def test_clocks(off: timedelta, state: str) -> None:
    assert judge_clock(NOW + off, NOW).state == state
    assert judge_clock(NOW, None).state == "ok"
    assert judge_clock(datetime(1970, 1, 1, tzinfo=UTC), None).state == "warning"


@pytest.mark.parametrize(
    ("entry", "state", "word"),
    [
        (BinfmtState(registered=False), "warning", "not registered"),
        (BinfmtState(registered=True, flags="F"), "warning", "disabled"),
        (BinfmtState(registered=True, enabled=True, flags="OC"), "warning", "without `F`"),
        (BinfmtState(registered=True, enabled=True, flags="OCF"), "ok", "`OCF`"),
    ],
)
def test_binfmt(patient: Patient, entry: BinfmtState, state: str, word: str) -> None:
    found = check_binfmt(replace(patient, machine="x86_64"), entry)

    assert (found.state, word in found.what) == (state, True)
    assert found.state == "ok" or found.fix


def test_binfmt_does_not_matter_on_the_target(patient: Patient) -> None:
    assert check_binfmt(replace(patient, machine="riscv64")).state == "ok"


@pytest.mark.parametrize(
    ("server", "errors", "state", "word"),
    [
        ({"Version": "28.1"}, "", "ok", "daemon 28.1"),
        (None, "Cannot connect to the Docker daemon", "warning", "no daemon"),
        (None, "permission denied while trying to connect", "warning", "this user"),
    ],
)
def test_docker(server: object, errors: str, state: str, word: str) -> None:
    output = json.dumps({"Client": {"Version": "28.2"}, "Server": server})

    found = judge_docker(output, errors)

    assert (found.state, word in found.what) == (state, True)
    assert judge_docker("no json", "").state == "warning"


def test_a_docker_that_cannot_be_started(patient: Patient, tmp_path: Path) -> None:
    assert "PATH" in check_docker(patient).what
    assert check_docker(replace(patient, docker=tmp_path / "docker")).state == "warning"


def test_isolation_is_told_either_way() -> None:
    assert check_isolation().state in ("ok", "warning")


def test_a_machine_with_everything_builds_across(patient: Patient) -> None:
    ways = {way.name: way for way in modes(all_well(patient), replace(patient, machine="x86_64"))}

    assert ways["cross"].possible
    assert ways["emulated"].possible
    assert ways["native"].missing == ("this machine is x86_64 and not riscv64",)


def test_the_network_counts_only_where_it_is_needed(patient: Patient) -> None:
    away = (Finding("package index", "problem", "x"), Finding("debian mirror", "problem", "y"))
    absent = Finding("sysroot", "warning", "not here", to_fetch=True)
    well = all_well(patient)
    online = replace(patient, network=Network((), ()))

    def missing(findings: tuple[Finding, ...], who: Patient) -> tuple[str, ...]:
        return modes(findings, who)[0].missing

    assert missing(changed(well, *away), patient) == ()
    assert missing(changed(well, *away), online) == ("package index: x",)
    assert missing(changed(well, *away, absent), patient) == (
        "package index: x",
        "debian mirror: y",
    )


def test_containers_need_docker_and_binfmt(patient: Patient) -> None:
    found = changed(all_well(patient), Finding("binfmt", "warning", "no F"))

    assert modes(found, patient)[2].missing == ("binfmt: no F",)


def test_what_stops_a_build_across_stops_the_other_modes_too(patient: Patient) -> None:
    full = Finding("disk", "problem", "0.1 GB free")
    board = replace(patient, machine="riscv64")

    ways = {way.name: way for way in modes(changed(all_well(patient), full), board)}

    assert {way.missing for way in ways.values()} == {("disk: 0.1 GB free",)}


def test_a_board_without_docker_builds_on_its_bare_system(patient: Patient) -> None:
    board = replace(patient, machine="riscv64")
    found = changed(all_well(patient), Finding("docker", "warning", "no daemon answers"))

    ways = {way.name: way for way in modes(found, board)}

    assert modes(all_well(patient), board)[1].possible
    assert ways["native"].missing == (
        "docker: no daemon answers; `--native --no-container` goes without",
    )
    assert ways["emulated"].missing == ("docker: no daemon answers",)


def test_the_command_tells_what_is_missing(desk: Desk) -> None:
    text = desk.run("doctor")
    document = desk.run("doctor", "--json").document

    assert text.code == 4
    assert "cross: not possible" in text.out
    assert "error: this machine cannot build across" in text.err
    assert "fix: `rvbuild sysroot fetch` fetches it now" in text.out
    ways = document["modes"]
    assert isinstance(ways, list)
    assert ways[0]["possible"] is False
