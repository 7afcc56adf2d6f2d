"""Standing in for a package that cannot run where others are built against it."""

import zipfile
from pathlib import Path

from rvbuild.build import StoodIn
from rvbuild.build.stand_in import lay_stand_in, without


def stood_in(folder: Path) -> StoodIn:
    with zipfile.ZipFile(folder / "torch.whl", "w") as bundle:
        for name in ("__init__.py", "version.py", "utils/tools.py", "lib/libtorch.so", "_C.so"):
            bundle.writestr(f"torch/{name}", "of the wheel")
    (folder / "stand-in/torch").mkdir(parents=True)
    (folder / "stand-in/torch/__init__.py").write_text("of the stand-in")
    (folder / "stand-in/torch/version.py").write_text("of the stand-in")
    takes = ("torch/version.py", "torch/lib/*.so", "torch/utils/*")
    return StoodIn("torch", folder / "torch.whl", takes, folder / "stand-in")


def test_what_the_wheel_has_is_taken_where_it_is_named_and_own_files_lie_over_it(
    tmp_path: Path,
) -> None:
    site = tmp_path / "site"
    lay_stand_in(stood_in(tmp_path), site)
    texts = {str(path.relative_to(site)): path.read_text() for path in site.rglob("*.*")}
    assert texts == {
        "torch/__init__.py": "of the stand-in",
        "torch/version.py": "of the stand-in",
        "torch/utils/tools.py": "of the wheel",
        "torch/lib/libtorch.so": "of the wheel",
    }


def test_the_index_is_not_asked_for_what_is_stood_in_for(tmp_path: Path) -> None:
    wanted = ("setuptools", "Torch>=2 ; python_version>'3'", "torchvision", "wheel")
    assert without(wanted, (stood_in(tmp_path),)) == ("setuptools", "torchvision", "wheel")
    assert without(wanted, ()) == wanted
