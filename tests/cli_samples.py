"""A desk to type commands at: a home of its own, recipes, and builds that only pretend."""

import base64
import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from rvbuild.build import Workshop
from rvbuild.cli.main import main
from rvbuild.errors import BuildError, RvbuildError
from rvbuild.pipeline import House, Options
from rvbuild.pipeline import run as running
from rvbuild.pipeline.job import Ground
from rvbuild.places import Places
from rvbuild.plan import Job
from rvbuild.store import Draft, Store, Stored
from tests.build_samples import workshop_at

RECIPE = """\
name: {name}
version: "1.0"
kind: {kind}
license: MIT
description: a thing
sources:
  - pypi: {name}-{{version}}.tar.gz
    sha256: "{digest}"
"""


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Mapping[str, object]:
        """What it wrote as JSON."""
        document = json.loads(self.out)
        assert isinstance(document, dict)
        assert str(document["schema"]).startswith("rvbuild.")
        return document


@dataclass
class Desk:
    """Where commands are typed; `made` holds the bytes that builds give, by job id."""

    home: Path
    capture: pytest.CaptureFixture[str]
    failing: dict[str, RvbuildError] = field(default_factory=dict)
    wheels: dict[str, Path] = field(default_factory=dict)
    begun: list[str] = field(default_factory=list)

    @property
    def places(self) -> Places:
        """The folders of its cache."""
        return Places(self.home / "cache")

    @property
    def store(self) -> Store:
        """The store of its cache."""
        return Store(self.places.store)

    def run(self, *words: str) -> Ended:
        """Type a command, offline and with the desk's own recipes."""
        with pytest.raises(SystemExit) as ended:
            main(("--cache", str(self.places.cache), "--offline", *words))
        captured = self.capture.readouterr()
        assert isinstance(ended.value.code, int)
        return Ended(ended.value.code, captured.out, captured.err)

    def write_recipe(self, name: str, kind: str = "wheel", more: str = "") -> Path:
        """Put a recipe into the desk's folder."""
        path = self.home / "recipes" / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        text = RECIPE.format(name=name, kind=kind, digest="0" * 64)
        if kind == "library":
            text += "build: {system: make}\n"
        if kind == "wheel" and "test:" not in more:
            text += "test: {imports: [thing]}\n"
        path.write_text(text + more)
        return path

    def workshop(self, _: Options, _house: House, _jobs: tuple[Job, ...]) -> Workshop:
        """Pretend to equip a workshop."""
        return workshop_at(self.home / "shop")

    def build(self, job: Job, ground: Ground) -> Stored:
        """Pretend to build a job."""
        self.begun.append(job.id)
        if job.recipe.name in self.failing:
            raise self.failing[job.recipe.name]
        staging = ground.house.places.work / job.recipe.name
        if job.python is None:
            (staging / "prefix/lib").mkdir(parents=True)
            (staging / "prefix/lib/liba.so").write_text("code")
        else:
            staging.mkdir(parents=True)
            made = self.wheels.get(job.id) or write_wheel(self.home / "made", job.recipe.name)
            (staging / made.name).write_bytes(made.read_bytes())
        return ground.house.store.publish(
            job.key, staging, Draft(job.id, job.inputs, "0", {"build": 2.0})
        )


def open_desk(
    home: Path, capture: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Desk:
    """Set a desk up in an empty folder, with builds that pretend."""
    desk = Desk(home, capture)
    monkeypatch.setattr(running, "build_job", desk.build)
    monkeypatch.setattr(running, "workshop", desk.workshop)
    return desk


def broken(name: str) -> BuildError:
    """Give the failure of a build."""
    return BuildError(f"`{name}` does not compile", causes=["no such header"])


def write_wheel(
    folder: Path,
    name: str = "thing",
    files: Mapping[str, bytes] | None = None,
    tag: str = "py3-none-any",
) -> Path:
    """Write a wheel of version 1.0 with a true RECORD."""
    info = f"{name}-1.0.dist-info"
    members = dict(files) if files is not None else {f"{name}.py": b""}
    members[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n".encode()
    pure = str(tag.endswith("-any")).lower()
    members[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nRoot-Is-Purelib: {pure}\nTag: {tag}\n".encode()
    rows = [f"{member},sha256={_digest(data)},{len(data)}\n" for member, data in members.items()]
    members[f"{info}/RECORD"] = f"{''.join(rows)}{info}/RECORD,,\n".encode()
    folder.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for member, data in members.items():
            archive.writestr(zipfile.ZipInfo(member), data)
    path = folder / f"{name}-1.0-{tag}.whl"
    path.write_bytes(buffer.getvalue())
    return path


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
