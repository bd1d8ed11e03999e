"""What an audit asks of git: which commits changed the scope, and HEAD without one of them."""

from expctl.adapters.git.reader import locate
from expctl.adapters.git.workspace import GitWorkspace
from expctl.domain.run.step_result import Failed
from tests.user_repository import KERNEL, Repository


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


def test_one_change_is_taken_back_from_under_later_ones_and_a_conflict_is_named(repository: Repository) -> None:
    repository.write("src/kernel.txt", KERNEL.replace(b"line zero\n", b"line 0\n"))
    repository.write("notes.txt", "beside the scope\n")
    first = repository.commit()
    repository.write("src/kernel.txt", KERNEL.replace(b"line zero\n", b"line 0\n") + b"the end\n")
    repository.commit()
    workspace = GitWorkspace(locate(repository.root))
    head, before = repository.head(), repository.status()
    tree = workspace.reverted_tree(head, first, ("src",))
    assert isinstance(tree, str)
    assert repository.git("show", f"{tree}:src/kernel.txt").encode() == KERNEL + b"the end\n"
    assert repository.git("show", f"{tree}:notes.txt") == "beside the scope\n"
    commit = workspace.commit_tree(base=head, tree=tree, message="without it\n")
    assert workspace.parent(commit) == head
    assert repository.git("for-each-ref", "--contains", commit) == ""
    repository.write("src/kernel.txt", KERNEL.replace(b"line zero\n", b"line nought\n"))
    conflict = workspace.reverted_tree(repository.commit(), first, ("src",))
    assert isinstance(conflict, Failed)
    assert "src/kernel.txt" in conflict.reason
    repository.write("src/kernel.txt", KERNEL)
    gone = workspace.reverted_tree(repository.commit(), first, ("src",))
    assert isinstance(gone, Failed)
    assert repository.status() == before == ""
