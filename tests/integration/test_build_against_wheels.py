"""A wheel against another one that cannot run where it is built: stand-in, linking, loading."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from rvbuild.audit import Policy, audit_wheel
from rvbuild.elf import read_elf
from rvbuild.pipeline import House, Options, Outcome, plan_for, run_plan
from rvbuild.target import Floor
from rvbuild.wheel import open_archive
from tests.build_samples import pack_source, write_tree

pytestmark = pytest.mark.needs("qemu")

FLOOR = Floor(2, 31)
OPTIONS = Options((), ("3.13",), FLOOR, jobs=2, compiler_cache="off", cpus=("rv64gc",))
PROJECT = """
[build-system]
requires = [@REQUIRES@]
build-backend = "bare"
backend-path = ["."]
"""
# `@BUILD@` compiles with `words` and adds to `files`, which are packed.
BACKEND = """
import os, subprocess, sysconfig, zipfile
NAME, SUFFIX = "@NAME@", sysconfig.get_config_var("EXT_SUFFIX")
def build_wheel(folder, settings):
    files = {NAME + "/__init__.py": open("__init__.py").read()}
    words = [*os.environ["CC"].split(), "-shared", "-fPIC", "-I" + sysconfig.get_path("include")]
    @BUILD@
    tag = "cp313-cp313-" + sysconfig.get_platform().replace("-", "_")
    info = NAME + "-1.0.dist-info/"
    about = ["Wheel-Version: 1.0", "Generator: bare", "Root-Is-Purelib: false", "Tag: " + tag, ""]
    head = "Metadata-Version: 2.1\\nName: " + NAME + "\\nVersion: 1.0\\n"
    files[info + "METADATA"] = head + ("Requires-Dist: base\\n" if NAME == "user" else "")
    files[info + "WHEEL"] = "\\n".join(about)
    record = "".join(name + ",,\\n" for name in [*files, info + "RECORD"])
    with zipfile.ZipFile(os.path.join(folder, NAME + "-1.0-" + tag + ".whl"), "w") as wheel:
        for name, text in (files | {info + "RECORD": record}).items():
            wheel.writestr(name, text)
    return NAME + "-1.0-" + tag + ".whl"
"""
BASE = """
    subprocess.run([*words, "-Wl,-soname,libbase.so", "base.c", "-o", "libbase.so"], check=True)
    files["base/lib/libbase.so"] = open("libbase.so", "rb").read()
    files["base/include/base.h"] = "int answer(void);\\n"
    files["base/where.py"] = "import os\\nHERE = os.path.dirname(os.path.abspath(__file__))\\n"
"""
# As PyTorch does: the module loads its library, for all that come after it.
BASE_MODULE = """
import ctypes
from base.where import HERE
library = ctypes.CDLL(HERE + "/lib/libbase.so", mode=ctypes.RTLD_GLOBAL)
"""
USER = """
    import base
    words += ["-I" + base.HERE + "/include", "-L" + base.HERE + "/lib", "user.c", "-lbase"]
    subprocess.run([*words, "-o", "_c" + SUFFIX], check=True)
    files["user/_c" + SUFFIX] = open("_c" + SUFFIX, "rb").read()
"""
USER_MODULE = """
#include <Python.h>
#include "base.h"
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_c", NULL, -1, NULL};
PyMODINIT_FUNC PyInit__c(void) {
  PyObject *module = PyModule_Create(&definition);
  PyModule_AddIntConstant(module, "answer", answer());
  return module;
}
"""
STAND_IN = '"""Stands in for base."""\nfrom base.where import HERE as HERE\n'


def add_recipe(
    house: House, name: str, body: str, files: Mapping[str, str], **more: object
) -> None:
    requires = '"base"' if name == "user" else ""
    tree = {
        "pyproject.toml": PROJECT.replace("@REQUIRES@", requires),
        "bare.py": BACKEND.replace("@NAME@", name).replace("@BUILD@", body.strip()),
        **files,
    }
    (folder,) = house.catalogue.folders
    recipe = {
        "name": name,
        "version": "1.0",
        "license": "MIT",
        "sources": [pack_source(folder.parent / "made", f"{name}-1.0", tree)],
        **more,
    }
    (folder / f"{name}.yaml").write_text(yaml.safe_dump(recipe), encoding="utf-8")


def build_user(house: House) -> Outcome:
    options = replace(OPTIONS, names=("user",))
    return run_plan(plan_for(options, house), options, house)[-1]


def test_a_wheel_links_with_the_library_of_a_wheel_that_does_not_run_here(
    house: House, tmp_path: Path
) -> None:
    add_recipe(
        house,
        "base",
        BASE,
        {"__init__.py": BASE_MODULE, "base.c": "int answer(void) { return 42; }\n"},
        stand_in={"takes": ["base/lib/*.so", "base/where.py"]},
        test={"smoke": "import base\nassert base.library.answer() == 42\n"},
    )
    add_recipe(
        house,
        "user",
        USER,
        {"__init__.py": "import base\nfrom user._c import answer\n", "user.c": USER_MODULE},
        requires={"target": ["base"]},
        test={"smoke": "import user\nassert user.answer == 42\n"},
    )
    stand_ins = house.catalogue.folders[0].parent / "stand-ins"
    write_tree(stand_ins / "base", {"base/__init__.py": STAND_IN})
    outcome = build_user(house)
    assert outcome.error is None, (outcome.error.message, outcome.error.causes, outcome.error.tail)
    assert outcome.wheel is not None
    with open_archive(outcome.wheel) as archive:
        (module,) = (name for name in archive.namelist() if name.endswith(".so"))
        archive.extract(module, tmp_path)
    # Not grafted: one process has one copy.
    assert "libbase.so" in read_elf(tmp_path / module).needed
    assert audit_wheel(outcome.wheel, Policy(FLOOR, allowed_libraries=("libbase.so",))).ok
