"""Three-way merges of trees in an index of our own: by lines, by side, and with conflict markers."""

import os
from collections.abc import Callable

import pytest

from expctl.adapters.git.branch_view import BranchView
from expctl.adapters.git.reader import locate
from expctl.adapters.git.workspace import GitWorkspace
from expctl.domain.patch.merge import Merged, Whose
from tests.refusals import refuses
from tests.user_repository import KERNEL, Repository

FILE = "src/kernel.txt"
TOP, END = KERNEL.replace(b"line zero", b"line 0"), KERNEL.replace(b"line ten\n", b"line 10\n")


@pytest.fixture
def workspace(repository: Repository) -> GitWorkspace:
    return GitWorkspace(locate(repository.root))


def on_both_sides(repository: Repository, ours: Callable[[], object], theirs: Callable[[], object]) -> tuple[str, str, str]:
    """The commit before, and one commit of each side."""
    base = repository.head()
    theirs()
    other = repository.commit("theirs")
    repository.git("reset", "-q", "--hard", base)
    ours()
    return base, repository.commit("ours"), other


def merge(workspace: GitWorkspace, sides: tuple[str, str, str], whose: Whose = Whose.BOTH) -> Merged:
    return workspace.merged_tree(*sides, name="P7", whose=lambda _: whose)


def test_changes_of_both_sides_are_merged_and_nothing_is_checked_out(repository: Repository, workspace: GitWorkspace) -> None:
    def ours() -> None:
        repository.write(FILE, TOP)
        (repository.root / FILE).chmod(0o755)
        repository.write("src/ours", "1")

    def theirs() -> None:
        repository.write(FILE, END)
        repository.write("src/theirs", "2")

    sides = on_both_sides(repository, ours, theirs)
    before = repository.files()
    merged = merge(workspace, sides)
    assert merged.conflicts == ()
    assert repository.git("show", f"{merged.tree}:{FILE}").encode() == TOP.replace(b"line ten\n", b"line 10\n")
    assert repository.git("ls-tree", merged.tree, "--", FILE).startswith("100755 ")
    assert [repository.git("show", f"{merged.tree}:src/{side}") for side in ("ours", "theirs")] == ["1", "2"]
    assert (repository.files(), repository.status()) == (before, "")
    assert list(workspace.state.glob(".scratch*")) == []


def test_lines_that_both_changed_stand_between_markers(repository: Repository, workspace: GitWorkspace) -> None:
    other = KERNEL.replace(b"line zero", b"line nought")
    sides = on_both_sides(repository, lambda: repository.write(FILE, TOP), lambda: repository.write(FILE, other))
    merged = merge(workspace, sides)
    text = repository.git("show", f"{merged.tree}:{FILE}")
    assert merged.conflicts == (FILE,)
    assert text.startswith("<<<<<<< HEAD\nline 0\n=======\nline nought\n>>>>>>> P7\n")
    assert text.endswith(KERNEL.decode().partition("\n")[2])


@pytest.mark.parametrize(("whose", "kept"), [(Whose.OURS, TOP), (Whose.THEIRS, END)])
def test_one_side_may_count_for_a_whole_file(
    repository: Repository, workspace: GitWorkspace, whose: Whose, kept: bytes
) -> None:
    sides = on_both_sides(repository, lambda: repository.write(FILE, TOP), lambda: repository.write(FILE, END))
    merged = merge(workspace, sides, whose)
    assert (merged.conflicts, repository.git("show", f"{merged.tree}:{FILE}").encode()) == ((), kept)


def test_what_has_no_lines_to_merge_is_a_conflict_and_ours_stays(repository: Repository, workspace: GitWorkspace) -> None:
    repository.write("src/data", b"\0" * 9)
    repository.commit("data")

    def ours() -> None:
        os.unlink(repository.root / FILE)
        repository.write("src/data", b"\0\1")

    def theirs() -> None:
        repository.write(FILE, END)
        repository.write("src/data", b"\0\2")

    merged = merge(workspace, on_both_sides(repository, ours, theirs))
    assert merged.conflicts == ("src/data", FILE)
    assert repository.git("show", f"{merged.tree}:src/data") == "\0\1"
    assert repository.git("show", f"{merged.tree}:{FILE}").encode() == END, "what one side removed is there to be looked at"


def test_a_merge_has_two_parents_and_its_own_ledger(repository: Repository, workspace: GitWorkspace) -> None:
    sides = on_both_sides(repository, lambda: repository.write(FILE, TOP), lambda: repository.write("notes.txt", "theirs"))
    base, ours, theirs = sides
    assert workspace.merge_base(ours, theirs) == base
    tree = workspace.commit_tree(base=ours, tree=merge(workspace, sides).tree, message="merge")
    files = {"ledger.md": b"rendered\n"}
    made = workspace.commit_files(parent=tree, files=files, message="merge", date="2026-01-01T00:00:00Z", merged=(ours, theirs))
    assert repository.git("show", "-s", "--format=%P", made).split() == [ours, theirs]
    assert repository.git("show", f"{made}:ledger.md") == "rendered\n"
    assert repository.git("show", f"{made}:notes.txt") == "theirs"


def test_a_branch_is_made_once_and_seen_whatever_is_checked_out(repository: Repository, workspace: GitWorkspace) -> None:
    before, head = repository.files(), repository.head()
    workspace.start_branch("expctl/main", head)
    view = BranchView(workspace, "expctl/main")
    new = view.commit_files(parent=head, files={FILE: TOP}, message="kept", date="2026-01-01T00:00:00Z")
    repository.write(FILE, END)
    assert view.publish(branch="expctl/main", old=head, new=new)
    workspace.start_branch("expctl/main", head)
    assert (view.head(), view.branch(), view.campaign) == (new, "expctl/main", "expctl/main")
    assert (view.dirty(["src"]), workspace.dirty(["src"])) == ((), (FILE,))
    assert (workspace.head(), workspace.campaign) == (head, "")
    repository.write(FILE, KERNEL)
    assert repository.files() == before
    with refuses("branch-cannot-start") as caught:
        workspace.start_branch("two..dots", head)
    assert "--branch NAME" in caught.value.hint
