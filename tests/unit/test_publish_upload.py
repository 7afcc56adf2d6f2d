from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from socket import socket

import pytest

from rvbuild.errors import NothingSelectedError, PublishError
from rvbuild.events import Silent
from rvbuild.publish.connection import Patience, _retry_after
from rvbuild.publish.credentials import Credentials
from rvbuild.publish.indexes import IndexTarget
from rvbuild.publish.upload import Published, publish
from tests.conftest import Recorder
from tests.publish_samples import FakeIndex, Fault, fake_index, make_wheel, metadata_of, sha256

FAST = Patience(attempts=3, pause_seconds=0.01, longest_pause_seconds=1.5, timeout_seconds=5)
STORED_500 = Fault(500, store=True)
DROPPED = Fault()
STORED_DROPPED = Fault(store=True)
SECRET = "s3cret/pässword"


@pytest.fixture
def index() -> Iterator[FakeIndex]:
    with fake_index() as index:
        yield index


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    return make_wheel(tmp_path, "a-1.0-py3-none-any.whl")


def _publish(index: FakeIndex, *wheels: Path) -> tuple[Published, ...]:
    return publish(wheels, index.target, None, Silent(), FAST)


def _states(published: tuple[Published, ...]) -> list[str]:
    return [each.state for each in published]


def test_upload_and_again(index: FakeIndex, wheel: Path) -> None:
    first = _publish(index, wheel)
    again = _publish(index, wheel)

    assert first == (Published(wheel, sha256(wheel), "uploaded"),)
    assert _states(again) == ["already there"]
    assert index.uploads == [wheel.name]
    assert index.files[wheel.name] == wheel.read_bytes()


def test_other_bytes_are_never_sent_and_the_rest_goes_on(index: FakeIndex, tmp_path: Path) -> None:
    index.hold(make_wheel(tmp_path / "old", "a-1.0-py3-none-any.whl", payload="old"))
    before = dict(index.files)
    changed = make_wheel(tmp_path, "a-1.0-py3-none-any.whl")
    other = make_wheel(tmp_path, "b-1.0-py3-none-any.whl")

    with pytest.raises(PublishError) as caught:
        _publish(index, changed, other)

    assert caught.value.message == "1 of 2 wheels are not on `fake`"
    assert "other bytes" in caught.value.causes[0]
    assert index.files == before | {other.name: other.read_bytes()}


def test_a_page_without_hashes_makes_us_compare_the_file(index: FakeIndex, tmp_path: Path) -> None:
    index.hashes = False
    wheel = make_wheel(tmp_path, "a-1.0-py3-none-any.whl")
    index.hold(wheel)

    assert _states(_publish(index, wheel)) == ["already there"]
    with pytest.raises(PublishError, match="1 of 1"):
        _publish(index, make_wheel(tmp_path / "new", wheel.name, payload="new"))
    assert index.uploads == []


@pytest.mark.parametrize("fault", [STORED_500, STORED_DROPPED, Fault(503, store=True)])
def test_stored_although_it_failed_is_done(index: FakeIndex, wheel: Path, fault: Fault) -> None:
    index.faults = [fault]

    assert _states(_publish(index, wheel)) == ["resumed"]
    assert index.uploads == [wheel.name]


@pytest.mark.parametrize("fault", [DROPPED, Fault(500), Fault(502), Fault(429)])
def test_a_passing_failure_is_tried_again(index: FakeIndex, wheel: Path, fault: Fault) -> None:
    index.faults = [fault, fault]

    assert _states(_publish(index, wheel)) == ["uploaded"]
    assert len(index.uploads) == 3


def test_a_connection_that_drops_amid_the_file(index: FakeIndex, tmp_path: Path) -> None:
    index.faults = [Fault(early=True)]
    big = make_wheel(tmp_path, "a-1.0-py3-none-any.whl", payload="x" * 4_000_000)

    assert _states(_publish(index, big)) == ["uploaded"]
    assert index.uploads == ["unread", big.name]


def test_retry_after_is_honoured(index: FakeIndex, wheel: Path, recorder: Recorder) -> None:
    index.faults = [Fault(503, headers=(("Retry-After", "1"),))]

    (published,) = publish([wheel], index.target, None, recorder, FAST)

    assert published.state == "uploaded"
    assert recorder.durations[0] >= 1
    assert recorder.of("note") == [
        ("a-1.0:py3", "index `fake` answered 503: Service Unavailable; trying again")
    ]


def test_retry_after_may_be_a_date() -> None:
    soon = datetime.now(UTC) + timedelta(seconds=30)

    waited = _retry_after(format_datetime(soon, usegmt=True))

    assert waited is not None
    assert 25 < waited <= 30
    assert _retry_after("Mon, 01 Jan 2001 00:00:00 GMT") == 0
    assert _retry_after("soon") is None


def test_it_gives_up_in_the_end(index: FakeIndex, wheel: Path) -> None:
    index.faults = [Fault(500, text="<html><title>x</title><p>out of  disk</p></html>")] * 3

    with pytest.raises(PublishError) as caught:
        _publish(index, wheel)

    assert caught.value.causes == (
        "a-1.0-py3-none-any.whl: index `fake` did not take it: answered 500: out of disk",
    )
    assert len(index.uploads) == 3


