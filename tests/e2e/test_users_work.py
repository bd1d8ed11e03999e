"""The user's own files, index and stash come through a run untouched; a dirty scope is captured, never lost."""

from pathlib import Path

import pytest

from tests.e2e.foreign import FASTER, SLOWER, Foreign, contents


def make_a_mess(repository: Foreign) -> None:
    """Commits some files, then leaves a stash entry, staged, half-staged, changed, deleted and untracked ones."""
    for name in ("stashed", "staged", "half", "changed", "deleted", "binary file \u00fc"):
        repository.write(f"notes/{name}", "one\n")
    repository.write(".gitignore", "*.log\n")
    repository.commit("notes")
    repository.write("notes/stashed", "stash me\n")
    repository.git("stash", "push", "-q", "-m", "work in progress")
    repository.write("notes/staged", "two\n")
    repository.write("notes/half", "two\n")
    repository.git("add", "notes/staged", "notes/half")
    repository.write("notes/half", "three\n")
    repository.write("notes/changed", "two\r\n")
    (repository.root / "notes/deleted").unlink()
    repository.write("notes/new and staged", "new\n")
    repository.write("notes/intended", "new\n")
    repository.git("add", "notes/new and staged")
    repository.git("add", "-N", "notes/intended")
    repository.write("untracked", "mine\n")
    repository.write("built.log", "ignored\n")
    (repository.root / "notes/changed").chmod(0o755)


def users_state(repository: Foreign) -> dict[str, object]:
    """Files, index entries and stash, but for what the tool may write."""
    written = ("src/total.py", "experiments", "ledger.md")
    return {
        "files": {path: what for path, what in contents(repository.root).items() if not path.startswith(written)},
        "index": [
            line for line in repository.git("ls-files", "-s").splitlines() if not line.split("\t")[1].startswith(written)
        ],
        "flags": repository.git("ls-files", "-v", "notes"),
        "staged": repository.git("diff", "--cached", "--binary"),
        "changed": repository.git("diff", "--binary"),
        "stash": repository.git("stash", "list", "--format=%H %s"),
        "status": repository.git("status", "--porcelain"),
    }


@pytest.mark.parametrize(
    ("kernel", "verdict"),
    [(FASTER, "KEEP"), pytest.param(SLOWER, "REJECT", marks=pytest.mark.long)],
    ids=["keep", "reject"],
)
def test_unrelated_changes_survive(repository: Foreign, kernel: str, verdict: str) -> None:
    make_a_mess(repository)
    before = users_state(repository)
    repository.propose("P1", kernel)
    assert users_state(repository) == before
    repository.concluded("run", "P1")
    assert repository.record("P1")["verdict"] == verdict
    assert users_state(repository) == before


def test_dirty_scope_is_refused_then_captured_then_brought_back(repository: Foreign) -> None:
    baseline = (repository.root / "src/total.py").read_text()
    repository.write("src/total.py", FASTER)
    repository.write("src/new file.py", "# mine\n")
    before = repository.snapshot()
    refused = repository.expctl("run", "P1")
    assert refused.status == 1
    assert repository.snapshot() == before

    repository.concluded("new", "P1", "--from-diff")
    assert (repository.root / "src/total.py").read_text() == baseline
    assert not (repository.root / "src/new file.py").exists()
    assert repository.git("status", "--porcelain") == ""

    repository.concluded("show", "P1", "--apply")
    assert (repository.root / "src/total.py").read_text() == FASTER
    assert (repository.root / "src/new file.py").read_text() == "# mine\n"

    applied = repository.snapshot()
    repository.write("src/total.py", baseline)  # as a kill leaves them that came between two files
    repository.concluded("show", "P1", "--apply")
    assert repository.snapshot() == applied
    repository.write("src/new file.py", "# mine, and more\n")
    edited = repository.snapshot()
    assert "scope-not-committed" in repository.expctl("show", "P1", "--apply").err
    assert repository.snapshot() == edited


def test_staged_scope_is_captured(repository: Foreign) -> None:
    repository.write("src/total.py", FASTER)
    repository.git("add", "src/total.py")
    repository.concluded("new", "P1", "--from-diff")
    assert repository.git("status", "--porcelain") == ""
    repository.concluded("show", "P1", "--apply")
    assert (repository.root / "src/total.py").read_text() == FASTER


def test_scope_edited_during_the_run_is_not_overwritten(repository: Foreign) -> None:
    repository.queue("P1", FASTER)
    go = repository.hold("benchmark")
    runner = repository.start("run", "P1")
    try:
        while repository.step() != "measure":
            assert runner.poll() is None, repository.said()
        repository.write("src/total.py", "my next idea\n")
        (go / "benchmark").touch()
        assert runner.wait(240) == 1, repository.said()
    finally:
        runner.kill()
        runner.wait()
    assert (repository.root / "src/total.py").read_text() == "my next idea\n"
    assert "nothing measured is lost" in repository.said()
    repository.git("checkout", "src/total.py")
    repository.concluded("run", "P1")
    assert repository.record("P1")["verdict"] == "KEEP"
    repository.check_nothing_is_left()


def test_commits_made_during_the_run_stay(repository: Foreign) -> None:
    repository.queue("P1", FASTER)
    go = repository.hold("benchmark")
    runner = repository.start("run", "P1")
    try:
        while repository.step() != "measure":
            assert runner.poll() is None, repository.said()
        repository.write("notes", "mine\n")
        repository.commit("notes of the user")
        mine = repository.head()
        (go / "benchmark").touch()
        assert runner.wait(240) == 0, repository.said()
    finally:
        runner.kill()
        runner.wait()
    record = repository.record("P1")
    assert record["verdict"] == "KEEP"
    assert repository.git("rev-parse", "HEAD~2") == mine == record["base"]
    assert repository.git("rev-parse", "HEAD~1^{tree}") == record["tree"]
    assert repository.git("status", "--porcelain") == ""
    repository.check_nothing_is_left()


def test_hooks_of_the_user_do_not_run(repository: Foreign, tmp_path: Path) -> None:
    hooks = repository.root / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    names = ("pre-commit", "post-commit", "commit-msg", "post-checkout", "reference-transaction", "post-index-change")
    for name in names:
        (hooks / name).write_text(f"#!/bin/sh\necho {name} >> '{tmp_path}/hooked'\nexit 1\n")
        (hooks / name).chmod(0o755)
    repository.propose("P1", FASTER)
    repository.concluded("run", "P1")
    assert repository.record("P1")["verdict"] == "KEEP"
    assert not (tmp_path / "hooked").exists()
