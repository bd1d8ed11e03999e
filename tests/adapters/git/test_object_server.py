"""The git that stays: it sees what others write, and its death costs nothing."""

import hashlib
import os
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from expctl.adapters.git.object_server import ObjectServer
from expctl.adapters.git.objects import LISTED_MAX
from expctl.adapters.git.plumbing import GitPlumbing
from expctl.adapters.git.reader import GitReader, locate
from expctl.adapters.git.tree_differences import differences
from expctl.adapters.git.workspace import GitWorkspace
from expctl.domain.run.step_result import Failed
from tests.refusals import refuses
from tests.user_repository import KERNEL, Repository

ADA = "Ada <ada@example.org>"
OWN = ("experiments", "ledger.md")


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


LISTED = [("src",), ("src/", "link"), ("src/kernel.txt", "src"), ("absent", "src/deep/"), ("run.sh", "."), ("src/kernel.txt/",)]


@pytest.mark.parametrize("paths", LISTED, ids=" ".join)
def test_files_are_listed_as_git_lists_them(repository: Repository, paths: tuple[str, ...]) -> None:
    for name in ("src/a.b", "src/a/c", "src/a0", "src/deep/er/\u00fc", "run.sh"):
        repository.write(name, name)
    (repository.root / "run.sh").chmod(0o755)
    (repository.root / "link").symlink_to("run.sh")
    head = repository.commit()
    assert GitReader(locate(repository.root)).listing(head, paths).decode() == repository.git(
        "ls-tree", "-r", "-z", head, "--", *paths
    )
    many = repository.root / "many"
    for number in range(LISTED_MAX + 1):
        repository.write(f"many/{number}/x", "x")
    head = repository.commit()
    assert many.name in GitReader(locate(repository.root)).listing(head, ("many",)).decode()


def test_sources_are_known_by_all_but_experiments_and_ledger(repository: Repository) -> None:
    for name in ("experiments/P1/record.json", "ledger.md", "a/b", "run.sh"):
        repository.write(name, name)
    (repository.root / "run.sh").chmod(0o755)
    head = repository.commit()
    kept = [line for line in repository.git("ls-tree", "-z", head).split("\0") if line.split("\t")[-1] not in OWN]
    identity = hashlib.sha256("\0".join(kept).encode()).hexdigest()
    workspace = GitWorkspace(locate(repository.root))
    assert workspace.source_identity(head) == workspace.source_identity("HEAD") == identity


def test_modes_that_old_tools_wrote_are_read_as_git_reads_them(repository: Repository) -> None:
    blob, ids = repository.git("hash-object", "-w", "--stdin", stdin=b"old\n").strip(), dict[str, str]()
    for name, entries in (
        ("in", [("100664", "a", blob), ("100775", "b", blob)]),
        ("root", [("100664", "c", blob), ("040000", "in", "")]),
    ):
        text = b"".join(f"{mode} {path}\0".encode() + bytes.fromhex(found or ids["in"]) for mode, path, found in entries)
        words = ["hash-object", "-w", "-t", "tree", "--literally", "--stdin"]
        ids[name] = repository.git(*words, stdin=text).strip()
    head = repository.git("commit-tree", ids["root"], "-m", "old").strip()
    paths, workspace = ("in", "c"), GitWorkspace(locate(repository.root))
    assert workspace.listing(head, paths).decode() == repository.git("ls-tree", "-r", "-z", head, "--", *paths)
    listed = repository.git("ls-tree", "-z", head).encode()
    assert workspace.source_identity(head) == hashlib.sha256(listed).hexdigest()


class Counting(GitWorkspace):
    """Counts the processes that it starts to change something."""

    calls = 0

    def call(
        self, arguments: Sequence[str], *, stdin: bytes | None = None, env: Mapping[str, str] | None = None
    ) -> tuple[int, bytes, str]:
        self.calls += 1
        return super().call(arguments, stdin=stdin, env=env)


