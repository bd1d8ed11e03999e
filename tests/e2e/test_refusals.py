"""Bad input of many kinds: one clear error with a next step, exit 1 or 2, and nothing has changed."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.foreign import FASTER, WRONG, Foreign, errors_in
from tests.refusals import printed_code

Prepare = Callable[[Foreign], list[str]]

PATCH = """diff --git a/src/total.py b/src/total.py
--- a/src/total.py
+++ b/src/total.py
@@ -1,7 +1,2 @@
 def total(values):
-    result = 0
-    for value in values:
-        result = result + value * value
-        result = result + 0 * value
-        result = result + 0 * value
-    return result
+    return sum([value * value for value in values])
"""
PROPOSAL = """id: P1
title: a comprehension
kind: perf
hypothesis: fewer bytecodes for each value
prediction:
  verdict: KEEP
"""


def queue(repository: Foreign, proposal: str = PROPOSAL, patch: str = PATCH) -> None:
    repository.write("experiments/P1/experiment.yaml", proposal)
    repository.write("experiments/P1/change.patch", patch)
    repository.commit("Propose P1")


def edited(old: str, new: str) -> Prepare:
    """A protocol that says something wrong."""

    def prepare(repository: Foreign) -> list[str]:
        repository.edit_protocol(old, new)
        return ["run", "P1"]

    return prepare


def proposed(old: str, new: str) -> Prepare:
    """An experiment.yaml that says something wrong."""

    def prepare(repository: Foreign) -> list[str]:
        queue(repository, PROPOSAL.replace(old, new))
        return ["run", "P1"]

    return prepare


def given(*words: str) -> Prepare:
    """Nothing but words on the command line."""
    return lambda _: list(words)


def patched(change: Callable[[Foreign], object]) -> Prepare:
    """A patch file that holds what `change` did to the files; the files are put back."""

    def prepare(repository: Foreign) -> list[str]:
        change(repository)
        repository.git("add", "-A", "-f")
        patch = subprocess.run(
            ["git", "diff", "--cached", "--binary"], cwd=repository.root, env=repository.environment, capture_output=True
        ).stdout
        assert patch
        repository.git("reset", "-q", "--hard")
        (repository.home / "change.patch").write_bytes(patch)
        return ["new", "P2", "--patch", str(repository.home / "change.patch")]

    return prepare


def written(contents: bytes) -> Prepare:
    """A patch file with these bytes."""

    def prepare(repository: Foreign) -> list[str]:
        (repository.home / "change.patch").write_bytes(contents)
        return ["new", "P2", "--patch", str(repository.home / "change.patch")]

    return prepare


def done(change: Callable[[Foreign], object], *words: str) -> Prepare:
    """Something is done to the repository first."""

    def prepare(repository: Foreign) -> list[str]:
        change(repository)
        return list(words or ("run", "P1"))

    return prepare


def committed(path: str, text: str) -> Callable[[Foreign], object]:
    def change(repository: Foreign) -> None:
        repository.write(path, text)
        repository.commit("something else")

    return change


def submodule(repository: Foreign) -> None:
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{repository.head()},src/module")
    (repository.root / "src/module").mkdir()


def unfinished_merge(repository: Foreign) -> None:
    repository.git("switch", "-q", "-c", "other", "HEAD~1")
    committed("notes", "one\n")(repository)
    repository.git("switch", "-q", "main")
    committed("notes", "two\n")(repository)
    repository.git("merge", "other", check=False)
    assert (repository.root / ".git/MERGE_HEAD").exists()


def unfinished_rebase(repository: Foreign) -> None:
    repository.git("switch", "-q", "-c", "other", "HEAD~1")
    committed("notes", "one\n")(repository)
    repository.git("rebase", "--exec", "false", "main", check=False)
    assert (repository.root / ".git/rebase-merge").exists()
    repository.git("symbolic-ref", "HEAD", "refs/heads/main")
    repository.git("reset", "-q", "--hard", "main")


def bare(repository: Foreign) -> None:
    repository.git("clone", "-q", "--bare", ".", str(repository.home / "bare"))
    repository.root = repository.home / "bare"


def no_commits(repository: Foreign) -> None:
    shutil.rmtree(repository.root / ".git")
    repository.git("init", "-q", "-b", "main")


def unavailable_target(repository: Foreign) -> None:
    requires = '    requires: {executables: [hipcc-that-nobody-has], hint: "install ROCm"}'
    repository.edit_protocol("  here:\n", f"  here:\n{requires}\n")


def rejected_record(text: str) -> Callable[[Foreign], object]:
    return committed("experiments/P1/record.json", text)


# What is done, the code of the refusal, and the key, path or figure that it has to name.
CASES: dict[str, tuple[Prepare, str, str]] = {
    # the protocol
    "unknown key": (edited("goal:", "goals:"), "file-has-problems", "goals"),
    "unknown nested key": (edited("wait_s:", "wait:"), "file-has-problems", "gate.wait"),
    "wrong type": (edited("wait_s: 1", "wait_s: soon"), "file-has-problems", "wait_s"),
    "a list where a word is due": (edited("version: 1", "version: [1]"), "file-has-problems", "version"),
    "boolean for text": (edited("version: 1", "version: yes"), "file-has-problems", "version"),
    "YAML tag": (edited("version: 1", "version: !!python/object/apply:os.getpid []"), "file-has-problems", "tag"),
    "YAML anchor": (edited("scope: [src]", "scope: &it [src]"), "file-has-problems", "anchor"),
    "duplicate key": (edited("version: 1", "version: 1\nversion: 1"), "file-has-problems", "twice"),
    "second document": (edited("version: 1", "version: 1\n---\nversion: 1"), "file-has-problems", "document"),
    "broken YAML": (edited("scope: [src]", "scope: [src"), "file-has-problems", "not YAML"),
    "other version": (edited("version: 1", "version: 2"), "file-contradicts-itself", "version"),
    "no protocol": (
        done(lambda r: (r.git("rm", "-q", "protocol.yaml"), r.git("commit", "-q", "-m", "gone"))),
        "protocol-missing",
        "",
    ),
    "scope outside": (edited("scope: [src]", "scope: [../src]"), "file-contradicts-itself", "scope"),
    "scope is everything": (edited("scope: [src]", "scope: [.]"), "file-contradicts-itself", "scope"),
    "scope holds the harness": (edited("scope: [src]", "scope: [src, bench]"), "file-contradicts-itself", "bench"),
    "no scope": (edited("scope: [src]", "scope: []"), "file-contradicts-itself", "scope"),
    "scope that does not exist": (edited("scope: [src]", "scope: [sources]"), "patch-not-allowed", "sources"),
    "harness that does not exist": (edited("harness: [bench]", "harness: [benches]"), "baseline-layout-unfit", "benches"),
    "decides an unknown target": (edited("decides: [here]", "decides: [there]"), "file-contradicts-itself", "there"),
    "weights that are not 1": (edited("weight: 0.5", "weight: 0.6"), "file-contradicts-itself", "weights"),
    "too few rounds": (edited("rounds: 10", "rounds: 9"), "file-contradicts-itself", "rounds"),
    "negative timeout": (edited("timeout_s: 30", "timeout_s: -30"), "file-contradicts-itself", "timeout_s"),
    "negative wait": (edited("wait_s: 1", "wait_s: -1"), "file-contradicts-itself", "wait_s"),
    "unknown toolchain": (edited("toolchain: command", "toolchain: make"), "file-has-problems", "toolchain"),
    "no build command": (
        edited('argv: ["{python}", -S, bench/copy.py, src/total.py, "{artifact}"]', "argv: []"),
        "file-contradicts-itself",
        "argv",
    ),
    # the command line
    "id with a path": (given("run", "../x"), "not-an-experiment-id", "id"),
    "id without a number": (given("run", "P"), "not-an-experiment-id", "id"),
    "id with a command": (given("run", "P1;rm"), "not-an-experiment-id", "id"),
    "id with other digits": (given("run", "P\u0661"), "not-an-experiment-id", "id"),
    "id with a line end": (given("run", "P1\n"), "not-an-experiment-id", "id"),
    "empty id": (given("run", ""), "not-an-experiment-id", "id"),
    "id to show": (given("show", "../x"), "not-an-experiment-id", "id"),
    "id to propose": (given("new", "-P1", "--from-diff"), "usage", ""),
    "unknown id": (given("run", "P99"), "proposal-missing", "P99"),
    "unknown id to show": (given("show", "P99"), "experiment-unknown", "P99"),
    "run what": (given("run"), "run-ids-or-all", ""),
    "run both": (given("run", "P1", "--all"), "run-ids-or-all", ""),
    "unknown option": (given("run", "--fast"), "usage", "--fast"),
    "option without a value": (given("run", "P1", "--target"), "usage", "--target"),
    "negative budget": (given("run", "--all", "--max-hours", "-1"), "usage", "max-hours"),
    "no budget": (given("run", "--all", "--max-hours", "nan"), "not-a-budget", "nan"),
    "budget of nothing": (given("run", "--all", "--max-experiments", "0"), "usage", "x>=1"),
    "budget of no time": (given("run", "--all", "--max-hours", "0"), "not-a-budget", "above 0"),
    "the queue again": (given("run", "--all", "--again"), "again-without-ids", ""),
    "id of ten digits": (given("run", "P1234567890"), "not-an-experiment-id", "9 digits"),
    "architecture without a probe": (given("rules", "--arch", "gfx1250"), "arch-without-probe", ""),
    "peak without an end": (given("import", "protocol.yaml", "--peak", "inf"), "figure-out-of-range", "--peak"),
    "noise below nothing": (given("import", "protocol.yaml", "--noise", "-1"), "figure-out-of-range", "--noise"),
    "a ledger without an end": (given("import", "/dev/zero"), "file-too-large", ""),
    "unknown command": (given("rum", "P1"), "unknown-command", "rum"),
    "missing argument": (given("show"), "usage", "ID"),
    "unknown target": (given("run", "P1", "--target", "moon"), "target-does-not-decide", "moon"),
    "unavailable target": (done(unavailable_target), "target-unavailable", ""),
    "apply what does not exist": (given("show", "P99", "--apply"), "proposal-missing", "P99"),
    "apply over changes": (
        done(lambda r: r.write("src/total.py", WRONG), "show", "P1", "--apply"),
        "scope-not-committed",
        "src/total.py",
    ),
    # new
    "id that is taken": (
        done(lambda r: r.write("src/total.py", FASTER), "new", "P1", "--from-diff"),
        "experiment-exists",
        "P1",
    ),
    "file where the folder has to be": (
        done(lambda r: (committed("experiments/P2", "notes")(r), r.write("src/total.py", FASTER)), "new", "P2", "--from-diff"),
        "experiment-folder-taken",
        "experiments/P2",
    ),
    "file where the folder of a row has to be": (
        done(
            lambda r: (committed("experiments/P2", "notes")(r), r.write("a.csv", "id,verdict\nP2,keep\n")),
            "import",
            "a.csv",
            "--target",
            "here",
        ),
        "experiment-folder-taken",
        "experiments/P2",
    ),
    "nothing to capture": (given("new", "P2", "--from-diff"), "nothing-to-capture", ""),
    "neither diff nor patch": (given("new", "P2"), "no-change-named", ""),
    "both diff and patch": (given("new", "P2", "--from-diff", "--patch", "x"), "no-change-named", ""),
    "unknown kind": (given("new", "P2", "--from-diff", "--kind", "magic"), "proposal-words-unfit", "magic"),
    "unknown mode": (given("new", "P2", "--from-diff", "--mode", "magic"), "proposal-words-unfit", "magic"),
    "prediction turned round": (
        given("new", "P2", "--from-diff", "--gain", "9,1"),
        "proposal-words-unfit",
        "the lower end first",
    ),
    "condition that is none": (given("new", "P2", "--from-diff", "--depends-on", "P1 = KEEP"), "proposal-words-unfit", ""),
    "unknown prediction": (given("new", "P2", "--from-diff", "--expect", "GLORY"), "proposal-words-unfit", "GLORY"),
    "prediction that injects a key": (
        given("new", "P2", "--from-diff", "--expect", "KEEP\nkind: infra"),
        "proposal-words-unfit",
        "",
    ),
    "missing patch file": (given("new", "P2", "--patch", "missing.patch"), "file-not-readable", "missing.patch"),
    "patch is a folder": (given("new", "P2", "--patch", "src"), "file-not-readable", "src"),
    "patch outside the scope": (
        patched(lambda r: r.write("setup.py", "pass\n")),
        "patch-not-allowed",
        "setup.py is outside the scope",
    ),
    "patch of the protocol": (
        patched(lambda r: r.write("protocol.yaml", "version: 1\n")),
        "patch-not-allowed",
        "protocol.yaml",
    ),
    "patch of the harness": (patched(lambda r: r.write("bench/say.py", "pass\n")), "patch-not-allowed", "bench/say.py"),
    "patch of the ledger": (patched(lambda r: r.write("ledger.md", "KEEP\n")), "patch-not-allowed", "ledger.md"),
    "patch of a record": (
        patched(lambda r: r.write("experiments/P0/record.json", "{}\n")),
        "patch-not-allowed",
        "experiments/P0",
    ),
    "patch adds a link": (patched(lambda r: (r.root / "src/link").symlink_to("/etc/passwd")), "patch-not-allowed", "120000"),
    "patch adds an executable": (
        patched(lambda r: (r.write("src/x", ""), (r.root / "src/x").chmod(0o755))),
        "patch-not-allowed",
        "100755",
    ),
    "patch makes executable": (patched(lambda r: (r.root / "src/total.py").chmod(0o755)), "patch-not-allowed", "100755"),
    "patch adds .gitattributes": (
        patched(lambda r: r.write("src/.gitattributes", "* text\n")),
        "patch-not-allowed",
        ".gitattributes",
    ),
    "patch adds a submodule": (patched(submodule), "patch-not-allowed", "160000"),
    "patch moves the kernel out": (
        patched(lambda r: r.git("mv", "src/total.py", "total.py")),
        "patch-not-allowed",
        "outside the scope",
    ),
    "patch with names alike": (patched(lambda r: r.write("src/Total.py", "pass\n")), "patch-not-allowed", "Total.py"),
    "patch with too many files": (
        patched(lambda r: [r.write(f"src/{n}", "") for n in range(30)]),
        "patch-not-allowed",
        "at most 20",
    ),
    "huge patch": (patched(lambda r: r.write("src/huge", "x" * 2_000_000)), "patch-not-allowed", "at most 1000000"),
    "patch that does not apply": (written(PATCH.replace("0 * value", "1 * value").encode()), "patch-does-not-apply", ""),
    "patch with a path to the parent": (
        written(PATCH.replace("b/src/total.py", "b/../x").encode()),
        "patch-does-not-apply",
        "",
    ),
    "empty patch": (written(b""), "patch-does-not-apply", ""),
    "binary garbage": (written(bytes(range(256)) * 40), "patch-does-not-apply", ""),
    # the repository
    "not a repository": (done(lambda r: shutil.rmtree(r.root / ".git")), "not-a-repository", ""),
    "bare repository": (done(bare), "not-a-repository", ""),
    "no commits": (done(no_commits, "status"), "no-commit-yet", ""),
    "detached head": (done(lambda r: r.git("switch", "-q", "--detach")), "head-detached", ""),
    "detached head, new": (
        done(lambda r: r.git("switch", "-q", "--detach"), "new", "P2", "--from-diff"),
        "nothing-to-capture",
        "",
    ),
    "unfinished merge": (done(unfinished_merge), "git-operation-under-way", "merge"),
    "unfinished rebase": (done(unfinished_rebase), "git-operation-under-way", "rebase"),
    "dirty scope": (done(lambda r: r.write("src/total.py", FASTER)), "scope-not-committed", "--from-diff"),
    "new file in the scope": (done(lambda r: r.write("src/more.py", "pass\n")), "scope-not-committed", "src/more.py"),
    "no folder for the machine's lock": (
        done(lambda r: shutil.rmtree(r.root.parent / "locks")),
        "machine-lock-cannot-open",
        "EXPCTL_LOCK_DIR",
    ),
    "lock is a link": (
        done(lambda r: (r.root.parent / "locks/expctl.machine.lock").symlink_to("/etc/passwd")),
        "machine-lock-cannot-open",
        "",
    ),
    "ledger is a folder": (
        done(lambda r: (r.git("rm", "-q", "--cached", "--ignore-unmatch", "ledger.md"), committed("ledger.md/x", "")(r))),
        "baseline-layout-unfit",
        "ledger.md",
    ),
    "dirty ledger": (
        done(lambda r: (committed("ledger.md", "a\n")(r), r.write("ledger.md", "b\n"))),
        "own-files-not-committed",
        "ledger.md",
    ),
    "uncommitted experiment": (
        done(
            lambda r: (
                r.write("experiments/P2/experiment.yaml", PROPOSAL.replace("P1", "P2")),
                r.write("experiments/P2/change.patch", PATCH),
            ),
            "run",
            "P2",
        ),
        "own-files-not-committed",
        "experiments/P2",
    ),
    "experiment without a patch": (
        done(lambda r: (r.git("rm", "-q", "experiments/P1/change.patch"), r.git("commit", "-q", "-m", "gone"))),
        "proposal-missing",
        "change.patch",
    ),
    # the experiment
    "another id inside": (proposed("id: P1", "id: P2"), "file-contradicts-itself", "P2"),
    "depends on nothing known": (proposed("kind: perf", "kind: perf\ndepends_on: [P77]"), "dependency-not-met", "P77"),
    "depends on itself": (proposed("kind: perf", "kind: perf\ndepends_on: [P1]"), "dependency-not-met", "P1"),
    "depends on no id": (proposed("kind: perf", "kind: perf\ndepends_on: [../x]"), "file-contradicts-itself", "../x"),
    "no hypothesis": (proposed("hypothesis: fewer bytecodes for each value\n", ""), "file-has-problems", "hypothesis"),
    "unknown key in the experiment": (proposed("kind: perf", "kind: perf\nverdict: KEEP"), "file-has-problems", "verdict"),
    "corrupt record": (done(rejected_record("{")), "file-damaged", "record.json"),
    "record of another kind": (done(rejected_record("[]\n")), "file-damaged", "record.json"),
    "record with unknown keys": (done(rejected_record('{"id": "P1", "nice": true}\n')), "file-damaged", "nice"),
    "record is binary": (done(rejected_record("\x00\x01")), "file-damaged", "record.json"),
}


@pytest.fixture(scope="module")
def queued(tmp_path_factory: pytest.TempPathFactory) -> Foreign:
    """A repository with P1 in the queue."""
    repository = Foreign.of("foreign_repository", tmp_path_factory.mktemp("queued"))
    queue(repository)
    return repository


@pytest.mark.parametrize("name", CASES)
def test_one_error_with_a_next_step_and_no_change(name: str, queued: Foreign, tmp_path: Path) -> None:
    prepare, code, named = CASES[name]
    repository = queued.copy(tmp_path / "copy")
    argv = prepare(repository)
    before = repository.snapshot()
    answer = repository.expctl(*argv)
    assert repository.snapshot() == before
    assert "Traceback" not in answer.err + answer.out
    assert answer.status in (1, 2), answer
    assert len(errors_in(answer.err)) == 1, answer.err
    assert re.search(r"^  next +\S", answer.err, re.MULTILINE), f"no next step: {answer.err}"
    assert printed_code(answer.err) == code
    assert named in answer.err
    assert not (repository.root / ".git/index.lock").exists()


def test_what_status_says_of_a_repository_without_experiments(repository: Foreign) -> None:
    answer = repository.concluded("status")
    assert "expctl new" in answer.out
