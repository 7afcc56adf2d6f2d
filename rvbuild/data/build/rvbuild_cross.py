"""Makes a virtual environment's Python answer for the target while RVBUILD_TARGET_FACTS is set.

Installed into a job's environment beside a `.pth` file that imports it. Only what build backends ask is
changed: `sysconfig`, `platform` and `os.uname`. How modules are loaded stays as it is, since compiled
modules of build requirements (Cython, NumPy) run here. The variable names a JSON file with `variables`
(the target's build-time variables), `platform` and `machine`.
"""

import json
import os
import platform
import sys
import sysconfig


def _load():
    with open(os.environ["RVBUILD_TARGET_FACTS"], encoding="utf-8") as stream:
        return json.load(stream)


def _runs_meson():
    # Meson looks at this machine for the build machine; the host machine comes from its cross file.
    names = {os.path.basename(word) for word in sys.orig_argv}
    return bool(names & {"meson", "meson.py", "mesonmain.py"})


def _answer_sysconfig(facts):
    own = dict(sysconfig.get_config_vars())
    kept = ("prefix", "exec_prefix", "base", "platbase", "installed_base", "installed_platbase")
    kept += ("projectbase", "userbase", "abiflags", "srcdir", "platlibdir", "py_version")
    # Paths stay this machine's: it is here that things are installed and imported.
    answer = {**own, **facts["variables"], **{name: own[name] for name in kept if name in own}}
    include = answer["INCLUDEPY"]
    own_paths = sysconfig.get_paths

    def get_config_vars(*names):
        return [answer.get(name) for name in names] if names else answer

    def get_paths(*arguments, **named):
        paths = own_paths(*arguments, **named)
        paths["include"] = paths["platinclude"] = include
        return paths

    def get_path(name, *arguments, **named):
        return get_paths(*arguments, **named)[name]

    sysconfig._CONFIG_VARS = answer
    sysconfig._CONFIG_VARS_INITIALIZED = True
    sysconfig.get_config_vars = get_config_vars
    sysconfig.get_config_var = answer.get
    sysconfig.get_platform = lambda: facts["platform"]
    sysconfig.get_paths = get_paths
    sysconfig.get_path = get_path
    sysconfig.get_config_h_filename = lambda: os.path.join(include, "pyconfig.h")


def _answer_platform(facts):
    here = os.uname()
    there = os.uname_result((here.sysname, here.nodename, here.release, here.version, facts["machine"]))
    os.uname = lambda: there
    platform._uname_cache = None
    platform.machine = lambda: facts["machine"]
    platform.processor = lambda: ""
    sys.implementation._multiarch = f"{facts['machine']}-linux-gnu"


def activate():
    """Answer for the target from here on, where a job asks for it."""
    if "RVBUILD_TARGET_FACTS" not in os.environ:
        return
    facts = _load()
    _answer_sysconfig(facts)
    if not _runs_meson():
        _answer_platform(facts)


activate()
