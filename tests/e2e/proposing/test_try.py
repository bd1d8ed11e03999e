"""`expctl try` answers in seconds and leaves no trace; `new` finds an id and asks in an editor; the proposer is the author."""

import json
import os
import pty
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.foreign import DOES_NOT_PARSE, EXPCTL, FASTER, SLOWER, WRONG, Foreign, errors_in, wait_until
from tests.refusals import printed_code


@pytest.mark.parametrize(
    ("kernel", "status", "says"),
    [
        (FASTER, 0, "only the timing is left"),
        (WRONG, 1, "would end REJECT: test: "),
        (DOES_NOT_PARSE, 1, "would end REJECT: test: "),
        ("# a remark\n", 1, "would end REJECT: test: "),
    ],
)
def test_a_try_says_how_it_would_end_and_changes_nothing(repository: Foreign, kernel: str, status: int, says: str) -> None:
    repository.write("src/total.py", kernel)
    before = repository.snapshot()
    answer = repository.expctl("try")
    assert (answer.status, says in answer.out) == (status, True), answer
    assert "  build      here, candidate" in answer.err
    assert "\n  decides    here\n" in answer.out
    facts = repository.expctl("try", "--json").json()
    assert (facts["schema"], facts["passes"], facts["files"]) == ("expctl.try/1", status == 0, ["src/total.py"])
    assert repository.snapshot() == before
    assert repository.git("worktree", "list").count("\n") == 0
    assert not list((repository.root / ".git/expctl-try/checkouts").glob("*"))


def test_a_patch_is_tried_whatever_the_work_tree_holds(repository: Foreign) -> None:
    repository.write("src/total.py", WRONG)
    patch = repository.git("diff") + "\n"
    repository.git("checkout", "-q", "src")
    repository.write("wrong.patch", patch)
    repository.write("src/total.py", FASTER)
    assert repository.expctl("try", "wrong.patch").status == 1
    assert repository.expctl("try").status == 0
    assert (repository.root / "src/total.py").read_text() == FASTER
    for words, code in ((("no.patch",), "user-file-not-readable"), (("protocol.yaml",), "patch-not-allowed")):
        answer = repository.expctl("try", *words)
        assert answer.status in (1, 2), answer
        assert len(errors_in(answer.err)) == 1, (code, answer)
    repository.git("checkout", "-q", "src")
    assert printed_code(repository.expctl("try").err) == "nothing-to-try"


def test_the_next_command_takes_the_very_patch_that_was_tried(repository: Foreign) -> None:
    repository.write("src/total.py", FASTER)
    patch = repository.git("diff") + "\n"
    repository.git("checkout", "-q", "src")
    repository.write("a faster one.patch", patch)
    for word, stdin in (("a faster one.patch", ""), ("-", patch)):
        answer = piped(repository, stdin, "try", word)
        assert answer.returncode == 0, answer
        (line,) = [line for line in answer.stdout.splitlines() if line.startswith("  next ")]
        _, expctl, *words = shlex.split(line)
        assert (expctl, words[:3]) == ("expctl", ["new", "--patch", word])
        queued = piped(repository, stdin, *words)
        assert queued.returncode == 0, queued
    for command in (("try", "-"), ("new", "--patch", "-"), ("rules", "check", "-")):
        answer = piped(repository, "x" * 16_000_001, *command)
        assert (answer.returncode, printed_code(answer.stderr)) == (1, "file-too-large"), command


def test_a_rule_that_refuses_it_is_named(repository: Foreign) -> None:
    repository.queue("P1", SLOWER)
    repository.concluded("run", "P1")
    repository.write("src/total.py", SLOWER)
    answer = repository.expctl("try")
    assert answer.status == 1, answer
    assert "rule       P1 refuses it" in answer.out


def test_a_try_works_beside_a_run(repository: Foreign) -> None:
    repository.queue("P1", SLOWER)
    go = repository.hold("benchmark")
    runner = repository.start("run", "P1")
    try:
        wait_until(lambda: repository.step() == "measure", "a measurement")
        answer = repository.expctl("try", "experiments/P1/change.patch")
        assert answer.status == 0, answer
        assert "beside     a measurement is under way" in answer.err
    finally:
        (go / "benchmark").touch()
        runner.wait()
    assert runner.returncode == 0, repository.said()
    assert repository.record("P1")["verdict"] == "REJECT"


def test_a_killed_try_is_cleared_and_a_living_one_is_left_alone(repository: Foreign) -> None:
    go = repository.hold("build")
    repository.write("src/total.py", FASTER)
    before = repository.snapshot()
    for kills in (True, False):
        trying = repository.start("try")
        # git may fail to list one that is just being made
        wait_until(lambda: repository.git("worktree", "list", check=False).count("expctl-try"), "a work tree of the try")
        assert "worktrees" not in wrong_in(repository)
        repository.expctl("doctor", "--clear")
        assert repository.git("worktree", "list").count("expctl-try") == 1
        if kills:
            trying.kill()
            trying.wait()
            assert "worktrees" in wrong_in(repository)
            repository.expctl("doctor", "--clear")
            assert "worktrees" not in wrong_in(repository)
            assert repository.git("worktree", "list").count("\n") == 0
    (go / "build").touch()
    assert trying.wait() == 0, repository.said()
    assert repository.snapshot() == before


