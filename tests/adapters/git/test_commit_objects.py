"""A commit whose objects are made in memory is the very commit that git would make."""

import subprocess
from pathlib import Path

import pytest

from expctl.adapters.git.reader import locate
from expctl.adapters.git.signing import SWITCH
from expctl.adapters.git.tree_changes import changes_in
from expctl.adapters.git.workspace import GitWorkspace
from expctl.domain.errors import MachineTrouble
from tests.user_repository import Repository

DATE = "2026-01-02T03:04:05Z"
NAMES = (
    "a",
    "a.b",
    "a-b",
    "a/in",
    "a/in.txt/deep",
    "a0",
    "b/c/d",
    "experiments/P1/x",
    "experiments/P10/x",
    "\u00e9/\u00fc",
    "z",
)
"""Git sorts the folder `a` as `a/`: after `a-b` and `a.b`, before `a0`."""


@pytest.fixture(params=["sha1", "sha256"])
def of_either_hash(request: pytest.FixtureRequest, tmp_path: Path) -> Repository:
    root = tmp_path / "repository"
    subprocess.run(["git", "init", "-q", "-b", "main", f"--object-format={request.param}", root], check=True)
    made = Repository(root)
    made.write("b/c/old.txt", "old\n")
    made.write("run.sh", "#!/bin/sh\n").chmod(0o755)
    (root / "link").symlink_to("run.sh")
    made.commit("first")
    return made


def by_git(workspace: GitWorkspace, repository: Repository, files: dict[str, bytes], message: str) -> str:
    """Return the commit of a tree and a parent that git's own commands make, to compare with."""
    env = {"GIT_INDEX_FILE": str(repository.root.parent / "index")}
    workspace.must(["read-tree", repository.head()], env=env)
    for path, contents in files.items():
        blob = workspace.must(["hash-object", "-w", "--stdin"], stdin=contents)
        workspace.must(["update-index", "--add", "--cacheinfo", f"100644,{blob},{path}"], env=env)
    who = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in IDENTITY.items()}
    words = ["commit-tree", workspace.must(["write-tree"], env=env), "-p", repository.head(), "-F", "-"]
    return workspace.must(words, stdin=message.encode(), env=who)


IDENTITY = {"NAME": "expctl", "EMAIL": "expctl@localhost", "DATE": DATE}


@pytest.mark.parametrize("message", ["Propose P1\n\nWhy.\n", "no line end", "\u00fc\n\n\n"])
def test_it_is_the_commit_that_git_makes(of_either_hash: Repository, message: str) -> None:
    repository = of_either_hash
    workspace, head = GitWorkspace(locate(repository.root)), repository.head()
    for count in range(1, len(NAMES) + 1):
        names = [name for name in NAMES[:count] if not any(other.startswith(f"{name}/") for other in NAMES[:count])]
        files = {name: f"{name}\n".encode() * (1 + 999 * number) for number, name in enumerate(names)} | {
            "run.sh": b"",
            "empty": b"",
        }
        made = workspace.commit_files(parent=head, files=files, message=message, date=DATE)
        raw = workspace.must(["diff-tree", "-r", "-z", "--no-renames", "--no-abbrev", "--raw", head, made])
        assert workspace._made[head, made] == changes_in(raw)
        assert made == by_git(workspace, repository, files, message)
    repository.git("fsck", "--strict", "--no-dangling")


def test_what_is_as_before_is_no_change(repository: Repository) -> None:
    workspace, head = GitWorkspace(locate(repository.root)), repository.head()
    files = {"src/kernel.txt": (repository.root / "src/kernel.txt").read_bytes(), "src/other.txt": b"other than before\n"}
    made = workspace.commit_files(parent=head, files=files, message="x\n", date=DATE)
    assert [str(change.path) for change in workspace._made[head, made]] == ["src/other.txt"]


@pytest.mark.parametrize("path", ["src", "src/kernel.txt/below"])
def test_nothing_gives_way(repository: Repository, path: str) -> None:
    workspace, head = GitWorkspace(locate(repository.root)), repository.head()
    with pytest.raises(MachineTrouble, match="git") as caught:
        workspace.commit_files(parent=head, files={path: b"x"}, message="x\n", date=DATE)
    assert "both a file and a folder" in caught.value.found


@pytest.mark.parametrize("date", ["1767323045 +0000", DATE, "2026-01-02T05:04:05+02:00"])
def test_dates_of_git_and_of_iso_8601(repository: Repository, date: str) -> None:
    workspace, head = GitWorkspace(locate(repository.root)), repository.head()
    made = workspace.commit_files(parent=head, files={"a": b"a"}, message="x\n", date=date)
    assert repository.git("log", "-1", "--format=%at %ct", made).strip() == "1767323045 1767323045"


def test_objects_of_a_commit_that_cannot_be_signed_stay_unnamed(repository: Repository) -> None:
    workspace, head = GitWorkspace(locate(repository.root)), repository.head()
    repository.git("config", SWITCH, "true")
    repository.git("config", "gpg.program", "false")
    with pytest.raises(MachineTrouble, match="can't be signed"):
        workspace.commit_files(parent=head, files={"a": b"a"}, message="x\n", date=DATE)
    assert (repository.head(), repository.status()) == (head, "")


def test_a_folder_that_git_has_lost_is_named(repository: Repository) -> None:
    workspace, head = GitWorkspace(locate(repository.root)), repository.head()
    tree = repository.git("rev-parse", f"{head}:src").strip()
    (repository.root / ".git/objects" / tree[:2] / tree[2:]).unlink()
    with pytest.raises(Exception, match="lost an object") as caught:
        workspace.commit_files(parent=head, files={"src/kernel.txt": b"x"}, message="x\n", date=DATE)
    assert caught.type.__name__ == "Refused"
