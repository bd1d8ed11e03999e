"""Finding a repository and reading commits."""

import os
from pathlib import Path

import pytest

from expctl.adapters.git import command
from expctl.adapters.git.command import hermetic_environment
from expctl.adapters.git.evidence import GitEvidence
from expctl.adapters.git.reader import GitReader, locate
from expctl.adapters.git.workspace import GitWorkspace
from expctl.domain.errors import Refused
from tests.refusals import refuses
from tests.user_repository import KERNEL, Repository


def test_a_repository_is_found_from_its_root(repository: Repository) -> None:
    place = locate(repository.root)
    assert (place.root, place.git_dir) == (repository.root, repository.root / ".git")
    assert place.state == repository.root / ".git/expctl"


def test_a_repository_is_the_same_place_from_a_folder_inside(repository: Repository) -> None:
    assert locate(repository.root / "src") == locate(repository.root)


def test_a_second_worktree_shares_the_state_and_has_its_own_index(repository: Repository) -> None:
    other = repository.root.parent / "second"
    repository.git("worktree", "add", "-q", str(other), "-b", "second")
    place = locate(other)
    assert place.root == other
    assert place.state.resolve() == repository.root / ".git/expctl"
    assert place.git_dir == repository.root / ".git/worktrees/second"


def test_outside_of_a_repository_is_refused_with_a_hint(tmp_path: Path) -> None:
    with refuses("not-a-repository") as caught:
        locate(tmp_path)
    assert "cd into" in caught.value.hint


def test_a_bare_repository_is_refused(tmp_path: Path) -> None:
    Repository(tmp_path).git("init", "-q", "--bare", "bare.git")
    with pytest.raises(Refused):
        locate(tmp_path / "bare.git")


@pytest.mark.parametrize("commits", [0, 1])
def test_a_path_with_a_line_end_is_refused_by_name(tmp_path: Path, commits: int) -> None:
    made = Repository(tmp_path / "two\nlines")
    made.root.mkdir()
    made.git("init", "-q")
    for _ in range(commits):
        made.commit()
    with refuses("path-has-line-end"):
        locate(made.root)


@pytest.mark.parametrize("name", ["car\rriage", "next\x85line", "spa ce"])
def test_other_signs_in_a_path_are_no_line_ends(tmp_path: Path, name: str) -> None:
    made = Repository(tmp_path / name)
    made.root.mkdir()
    made.git("init", "-q")
    made.commit()
    assert locate(made.root).root == made.root


def test_a_repository_without_a_commit_is_refused(tmp_path: Path) -> None:
    Repository(tmp_path).git("init", "-q")
    with refuses("no-commit-yet"):
        GitReader(locate(tmp_path)).head()


def test_head_and_branch(repository: Repository) -> None:
    reader = GitReader(locate(repository.root))
    assert (reader.head(), reader.branch()) == (repository.head(), "main")
    repository.git("checkout", "-q", "--detach")
    assert (reader.head(), reader.branch()) == (repository.head(), "")


@pytest.mark.parametrize("name", ["main", "HEAD", "refs/heads/main", "heads/main"])
def test_a_branch_has_its_own_name_whatever_else_has_it_too(repository: Repository, name: str) -> None:
    repository.git("tag", "main")
    repository.git("symbolic-ref", "HEAD", f"refs/heads/{name}")
    repository.git("update-ref", f"refs/heads/{name}", "refs/heads/main")
    assert GitReader(locate(repository.root)).branch() == name
    assert GitWorkspace(locate(repository.root)).branch_head(name) == repository.git("rev-parse", "refs/heads/main").strip()