def wrong_in(repository: Foreign) -> set[str]:
    """The parts of which the doctor finds something wrong."""
    return {each["part"] for each in repository.expctl("doctor", "--json").json()["checks"] if each["health"] == "wrong"}


def test_what_fails_never_waits_for_a_quiet_machine(repository: Foreign, tmp_path: Path) -> None:
    repository.edit_protocol("benchmark_of_nobody*", "benchmark_that_never_ends*")
    repository.edit_protocol("wait_s: 1", "wait_s: 60")
    repository.queue("P1", DOES_NOT_PARSE)
    script = tmp_path / "benchmark_that_never_ends.py"
    script.write_text("while True:\n    pass\n")
    busy = subprocess.Popen([sys.executable, str(script)])
    try:
        assert repository.expctl("gate").status == 75
        started = time.monotonic()
        repository.concluded("run", "P1")
        assert time.monotonic() - started < 30
    finally:
        busy.kill()
        busy.wait()
    assert repository.record("P1")["verdict"] == "REJECT"


def test_a_gate_that_is_mended_after_a_vain_wait_is_heard(repository: Foreign, tmp_path: Path) -> None:
    repository.edit_protocol("benchmark_of_nobody*", "sleeps_for_ever*")
    repository.queue("P1", SLOWER)
    script = tmp_path / "sleeps_for_ever.py"
    script.write_text("import time\ntime.sleep(600)\n")
    busy = subprocess.Popen([sys.executable, str(script)])
    try:
        assert repository.expctl("run", "P1").status == 75
        assert repository.journal("P1")[-1] == "Tested"
        repository.edit_protocol("sleeps_for_ever*", "benchmark_of_nobody*")
        answer = repository.concluded("run", "P1")
    finally:
        busy.kill()
        busy.wait()
    assert "it begins anew" in answer.out
    assert repository.record("P1")["verdict"] == "REJECT"
    repository.check_nothing_is_left()


def test_who_proposes_is_the_author_of_what_lands(repository: Foreign) -> None:
    repository.queue("P1", FASTER)
    answer = repository.concluded("run", "P1")
    assert "\n  main       " in answer.out
    who = repository.git("log", "--format=%an <%ae>|%cn|%s", "--grep=Expctl-Id: P1")
    assert who == "A. Stranger <stranger@example.org>|expctl|P1: " + repository.record("P1")["title"]
    repository.environment |= {"GIT_AUTHOR_NAME": "An Agent", "GIT_AUTHOR_EMAIL": "agent@example.org"}
    repository.propose("P2", SLOWER)
    ticket = json.loads((repository.root / "experiments/P2/queued.json").read_text())
    assert ticket["author"] == "An Agent <agent@example.org>"
    answer = repository.concluded("run", "P2")
    assert f"\n  record     committed as {repository.git('rev-parse', '--short=7', 'HEAD')}, ledger.md updated" in answer.out


def test_an_id_is_found_and_words_come_from_the_editor(repository: Foreign) -> None:
    repository.queue("P7", SLOWER)
    repository.write("src/total.py", FASTER)
    patch = repository.git("diff") + "\n"
    repository.write("faster.patch", patch)
    repository.git("checkout", "-q", "src")
    assert repository.concluded("new", "--patch", "faster.patch", "--json").json()["id"] == "P8"
    given_up = typed(repository, "true", "new", "--patch", "faster.patch")
    kept = repository.root / ".git/expctl/NEW_PROPOSAL"
    assert "[no-title]" in given_up
    assert kept.exists()
    assert "P9  queued" in typed(
        repository, "sed -i '1i A sum of a list\\n\\nOne loop less\\n# not this'", "new", "--patch", "faster.patch"
    )
    refused = typed(repository, "sed -i '1i No reason given'", "new", "--patch", "faster.patch")
    assert "[proposal-words-unfit]" in refused
    assert "NEW_PROPOSAL" in refused
    repository.concluded("new", "--patch", "faster.patch", "--title", "a title", "--hypothesis", "a reason")
    assert "No reason given" in kept.read_text(), "words given on the command line leave them alone"
    words = (repository.root / "experiments/P9/experiment.yaml").read_text()
    assert 'title: "A sum of a list"' in words
    assert 'hypothesis: "One loop less"' in words
    assert "P11  queued" in typed(repository, "sed -i '2i Now with one'", "new", "--patch", "faster.patch")
    assert not kept.exists()


def piped(repository: Foreign, stdin: str, *words: str) -> "subprocess.CompletedProcess[str]":
    """One command that gets this on its standard input."""
    return subprocess.run(
        [EXPCTL, *words], cwd=repository.root, env=repository.environment, input=stdin, capture_output=True, text=True
    )


def typed(repository: Foreign, editor: str, *words: str) -> str:
    """What a person sees who types the command on a terminal, with this editor."""
    ours, theirs = pty.openpty()
    environment = {**repository.environment, "GIT_EDITOR": editor, "TERM": "xterm"}
    process = subprocess.Popen(
        [EXPCTL, *words], cwd=repository.root, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    said = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # its end closed
            break
        if not chunk:
            break
        said += chunk
    process.wait()
    os.close(ours)
    return said.decode()
