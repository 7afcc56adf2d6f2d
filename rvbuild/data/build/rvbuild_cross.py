"""Makes a virtual environment's Python answer for the target while RVBUILD_TARGET_FACTS is set.

Installed into a job's environment beside a `.pth` file that imports it. Only what build backends
ask is changed: `sysconfig`, `platform` and `os.uname`. How modules are loaded stays as it is, since
compiled modules of build requirements (Cython, NumPy) run here.
"""

import json
import os
import platform
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

VARIABLE = "RVBUILD_TARGET_FACTS"
MESON = frozenset({"meson", "meson.py", "mesonmain.py"})
# Paths stay this machine's: it is here that things are installed and imported.
KEPT = frozenset(
    {
        *("prefix", "exec_prefix", "base", "platbase", "installed_base", "installed_platbase"),
        *("projectbase", "userbase", "abiflags", "srcdir", "platlibdir", "py_version"),
    }
)


class Facts(NamedTuple):
    """What the JSON file says: the target's build-time variables, its platform and machine."""

    variables: dict[str, object]
    platform: str
    machine: str


def _load(path: str) -> Facts:
    return Facts(**json.loads(Path(path).read_text(encoding="utf-8")))


def _runs_meson() -> bool:
    # Meson looks at this machine for the build machine; the host machine is in its cross file.
    return any(Path(word).name in MESON for word in sys.orig_argv)


def _replace(module: object, answers: Mapping[str, object]) -> None:
    for name, answer in answers.items():
        setattr(module, name, answer)


def _answer_sysconfig(facts: Facts) -> None:
    own: dict[str, object] = dict(sysconfig.get_config_vars())
    kept = {name: value for name, value in own.items() if name in KEPT}
    answer = {**own, **facts.variables, **kept}
    include = str(answer["INCLUDEPY"])
    own_paths = sysconfig.get_paths

    def get_config_vars(*names: str) -> object:
        return [answer.get(name) for name in names] if names else answer

    # The parameters are the standard library's, so that every call goes on working.
    def get_paths(*arguments: object, **named: object) -> dict[str, str]:
        paths: dict[str, str] = own_paths(*arguments, **named)  # type: ignore[arg-type]
        return {**paths, "include": include, "platinclude": include}

    def get_path(name: str, *arguments: object, **named: object) -> str:
        return get_paths(*arguments, **named)[name]

    answers: dict[str, object] = {
        "_CONFIG_VARS": answer,
        "_CONFIG_VARS_INITIALIZED": True,
        "get_config_vars": get_config_vars,
        "get_config_var": answer.get,
        "get_platform": lambda: facts.platform,
        "get_paths": get_paths,
        "get_path": get_path,
        "get_config_h_filename": lambda: f"{include}/pyconfig.h",
    }
    _replace(sysconfig, answers)


def _answer_platform(facts: Facts) -> None:
    here = os.uname()
    there = os.uname_result((*tuple(here)[:4], facts.machine))
    _replace(os, {"uname": lambda: there})
    # `platform.uname()` remembers what it was told before.
    answers: dict[str, object] = {
        "_uname_cache": None,
        "machine": lambda: facts.machine,
        "processor": lambda: "",
    }
    _replace(platform, answers)
    _replace(sys.implementation, {"_multiarch": f"{facts.machine}-linux-gnu"})


def activate() -> None:
    """Answer for the target from here on, where a job asks for it."""
    path = os.environ.get(VARIABLE)
    if path is None:
        return
    facts = _load(path)
    _answer_sysconfig(facts)
    if not _runs_meson():
        _answer_platform(facts)


activate()
