"""Pinning, committing, capturing and checking out, in real repositories."""

import itertools
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from expctl.adapters.git.captured_changes import CapturedChanges
from expctl.adapters.git.reader import locate
from expctl.adapters.git.workspace import GitWorkspace
from expctl.domain.errors import MachineTrouble, Refused
from expctl.domain.patch.policy import tree_faults
from expctl.domain.protocol.model import PatchLimits
from expctl.domain.run.step_result import Failed
from expctl.domain.text import AUTHOR
from tests.refusals import refuses
from tests.user_repository import KERNEL, Repository

EDITED = KERNEL.replace(b"three", b"3")
LIMITS = PatchLimits(files=3, bytes=1000)


@pytest.fixture
def workspace(repository: Repository) -> GitWorkspace:
    return GitWorkspace(locate(repository.root))


def tree_of(workspace: GitWorkspace, base: str, patch: bytes) -> str:
    tree = workspace.candidate_tree(base, patch)
    assert isinstance(tree, str), tree
    return tree


def faults_of(workspace: GitWorkspace, repository: Repository, patch: bytes) -> list[str]:
    head = repository.head()
    return tree_faults(workspace.changed_files(head, tree_of(workspace, head, patch)), ("src",), LIMITS)


# ------------------------------------------------------------------ the candidate's tree


def test_a_patch_becomes_a_tree_and_nothing_is_checked_out(repository: Repository, workspace: GitWorkspace) -> None:
    before = repository.files()
    tree = tree_of(workspace, repository.head(), repository.patch("src/kernel.txt", EDITED))
    assert repository.git("show", f"{tree}:src/kernel.txt").encode() == EDITED
    assert repository.files() == before
    assert repository.status() == ""


def test_a_patch_finds_its_lines_where_they_have_moved(repository: Repository, workspace: GitWorkspace) -> None:
    patch = repository.patch("src/kernel.txt", EDITED)
    repository.write("src/kernel.txt", b"new first line\n" + KERNEL)
    head = repository.commit()
    tree = tree_of(workspace, head, patch)
    assert repository.git("show", f"{tree}:src/kernel.txt").encode() == b"new first line\n" + EDITED


def test_a_conflicting_patch_fails_and_says_where(repository: Repository, workspace: GitWorkspace) -> None:
    patch = repository.patch("src/kernel.txt", EDITED)
    repository.write("src/kernel.txt", KERNEL.replace(b"three", b"drei"))
    head = repository.commit()
    assert workspace.candidate_tree(head, patch) == Failed(reason="patch failed: src/kernel.txt:7")


def test_a_patch_that_is_applied_already_fails(repository: Repository, workspace: GitWorkspace) -> None:
    patch = repository.patch("src/kernel.txt", EDITED)
    repository.write("src/kernel.txt", EDITED)
    assert isinstance(workspace.candidate_tree(repository.commit(), patch), Failed)


BAD_PATCHES = {
    "empty": b"",
    "words": b"this is no patch\n",
    "cut": b"--- a/src/kernel.txt\n+++ b/src/kernel.txt\n@@ -1,3 +1,3 @@\n line one\n",
    "outside": b"--- a/../evil\n+++ b/../evil\n@@ -0,0 +1 @@\n+x\n",
    "absolute": b"diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b//etc/evil\n@@ -0,0 +1 @@\n+x\n",
    "dot git": b"--- /dev/null\n+++ b/.git/evil\n@@ -0,0 +1 @@\n+x\n",
    "binary rubbish": bytes(range(256)),
}


@pytest.mark.parametrize("name", BAD_PATCHES)
def test_a_bad_patch_fails_in_one_line(repository: Repository, workspace: GitWorkspace, name: str) -> None:
    failed = workspace.candidate_tree(repository.head(), BAD_PATCHES[name])
    assert isinstance(failed, Failed)
    assert failed.reason
    assert "\n" not in failed.reason


def test_a_binary_file_can_be_changed(repository: Repository, workspace: GitWorkspace) -> None:
    repository.write("src/table.bin", bytes(range(256)))
    repository.commit()
    new = bytes(reversed(range(256)))
    tree = tree_of(workspace, repository.head(), repository.patch("src/table.bin", new))
    blob = subprocess.run(["git", "show", f"{tree}:src/table.bin"], cwd=repository.root, capture_output=True).stdout
    assert blob == new
    assert faults_of(workspace, repository, repository.patch("src/table.bin", new)) == []


