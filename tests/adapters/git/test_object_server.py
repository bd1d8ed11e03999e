"""The git that stays: it sees what others write, and its death costs nothing."""

import os
import signal
from pathlib import Path

import pytest

from expctl.adapters.git.object_server import ObjectServer
from expctl.adapters.git.plumbing import GitPlumbing
from expctl.adapters.git.reader import GitReader, locate
from expctl.adapters.git.tree_differences import differences
from expctl.adapters.git.workspace import GitWorkspace
from tests.refusals import refuses
from tests.user_repository import KERNEL, Repository


def _children() -> set[int]:
    return {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}


def test_it_sees_commits_that_others_make_and_refs_that_move_or_are_packed(repository: Repository) -> None:
    git = GitPlumbing(locate(repository.root))
    assert git.ref("refs/heads/main") == repository.head()
    repository.write("src/new.txt", "new")
    second = repository.commit()
    assert (git.ref("refs/heads/main"), git.read_file(second, "src/new.txt")) == (second, b"new")
    repository.git("gc", "-q")
    third = repository.commit()
    assert (git.ref("refs/heads/main"), git.parent(third), git.ref("refs/heads/gone")) == (third, second, "")


def test_one_that_was_killed_is_begun_anew(repository: Repository) -> None:
    git, before = GitReader(locate(repository.root)), _children()
    head = repository.head()
    assert git.resolve("HEAD") == head
    (server,) = _children() - before
    os.kill(server, signal.SIGKILL)
    assert [git.resolve("HEAD") for _ in range(2)] == [head] * 2
    assert len(_children() - before) == 1


def test_it_ends_with_what_has_begun_it(repository: Repository) -> None:
    before, git = _children(), GitReader(locate(repository.root))
    git.resolve("HEAD")
    assert _children() - before
    del git
    assert not _children() - before


def test_a_fork_does_not_read_its_parents_answers(repository: Repository) -> None:
    server = ObjectServer(repository.root, foreign=False)
    assert server.takes(["HEAD"])
    child = os.fork()
    if not child:
        os._exit(server.takes(["HEAD"]))
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("names", [["HEAD"] * 2000, ["HEAD:a\nHEAD"]], ids=["many", "two lines"])
def test_what_could_block_the_pipe_or_mix_answers_up_is_not_asked(repository: Repository, names: list[str]) -> None:
    assert not ObjectServer(repository.root, foreign=False).takes(names)


def test_an_object_that_is_damaged_is_refused_as_by_a_call_of_git(repository: Repository) -> None:
    head = repository.head()
    blob = repository.git("rev-parse", f"{head}:src/kernel.txt").strip()
    file = repository.root / ".git/objects" / blob[:2] / blob[2:]
    file.chmod(0o644)
    file.write_bytes(file.read_bytes()[:20])
    with refuses("git-cannot-read"):
        GitReader(locate(repository.root)).read_file(head, "src/kernel.txt")


def test_differences_are_those_of_git(repository: Repository) -> None:
    first = repository.head()
    for path in ("src/a/deep/file.txt", "src/a.txt", "src.txt"):
        repository.write(path, path)
    (repository.root / "src/other.txt").unlink()
    (repository.root / "src/kernel.txt").chmod(0o755)
    second = repository.commit()
    found = differences(GitReader(locate(repository.root)), first, second)
    named = repository.git("diff-tree", "-r", "--no-renames", "--name-only", first, second).split()
    assert [path for path, _, _ in found] == named
    assert {path for path, old, _ in found if old is None} == {"src.txt", "src/a.txt", "src/a/deep/file.txt"}
    assert [new for path, _, new in found if path == "src/other.txt"] == [None]


def test_a_patch_is_put_upon_a_commit_that_has_its_files_as_they_were(repository: Repository) -> None:
    changed = KERNEL.replace(b"line two", b"line 2")
    patches = [repository.patch("src/kernel.txt", changed), repository.patch("src/other.txt", None)]
    origin = repository.head()
    repository.write("experiments/P1/record.json", "{}")
    head = repository.commit()
    for patch in patches:
        tree = GitWorkspace(locate(repository.root)).rebased_tree(head, patch, origin=origin)
        assert tree == GitWorkspace(locate(repository.root)).candidate_tree(head, patch)


def test_a_commit_differs_below_a_path_by_content_and_by_mode_alone(repository: Repository) -> None:
    workspace, first = GitWorkspace(locate(repository.root)), repository.head()
    repository.write("beside.txt", "x")
    second = repository.commit()
    (repository.root / "src/kernel.txt").chmod(0o755)
    third = repository.commit()
    assert not workspace.differs(first, second, ["src", "absent/below"])
    assert workspace.differs(second, third, ["src/"])
    assert workspace.differs(first, "0" * 40, ["src"])
