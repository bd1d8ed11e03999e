"""Unified diffs, read and applied without git."""

import pytest

from expctl.domain.patch.unified_diff import diff_faults, no_diff, parse_diff, texts_of

BEFORE = "".join(f"line {number}\n" for number in range(1, 21))
PATCH = b"""diff --git a/k/a.h b/k/a.h
index 1111111..2222222 100644
--- a/k/a.h
+++ b/k/a.h
@@ -3,3 +3,3 @@ heading
 line 3
-line 4
+line four
 line 5
@@ -14,2 +14,3 @@
 line 14
+--- more
 line 15
"""


def test_a_patch_is_applied_to_the_texts_that_it_was_made_for() -> None:
    (file,) = texts_of(parse_diff(PATCH), {"k/a.h": BEFORE})
    assert file.after == BEFORE.replace("line 4\n", "line four\n").replace("line 14\n", "line 14\n--- more\n")
    assert (file.path, file.added, file.whole) == ("k/a.h", (3, 14), True)


def test_a_last_line_without_its_end_is_replaced_by_more_lines() -> None:
    none = b"\\ No newline at end of file\n"
    hunk = b"@@ -1,2 +1,3 @@\n one\n-two\n" + none + b"+2\n+three\n"
    for end in (b"", none):
        files = parse_diff(b"--- a/k/a.h\n+++ b/k/a.h\n" + hunk + end + b"--- a/k/b.h\n+++ b/k/b.h\n@@ -1 +1 @@\n-x\n+y\n")
        assert (diff_faults(files), [file.path for file in files]) == ((), ["k/a.h", "k/b.h"])
        assert texts_of(files, {"k/a.h": "one\ntwo"})[0].after.split() == ["one", "2", "three"]


def test_hunks_find_their_place_when_lines_moved() -> None:
    moved = "new\nnew\n" + BEFORE
    (file,) = texts_of(parse_diff(PATCH), {"k/a.h": moved})
    assert file.after.count("line four") == 1
    assert file.after.startswith("new\nnew\nline 1\n")


@pytest.mark.parametrize("contents", [{}, {"k/a.h": "something else\n"}])
def test_a_patch_that_does_not_fit_is_its_hunks(contents: dict[str, str]) -> None:
    (file,) = texts_of(parse_diff(PATCH), contents)
    assert not file.whole
    assert file.before == "line 3\nline 4\nline 5\nline 14\nline 15"
    assert file.after == "line 3\nline four\nline 5\nline 14\n--- more\nline 15"


def test_new_and_deleted_files() -> None:
    patch = b"--- /dev/null\n+++ b/new.h\n@@ -0,0 +1,2 @@\n+one\n+two\n--- a/old.h\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"
    new, old = texts_of(parse_diff(patch), {"old.h": "gone\n"})
    assert (new.path, new.before, new.after.strip()) == ("new.h", "", "one\ntwo")
    assert (old.path, old.before, old.after.strip()) == ("old.h", "gone\n", "")


@pytest.mark.parametrize("patch", [b"", b"no patch\n", b"--- a/x\n+++ b/x\n@@ -1,99 +1,99 @@\n", b"\xff\xfe", PATCH[:120]])
def test_anything_can_be_read(patch: bytes) -> None:
    texts_of(parse_diff(patch), {"x": "a\n"})


@pytest.mark.parametrize(
    ("patch", "fault"),
    [
        (
            b"--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n",
            "x: the hunk at line 1 lacks 2 of the lines that its @@ line announces",
        ),
        (b"--- a/x\n+++ b/x\n@@ -1,1 +1,2 @@\n a\n", "x: the hunk at line 1 lacks 1 of the lines that its @@ line announces"),
        (
            b"--- a/../../y\n+++ b/../../y\n@@ -1 +1 @@\n-a\n+b\n",
            "the path '../../y' leads out of the repository or into .git, or has an empty part, `.` or `..`",
        ),
        (
            b"--- a/./y\n+++ b/./y\n@@ -1 +1 @@\n-a\n+b\n",
            "the path './y' leads out of the repository or into .git, or has an empty part, `.` or `..`",
        ),
        (
            b"--- a//y\n+++ b//y\n@@ -1 +1 @@\n-a\n+b\n",
            "the path '/y' leads out of the repository or into .git, or has an empty part, `.` or `..`",
        ),
        (
            b"--- a/.git/y\n+++ b/.git/y\n@@ -1 +1 @@\n-a\n+b\n",
            "the path '.git/y' leads out of the repository or into .git, or has an empty part, `.` or `..`",
        ),
    ],
)
def test_a_damaged_patch_is_told_from_one_that_does_not_fit(patch: bytes, fault: str) -> None:
    assert diff_faults(parse_diff(patch)) == (fault,)
    assert diff_faults(parse_diff(PATCH)) == ()


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        (None, "no such file"),
        (b" \n", "it is empty"),
        (b"../../elsewhere", "it is no diff but 15 other bytes (is it a symbolic link?)"),
        (PATCH, ""),
        (b"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", ""),
    ],
)
def test_what_is_no_patch_at_all_is_said(patch: bytes | None, said: str) -> None:
    assert no_diff(patch) == said


def test_gits_mnemonic_prefixes_are_no_folders() -> None:
    hunk = "@@ -1 +1 @@\n-a\n+b\n"
    one = f"diff --git i/src/a.h w/src/a.h\n--- i/src/a.h\n+++ w/src/a.h\n{hunk}"
    new = "diff --git i/src/b.h w/src/b.h\nnew file mode 100644\n--- /dev/null\n+++ w/src/b.h\n@@ -0,0 +1 @@\n+b\n"
    assert [(each.old, each.new) for each in parse_diff(f"{one}{new}".encode())] == [("src/a.h", "src/a.h"), ("", "src/b.h")]
    plain = f"diff --git c/a.h c/a.h\n--- c/a.h\n+++ c/a.h\n{hunk}"
    assert [each.path for each in parse_diff(plain.encode())] == ["c/a.h"], "a folder named c, and no prefix"