def test_line_ends_of_windows_survive(repository: Repository, workspace: GitWorkspace) -> None:
    dos = b"one\r\ntwo\r\nthree\r\n"
    repository.write("src/dos.txt", dos)
    head = repository.commit()
    tree = tree_of(workspace, head, repository.patch("src/dos.txt", dos.replace(b"two", b"2")))
    blob = subprocess.run(["git", "show", f"{tree}:src/dos.txt"], cwd=repository.root, capture_output=True).stdout
    assert blob == b"one\r\n2\r\nthree\r\n"


def test_two_binary_changes_of_one_file_are_two_identities(repository: Repository, workspace: GitWorkspace) -> None:
    repository.write("src/table.bin", bytes(range(256)))
    repository.commit()
    one, two = (repository.patch("src/table.bin", bytes(255 - i for i in range(256)) + end) for end in (b"\0", b"\1"))
    assert workspace.patch_identity(one) != workspace.patch_identity(two)


def test_the_same_change_elsewhere_in_the_file_is_one_identity(repository: Repository, workspace: GitWorkspace) -> None:
    patch = repository.patch("src/kernel.txt", EDITED)
    repository.write("src/kernel.txt", b"a\nb\nc\nd\n" + KERNEL)
    repository.commit()
    moved = repository.patch("src/kernel.txt", b"a\nb\nc\nd\n" + EDITED)
    assert moved != patch
    assert workspace.patch_identity(moved) == workspace.patch_identity(patch) != ""
    assert workspace.patch_identity(b"") == ""


# ------------------------------------------------------------------ what a tree may hold


def test_a_change_in_the_scope_has_no_faults(repository: Repository, workspace: GitWorkspace) -> None:
    for contents in (EDITED, None):
        assert faults_of(workspace, repository, repository.patch("src/kernel.txt", contents)) == []
    assert faults_of(workspace, repository, repository.patch("src/new/file.txt", b"x")) == []


def new_file(path: str, mode: str = "100644", line: str = "x") -> bytes:
    header = f"diff --git a/{path} b/{path}\nnew file mode {mode}\nindex 0000000..1111111\n--- /dev/null\n+++ b/{path}\n"
    return f"{header}@@ -0,0 +1 @@\n+{line}\n".encode()


FAULTY = {
    "a symlink": (new_file("src/link", "120000"), "src/link has mode 120000"),
    "an executable": (new_file("src/run.sh", "100755"), "src/run.sh has mode 100755"),
    "outside": (new_file("conftest.py"), "conftest.py is outside the scope"),
    "attributes": (new_file("src/.gitattributes"), "has characters that shells or other systems interpret"),
    "ignore, other case": (new_file("src/.GITignore"), "has characters that shells or other systems interpret"),
    "a name like the scope": (new_file("srcs/x"), "srcs/x is outside the scope"),
    "a permission alone": (
        b"diff --git a/src/kernel.txt b/src/kernel.txt\nold mode 100644\nnew mode 100755\n",
        "src/kernel.txt has mode 100755",
    ),
    "a move out of the scope": (
        b"diff --git a/src/other.txt b/other.txt\nsimilarity index 100%\nrename from src/other.txt\nrename to other.txt\n",
        "other.txt is outside the scope",
    ),
    "a deletion outside": (
        b"--- a/notes.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-notes\n",
        "notes.txt is outside the scope",
    ),
    "too many files": (b"".join(new_file(f"src/{i}") for i in range(4)), "4 files, expected at most 3"),
    "too large": (new_file("src/large", line="x" * 2000), "changed files have 2001 bytes, expected at most 1000"),
}


@pytest.mark.parametrize("name", FAULTY)
def test_a_tree_has_one_fault_for(repository: Repository, workspace: GitWorkspace, name: str) -> None:
    patch, fault = FAULTY[name]
    (found,) = faults_of(workspace, repository, patch)
    assert fault in found


def test_an_invisible_letter_in_a_name_is_a_fault(repository: Repository, workspace: GitWorkspace) -> None:
    (found,) = faults_of(workspace, repository, repository.patch("src/a\u202eb.txt", b"x"))
    assert "has characters that" in found


def test_trees_are_compared_without_the_index_unless_attributes_say_how(
    repository: Repository, workspace: GitWorkspace
) -> None:
    head, index = repository.head(), repository.root / ".git" / "index"
    edited = repository.patch("src/kernel.txt", EDITED)
    sound, tree = index.read_bytes(), tree_of(workspace, head, edited)
    index.write_bytes(b"no index")
    assert b"+" in workspace.difference(head, tree)
    index.write_bytes(sound)
    repository.write(".gitattributes", b"src/* binary\n")
    repository.commit()
    (repository.root / ".gitattributes").unlink()  # the index has it still
    assert b"GIT binary patch" in workspace.difference(repository.head(), tree_of(workspace, repository.head(), edited))


