"""Indexes that are made and changed without git are read by git as its own."""

import os
import subprocess
from pathlib import Path, PurePosixPath

import pytest

from expctl.adapters.git.index_bytes import entries_in, index_of, is_as_before, with_facts
from expctl.adapters.git.tree_changes import Change, Item
from tests.user_repository import Repository


@pytest.fixture(params=["sha1", "sha256"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Repository:
    subprocess.run(["git", "init", "-q", "-b", "main", f"--object-format={request.param}", tmp_path / "r"], check=True)
    repository = Repository(tmp_path / "r")
    for path in ("a.b", "b/c", "run.sh", "\u00e9/\u00fc", *(f"n/{'x' * n}" for n in range(1, 10))):
        repository.write(path, f"{path}\n")
    (repository.root / "run.sh").chmod(0o755)
    repository.commit()
    return repository


def items(repository: Repository) -> dict[str, Item]:
    lines = repository.git("ls-files", "-s", "-z").split("\0")
    return {line.split("\t")[1]: Item(*line.split()[:2]) for line in lines if line}


def of(repository: Repository, index: bytes, *words: str) -> str:
    """What git says with another index in the place of the user's."""
    file = repository.root / ".git" / "index"
    kept = file.read_bytes()
    file.write_bytes(index)
    try:
        return repository.git(*words)
    finally:
        file.write_bytes(kept)


def facts(repository: Repository, wanted: dict[str, Item]) -> dict[str, tuple[Item, os.stat_result]]:
    return {path: (item, (repository.root / path).lstat()) for path, item in wanted.items()}


def test_git_reads_it(made: Repository) -> None:
    wanted = items(made)
    blob = wanted["run.sh"].blob
    deep = {f"b/{'long/' * 900}{'x' * n}": Item("100644", blob) for n in (1, 2, 9)}
    for each in (wanted, {"run.sh": wanted["run.sh"]}, deep):
        assert items_of(of(made, index_of(each), "ls-files", "-s", "-z")) == entries_in(index_of(each), blob) == each


def items_of(listed: str) -> dict[str, Item]:
    return {line.split("\t")[1]: Item(*line.split()[:2]) for line in listed.split("\0") if line}


def test_facts_are_those_that_git_would_note(made: Repository) -> None:
    some = {path: item for path, item in items(made).items() if path != "b/c"}
    made.git("read-tree", "HEAD")  # an index without facts
    bare = (made.root / ".git/index").read_bytes()
    noted = with_facts(bare, facts(made, some))
    assert noted is not None
    made.git("add", "--refresh", *some)
    assert of(made, noted, "ls-files", "--debug") == made.git("ls-files", "--debug")
    assert of(made, noted, "diff-files", "--name-only").split() == ["b/c"]


@pytest.mark.parametrize("why", ["version 4", "damaged", "in parts", "new in parts", "another blob", "known facts", "skipped"])
def test_where_it_is_not_sure_git_has_to_note_them(made: Repository, why: str) -> None:
    wanted = items(made)
    made.git("read-tree", "HEAD")
    some = facts(made, {"run.sh": wanted["run.sh"]})
    if why == "version 4":
        made.git("update-index", "--index-version", "4")
    elif why == "in parts":
        made.git("update-index", "--split-index")
    elif why == "new in parts":
        made.git("update-index", "--split-index")
        made.git("update-index", "--add", "--cacheinfo", f"100755,{wanted['run.sh'].blob},new.sh")
        some = {"new.sh": some["run.sh"]}
    elif why == "another blob":
        some = facts(made, {"run.sh": wanted["a.b"]})
    elif why == "known facts":
        made.git("add", "--refresh", "run.sh")
    elif why == "skipped":
        made.git("update-index", "--skip-worktree", "run.sh")
    index = (made.root / ".git/index").read_bytes()
    if why == "damaged":
        index = index[:-30] + bytes([index[-30] ^ 1]) + index[-29:]
    assert with_facts(index, some) is None


def test_an_index_is_as_before_where_it_has_the_old_files_and_none_of_the_new(made: Repository) -> None:
    index, known = (made.root / ".git/index").read_bytes(), items(made)
    run, dot = known["run.sh"], known["a.b"]
    edit = Change(0, PurePosixPath("run.sh"), run, dot)
    added = Change(1, PurePosixPath("n/new"), None, dot)
    gone = Change(2, PurePosixPath("b/c"), known["b/c"], None)
    assert is_as_before(index, [edit, added, gone])
    others = (edit._replace(old=dot), edit._replace(old=Item("100644", run.blob)), added._replace(path=PurePosixPath("a.b")))
    assert not any(is_as_before(index, [gone, other]) for other in others)
    for words in (["--index-version", "4"], ["--skip-worktree", "run.sh"], ["--assume-unchanged", "run.sh"]):
        assert not is_as_before(changed(made, "update-index", *words), [edit])
    assert not is_as_before(changed(made, "update-index", "--split-index"), [added])
    made.git("update-index", "--no-split-index")
    stages = "".join(f"100644 {run.blob} {stage}\tconflict\n" for stage in (1, 2, 3)).encode()
    assert not is_as_before(changed(made, "update-index", "--index-info", stdin=stages), [edit])
    assert not is_as_before(index[: len(index) // 2], [edit])
    made.write("n/new", "mine")
    assert not is_as_before(changed(made, "add", "-N", "n/new"), [added])


def changed(repository: Repository, *words: str, stdin: bytes = b"") -> bytes:
    """Return the index after a command of the user, and undo that."""
    file = repository.root / ".git/index"
    before = file.read_bytes()
    repository.git(*words, stdin=stdin)
    found = file.read_bytes()
    file.write_bytes(before)
    return found
