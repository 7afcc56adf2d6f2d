"""Writing a root folder as an archive that container engines load; same folder, same bytes."""

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile

# 2020-02-02, as in wheels.
EPOCH_SECONDS = 1580601600
CREATED = "2020-02-02T00:00:00Z"
SHARED_MODE = 0o1777


@dataclass(frozen=True, slots=True)
class Described:
    """What an image says of itself: name, architecture, labels, environment, and who made it."""

    name: str
    architecture: str
    labels: Mapping[str, str]
    environment: tuple[str, ...]
    made_by: str
    shared: tuple[str, ...] = field(default=("tmp", "var/tmp"))


def write_archive(root: Path, described: Described, archive: Path) -> None:
    """Write the archive of a one-layer image; it appears whole or not at all."""
    staging = archive.with_name(f"{archive.name}.{os.getpid()}.tmp")
    try:
        with TemporaryFile(dir=archive.parent) as layer:
            with tarfile.open(fileobj=layer, mode="w") as packed:
                for entry, file in _entries(root, described.shared):
                    _add(packed, entry, file)
            size = layer.tell()
            layer.seek(0)
            digest = hashlib.file_digest(layer, "sha256").hexdigest()
            layer.seek(0)
            with tarfile.open(staging, mode="w") as whole:
                _add_texts(whole, described, digest)
                entry = _entry(f"{digest}/layer.tar")
                entry.size = size
                whole.addfile(entry, layer)
        staging.rename(archive)
    finally:
        staging.unlink(missing_ok=True)


def _add_texts(whole: tarfile.TarFile, described: Described, digest: str) -> None:
    config = json.dumps(
        {
            "architecture": described.architecture,
            "os": "linux",
            "created": CREATED,
            "config": {
                "Cmd": ["/bin/sh"],
                "Env": list(described.environment),
                "Labels": dict(described.labels),
            },
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
            "history": [{"created": CREATED, "created_by": described.made_by}],
        },
        sort_keys=True,
    )
    name = hashlib.sha256(config.encode()).hexdigest() + ".json"
    manifest = [{"Config": name, "RepoTags": [described.name], "Layers": [f"{digest}/layer.tar"]}]
    for member, text in ((name, config), ("manifest.json", json.dumps(manifest))):
        entry = _entry(member)
        entry.size = len(text.encode())
        whole.addfile(entry, io.BytesIO(text.encode()))


def _entry(name: str) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.mtime = EPOCH_SECONDS
    entry.mode = 0o644
    return entry


def _entries(root: Path, shared: tuple[str, ...]) -> Iterator[tuple[tarfile.TarInfo, Path | None]]:
    names = sorted(str(path.relative_to(root)) for path in root.rglob("*"))
    for name in names:
        path = root / name
        entry = _entry(name)
        if path.is_symlink():
            entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, str(path.readlink()), 0o777
            yield entry, None
        elif path.is_dir():
            entry.type = tarfile.DIRTYPE
            entry.mode = SHARED_MODE if name in shared else 0o755
            yield entry, None
        else:
            entry.size = path.stat().st_size
            entry.mode = 0o755 if os.access(path, os.X_OK) else 0o644
            yield entry, path


def _add(packed: tarfile.TarFile, entry: tarfile.TarInfo, file: Path | None) -> None:
    if file is None:
        packed.addfile(entry)
        return
    with file.open("rb") as stream:
        packed.addfile(entry, stream)