def test_a_patch_without_effect_changes_nothing() -> None:
    assert tree_faults((), ("src",), LIMITS) == ["the patch changes nothing"]


# ------------------------------------------------------------------ pin and commit


def pin(workspace: GitWorkspace, repository: Repository) -> str:
    head = repository.head()
    tree = tree_of(workspace, head, repository.patch("src/kernel.txt", EDITED))
    return workspace.pin(base=head, tree=tree, message="P1: edit\n", ref="refs/expctl/P1")


def test_to_pin_twice_gives_the_same_commit(
    repository: Repository, workspace: GitWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = pin(workspace, repository)
    monkeypatch.setenv("GIT_AUTHOR_DATE", "1800000000 +0200")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert pin(workspace, repository) == first
    assert repository.git("rev-parse", "refs/expctl/P1", f"{first}^").split() == [first, repository.head()]
    assert workspace.parent(first) == repository.head()
    assert repository.status() == ""


def test_to_pin_in_another_clone_gives_the_same_commit(repository: Repository, workspace: GitWorkspace, tmp_path: Path) -> None:
    repository.git("clone", "-q", ".", str(tmp_path / "clone"))
    clone = Repository(tmp_path / "clone")
    clone.git("config", "user.name", "somebody else")
    clone.git("config", "i18n.commitEncoding", "latin1")
    assert pin(GitWorkspace(locate(clone.root)), clone) == pin(workspace, repository)


def test_candidates_that_are_gathered_are_written_together(repository: Repository, workspace: GitWorkspace) -> None:
    head, patch = repository.head(), repository.patch("src/kernel.txt", EDITED)
    with workspace.gathered():
        tree = workspace.rebased_tree(head, patch, origin=head)
        assert isinstance(tree, str)
        pinned = [workspace.pin(base=head, tree=tree, message=f"P{at}\n", ref=f"refs/expctl/P{at}") for at in (1, 2)]
        assert [each.path for each in workspace.changed_files(head, tree)] == ["src/kernel.txt"]
        assert workspace.parent(pinned[0]) == head
        assert repository.git("for-each-ref", "refs/expctl") == ""
        assert not GitWorkspace(workspace.place).ref(pinned[0])
        assert b"+" in workspace.difference(head, tree)  # git has it now
        assert repository.git("cat-file", "-t", pinned[1]).strip() == "commit"
    assert repository.git("rev-parse", "refs/expctl/P1", "refs/expctl/P2").split() == pinned
    assert repository.git("show", f"{pinned[1]}:src/kernel.txt").encode() == EDITED
    assert repository.git("fsck", "--strict", "--no-dangling") == ""


def test_what_was_gathered_in_vain_is_made_again(repository: Repository, workspace: GitWorkspace) -> None:
    head, patch = repository.head(), repository.patch("src/kernel.txt", EDITED)

    def pinned() -> str:
        tree = workspace.rebased_tree(head, patch, origin=head)
        assert isinstance(tree, str)
        return workspace.pin(base=head, tree=tree, message="P1\n", ref="refs/expctl/P1")

    def gather(failure: BaseException | None) -> None:
        with workspace.gathered():
            pinned()
            if failure is not None:
                raise failure

    with pytest.raises(KeyboardInterrupt):
        gather(KeyboardInterrupt())
    lock = repository.root / ".git/refs/expctl/P1.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    with pytest.raises(Refused):
        gather(None)
    lock.unlink()
    assert repository.git("for-each-ref", "refs/expctl") == ""
    commit = pinned()
    assert repository.git("rev-parse", "refs/expctl/P1").strip() == commit
    assert repository.git("fsck", "--strict", "--no-dangling") == ""


def test_what_a_gc_has_deleted_before_its_ref_was_set_is_written_again(repository: Repository, workspace: GitWorkspace) -> None:
    head, patch = repository.head(), repository.patch("src/kernel.txt", EDITED)

    def pinned(name: str) -> None:
        tree = workspace.rebased_tree(head, patch, origin=head)
        assert isinstance(tree, str)
        repository.git("prune", "--expire=now")
        workspace.pin(base=head, tree=tree, message=f"{name}\n", ref=f"refs/expctl/{name}")
        repository.git("prune", "--expire=now")

    pinned("P1")
    assert repository.git("fsck", "--strict", "--no-dangling") == ""
    with workspace.gathered():
        pinned("P2")
    assert repository.git("fsck", "--strict", "--no-dangling") == ""


def test_what_a_gc_that_began_before_the_ref_has_deleted_is_there_after_the_landing(
    repository: Repository, workspace: GitWorkspace
) -> None:
    candidate = pin(workspace, repository)
    branch, old = workspace.branch(), repository.head()
    new = workspace.commit_files(parent=old, files={"ledger.md": b"x\n"}, message="x\n", date="2026-01-01T00:00:00Z")
    needed = candidate, f"{candidate}^{{tree}}", f"{candidate}:src", f"{candidate}:src/kernel.txt"
    for lost in repository.git("rev-parse", *needed).split():
        (repository.root / ".git/objects" / lost[:2] / lost[2:]).unlink(missing_ok=True)
    assert workspace.publish(branch=branch, old=old, new=new)
    assert repository.git("fsck", "--strict", "--no-dangling") == ""


def test_a_pinned_candidate_survives_gc(repository: Repository, workspace: GitWorkspace) -> None:
    candidate = pin(workspace, repository)
    repository.git("gc", "-q", "--prune=now")
    assert workspace.ref("refs/expctl/P1") == candidate
    assert workspace.ref("refs/expctl/P2") == ""


def test_a_commit_of_files_touches_exactly_these_files(repository: Repository, workspace: GitWorkspace) -> None:
    head, before = repository.head(), repository.files()
    repository.write("staged.txt", "x")
    repository.git("add", "staged.txt")
    files = {"experiments/P1/record.json": b"{}\n", "ledger.md": b"# l\r\n", "notes.txt": b""}
    commit = workspace.commit_files(parent=head, files=files, message="record\n", date="2026-01-02T03:04:05Z")
    assert set(repository.git("diff", "--name-only", head, commit).split()) == set(files)
    for path, contents in files.items():
        assert workspace.read_file(commit, path) == contents
    assert repository.head() == head
    assert repository.status() == "A  staged.txt\n"
    assert repository.files() == {**before, "staged.txt": b"x"}
    log = repository.git("log", "-1", "--format=%an %ae %aI %cI %B", commit)
    assert log.startswith("expctl expctl@localhost 2026-01-02T03:04:05+00:00 2026-01-02T03:04:05+00:00 record")


def test_hooks_of_the_user_do_not_run(repository: Repository, workspace: GitWorkspace, tmp_path: Path) -> None:
    for hook in ("pre-commit", "post-commit", "post-checkout", "reference-transaction", "post-index-change"):
        file = repository.write(f".git/hooks/{hook}", f"#!/bin/sh\ntouch {tmp_path}/ran-{hook}\nexit 1\n")
        file.chmod(0o755)
    head = repository.head()
    commit = workspace.commit_files(parent=head, files={"a": b"b"}, message="m", date="2026-01-02T03:04:05Z")
    workspace.check_out(commit, "b")
    assert workspace.publish(branch="main", old=head, new=commit)
    assert list(tmp_path.glob("ran-*")) == []


# ------------------------------------------------------------------ looking


def test_dirty_names_every_kind_of_change(repository: Repository, workspace: GitWorkspace) -> None:
    assert workspace.dirty(["src"]) == ()
    repository.write("src/kernel.txt", EDITED)
    repository.write("src/new file.txt", "x")
    repository.write("src/ignored.o", "x")
    repository.write("notes.txt", "outside")
    (repository.root / "src/other.txt").unlink()
    assert workspace.dirty(["src"]) == ("src/kernel.txt", "src/other.txt", "src/new file.txt")
    repository.git("add", "-A")
    assert set(workspace.dirty(["src"])) == {"src/kernel.txt", "src/other.txt", "src/new file.txt"}


@pytest.mark.parametrize("damage", [None, b"", b"DIRC", b"noise" * 99])
def test_an_index_that_is_gone_or_damaged_is_made_again_as_the_error_says(
    repository: Repository, workspace: GitWorkspace, damage: bytes | None
) -> None:
    repository.write("src/kernel.txt", EDITED)
    index = repository.root / ".git/index"
    index.unlink() if damage is None else index.write_bytes(damage)
    with refuses("index-unfit") as caught:
        workspace.dirty(["src"])
    command = caught.value.hint.split("`")[1]
    subprocess.run(command, shell=True, cwd=repository.root, check=True)
    assert workspace.dirty(["src"]) == ("src/kernel.txt",)
    assert (repository.root / "src/kernel.txt").read_bytes() == EDITED


def test_an_operation_under_way_is_named(repository: Repository, workspace: GitWorkspace) -> None:
    assert workspace.unfinished_operation() == ""
    repository.git("checkout", "-q", "-b", "side")
    repository.write("notes.txt", "side\n")
    repository.commit()
    repository.git("checkout", "-q", "main")
    repository.write("notes.txt", "main\n")
    repository.commit()
    for arguments, name in (
        (["merge", "side"], "merge"),
        (["rebase", "side"], "rebase"),
        (["cherry-pick", "side"], "cherry-pick"),
    ):
        subprocess.run(["git", *arguments], cwd=repository.root, capture_output=True)
        assert workspace.unfinished_operation() == name
        repository.git(name, "--abort")
    repository.git("bisect", "start")
    assert workspace.unfinished_operation() == "bisect"


def test_identities_change_with_what_they_stand_for_and_only_then(repository: Repository, workspace: GitWorkspace) -> None:
    first = repository.head()
    repository.write("ledger.md", "# ledger")
    repository.write("experiments/P1/experiment.yaml", "id: P1")
    second = repository.commit()
    assert workspace.source_identity(second) == workspace.source_identity(first)
    assert workspace.files_identity(second, ("notes.txt",)) == workspace.files_identity(first, ("notes.txt",))
    assert not workspace.differs(first, second, ["src", "notes.txt"])
    assert workspace.is_ancestor(first, second)
    assert not workspace.is_ancestor(second, first)
    repository.write("notes.txt", "other\n")
    third = repository.commit()
    assert workspace.source_identity(third) != workspace.source_identity(second)
    assert workspace.files_identity(third, ("notes.txt",)) != workspace.files_identity(second, ("notes.txt",))
    assert workspace.differs(second, third, ["notes.txt"])


# ------------------------------------------------------------------ capture and restore


def test_a_capture_holds_every_change_of_the_scope_and_restore_takes_it_away(
    repository: Repository, workspace: GitWorkspace
) -> None:
    before = repository.files()
    repository.write("src/kernel.txt", EDITED)
    repository.write("src/new.txt", "new\n")
    repository.write("src/staged.bin", bytes(range(256)))
    repository.git("add", "src/staged.bin")
    (repository.root / "src/other.txt").unlink()
    repository.write("src/ignored.o", "object")
    repository.write("notes.txt", "not captured")
    changed = repository.files()
    patch = workspace.capture(["src"])
    assert repository.files() == changed
    tree = tree_of(workspace, repository.head(), patch)
    held = repository.git("ls-tree", "-r", "--name-only", tree).split()
    assert held == [".gitignore", "notes.txt", "src/kernel.txt", "src/new.txt", "src/staged.bin"]
    workspace.set_back(workspace.dirty(["src"]), tree=tree)
    assert repository.files() == {**before, "src/ignored.o": b"object", "notes.txt": b"not captured"}
    assert repository.status() == " M notes.txt\n"


def test_restored_line_ends_are_no_change_where_git_converts_them(repository: Repository, workspace: GitWorkspace) -> None:
    repository.git("config", "core.autocrlf", "true")
    repository.write("src/kernel.txt", EDITED)
    workspace.set_back(["src/kernel.txt"], tree=tree_of(workspace, repository.head(), workspace.capture(["src"])))
    assert b"\r\n" in repository.files()["src/kernel.txt"]
    assert repository.status() == ""


def test_an_edit_after_the_capture_stays(repository: Repository, workspace: GitWorkspace) -> None:
    repository.write("src/kernel.txt", EDITED)
    repository.write("src/other.txt", "mine\n")
    tree = tree_of(workspace, repository.head(), workspace.capture(["src"]))
    repository.write("src/kernel.txt", b"a later edit\n")
    workspace.set_back(["src/kernel.txt", "src/other.txt"], tree=tree)
    assert repository.files()["src/kernel.txt"] == b"a later edit\n"
    assert repository.files()["src/other.txt"] == b"other\n"


def test_to_restore_one_name_touches_no_other_that_it_would_match_as_a_pattern(
    repository: Repository, workspace: GitWorkspace
) -> None:
    repository.write("src/k[1].txt", "bracket\n")
    repository.write("src/k1.txt", "plain\n")
    repository.commit()
    repository.write("src/k[1].txt", "bracket, edited\n")
    tree = tree_of(workspace, repository.head(), workspace.capture(["src"]))
    repository.write("src/k1.txt", "a later edit\n")
    workspace.set_back(["src/k[1].txt"], tree=tree)
    assert repository.files()["src/k[1].txt"] == b"bracket\n"
    assert repository.files()["src/k1.txt"] == b"a later edit\n"


def test_a_part_of_the_scope_that_does_not_exist_yet_can_be_captured(repository: Repository, workspace: GitWorkspace) -> None:
    repository.write("src/kernel.txt", EDITED)
    assert workspace.capture(["src", "not_yet"]) == workspace.capture(["src"])


def test_what_was_captured_can_be_applied_again(repository: Repository, workspace: GitWorkspace) -> None:
    repository.write("src/kernel.txt", EDITED)
    repository.write("src/new.txt", "new\n")
    changed = repository.files()
    tree = workspace.candidate_tree(workspace.head(), workspace.capture(["src"]))
    assert isinstance(tree, str)
    assert workspace.are_as_in(tree, workspace.dirty(["src"]))
    repository.git("checkout", "-q", "--", ".")
    (repository.root / "src/new.txt").unlink()
    repository.write("src/kernel.txt", EDITED)  # as a call leaves it that was killed between two files
    workspace.apply(tree)
    assert repository.files() == changed
    assert not list(workspace.state.glob("publication*"))


def test_what_is_applied_over_an_edit_leaves_the_edit(repository: Repository, workspace: GitWorkspace) -> None:
    tree = workspace.candidate_tree(workspace.head(), repository.patch("src/kernel.txt", EDITED))
    assert isinstance(tree, str)
    repository.write("src/kernel.txt", "something else\n")
    assert not workspace.are_as_in(tree, workspace.dirty(["src"]))
    workspace.apply(tree)
    assert repository.files()["src/kernel.txt"] == b"something else\n"


def test_what_a_patch_removes_is_as_in_its_tree_once_it_is_gone(repository: Repository, workspace: GitWorkspace) -> None:
    (repository.root / "src/kernel.txt").unlink()
    tree = workspace.candidate_tree(workspace.head(), workspace.capture(["src"]))
    assert isinstance(tree, str)
    assert workspace.are_as_in(tree, workspace.dirty(["src"]))
    repository.write("src/kernel.txt", "another\n")
    assert not workspace.are_as_in(tree, workspace.dirty(["src"]))


def test_a_word_that_git_does_not_know_is_a_bug_of_ours(workspace: GitWorkspace) -> None:
    with pytest.raises(RuntimeError, match="git write-tree"):
        workspace.must(["write-tree", "--no-such-word"])


# ------------------------------------------------------------------ check-outs


def test_check_outs_are_whole_and_have_paths_of_equal_length(repository: Repository, workspace: GitWorkspace) -> None:
    candidate = pin(workspace, repository)
    b, c = workspace.check_out(repository.head(), "b"), workspace.check_out(candidate, "c")
    assert len(str(b)) == len(str(c))
    assert (b / "src/kernel.txt").read_bytes() == KERNEL
    assert (c / "src/kernel.txt").read_bytes() == EDITED
    assert repository.status() == ""


def test_a_check_out_is_used_again_until_it_is_edited_or_another_commit_is_wanted(
    repository: Repository, workspace: GitWorkspace
) -> None:
    head = repository.head()
    tree = workspace.check_out(head, "b")
    inode = tree.stat().st_ino
    assert workspace.check_out(head, "b").stat().st_ino == inode
    (tree / "src/kernel.txt").write_text("tampered")
    assert (workspace.check_out(head, "b") / "src/kernel.txt").read_bytes() == KERNEL
    assert (workspace.check_out(pin(workspace, repository), "b") / "src/kernel.txt").read_bytes() == EDITED


def plant(folder: Path, *, like: Path, exclude: str, program: Path) -> None:
    """Make `folder` a repository of a build's: at the same commit as git's folder `like`, and git's filter is `program`."""
    shutil.copytree(like.parent.parent / "objects", folder / "objects")
    shutil.copytree(like.parent.parent / "refs", folder / "refs")
    for name in ("index", "HEAD"):
        shutil.copy(like / name, folder)
    (folder / "info").mkdir()
    (folder / "info/exclude").write_text(f"{exclude}\n")
    (folder / "info/attributes").write_text("* filter=evil\n")
    (folder / "config").write_text(
        f'[core]\n\trepositoryformatversion = 0\n\tbare = false\n[filter "evil"]\n\tclean = touch {program}; cat\n'
    )


@pytest.mark.parametrize("how", ["file", "folder", "link", "gone"])
def test_git_believes_no_repository_that_a_build_left_in_its_check_out(
    repository: Repository, workspace: GitWorkspace, tmp_path: Path, how: str
) -> None:
    head, ran = repository.head(), tmp_path / "ran"
    tree = workspace.check_out(head, "c")
    mark, own = tree / ".git", tree / (".git" if how == "folder" else ".own")
    mark.unlink()
    if how != "gone":
        plant(own, like=workspace.place.git_dir / "worktrees" / tree.name, exclude=f"/{own.name}", program=ran)
    if how == "file":
        mark.write_text("gitdir: .own\n")
    if how == "link":
        mark.symlink_to(own)
    os.utime(tree / "src/kernel.txt", (5, 5))
    assert workspace.check_out(head, "c") == tree
    assert not ran.exists()
    assert mark.is_file()
    assert not (tree / ".own").exists()


def test_removed_check_outs_leave_nothing_and_the_users_own_worktrees_stay(
    repository: Repository, workspace: GitWorkspace, tmp_path: Path
) -> None:
    repository.git("worktree", "add", "-q", str(tmp_path / "mine"), "-b", "mine")
    before = repository.git("worktree", "list", "--porcelain")
    for name in ("b", "c"):
        workspace.check_out(repository.head(), name)
    (workspace.state / "checkouts" / "half-made").mkdir()
    workspace.remove_check_outs()
    workspace.remove_check_outs()
    assert repository.git("worktree", "list", "--porcelain") == before
    assert list((workspace.state / "checkouts").iterdir()) == []
    assert (tmp_path / "mine/notes.txt").exists()


def test_check_outs_made_from_a_folder_inside_are_removed_too(repository: Repository) -> None:
    before = repository.git("worktree", "list", "--porcelain")
    workspace = GitWorkspace(locate(repository.root / "src"))
    workspace.check_out(repository.head(), "b")
    workspace.remove_check_outs()
    assert repository.git("worktree", "list", "--porcelain") == before


def test_a_check_out_whose_folder_was_deleted_is_made_again(repository: Repository, workspace: GitWorkspace) -> None:
    tree = workspace.check_out(repository.head(), "b")
    shutil.rmtree(tree)
    assert (workspace.check_out(repository.head(), "b") / "src/kernel.txt").read_bytes() == KERNEL


def test_a_patch_without_git_headers_has_the_same_identity(repository: Repository, workspace: GitWorkspace) -> None:
    patch = repository.patch("src/kernel.txt", EDITED.replace(b"four", b"-- four"))
    bare = b"".join(line for line in patch.splitlines(keepends=True) if not line.startswith((b"diff --git", b"index")))
    assert bare != patch
    assert workspace.patch_identity(bare) == workspace.patch_identity(patch) != ""


# ------------------------------------------------------------------ three-way


def test_a_change_beside_another_is_merged_where_apply_alone_would_refuse(
    repository: Repository, workspace: GitWorkspace
) -> None:
    origin, patch = repository.head(), repository.patch("src/kernel.txt", KERNEL.replace(b"line two", b"line 2"))
    repository.write("src/kernel.txt", KERNEL.replace(b"line four\nline five", b"line 4\nline five"))
    head = repository.commit()
    assert isinstance(workspace.candidate_tree(head, patch), Failed)
    for base in (origin, ""):
        tree = workspace.rebased_tree(head, patch, origin=base)
        assert isinstance(tree, str), tree
        merged = repository.git("show", f"{tree}:src/kernel.txt").encode()
        assert merged.count(b"line 2") == KERNEL.count(b"line two")
        assert b"line 4" in merged


def test_lines_that_both_sides_changed_are_named(repository: Repository, workspace: GitWorkspace) -> None:
    origin, patch = repository.head(), repository.patch("src/kernel.txt", EDITED)
    repository.write("src/kernel.txt", KERNEL.replace(b"three", b"drei"))
    head = repository.commit()
    failed = workspace.rebased_tree(head, patch, origin=origin)
    assert failed == Failed(reason="the same lines of src/kernel.txt changed meanwhile")
    assert repository.status() == ""


def test_a_file_that_is_gone_is_named(repository: Repository, workspace: GitWorkspace) -> None:
    origin, patch = repository.head(), repository.patch("src/kernel.txt", EDITED)
    (repository.root / "src/kernel.txt").unlink()
    head = repository.commit()
    failed = workspace.rebased_tree(head, patch, origin=origin)
    assert isinstance(failed, Failed)
    assert "src/kernel.txt" in failed.reason


# ------------------------------------------------------------------ sparse work trees


@pytest.fixture
def sparse(repository: Repository) -> Repository:
    """bench and experiments lie outside of what the user has on disk."""
    repository.write("bench/judge.py", "judge\n")
    repository.write("experiments/P1/experiment.yaml", "id: P1\n")
    repository.commit()
    repository.git("sparse-checkout", "set", "src")
    assert not (repository.root / "bench").exists()
    return repository


def test_a_check_out_of_ours_is_whole_where_the_users_is_sparse(sparse: Repository, workspace: GitWorkspace) -> None:
    for _ in range(2):
        path = workspace.check_out(sparse.head(), "baseline")
        assert (path / "bench/judge.py").read_text() == "judge\n"
        assert workspace.call(["-C", str(path), "status", "--porcelain"])[1] == b""
        (path / "mark.o").touch()  # ignored: still there when the check-out is taken as it is
    assert (path / "mark.o").exists()
    assert not (sparse.root / "bench").exists()
    assert sparse.git("sparse-checkout", "list") == "src\n"


def test_a_publication_leaves_a_sparse_work_tree_sparse(sparse: Repository, workspace: GitWorkspace) -> None:
    old = sparse.head()
    files = {"src/kernel.txt": EDITED, "bench/judge.py": b"other\n", "experiments/P1/experiment.yaml": b"id: P1 \n"}
    files |= {"experiments/P1/record.json": b"{}\n", "ledger.md": b"P1\n"}
    new = workspace.commit_files(parent=old, files=files, message="P1", date="1700000000 +0000")
    assert workspace.publish(branch="main", old=old, new=new)
    assert (sparse.head(), sparse.status()) == (new, "")
    assert (sparse.root / "src/kernel.txt").read_bytes() == EDITED
    assert (sparse.root / "ledger.md").exists()
    assert not (sparse.root / "bench").exists()
    sparse.git("checkout", "-q", "-b", "other")
    sparse.git("sparse-checkout", "disable")
    assert {path: (sparse.root / path).read_bytes() for path in files} == files
    assert sparse.status() == ""


def test_a_capture_does_not_take_what_is_not_on_disk_for_deleted(repository: Repository, workspace: GitWorkspace) -> None:
    repository.write("src/deep/util.txt", "util\n")
    repository.commit()
    repository.git("sparse-checkout", "set", "--no-cone", "/src/*.txt")
    assert not (repository.root / "src/deep").exists()
    repository.write("src/kernel.txt", EDITED)
    patch = workspace.capture(["src"])
    assert b"a/src/kernel.txt" in patch
    assert b"deep" not in patch


# ------------------------------------------------------------------ authors

NAMES = ("A", "Ada B.", "a.", "'", ".", ". ,", "\\", "\x01", "\x01 b", '"', "\u00e9", "\udc80", " ", "", "-p", "$(id)")


def test_an_author_is_one_that_git_takes(workspace: GitWorkspace) -> None:
    head = workspace.head()
    for name, email in itertools.product(NAMES, ("a@b", ".", "\u00e9@b")):
        author, refused = f"{name} <{email}>", False
        try:
            commit = workspace.commit_tree(base=head, tree=f"{head}^{{tree}}", message="a commit\n", author=author)
            assert workspace.must(["show", "-s", "--format=%cn", commit]) == "expctl"
        except MachineTrouble:
            refused = True
        assert (re.fullmatch(AUTHOR, author) is None) == refused, ascii(author)


@pytest.mark.parametrize("published", [True, False])
def test_changes_that_became_a_proposal_are_set_back_after_a_kill(
    repository: Repository, workspace: GitWorkspace, published: bool
) -> None:
    repository.write("src/kernel.txt", b"captured\n")
    repository.write("src/other.txt", b"edited since\n")
    head = repository.head()
    tree = tree_of(workspace, head, workspace.capture(["src"]))
    repository.write("src/other.txt", b"edited again\n")
    files = {"experiments/P1/change.patch": b"patch"}
    commit = workspace.commit_files(parent=head, files=files, message="Propose P1", date="2026-01-01T00:00:00Z")
    CapturedChanges(workspace).intend(commit, ["src/kernel.txt", "src/other.txt"], tree)
    if published:
        repository.git("update-ref", "refs/heads/main", commit)
        repository.git("read-tree", "-m", commit)
    workspace.finish_publication()
    assert (workspace.dirty(["src"]) == ("src/other.txt",)) is published
    assert (repository.root / "src/other.txt").read_bytes() == b"edited again\n"
    assert not list(workspace.state.glob("captured*"))


def test_a_damaged_note_of_captured_changes_is_dropped(repository: Repository, workspace: GitWorkspace) -> None:
    repository.write("src/kernel.txt", b"captured\n")
    tree = tree_of(workspace, repository.head(), workspace.capture(["src"]))
    CapturedChanges(workspace).intend(repository.head(), ["src/kernel.txt"], tree)
    note = workspace.state / "captured.json"
    note.write_bytes(note.read_bytes().replace(b"src/", b"src\\"))
    workspace.finish_publication()
    assert workspace.dirty(["src"]) == ("src/kernel.txt",)
    assert not note.exists()


def test_what_a_kill_left_of_a_cached_file_is_removed(workspace: GitWorkspace) -> None:
    kept = workspace.state / "meanings" / "answers" / "abc.cache"
    left = kept.with_name(".abc.cache.77.77.new")
    kept.parent.mkdir(parents=True)
    for file in (kept, left):
        file.write_bytes(b"contents")
    workspace.remove_leftovers()
    assert kept.exists()
    assert not left.exists()
