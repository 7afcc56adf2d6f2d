"""What a job's result depends on, as flat text, and the keys made of it.

Parts of a recipe that do not reach the result (its tests, resources, prose) are left out.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rvbuild.errors import MissingToolError, UsageError
from rvbuild.plan.model import Inputs, Job
from rvbuild.recipe.model import Entry, ExtraSource, GitSource, Mode, Recipe, Source
from rvbuild.target import Cpu, Floor

# Counts up when the same inputs would give another result, because rvbuild builds differently.
SCHEMA = "2"


@dataclass(frozen=True, slots=True)
class Situation:
    """What decides which conditional entries of a recipe apply."""

    python: str | None
    floor: Floor
    mode: Mode

    def values(self, entries: Sequence[Entry]) -> tuple[str, ...]:
        """Give the values of the entries that apply, in order."""
        floor = str(self.floor)
        return tuple(
            entry.value for entry in entries if entry.when.holds(self.python, floor, self.mode)
        )


@dataclass(frozen=True, slots=True)
class Change:
    """An input that differs: `before` is None when it is new, `after` None when it is gone."""

    name: str
    before: str | None
    after: str | None


def inputs_of(
    recipe: Recipe, situation: Situation, inputs: Inputs, needs: Mapping[str, str]
) -> dict[str, str]:
    """Collect what a job reads, by names in sorted order; `needs` are keys by job id.

    Raises `UsageError` for a patch without a digest, `MissingToolError` for such a Python.
    """
    found = {"schema": SCHEMA, "floor": str(situation.floor), "mode": situation.mode}
    found |= _surroundings(situation, inputs)
    asked = (name for name in recipe.requires.tools if name in inputs.asked)
    found |= {f"tool {name}": inputs.asked[name] for name in asked}
    replaced = (name for name in recipe.requires.target if name in inputs.stand_ins)
    found |= {f"stand-in {name}": inputs.stand_ins[name] for name in replaced}
    found |= {"recipe.name": recipe.name, "recipe.version": recipe.version}
    found |= {"recipe.kind": recipe.kind}
    found |= dict(_sources(recipe))
    if recipe.kind == "wheel" and recipe.extra_sources:
        # Such a wheel tells what it is made of; others need no new key for that.
        found["sbom"] = "1"
    found |= dict(_patches(recipe, situation, inputs))
    found |= dict(_build(recipe, situation))
    found |= {f"needs {job_id}": key for job_id, key in needs.items()}
    return dict(sorted(found.items()))


def key_of(inputs: Mapping[str, str]) -> str:
    """Hash inputs, in whatever order, to 64 hex digits."""
    return hashlib.sha256(_text(dict(inputs)).encode()).hexdigest()


def test_key(job: Job, wheel_sha256: str, cpus: Sequence[Cpu], runtime_digest: str) -> str:
    """Hash what decides a test's outcome to 64 hex digits.

    That is the wheel and what is below it, its recipe's expectations and tests, the CPUs as they
    are emulated, and the runtime. Known failures expire by date, which is no part of it.
    """
    recipe = job.recipe
    return key_of(
        {
            "schema": SCHEMA,
            "job": job.key,
            "wheel": wheel_sha256,
            "recipe.expect": _text(recipe.expect.model_dump(mode="json")),
            "recipe.test": _text(recipe.test.model_dump(mode="json")),
            "runtime": runtime_digest,
            "cpus": _text([[cpu.name, cpu.qemu] for cpu in cpus]),
        }
    )


def explain(job: Job, previous: Mapping[str, str] | None) -> tuple[Change, ...]:
    """List the inputs that differ from an earlier run's, by name; every one when there was none."""
    before = previous or {}
    return tuple(
        Change(name, before.get(name), job.inputs.get(name))
        for name in sorted({*before, *job.inputs})
        if before.get(name) != job.inputs.get(name)
    )


def _surroundings(situation: Situation, inputs: Inputs) -> dict[str, str]:
    found = {
        "toolchain": inputs.toolchain,
        "sysroot": inputs.sysroot,
        "tools": inputs.tools,
        "environment": inputs.environment,
    }
    if situation.mode != "native":
        found["emulator"] = inputs.emulator
    if situation.python is not None:
        digest = inputs.pythons.get(situation.python)
        if digest is None:
            raise MissingToolError(
                f"there is no Python {situation.python} to build for",
                hint="choose another one with `--python`",
            )
        found[f"python {situation.python}"] = digest
    return {name: digest for name, digest in found.items() if digest}


def _sources(recipe: Recipe) -> Iterator[tuple[str, str]]:
    if recipe.only:
        yield "source.only", _text(recipe.only)
    for index, source in enumerate(recipe.sources):
        yield from _source(f"source[{index}]", source)
    for index, extra in enumerate(recipe.extra_sources):
        yield from _extra(f"extra_source[{index}]", extra)


def _extra(place: str, extra: ExtraSource) -> Iterator[tuple[str, str]]:
    yield f"{place}.into", extra.into
    yield f"{place}.strip", _text(extra.strip)
    if extra.unless is not None:
        yield f"{place}.unless", extra.unless
    for index, source in enumerate(extra.sources):
        yield from _source(f"{place}.source[{index}]", source)


def _source(place: str, source: Source) -> Iterator[tuple[str, str]]:
    # Where the bytes come from does not matter: a mirror gives the same ones.
    if isinstance(source, GitSource):
        yield f"{place}.commit", source.commit
        yield f"{place}.submodules", _text(source.submodules)
    elif source.sha256:
        yield f"{place}.sha256", source.sha256


def _patches(recipe: Recipe, situation: Situation, inputs: Inputs) -> Iterator[tuple[str, str]]:
    names = situation.values(recipe.patches)
    if names:
        yield "recipe.patches", _text(names)
    for name in names:
        digest = inputs.patches.get((recipe.name, name))
        if digest is None:
            raise UsageError(
                f"patch `{name}` of `{recipe.name}` does not exist",
                hint=f"put it into `patches/{recipe.name}/`",
            )
        yield f"patch {name}", digest


def _build(recipe: Recipe, situation: Situation) -> Iterator[tuple[str, str]]:
    # Every field of `build` counts unless it is empty: a field added later changes no old key.
    fields: dict[str, object] = recipe.build.model_dump(mode="json")
    fields["options"] = situation.values(recipe.build.options)
    for name, value in fields.items():
        if value:
            yield f"recipe.build.{name}", value if isinstance(value, str) else _text(value)
    requires = {
        "build": situation.values(recipe.requires.build),
        "tools": recipe.requires.tools,
    }
    for name, values in requires.items():
        if values:
            yield f"recipe.requires.{name}", _text(values)


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