def test_what_head_was_is_known_from_the_start_and_never_taken_for_what_it_is(repository: Repository) -> None:
    bare = locate(repository.root)
    assert (bare.head, bare.experiments) == (repository.head(), None)
    repository.write("experiments/P1/experiment.yaml", b"id: P1")
    first = repository.commit()
    reader = GitReader(locate(repository.root))
    assert reader.place.experiments == repository.git("rev-parse", "HEAD:experiments").strip()
    repository.write("experiments/P2/experiment.yaml", b"id: P2")
    second = repository.commit()
    assert (reader.found_head(), reader.head()) == (first, second)
    trees = [repository.git("rev-parse", f"{commit}:experiments").strip() for commit in (first, second)]
    assert [reader.tree_of(commit, "experiments") for commit in (first, second)] == trees
    assert GitReader(bare).tree_of(second, "experiments") == trees[1]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_repository_of_somebody_else_is_read_when_the_user_trusts_it(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = repository.head()
    for path in (repository.root, repository.root / ".git"):
        os.chown(path, 12345, 12345)
    command.user_settings.cache_clear()
    with refuses("repository-not-trusted"):
        locate(repository.root)
    trusting = tmp_path / "home" / ".gitconfig"
    trusting.write_text(f"[safe]\n\tdirectory = {repository.root}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(trusting))
    command.user_settings.cache_clear()
    reader = GitReader(locate(repository.root))
    assert reader.place.foreign
    assert (reader.head(), reader.read_file(head, "src/kernel.txt")) == (head, KERNEL)
    evidence = GitEvidence(reader.place)
    assert (evidence.damage(), [*evidence.commits(head, ())]) == ("", [head])
    command.user_settings.cache_clear()


def test_a_huge_file_is_edited_and_not_read(repository: Repository) -> None:
    reader, file = GitReader(locate(repository.root)), repository.root / "src/kernel.txt"
    assert not reader.is_edited(repository.head(), "src/kernel.txt")
    os.truncate(file, 1 << 42)
    assert reader.is_edited(repository.head(), "src/kernel.txt")


def test_what_was_read_ahead_is_not_asked_for_again(repository: Repository) -> None:
    reader, head = GitReader(locate(repository.root)), repository.head()
    reader.read_ahead([f"{head}:src/kernel.txt", f"{head}:absent"])
    (repository.root / ".git").rename(repository.root / "gone")
    assert reader.read_blobs([f"{head}:src/kernel.txt"]) == {f"{head}:src/kernel.txt": KERNEL}


def test_files_are_read_as_they_stand_in_the_commit(repository: Repository) -> None:
    reader, head = GitReader(locate(repository.root)), repository.head()
    repository.write("src/kernel.txt", "edited")
    assert reader.read_file(head, "src/kernel.txt") == KERNEL
    assert reader.read_file(head, "src/absent.txt") is None
    assert reader.read_file(head, "src") is None
    assert list(reader.list_files(head, "src/")) == ["src/kernel.txt", "src/other.txt"]
    assert reader.read_blobs([]) == {}


def test_many_blobs_come_by_one_call_absent_ones_left_out(repository: Repository) -> None:
    repository.write("src/empty.txt", "")
    repository.write("src/binary.bin", bytes(range(256)) * 10)
    repository.write("src/name with spaces.txt", "x")
    head = repository.commit()
    names = [f"{head}:{path}" for path in ("src/empty.txt", "gone", "src/binary.bin", "src/name with spaces.txt")]
    contents = GitReader(locate(repository.root)).read_blobs(names)
    assert list(contents.values()) == [b"", bytes(range(256)) * 10, b"x"]


@pytest.mark.parametrize("lost", ["src/kernel.txt", "src", ""], ids=["file", "folder", "root"])
def test_what_git_has_lost_is_not_taken_for_what_was_never_there(repository: Repository, lost: str) -> None:
    head = repository.head()
    name = repository.git("rev-parse", f"{head}:{lost}").strip()
    (repository.root / ".git" / "objects" / name[:2] / name[2:]).unlink()
    with refuses("git-object-lost"):
        GitReader(locate(repository.root)).read_file(head, "src/kernel.txt")


@pytest.mark.parametrize("path", ["src/nothing", "nothing/at/all", "src/kernel.txt/below", "src"])
def test_what_was_never_there_is_absent(repository: Repository, path: str) -> None:
    git, head = GitReader(locate(repository.root)), repository.head()
    assert (git.read_file(head, path), git.read_file("0" * 40, path), git.read_file("HEAD", path)) == (None, None, None)


def test_the_users_environment_does_not_reach_git(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_WORK_TREE", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    environment = hermetic_environment({"GIT_INDEX_FILE": "ours"})
    assert "GIT_DIR" not in environment
    assert environment["GIT_INDEX_FILE"] == "ours"
    assert environment["GIT_CONFIG_GLOBAL"] == os.devnull
    assert locate(repository.root).root == repository.root


def test_the_last_commit_that_had_a_file_which_is_gone(repository: Repository) -> None:
    path = "experiments/P1/record.json"
    reader = GitReader(locate(repository.root))
    assert reader.last_with(repository.head(), path) == ""
    for text in ("old", "new"):
        repository.write(path, text)
        had = repository.commit()
    assert reader.last_with(had, path) == ""
    (repository.root / path).unlink()
    repository.commit("gone")
    assert reader.last_with(repository.commit("later"), path) == had
