"""The build environment of a wheel: a virtual environment with what PEP 517 asks for.

What runs here comes from the index as wheels for this machine; headers and libraries of target
requirements are laid over their copies.
"""

import json
import shutil
from pathlib import Path

from rvbuild.build.model import Bench, BuildEnvironment, Workshop
from rvbuild.build.ninja import wrap_installed_ninja
from rvbuild.build.running import run, run_with_network
from rvbuild.build.settings import backend_name, config_settings, static_requires
from rvbuild.build.stand_in import lay_members, lay_stand_in, without
from rvbuild.build.surroundings import (
    applying,
    base_environment,
    build_environment,
    data_text,
    interpreter_of,
)

TARGET_FOLDERS = ("include", "lib", "pkgconfig")


def prepare_environment(workshop: Workshop, bench: Bench) -> BuildEnvironment:
    """Make the virtual environment and install all build requirements; raise `BuildError`."""
    folder = bench.folder / "venv"
    python = folder / "bin/python"
    interpreter = interpreter_of(workshop, bench)
    environment = base_environment(workshop, bench)
    shutil.rmtree(folder, ignore_errors=True)
    words = (str(interpreter.build_program), "-m", "venv", "--without-pip", str(folder))
    run(workshop, bench, words, environment, bench.folder)
    site = next((folder / "lib").glob("python*/site-packages"))
    (site / "rvbuild_cross.py").write_text(data_text("rvbuild_cross.py"), encoding="utf-8")
    (site / "rvbuild_cross.pth").write_text("import rvbuild_cross\n", encoding="utf-8")
    stated = applying(bench.job.recipe.requires.build, workshop, bench)
    wanted = without((*static_requires(bench.project), *stated), bench.stand_ins)
    installed = _install(workshop, bench, wanted, "static")
    for stood_in in bench.stand_ins:
        lay_stand_in(stood_in, site)
    asked = without(_ask_backend(workshop, bench, python), bench.stand_ins)
    if asked:
        # All over again, or what the backend asks for could leave the project's own ranges.
        installed |= _install(workshop, bench, (*wanted, *asked), "dynamic")
    wrap_installed_ninja(python.parent)
    for wheel in bench.wheels:
        lay_target_over(wheel, site)
    return BuildEnvironment(python, tuple(sorted(installed)))


def _install(
    workshop: Workshop, bench: Bench, requirements: tuple[str, ...], name: str
) -> set[str]:
    if not requirements:
        return set()
    interpreter = interpreter_of(workshop, bench)
    report = bench.folder / f"requirements-{name}.json"
    words = (
        *(str(bench.folder / "venv/bin/python"), f"{interpreter.pip}/pip", "install"),
        *("--no-input", "--disable-pip-version-check", "--no-warn-script-location"),
        *("--prefer-binary", "--report", str(report), *requirements),
    )
    environment = base_environment(workshop, bench) | dict(workshop.network_environment)
    run_with_network(workshop, bench, words, environment)
    return read_report(report)


def read_report(path: Path) -> set[str]:
    """Read what pip installed from its report: `name==version sha256:...`."""
    found = set()
    for item in json.loads(path.read_text(encoding="utf-8"))["install"]:
        metadata = item["metadata"]
        hashes = item["download_info"].get("archive_info", {}).get("hashes", {})
        digest = f" sha256:{hashes['sha256']}" if "sha256" in hashes else ""
        found.add(f"{metadata['name']}=={metadata['version']}{digest}")
    return found


def _ask_backend(workshop: Workshop, bench: Bench, python: Path) -> tuple[str, ...]:
    output = bench.folder / "requires.json"
    settings = config_settings(backend_name(bench.project), workshop, bench)
    program = bench.folder / "backend.py"
    program.write_text(data_text("backend.py"), encoding="utf-8")
    words = (str(python), str(program), "requires", str(output), json.dumps(settings))
    run(workshop, bench, words, build_environment(workshop, bench))
    return tuple(json.loads(output.read_text(encoding="utf-8")))


def lay_target_over(wheel: Path, site: Path) -> None:
    """Replace headers and libraries of a package that runs here by those of its target wheel.

    A build requirement such as NumPy runs on this machine, and its headers, static libraries and
    pkg-config files describe the target: `numpy.get_include()` then is right everywhere.
    """
    lay_members(wheel, site, lambda member: _describes_target(Path(member)))


def _describes_target(path: Path) -> bool:
    if path.suffix in {".h", ".hpp", ".a", ".pc", ".pxd", ".inc"}:
        return True
    return path.suffix == ".ini" and bool(set(path.parts) & set(TARGET_FOLDERS))
