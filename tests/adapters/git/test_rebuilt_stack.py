"""What an audit asks of git: which commits changed the scope, and HEAD without one of them."""

import subprocess

import pytest

from expctl.adapters.git.reader import locate
from expctl.adapters.git.workspace import GitWorkspace
from expctl.domain.run.step_result import Failed
from tests.user_repository import KERNEL, Repository

SCOPE = ("src",)
PLACES = ("unroll", "tile", "swizzle", "stages", "warps", "prefetch")
# Six kept changes of one file. The second takes back a part of the first; the fifth and sixth build on the one before.
STACK = (
    {"unroll": 8, "tile": 32},
    {"unroll": 4, "swizzle": 1},
    {"unroll": 2},
    {"stages": 3},
    {"stages": 4, "warps": 8},
    {"warps": 16, "prefetch": 1},
)
START = {"unroll": 4, "tile": 16, "swizzle": 0, "stages": 2, "warps": 4, "prefetch": 0}


def kernel(values: dict[str, int]) -> str:
    """A file in which the six places lie far enough apart."""
    return "".join(f"{place} = {values[place]}\n" + "".join(f"{place} {n}\n" for n in range(5)) for place in PLACES)


@pytest.fixture
def stack(repository: Repository) -> tuple[Repository, tuple[str, ...]]:
    """A repository with the six changes, each a commit, and commits beside the scope between them."""
    values = dict(START)
    repository.write("src/kernel.txt", kernel(values))
    repository.commit()
    commits = []
    for number, change in enumerate(STACK):
        values |= change
        repository.write("src/kernel.txt", kernel(values))
        commits.append(repository.commit())
        repository.write("ledger.md", f"{number}\n")
        repository.commit()
    return repository, tuple(commits)


def without(workspace: GitWorkspace, commits: tuple[str, ...], left_out: int) -> str | int:
    """The tree of HEAD without one change, or the number of the first that can't be applied without it."""
    tree = workspace.tree_with("HEAD", f"{commits[left_out]}^", SCOPE)
    for number in range(left_out + 1, len(commits)):
        applied = workspace.reapplied_tree(tree, commits[number], SCOPE)
        if isinstance(applied, Failed):
            assert applied.reason == "conflict in src/kernel.txt"
            return number
        tree = applied
    return tree


def reverts(repository: Repository, commit: str) -> bool:
    """Does a plain `git revert` of the commit work?"""
    answer = subprocess.run(["git", "revert", "--no-edit", "--no-commit", commit], cwd=repository.root, capture_output=True)
    repository.git("reset", "-q", "--hard")
    return answer.returncode == 0


def test_a_stack_of_six_on_one_file_is_rebuilt_or_its_dependency_named(stack: tuple[Repository, tuple[str, ...]]) -> None:
    repository, commits = stack
    workspace = GitWorkspace(locate(repository.root))
    assert [reverts(repository, commit) for commit in commits] == [False, False, True, False, False, True]
    refs, index, before = repository.git("for-each-ref"), repository.git("ls-files", "-s"), repository.status()
    found = [without(workspace, commits, number) for number in range(6)]
    assert [each if isinstance(each, int) else "rebuilt" for each in found] == ["rebuilt", 2, "rebuilt", 4, 5, "rebuilt"]
    last = {place: value for change in (START, *STACK) for place, value in change.items()}
    for left_out, gone in ((0, {"tile": 16}), (2, {"unroll": 4}), (5, {"warps": 8, "prefetch": 0})):
        assert repository.git("show", f"{found[left_out]}:src/kernel.txt") == kernel({**last, **gone})
        assert repository.git("show", f"{found[left_out]}:ledger.md") == "5\n"
    assert (repository.git("for-each-ref"), repository.git("ls-files", "-s"), repository.status()) == (refs, index, before)


def test_without_none_left_out_the_stack_is_head(stack: tuple[Repository, tuple[str, ...]]) -> None:
    repository, commits = stack
    workspace = GitWorkspace(locate(repository.root))
    tree = workspace.tree_with("HEAD", f"{commits[0]}^", SCOPE)
    for commit in commits:
        applied = workspace.reapplied_tree(tree, commit, SCOPE)
        assert isinstance(applied, str)
        tree = applied
    assert tree == repository.git("rev-parse", "HEAD^{tree}").strip()


def test_files_that_come_go_and_move_are_rebuilt_too(repository: Repository) -> None:
    repository.write("src/new.txt", KERNEL)
    added = repository.commit()
    repository.write("src/new.txt", KERNEL + b"the end\n")
    grown = repository.commit()
    repository.write("src/kernel.txt", KERNEL.replace(b"line zero\n", b"line 0\n"))
    changed = repository.commit()
    repository.git("mv", "src/kernel.txt", "src/moved.txt")
    repository.write("src/moved.txt", KERNEL.replace(b"line zero\n", b"line 0\n") + b"the end\n")
    moved = repository.commit()
    repository.write("notes.txt", "beside the scope\n")
    beside = repository.commit()
    workspace = GitWorkspace(locate(repository.root))
    lost = workspace.reapplied_tree(workspace.tree_with(beside, f"{added}^", SCOPE), grown, SCOPE)
    assert isinstance(lost, Failed)
    assert "src/new.txt" in lost.reason
    tree = workspace.tree_with(beside, f"{changed}^", SCOPE)
    assert workspace.reapplied_tree(tree, beside, SCOPE) == tree
    rebuilt = workspace.reapplied_tree(tree, moved, SCOPE)
    assert isinstance(rebuilt, str)
    assert {"src/moved.txt", "src/new.txt"} < set(workspace.list_files(rebuilt, "src"))
    assert "src/kernel.txt" not in workspace.list_files(rebuilt, "src")
    assert repository.git("show", f"{rebuilt}:src/moved.txt").encode() == KERNEL + b"the end\n"
    assert repository.git("show", f"{rebuilt}:notes.txt") == "beside the scope\n"
    commit = workspace.commit_tree(base=beside, tree=rebuilt, message="without it\n")
    assert workspace.parent(commit) == beside
    assert repository.git("for-each-ref", "--contains", commit) == ""
    assert repository.status() == ""


@pytest.mark.parametrize("file", [".gitattributes", ".git/info/attributes"])
def test_no_attribute_makes_a_merge_that_nobody_wrote(stack: tuple[Repository, tuple[str, ...]], file: str) -> None:
    repository, commits = stack
    repository.write(file, "src/* merge=union\n")
    repository.commit()
    workspace = GitWorkspace(locate(repository.root))
    found = [without(workspace, commits, number) for number in range(6)]
    assert [each if isinstance(each, int) else "rebuilt" for each in found] == ["rebuilt", 2, "rebuilt", 4, 5, "rebuilt"]


def test_commits_of_the_scope_along_first_parents_oldest_first(repository: Repository) -> None:
    first = repository.head()
    repository.write("src/kernel.txt", KERNEL + b"more\n")
    one = repository.commit()
    repository.write("notes.txt", "other notes\n")
    repository.commit()
    repository.git("checkout", "-q", "-b", "side", first)
    repository.write("src/other.txt", "from the side\n")
    side = repository.commit()
    repository.git("checkout", "-q", "main")
    repository.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    workspace = GitWorkspace(locate(repository.root))
    found = workspace.commits_touching(first, repository.head(), ("src",))
    assert found == (one, repository.head())
    assert side not in found
    assert workspace.commits_touching(first, repository.head(), ("nowhere",)) == ()
    assert [workspace.is_commit(name) for name in (one[:10], "0" * 40, "abcdef1")] == [True, False, False]
