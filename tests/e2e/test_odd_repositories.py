"""Repositories and moments that a first user meets and nobody thinks of."""

import shutil
import signal
import time
from pathlib import Path

import pytest

from tests.e2e.foreign import FASTER, SLOWER, Foreign, wait_until
from tests.refusals import printed_code


def keep(repository: Foreign, kernel: bytes = FASTER.encode()) -> None:
    (repository.root / "src/total.py").write_bytes(kernel)
    repository.concluded("new", "P1", "--from-diff")
    assert repository.git("status", "--porcelain") == ""
    repository.concluded("run", "P1")
    assert repository.record("P1")["verdict"] == "KEEP"
    assert repository.git("status", "--porcelain") == ""
    assert repository.expctl("ledger", "--check").status == 0


def check_out_again(repository: Foreign) -> None:
    repository.git("rm", "-q", "-r", "--cached", ".")
    repository.git("reset", "-q", "--hard")
    assert b"\r\n" in (repository.root / "src/total.py").read_bytes()


def test_path_with_spaces_quotes_and_letters(tmp_path: Path) -> None:
    keep(Foreign.of("foreign_repository", tmp_path, name='kernel\'s "own" $HOME \u00fc'))


def test_a_path_that_is_no_text(tmp_path: Path) -> None:
    repository = Foreign.of("foreign_repository", tmp_path, name="kernel \udcff")
    keep(repository)
    assert not (repository.root / ".git" / "worktrees").exists()


def test_linked_worktree(repository: Foreign) -> None:
    linked = repository.root.parent / "linked"
    repository.git("worktree", "add", "-q", "-b", "side", str(linked))
    here = Foreign.at(linked)
    keep(here)
    assert len(here.git("worktree", "list").splitlines()) == 2
    assert repository.git("rev-list", "--count", "main") == "1"


@pytest.mark.long  # tests/faults has one
def test_shallow_clone(repository: Foreign) -> None:
    repository.write("notes", "1\n")
    repository.commit("notes")
    repository.git("clone", "-q", "--depth", "1", f"file://{repository.root}", str(repository.root.parent / "shallow"))
    keep(Foreign.at(repository.root.parent / "shallow"))


def test_sha256_repository(repository: Foreign) -> None:
    shutil.rmtree(repository.root / ".git")
    repository.git("init", "-q", "-b", "main", "--object-format=sha256")
    repository.commit("baseline")
    keep(repository)


def test_line_ends_by_attribute(repository: Foreign) -> None:
    repository.write(".gitattributes", "* text=auto eol=crlf\n")
    repository.commit("line ends")
    check_out_again(repository)
    keep(repository, FASTER.replace("\n", "\r\n").encode())


def test_line_ends_by_the_users_configuration(repository: Foreign) -> None:
    repository.git("config", "--global", "core.autocrlf", "true")
    check_out_again(repository)
    answer = repository.expctl("new", "P9", "--from-diff")
    assert (answer.status, printed_code(answer.err)) == (1, "nothing-to-capture")


def test_what_the_user_ignores_everywhere_is_not_captured(repository: Foreign) -> None:
    (repository.home / "ignore").write_text("*.swp\n")
    repository.git("config", "--global", "core.excludesFile", str(repository.home / "ignore"))
    repository.write("src/.total.py.swp", "secret\n")
    repository.propose("P1", FASTER)
    assert repository.git("ls-files", "src") == "src/total.py"
    assert "secret" not in repository.git("show", "HEAD:experiments/P1/change.patch")
    assert (repository.root / "src/.total.py.swp").exists()


def test_user_goes_to_another_branch_and_commits_during_the_run(repository: Foreign) -> None:
    repository.queue("P1", FASTER)
    go = repository.hold("benchmark")
    runner = repository.start("run", "P1")
    try:
        wait_until(lambda: repository.step() == "measure", "the benchmark")
        repository.git("switch", "-q", "-c", "other")
        repository.write("notes", "mine\n")
        repository.commit("notes")
        mine = repository.head()
        (go / "benchmark").touch()
        assert runner.wait(240) == 0, repository.said()
    finally:
        runner.send_signal(signal.SIGKILL)
        runner.wait()
    assert repository.head() == mine
    assert repository.git("log", "-1", "--format=%s", "main").startswith("P1 KEEP")
    assert repository.git("status", "--porcelain") == ""


def test_daemon_of_a_candidate_dies_with_its_step(repository: Foreign) -> None:
    daemon = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(20)\n    os._exit(0)\n"
    repository.queue("P1", daemon + SLOWER)
    repository.concluded("run", "P1")
    assert repository.survivors() == []


def test_a_benchmark_that_leaves_a_child_behind_is_refused_at_once(repository: Foreign) -> None:
    benchmark = (repository.root / "bench/benchmark.py").read_text()
    left = "if __import__('os').fork() == 0:\n    time.sleep(60)\n"
    repository.write("bench/benchmark.py", benchmark + left)
    repository.commit("a harness that leaves a child")
    repository.queue("P1", FASTER)
    began = time.monotonic()
    repository.expctl("run", "P1")
    assert time.monotonic() - began < 20, "a round has a minute"
    (reason,) = repository.record("P1")["reasons"]
    assert "ended, but something that it started keeps the result channel open" in reason


@pytest.fixture
def killed(repository: Foreign) -> Foreign:
    """A run that was killed in its benchmark; a resumed one would go through."""
    repository.queue("P1", FASTER)
    go = repository.hold("benchmark")
    runner = repository.start("run", "P1")
    wait_until(lambda: repository.step() == "measure", "the benchmark")
    runner.kill()
    runner.wait()
    (go / "benchmark").touch()
    return repository


def test_resume_refuses_a_dirty_scope_before_it_measures(killed: Foreign) -> None:
    killed.write("src/total.py", "my next idea\n")
    before = killed.journal("P1")
    assert killed.expctl("run", "P1").status == 1
    assert killed.journal("P1") == before


def test_resume_for_another_target_is_refused(killed: Foreign) -> None:
    answer = killed.expctl("run", "P1", "--target", "moon")
    assert answer.status in (1, 2)
    assert "moon" in answer.err


def test_a_ledger_that_was_rendered_by_hand_is_committed_by_the_hint(repository: Foreign) -> None:
    repository.queue("P1", SLOWER)
    repository.edit_protocol("name: sum", "name: Sum")
    repository.concluded("ledger")
    refused = repository.expctl("run", "P1")
    assert refused.status == 1
    assert "git add ledger.md && git commit" in refused.err
    repository.git("add", "ledger.md")
    repository.git("commit", "-q", "-m", "Render the ledger")
    repository.concluded("run", "P1")