def test_a_commit_that_is_pinned_already_is_not_made_again(repository: Repository) -> None:
    head, found = repository.head(), list[tuple[str, int]]()
    for message in ("one", "one", "two"):
        workspace = Counting(locate(repository.root))
        tree = repository.git("rev-parse", f"{head}^{{tree}}").strip()
        made = workspace.pin(base=head, tree=tree, message=message, ref="refs/expctl/P1", author=ADA)
        assert repository.git("rev-parse", "refs/expctl/P1").strip() == made
        found.append((made, workspace.calls))
    assert found[1] == (found[0][0], 0)
    assert found[2][0] != found[0][0]


def test_a_tree_that_is_there_is_as_safe_from_a_collection_as_a_new_one(repository: Repository) -> None:
    """Git's collection deletes old objects that nothing names: who makes one again makes its file new."""
    head, patch = repository.head(), repository.patch("src/kernel.txt", KERNEL.replace(b"line two", b"line 2"))
    for _ in range(2):
        tree = GitWorkspace(locate(repository.root)).candidate_tree(head, patch)
        assert isinstance(tree, str)
        folder = repository.git("rev-parse", f"{tree}:src").strip()
        for file in (repository.root / ".git/objects" / each[:2] / each[2:] for each in (tree, folder)):
            assert time.time() - file.stat().st_mtime < 10_000
            os.utime(file, (0, 0))


def test_attributes_of_the_commit_say_what_can_be_merged_where_the_work_tree_has_none(repository: Repository) -> None:
    repository.write(".gitattributes", "src/kernel.txt -merge\n")
    origin = repository.commit()
    patch = repository.patch("src/kernel.txt", KERNEL.replace(b"line two", b"line 2"))
    repository.write("src/kernel.txt", KERNEL.replace(b"line nine", b"line 9"))
    head = repository.commit()
    (repository.root / ".gitattributes").unlink()
    assert isinstance(GitWorkspace(locate(repository.root)).rebased_tree(head, patch, origin=origin), Failed)


PATCHED: dict[str, dict[str, bytes | None]] = {
    "an edit": {"src/kernel.txt": KERNEL.replace(b"line two", b"line 2")},
    "a file goes": {"src/other.txt": None},
    "a file comes": {"src/kernel.txt": KERNEL + b"more\n", "src/new/file.txt": b"new\n"},
    "bytes": {"src/kernel.txt": b"\0\1\2", "src/other.txt": None},
}


@pytest.mark.parametrize("name", PATCHED)
def test_a_patch_changes_alone_what_it_changes_beside_all_files(repository: Repository, name: str) -> None:
    origin = repository.head()
    for path, contents in PATCHED[name].items():
        (repository.root / path).unlink() if contents is None else repository.write(path, contents)
    wanted = repository.commit()
    patch = repository.git("diff", "--binary", "--full-index", origin, wanted).encode()
    repository.git("reset", "-q", "--hard", origin)
    repository.write("experiments/P1/record.json", "{}")
    head = repository.commit()
    workspace = GitWorkspace(locate(repository.root))
    tree = workspace.rebased_tree(head, patch, origin=origin)
    assert isinstance(tree, str)
    assert [path for path, _, _ in differences(workspace, head, tree)] == sorted(PATCHED[name])
    assert workspace.files_identity(tree, ["src"]) == workspace.files_identity(wanted, ["src"])
    repository.git("fsck", "--strict")


@pytest.mark.parametrize("key", ["index.version", "core.splitIndex"])
def test_a_patch_is_applied_whatever_form_indexes_have(repository: Repository, key: str) -> None:
    origin, patch = repository.head(), repository.patch("src/kernel.txt", KERNEL.replace(b"line two", b"line 2"))
    repository.git("config", key, "4" if key.endswith("version") else "true")
    repository.write("experiments/P1/record.json", "{}")
    head = repository.commit()
    tree = GitWorkspace(locate(repository.root)).rebased_tree(head, patch, origin=origin)
    assert isinstance(tree, str)
    assert repository.git("diff", "--name-only", head, tree).split() == ["src/kernel.txt"]
