"""Building a wheel through its PEP 517 backend, across, without network."""

import json
import shutil
from pathlib import Path

from rvbuild.build.cross import check_cross, check_cross_files, check_environment
from rvbuild.build.model import Bench, BuildEnvironment, Workshop
from rvbuild.build.running import run
from rvbuild.build.settings import backend_name, config_settings
from rvbuild.build.surroundings import (
    applying,
    build_environment,
    data_text,
    placeholders,
    stated_environment,
)
from rvbuild.errors import BuildError
from rvbuild.recipe.placeholder import fill


def build_wheel(workshop: Workshop, bench: Bench, environment: BuildEnvironment) -> Path:
    """Build one wheel and say where it is; raise `BuildError`."""
    check_environment(stated_environment(workshop, bench), bench)
    run_before(workshop, bench)
    check_cross_files(applying(bench.job.recipe.build.options, workshop, bench), bench)
    output = bench.folder / "wheel"
    shutil.rmtree(output, ignore_errors=True)
    settings = config_settings(backend_name(bench.project), workshop, bench)
    program = bench.folder / "backend.py"
    program.write_text(data_text("backend.py"), encoding="utf-8")
    (bench.folder / "setup.cfg").write_text(
        f"[build_ext]\nparallel = {bench.cores}\n", encoding="utf-8"
    )
    words = (str(environment.python), str(program), "wheel", str(output), json.dumps(settings))
    told = build_environment(workshop, bench)
    told["DIST_EXTRA_CONFIG"] = str(bench.folder / "setup.cfg")
    done = run(workshop, bench, words, told)
    check_cross(done.output, bench)
    wheels = sorted(output.glob("*.whl"))
    if len(wheels) != 1:
        raise BuildError(
            f"the backend of `{bench.job.id}` made {len(wheels)} wheels, not one", log=bench.log
        )
    return wheels[0]


def run_before(workshop: Workshop, bench: Bench) -> None:
    """Run the recipe's `before` commands in the source, once for each source tree."""
    mark = bench.folder / "before-done"
    if mark.exists():
        # A build that goes on where it was killed finds the source as they left it.
        return
    values = placeholders(workshop, bench)
    for each in bench.job.recipe.build.before:
        words = tuple(fill(word, values) for word in each.run)
        cwd = bench.source / each.directory if each.directory else bench.source
        run(workshop, bench, words, build_environment(workshop, bench), cwd)
    mark.touch()