@pytest.mark.parametrize(
    "fault",
    [
        Fault(409),
        Fault(400, text="Package 'a' already exists!"),
        Fault(400, text="Validation failed: File name has already been taken"),
    ],
)
def test_a_duplicate_that_someone_else_just_sent(
    index: FakeIndex, wheel: Path, fault: Fault
) -> None:
    index.faults = [Fault(fault.status, store=True, text=fault.text)]
    assert _states(_publish(index, wheel)) == ["already there"]

    index.files.clear()
    index.faults = [fault]
    with pytest.raises(PublishError, match="1 of 1") as caught:
        _publish(index, wheel)
    assert "says that it has this file and does not list it" in caught.value.causes[0]
    assert len(index.uploads) == 2


def test_a_refusal_is_told_and_not_repeated(index: FakeIndex, tmp_path: Path) -> None:
    bad = make_wheel(tmp_path, "a-1.0-py3-none-any.whl")
    good = make_wheel(tmp_path, "b-1.0-py3-none-any.whl")
    index.faults = [Fault(400, text="unsupported platform tag")]

    with pytest.raises(PublishError) as caught:
        _publish(index, bad, good)

    assert "answered 400: unsupported platform tag" in caught.value.causes[0]
    assert index.uploads == [bad.name, good.name]
    assert list(index.files) == [good.name]


def test_an_upload_that_is_sent_on_names_the_address(index: FakeIndex, wheel: Path) -> None:
    index.faults = [Fault(301, headers=(("Location", "https://new.example/up/"),))]

    with pytest.raises(PublishError) as caught:
        _publish(index, wheel)

    assert "https://new.example/up/" in caught.value.causes[0]


def test_unknown_user_ends_it_and_one_refused_project_does_not(
    index: FakeIndex, tmp_path: Path
) -> None:
    first = make_wheel(tmp_path, "a-1.0-py3-none-any.whl")
    second = make_wheel(tmp_path, "b-1.0-py3-none-any.whl")
    index.faults = [Fault(403), Fault(401)]

    with pytest.raises(PublishError) as caught:
        _publish(index, first, second)
    assert len(caught.value.causes) == 2
    assert "does not let us" in caught.value.causes[0]
    assert "RVBUILD_FAKE_TOKEN" in (caught.value.hint or "")

    index.faults = [Fault(401)]
    with pytest.raises(PublishError, match="2 of 2"):
        _publish(index, first, second)
    assert index.uploads == [first.name, second.name, first.name]


def test_the_password_is_in_no_error(index: FakeIndex, wheel: Path) -> None:
    index.faults = [Fault(403, text=f"no, {SECRET} is wrong")]

    with pytest.raises(PublishError) as caught:
        publish([wheel], index.target, Credentials("me", SECRET), Silent(), FAST)

    assert "no, *** is wrong" in caught.value.causes[0]
    assert index.seen[-1][1] == index.seen[0][1] == "Basic bWU6czNjcmV0L3DDpHNzd29yZA=="


def test_what_a_public_index_has_is_not_taken_for_ours(index: FakeIndex, wheel: Path) -> None:
    with fake_index() as public:
        public.hold(wheel)
        index.fallback = f"{public.address.replace('127.0.0.1', 'localhost')}simple/"

        assert _states(_publish(index, wheel)) == ["uploaded"]
        assert public.seen == []


def test_nothing_goes_out_when_one_wheel_is_wrong(index: FakeIndex, tmp_path: Path) -> None:
    good = make_wheel(tmp_path, "a-1.0-py3-none-any.whl")
    bad = make_wheel(tmp_path, "b-1.0-cp313-cp313-linux_riscv64.whl")

    with pytest.raises(PublishError, match="nothing was uploaded"):
        _publish(index, good, bad)

    assert index.seen == []


def test_dependencies_arrive_first(index: FakeIndex, tmp_path: Path) -> None:
    needs = metadata_of("a", "1.0", "Requires-Dist: z")
    top = make_wheel(tmp_path, "a-1.0-py3-none-any.whl", metadata=needs)
    below = make_wheel(tmp_path, "z-1.0-py3-none-any.whl")

    _publish(index, top, below)

    assert index.uploads == [below.name, top.name]


def test_a_server_that_is_not_there(wheel: Path) -> None:
    with closing(socket()) as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}/"
        gone = IndexTarget("gone", address, address)

        with pytest.raises(PublishError) as caught:
            publish([wheel], gone, None, Silent(), FAST)

    assert "cannot see what index `gone` has" in caught.value.causes[0]


def test_nothing_is_printed(
    index: FakeIndex, wheel: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    index.faults = [Fault(500)]

    _publish(index, wheel)

    assert capfd.readouterr() == ("", "")


def test_watchers_see_each_wheel(index: FakeIndex, wheel: Path, recorder: Recorder) -> None:
    publish([wheel], index.target, None, recorder, FAST)

    assert recorder.of("finished") == [("a-1.0:py3", "publish", f"{wheel.name} uploaded")]


def test_no_wheels_is_nothing_selected(index: FakeIndex) -> None:
    with pytest.raises(NothingSelectedError):
        _publish(index)
