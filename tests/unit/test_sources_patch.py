"""Patches applied exactly or not at all: never skipped, doubled or misplaced."""

import os
import subprocess
from pathlib import Path

import pytest

from rvbuild.errors import SourceError
from rvbuild.sources.patch import apply_patch

ORIGINAL = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"
EDIT = """\
From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001
From: A Porter <porter@example.org>
Subject: [PATCH] Change five
Upstream-Status: To upstream

---
 src/numbers.txt | 2 +-
 1 file changed, 1 insertion(+), 1 deletion(-)

diff --git a/src/numbers.txt b/src/numbers.txt
index 1111111..2222222 100644
--- a/src/numbers.txt
+++ b/src/numbers.txt
@@ -2,7 +2,7 @@ one
 two
 three
 four
-five
+FIVE
 six
 seven
 eight
--\x20
2.39.5

"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "numbers.txt").write_text(ORIGINAL)
    return folder


def patch(tree: Path, text: str | bytes) -> Path:
    path = tree.parent / "demo.patch"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def snapshot(tree: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(tree)): (path.read_bytes(), path.stat().st_mode)
        for path in tree.rglob("*")
        if path.is_file()
    }


def failure(tree: Path, text: str | bytes) -> SourceError:
    before = snapshot(tree)
    with pytest.raises(SourceError) as caught:
        apply_patch(patch(tree, text), tree)
    assert snapshot(tree) == before
    return caught.value


def numbers(tree: Path) -> str:
    return (tree / "src" / "numbers.txt").read_text()


def test_a_git_patch_is_applied(tree: Path) -> None:
    assert apply_patch(patch(tree, EDIT), tree) == ("src/numbers.txt",)
    assert numbers(tree) == ORIGINAL.replace("five", "FIVE")


@pytest.mark.needs("git")
def test_a_git_work_tree_around_the_tree_does_not_matter(tree: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tree.parent)], check=True)
    (tree.parent / ".gitignore").write_text("tree/\n")
    assert apply_patch(patch(tree, EDIT), tree) == ("src/numbers.txt",)
    assert "FIVE" in numbers(tree)


def test_applied_twice_is_reported_and_the_fix_stays(tree: Path) -> None:
    apply_patch(patch(tree, EDIT), tree)
    error = failure(tree, EDIT)
    assert error.message == "patch `demo.patch` is already applied"
    assert "FIVE" in numbers(tree)


def test_an_added_line_that_would_fit_again_is_not_added_again(tree: Path) -> None:
    text = "--- a/src/numbers.txt\n+++ b/src/numbers.txt\n@@ -1,2 +1,3 @@\n one\n+one\n two\n"
    # The addition reads like its own context, so the patch would fit one line further down.
    apply_patch(patch(tree, text), tree)
    assert failure(tree, text).message == "patch `demo.patch` is already applied"
    assert numbers(tree) == "one\n" + ORIGINAL


def test_lines_added_at_the_end_are_not_added_again(tree: Path) -> None:
    text = "--- a/src/numbers.txt\n+++ b/src/numbers.txt\n@@ -8 +8,2 @@\n eight\n+nine\n"
    apply_patch(patch(tree, text), tree)
    assert failure(tree, text).message == "patch `demo.patch` is already applied"


def test_other_context_is_refused_and_nothing_is_written(tree: Path) -> None:
    (tree / "src" / "numbers.txt").write_text(ORIGINAL.replace("three", "drei"))
    error = failure(tree, EDIT)
    assert error.message == "patch `demo.patch` does not fit; nothing was changed"
    assert error.causes == ("`src/numbers.txt`: hunk 1 at line 2 does not fit",)


def test_the_neighbouring_function_is_not_edited(tree: Path) -> None:
    body = "{{\n  check();\n  run();\n  return {};\n}}\n"
    right = "int first()\n" + body.format(0)
    wrong = "int other()\n" + body.format(0)
    text = (
        "--- a/src/numbers.txt\n+++ b/src/numbers.txt\n@@ -1,6 +1,6 @@\n int first()\n {\n"
        "   check();\n-  run();\n+  run_twice();\n   return 0;\n }\n"
    )
    (tree / "src" / "numbers.txt").write_text(wrong)
    assert "does not fit" in failure(tree, text).causes[0]
    (tree / "src" / "numbers.txt").write_text(wrong + right)
    apply_patch(patch(tree, text), tree)
    assert numbers(tree) == wrong + right.replace("run()", "run_twice()")


def test_moved_lines_are_found_when_they_are_the_only_ones(tree: Path) -> None:
    (tree / "src" / "numbers.txt").write_text("zero\n" * 30 + ORIGINAL)
    apply_patch(patch(tree, EDIT), tree)
    assert numbers(tree) == "zero\n" * 30 + ORIGINAL.replace("five", "FIVE")


def test_moved_lines_that_are_there_twice_are_refused(tree: Path) -> None:
    (tree / "src" / "numbers.txt").write_text("zero\n" + ORIGINAL * 2)
    text = EDIT.replace(" eight\n", " eight\n one\n").replace("-2,7 +2,7", "-2,8 +2,8")
    (tree / "src" / "numbers.txt").write_text("zero\n" + ORIGINAL * 3)
    assert "fits at 2 other places" in failure(tree, text).causes[0]


def test_several_hunks_with_a_shift(tree: Path) -> None:
    lines = [f"line {number}\n" for number in range(1, 41)]
    (tree / "src" / "numbers.txt").write_text("new\n" + "".join(lines))
    text = "--- a/src/numbers.txt\n+++ b/src/numbers.txt\n" + "".join(
        f"@@ -{at},3 +{at + extra},4 @@\n line {at}\n line {at + 1}\n+added\n line {at + 2}\n"
        for extra, at in enumerate((5, 20, 38))
    )
    apply_patch(patch(tree, text), tree)
    expected = ["new\n", *lines]
    for at in (40, 22, 7):
        expected.insert(at, "added\n")
    assert numbers(tree) == "".join(expected)


def test_files_with_crlf_are_patched_byte_for_byte(tree: Path) -> None:
    crlf = ORIGINAL.replace("\n", "\r\n").encode()
    (tree / "src" / "numbers.txt").write_bytes(crlf)
    head, hunk, rest = EDIT.partition("@@ -2,7 +2,7 @@ one\n")
    body, tail, end = rest.partition("-- \n")
    text = head + hunk + body.replace("\n", "\r\n") + tail + end
    apply_patch(patch(tree, text), tree)
    assert (tree / "src" / "numbers.txt").read_bytes() == crlf.replace(b"five", b"FIVE")


def test_other_line_ends_are_named(tree: Path) -> None:
    (tree / "src" / "numbers.txt").write_bytes(ORIGINAL.replace("\n", "\r\n").encode())
    assert failure(tree, EDIT).causes == (
        "`src/numbers.txt`: hunk 1 at line 2 does not fit: its line ends are others (CRLF and LF)",
    )


def test_a_patch_that_was_turned_to_crlf_is_refused(tree: Path) -> None:
    error = failure(tree, EDIT.replace("\n", "\r\n"))
    assert "CRLF" in error.causes[0]


def test_bytes_of_any_encoding_are_kept(tree: Path) -> None:
    (tree / "src" / "numbers.txt").write_bytes(b"caf\xe9\x0cx\x85y\n\xff\n")
    text = (
        b"--- a/src/numbers.txt\n+++ b/src/numbers.txt\n"
        b"@@ -1,2 +1,2 @@\n caf\xe9\x0cx\x85y\n-\xff\n+\xfe\n"
    )
    apply_patch(patch(tree, text), tree)
    assert (tree / "src" / "numbers.txt").read_bytes() == b"caf\xe9\x0cx\x85y\n\xfe\n"


def test_missing_newlines_at_the_end(tree: Path) -> None:
    (tree / "src" / "numbers.txt").write_bytes(b"a\nb")
    text = (
        "--- a/src/numbers.txt\n+++ b/src/numbers.txt\n@@ -1,2 +1,2 @@\n a\n"
        "-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"
    )
    apply_patch(patch(tree, text), tree)
    assert (tree / "src" / "numbers.txt").read_bytes() == b"a\nc"
    (tree / "src" / "numbers.txt").write_bytes(b"a\nb\n")
    failure(tree, text)


NEW = """\
diff --git a/tools/new/run.sh b/tools/new/run.sh
new file mode 100755
index 0000000..2222222
--- /dev/null
+++ b/tools/new/run.sh
@@ -0,0 +1,2 @@
+#!/bin/sh
+true
diff --git a/empty b/empty
new file mode 100644
index 0000000..e69de29
"""


def test_new_files_with_modes(tree: Path) -> None:
    assert apply_patch(patch(tree, NEW), tree) == ("empty", "tools/new/run.sh")
    assert (tree / "tools/new/run.sh").read_text() == "#!/bin/sh\ntrue\n"
    assert os.access(tree / "tools/new/run.sh", os.X_OK)
    assert (tree / "empty").read_bytes() == b""
    assert failure(tree, NEW).message == "patch `demo.patch` is already applied"


def test_a_new_file_that_is_there_with_other_content_is_refused(tree: Path) -> None:
    (tree / "empty").write_text("mine")
    assert failure(tree, NEW).causes == ("`empty`: it is already there",)


def test_a_new_file_of_a_plain_diff(tree: Path) -> None:
    text = "--- demo.orig/new.txt\t1970-01-01\n+++ demo/new.txt\t2024-01-01\n@@ -0,0 +1 @@\n+new\n"
    assert apply_patch(patch(tree, text), tree) == ("new.txt",)
    assert (tree / "new.txt").read_text() == "new\n"


def test_deleted_files_and_their_empty_folders(tree: Path) -> None:
    lines = ORIGINAL.splitlines()
    text = (
        "diff --git a/src/numbers.txt b/src/numbers.txt\ndeleted file mode 100644\n"
        "--- a/src/numbers.txt\n+++ /dev/null\n@@ -1,8 +0,0 @@\n"
        + "".join(f"-{line}\n" for line in lines)
    )
    (tree / "keep").write_bytes(b"")
    assert apply_patch(patch(tree, text), tree) == ("src/numbers.txt",)
    assert sorted(path.name for path in tree.iterdir()) == ["keep"]
    assert failure(tree, text).message == "patch `demo.patch` is already applied"


def test_a_file_that_grew_is_not_deleted(tree: Path) -> None:
    text = (
        "diff --git a/src/numbers.txt b/src/numbers.txt\ndeleted file mode 100644\n"
        "--- a/src/numbers.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n"
    )
    failure(tree, text)


def test_renames_with_and_without_edits(tree: Path) -> None:
    (tree / "plain").write_bytes(b"p\n")
    text = (
        "diff --git a/src/numbers.txt b/lib/digits.txt\nsimilarity index 90%\n"
        "rename from src/numbers.txt\nrename to lib/digits.txt\nindex 1111111..2222222 100644\n"
        "--- a/src/numbers.txt\n+++ b/lib/digits.txt\n@@ -1,3 +1,3 @@\n-one\n+ONE\n two\n three\n"
        "diff --git a/plain b/moved\nsimilarity index 100%\nrename from plain\nrename to moved\n"
    )
    changed = apply_patch(patch(tree, text), tree)
    assert changed == ("lib/digits.txt", "moved", "plain", "src/numbers.txt")
    assert (tree / "lib/digits.txt").read_text() == ORIGINAL.replace("one", "ONE")
    assert (tree / "moved").read_bytes() == b"p\n"
    assert not (tree / "src").exists()
    assert failure(tree, text).message == "patch `demo.patch` is already applied"


MODE = "diff --git a/src/numbers.txt b/src/numbers.txt\nold mode 100644\nnew mode 100755\n"


def test_a_mode_alone(tree: Path) -> None:
    assert apply_patch(patch(tree, MODE), tree) == ("src/numbers.txt",)
    assert os.access(tree / "src/numbers.txt", os.X_OK)
    assert failure(tree, MODE).message == "patch `demo.patch` is already applied"


def test_an_edit_leaves_the_mode(tree: Path) -> None:
    (tree / "src/numbers.txt").chmod(0o755)
    apply_patch(patch(tree, EDIT), tree)
    assert os.access(tree / "src/numbers.txt", os.X_OK)


@pytest.mark.parametrize(
    "text",
    [
        "diff --git a/x.png b/x.png\nindex 111..222 100644\nGIT binary patch\nliteral 3\nKcmZ\n\n",
        "diff --git a/x.png b/x.png\nindex 111..222\nBinary files a/x.png and b/x.png differ\n",
    ],
)
def test_binary_patches_are_refused(text: str, tree: Path) -> None:
    assert failure(tree, text).causes == ("`x.png` is a binary change",)


@pytest.mark.parametrize("mode", ["120000", "160000"])
def test_links_and_submodules_are_refused(mode: str, tree: Path) -> None:
    text = (
        f"diff --git a/l b/l\nnew file mode {mode}\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n"
        "+/etc/passwd\n\\ No newline at end of file\n"
    )
    assert failure(tree, text).causes == ("`l` is a link or a submodule",)


@pytest.mark.parametrize("name", ["../../x", "src/../../x", "/etc/x", ".git/config", "./x"])
def test_paths_that_lead_out_are_refused(name: str, tree: Path) -> None:
    plain = f"--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+x\n"
    git = f"diff --git a/{name} b/{name}\nnew file mode 100644\n{plain}"
    moved = f"similarity index 100%\nrename from src/numbers.txt\nrename to {name}\n"
    for text in (plain, git, f"diff --git a/src/numbers.txt b/{name}\n{moved}"):
        assert "leads out of the source tree" in failure(tree, text).causes[0]


def test_quoted_names_are_read(tree: Path) -> None:
    (tree / "ä\tb").write_text("x\n")
    text = '--- "a/\\303\\244\\tb"\n+++ "b/\\303\\244\\tb"\n@@ -1 +1 @@\n-x\n+y\n'
    assert apply_patch(patch(tree, text), tree) == ("ä\tb",)
    assert "leads out" in failure(tree, text.replace("\\303\\244\\tb", "\\056\\056/x")).causes[0]


def test_files_behind_links_are_refused(tree: Path) -> None:
    outside = tree.parent / "outside"
    outside.mkdir()
    (outside / "numbers.txt").write_text(ORIGINAL)
    (tree / "link").symlink_to(outside)
    error = failure(tree, EDIT.replace("src/", "link/"))
    assert "link" in error.causes[0]
    assert (outside / "numbers.txt").read_text() == ORIGINAL


def test_paths_without_a_first_folder_are_refused(tree: Path) -> None:
    text = "--- numbers.txt\n+++ numbers.txt\n@@ -1 +1 @@\n-x\n+y\n"
    assert "such as `a/` or `b/`" in failure(tree, text).causes[0]


def test_a_missing_file_is_named(tree: Path) -> None:
    error = failure(tree, EDIT.replace("src/numbers.txt", "src/digits.txt"))
    assert error.causes == ("`src/digits.txt`: `src/digits.txt` is not there",)


def test_one_misfit_of_two_files_changes_neither(tree: Path) -> None:
    (tree / "b.txt").write_text("y\n")
    text = EDIT.partition("-- \n")[0] + "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-x\n+z\n"
    assert failure(tree, text).causes == ("`b.txt`: hunk 1 at line 1 does not fit",)


def test_half_applied_patches_tell_which_half(tree: Path) -> None:
    (tree / "b.txt").write_text("z\n")
    (tree / "src/numbers.txt").write_text("other\n")
    text = EDIT.partition("-- \n")[0] + "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-x\n+z\n"
    causes = failure(tree, text).causes
    assert causes[0] == "`src/numbers.txt`: hunk 1 at line 2 does not fit"
    assert causes[1] == "`b.txt`: already applied"


def test_two_changes_of_one_file_follow_each_other(tree: Path) -> None:
    second = EDIT.replace("-five\n", "-FIVE\n").replace("+FIVE\n", "+V\n")
    apply_patch(patch(tree, EDIT + second), tree)
    assert numbers(tree) == ORIGINAL.replace("five", "V")


@pytest.mark.parametrize("text", ["", "just words\n", "From: me\nSubject: nothing\n\n-- \n2.1\n"])
def test_a_patch_of_no_file_is_an_error(text: str, tree: Path) -> None:
    assert failure(tree, text).causes == ("it changes no file",)


def test_a_change_into_the_same_is_an_error(tree: Path) -> None:
    text = EDIT.replace("+FIVE", "+five")
    assert failure(tree, text).message == "patch `demo.patch` changes no file"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("@@ -2,7 +2,7 @@", "@@ -2,7 +2,6 @@"),
        ("@@ -2,7 +2,7 @@", "@@ -2,9 +2,9 @@"),
        ("@@ -2,7 +2,7 @@", "@@ 2,7 2,7 @@"),
        (" eight\n-- \n", " eight\n+nine\n-- \n"),
        ("diff --git", "diff --got"),
    ],
)
def test_malformed_patches_lose_nothing_silently(old: str, new: str, tree: Path) -> None:
    if old == "diff --git":
        # Without git's own line it is a plain diff, which is as good.
        assert apply_patch(patch(tree, EDIT.replace(old, new)), tree) == ("src/numbers.txt",)
        return
    failure(tree, EDIT.replace(old, new))


def test_a_patch_that_is_not_there_is_named(tree: Path) -> None:
    with pytest.raises(SourceError, match="cannot read patch"):
        apply_patch(tree / "none.patch", tree)
