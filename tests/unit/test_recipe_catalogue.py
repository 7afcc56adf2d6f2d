"""Finding recipes and patches: order of folders, versions, and what is said of unknown names."""

from pathlib import Path

import pytest

from rvbuild.errors import MissingToolError, RecipeError, UsageError
from rvbuild.places import builtin_folder
from rvbuild.recipe.catalogue import Catalogue


def write(folder: Path, file: str, version: str, description: str = "") -> None:
    """Write a recipe at `NAME.yaml` or `NAME/VERSION.yaml`."""
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    name = path.stem if path.parent == folder else path.parent.name
    path.write_text(
        f'name: {name}\nversion: "{version}"\nlicense: MIT\ndescription: "{description}"\n'
        f"sources: [{{pypi: {name}, sha256: {'a' * 64}}}]\n",
        encoding="utf-8",
    )


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return tmp_path / "own" / "recipes"


@pytest.fixture
def builtin(tmp_path: Path) -> Path:
    folder = tmp_path / "builtin" / "recipes"
    write(folder, "numpy.yaml", "2.5.0")
    write(folder, "numpy/2.10.0.yaml", "2.10.0")
    write(folder, "numpy/2.9.1.yaml", "2.9.1")
    write(folder, "scipy/1.9.0.yaml", "1.9.0")
    write(folder, "scipy/1.18.0.yaml", "1.18.0")
    write(folder, "scipy/1.18.0rc1.yaml", "1.18.0rc1")
    write(folder, "scikit-learn.yaml", "1.8.0")
    return folder


def test_names_are_those_of_all_folders(own: Path, builtin: Path) -> None:
    write(own, "torch.yaml", "3.0")
    write(own, "numpy.yaml", "3.0")
    assert Catalogue((own, builtin)).names() == ("numpy", "scikit-learn", "scipy", "torch")


def test_what_stands_in_for_a_package_is_found_beside_the_first_folder_that_has_it(
    own: Path, builtin: Path
) -> None:
    write(own, "torch.yaml", "3.0")
    catalogue = Catalogue((own, builtin))
    with pytest.raises(UsageError, match="what stands in for `torch` is missing") as caught:
        catalogue.stand_in_path(catalogue.find("torch"))
    assert len(caught.value.causes) == 2
    (builtin.parent / "stand-ins/torch").mkdir(parents=True)
    assert catalogue.stand_in_path(catalogue.find("torch")) == builtin.parent / "stand-ins/torch"


def test_missing_folders_are_empty(tmp_path: Path) -> None:
    catalogue = Catalogue((tmp_path / "nowhere",))
    assert catalogue.names() == ()
    assert not catalogue.has("numpy")


def test_the_file_with_the_name_is_the_default(builtin: Path) -> None:
    assert Catalogue((builtin,)).find("numpy").version == "2.5.0"


def test_without_one_the_highest_version_is(builtin: Path) -> None:
    assert Catalogue((builtin,)).find("scipy").version == "1.18.0"


def test_a_version_is_found_in_either_place(builtin: Path) -> None:
    catalogue = Catalogue((builtin,))
    assert catalogue.find("numpy", "2.5.0").version == "2.5.0"
    assert catalogue.find("numpy", "2.9.1").version == "2.9.1"
    assert catalogue.versions("numpy") == ("2.5.0", "2.10.0", "2.9.1")


def test_names_are_normalised(builtin: Path) -> None:
    catalogue = Catalogue((builtin,))
    assert catalogue.has("Scikit_Learn")
    assert catalogue.find("Scikit.Learn").name == "scikit-learn"


def test_the_first_folder_wins_and_the_others_add_versions(own: Path, builtin: Path) -> None:
    write(own, "numpy/2.9.1.yaml", "2.9.1", "own")
    catalogue = Catalogue((own, builtin))
    assert catalogue.find("numpy").description == "own"
    assert catalogue.find("numpy", "2.9.1").description == "own"
    assert catalogue.find("numpy", "2.5.0").version == "2.5.0"


def test_an_unknown_name_is_answered_with_the_nearest_three(builtin: Path) -> None:
    with pytest.raises(UsageError, match="there is no recipe of `scypi`") as caught:
        Catalogue((builtin,)).find("scypi")
    assert caught.value.hint == "the nearest are `scipy`, `scikit-learn`, `numpy`"
    assert caught.value.exit_code == 2


def test_an_unknown_version_is_answered_with_those_there_are(builtin: Path) -> None:
    with pytest.raises(UsageError, match=r"`numpy` in version `9`") as caught:
        Catalogue((builtin,)).find("numpy", "9")
    assert caught.value.hint == "there is `2.5.0`, `2.10.0`, `2.9.1`"


def test_without_any_recipe_there_is_no_hint(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        Catalogue((tmp_path,)).find("numpy")
    assert caught.value.hint is None


@pytest.mark.parametrize("name", ["../numpy", "numpy/2.9.1", "*", "", "/etc/x"])
def test_a_name_is_never_a_path(builtin: Path, name: str) -> None:
    catalogue = Catalogue((builtin / "sub", builtin))
    assert not catalogue.has(name)
    with pytest.raises(UsageError):
        catalogue.find(name)


def test_a_recipe_that_is_wrong_is_there_and_says_so(builtin: Path) -> None:
    (builtin / "broken.yaml").write_text("name: broken\n", encoding="utf-8")
    catalogue = Catalogue((builtin,))
    assert catalogue.has("broken")
    with pytest.raises(RecipeError):
        catalogue.find("broken")


def test_patches_lie_beside_the_recipes(own: Path, builtin: Path) -> None:
    patch = builtin.parent / "patches" / "numpy" / "fix.patch"
    patch.parent.mkdir(parents=True)
    patch.write_text("", encoding="utf-8")
    catalogue = Catalogue((own, builtin))
    assert catalogue.patch_path(catalogue.find("numpy"), "fix.patch") == patch


def test_a_missing_patch_says_where_it_was_sought(own: Path, builtin: Path) -> None:
    patch = builtin.parent / "patches" / "numpy" / "fix.patch"
    patch.parent.mkdir(parents=True)
    patch.write_text("", encoding="utf-8")
    catalogue = Catalogue((own, builtin))
    with pytest.raises(UsageError, match=r"patch `fxi\.patch` of `numpy` is missing") as caught:
        catalogue.patch_path(catalogue.find("numpy"), "fxi.patch")
    assert caught.value.causes == (
        f"it is not in `{own.parent / 'patches' / 'numpy'}`",
        f"it is not in `{builtin.parent / 'patches' / 'numpy'}`",
    )
    assert caught.value.hint == "the nearest are `fix.patch`"


def test_a_checkout_has_its_folders_at_the_top() -> None:
    assert builtin_folder("sysroots") == Path(__file__).parents[2] / "sysroots"


def test_an_installed_package_has_them_inside(tmp_path: Path) -> None:
    package = tmp_path / "rvbuild"
    (package / "catalogue" / "recipes").mkdir(parents=True)
    (tmp_path / "recipes").mkdir()
    assert builtin_folder("recipes", package) == package / "catalogue" / "recipes"


def test_a_neighbour_of_an_installed_package_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "recipes").mkdir()
    with pytest.raises(MissingToolError):
        builtin_folder("recipes", tmp_path / "rvbuild")
