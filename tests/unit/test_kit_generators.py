"""protoc and flatc for the build machine, and whose keys they reach."""

from rvbuild.kit.generators import GENERATORS, PIN_FILE
from rvbuild.kit.pins import load_pins
from rvbuild.kit.programs import LOADERS
from rvbuild.places import builtin_folder
from rvbuild.plan.key import Situation, inputs_of
from rvbuild.plan.model import Inputs
from rvbuild.target import Floor
from tests.build_samples import recipe_of


def test_every_host_has_generators_of_the_same_upstream_versions() -> None:
    pins = load_pins(builtin_folder("sysroots") / PIN_FILE)
    for host in LOADERS:
        files = [pin.remote.file_name for pin in pins.tree(f"generators-{host}").pins]
        assert any(file.startswith("protobuf-compiler_3.21.12") for file in files), host
        assert any(file.startswith("flatbuffers-compiler_23.5.26") for file in files), host


def test_a_generator_is_in_the_keys_of_those_that_ask_for_it_only() -> None:
    inputs = Inputs("toolchain", "sysroot", asked=dict.fromkeys(GENERATORS, "digest"))
    situation = Situation(None, Floor.parse("2_31"), "cross")
    plain = inputs_of(recipe_of("a", kind="library"), situation, inputs, {})
    asking = recipe_of("a", kind="library", requires={"tools": ["cc", "protoc"]})
    assert "tool protoc" not in plain
    told = inputs_of(asking, situation, inputs, {})
    assert told["tool protoc"] == "digest"
    assert "tool flatc" not in told
