"""What is set, and by whom: option, environment, project file, user file or default, in that order.

Reads no environment itself; it is handed in as `Surroundings`.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rvbuild.cli.settings_file import INDEXES, KINDS, Given, read_settings_file
from rvbuild.cli.spelling import did_you_mean, listed
from rvbuild.errors import UsageError
from rvbuild.places import Places

FILE_NAME = "rvbuild.toml"
PREFIX = "RVBUILD_"
TOOLCHAINS = ("clang", "gcc", "clang-system")
COLORS = ("auto", "always", "never")
FLAGS = {"1": True, "true": True, "yes": True, "on": True}
FLAGS |= {"0": False, "false": False, "no": False, "off": False}
PYTHON = re.compile(r"3\.\d+t?")
FLOOR = re.compile(r"\d+[._]\d+")

Layer = Mapping[str, Given]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What settings are read from beside options; relative paths start from `folder`."""

    environment: Mapping[str, str]
    folder: Path
    user_file: Path
    user_cache: Path


@dataclass(frozen=True, slots=True)
class NamedIndex:
    """A package index: upload address, simple page, further platform tags it takes."""

    name: str
    url: str | None
    simple: str | None
    allowed: tuple[str, ...]
    origin: str


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting; `cpus` empty means what each recipe names, `origins` says who set what."""

    cache: Path
    jobs: int
    pythons: tuple[str, ...]
    floor: str
    toolchain: str
    cpus: tuple[str, ...]
    color: str
    offline: bool
    offline_dir: Path | None
    dist: Path
    recipes: tuple[Path, ...]
    compiler_cache: str
    indexes: tuple[NamedIndex, ...]
    origins: Mapping[str, str]

    @property
    def places(self) -> Places:
        """The folders below the cache."""
        return Places(self.cache)


def load_settings(options: Mapping[str, tuple[str, ...]], around: Surroundings) -> Settings:
    """Settle every setting; `options` holds what the command line gave, by key.

    Raises `UsageError` for a value that makes no sense, naming who gave it, and `RecipeError` with
    every problem of a settings file.
    """
    given = {key: Given(words, "option", around.folder) for key, words in options.items()}
    files = [read_settings_file(path) for path in settings_files(around)]
    layers: tuple[Layer, ...] = (given, _environment(around), *files, _defaults(around))
    return _settle(layers)


def settings_files(around: Surroundings) -> tuple[Path, ...]:
    """Find the settings files that exist, the strongest first."""
    upwards = (folder / FILE_NAME for folder in (around.folder, *around.folder.parents))
    project = next((path for path in upwards if path.is_file()), None)
    candidates = (project, around.user_file if around.user_file.is_file() else None)
    return tuple(dict.fromkeys(path for path in candidates if path is not None))


def _settle(layers: tuple[Layer, ...]) -> Settings:
    found = {key: next(layer[key] for layer in layers if key in layer) for key in KINDS}
    offline_dir = found["offline_dir"]
    return Settings(
        cache=_path(found["cache"]),
        jobs=_number("jobs", found["jobs"]),
        pythons=_matching("pythons", found["pythons"], PYTHON, "3.13"),
        floor=_matching("floor", found["floor"], FLOOR, "2_31")[0].replace(".", "_"),
        toolchain=_choice("toolchain", found["toolchain"], TOOLCHAINS),
        cpus=_unique(found["cpus"].words),
        color=_choice("color", found["color"], COLORS),
        offline=_flag("offline", found["offline"]),
        offline_dir=_path(offline_dir) if offline_dir.words else None,
        dist=_path(found["dist"]),
        recipes=tuple(_path(found["recipes"], word) for word in found["recipes"].words),
        compiler_cache=_compiler_cache(found["compiler_cache"]),
        indexes=_indexes(layers),
        origins={key: value.origin for key, value in found.items()},
    )


def _environment(around: Surroundings) -> Layer:
    layer: dict[str, Given] = {}
    if around.environment.get("NO_COLOR"):
        layer["color"] = Given(("never",), "NO_COLOR", around.folder)
    for key, kind in KINDS.items():
        variable = PREFIX + key.upper()
        # An empty variable is how shells and CI files say "not set".
        if text := around.environment.get(variable, "").strip():
            words = (text,) if kind != "list" else _split(key, text)
            layer[key] = Given(words, variable, around.folder)
    return layer


def _split(key: str, text: str) -> tuple[str, ...]:
    separator = re.escape(os.pathsep) if key == "recipes" else r"[\s,]+"
    return tuple(word for word in re.split(separator, text) if word)


def _defaults(around: Surroundings) -> Layer:
    words: dict[str, tuple[str, ...]] = {
        "cache": (str(around.user_cache),),
        "jobs": (str(len(os.sched_getaffinity(0))),),
        "pythons": ("3.13",),
        "floor": ("2_31",),
        "toolchain": ("clang",),
        "cpus": (),
        "color": ("auto",),
        "offline": ("false",),
        "offline_dir": (),
        "dist": ("dist",),
        "recipes": (),
        "compiler_cache": ("local",),
    }
    return {key: Given(value, "default", around.folder) for key, value in words.items()}


def _path(given: Given, word: str | None = None) -> Path:
    try:
        chosen = Path(given.words[0] if word is None else word).expanduser()
    except RuntimeError as error:
        raise UsageError(f"there is no home folder for a path given by {given.origin}") from error
    return given.folder / chosen


def _number(key: str, given: Given) -> int:
    word = given.words[0]
    if not (word.isascii() and word.isdigit() and int(word) > 0):
        raise _wrong(key, given, word, "write a whole number from 1 on")
    return int(word)


def _flag(key: str, given: Given) -> bool:
    word = given.words[0].lower()
    if word not in FLAGS:
        raise _wrong(key, given, word, "write `true` or `false`")
    return FLAGS[word]


def _choice(key: str, given: Given, choices: tuple[str, ...]) -> str:
    word = given.words[0]
    if word not in choices:
        raise _wrong(key, given, word, f"write {listed(choices)}")
    return word


def _matching(key: str, given: Given, form: re.Pattern[str], example: str) -> tuple[str, ...]:
    for word in given.words:
        if not form.fullmatch(word):
            raise _wrong(key, given, word, f"write it like `{example}`")
    if not given.words:
        raise _wrong(key, given, "", f"write it like `{example}`")
    return _unique(given.words)


def _compiler_cache(given: Given) -> str:
    word = given.words[0]
    if word not in ("local", "off") and "://" not in word:
        hint = "write `local`, `off` or the address of a shared storage"
        raise _wrong("compiler_cache", given, word, hint)
    return word


def _unique(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))


def _wrong(key: str, given: Given, word: str, hint: str) -> UsageError:
    return UsageError(
        f"`{key}` cannot be `{word}`", causes=(f"it was given by {given.origin}",), hint=hint
    )


def _indexes(layers: tuple[Layer, ...]) -> tuple[NamedIndex, ...]:
    """Put indexes together; one of the same name in a weaker file is hidden as a whole."""
    indexes: dict[str, NamedIndex] = {}
    for layer in layers:
        here = {key: given for key, given in layer.items() if key.startswith(f"{INDEXES}.")}
        for name in dict.fromkeys(key.split(".")[1] for key in here):
            indexes.setdefault(name, _index(name, here))
    return tuple(indexes[name] for name in sorted(indexes))


def _index(name: str, layer: Layer) -> NamedIndex:
    entries = {
        key.split(".")[2]: given for key, given in layer.items() if key.split(".")[1] == name
    }
    words = {key: given.words for key, given in entries.items()}
    url, simple = (words[key][0] if key in words else None for key in ("url", "simple"))
    origin = next(iter(entries.values())).origin
    return NamedIndex(name, url, simple, words.get("allowed", ()), origin)


def find_index(name: str, settings: Settings) -> NamedIndex:
    """Find an index by name; raises `UsageError` with the nearest names when there is none."""
    for index in settings.indexes:
        if index.name == name:
            return index
    known = [index.name for index in settings.indexes]
    hint = (
        did_you_mean(name, known)
        or f"add `[indexes.{name}]` with `url` and `simple` to `{FILE_NAME}`"
    )
    raise UsageError(f"there is no index `{name}` in the settings", hint=hint)
