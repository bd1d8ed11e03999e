"""Kill commands at random moments from outside, then type them again: they have to complete, once, and leave nothing.

    python -m tests.faults.outside_kills [--trials 500] [--seed 1] [--only WORD]

Nothing of expctl is imported: a trial is a copy of a small repository, a process that is killed, and the same command again.
Prints a line for each violation and one for each command; exits 1 after a violation.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

EXPCTL = str(Path(sys.executable).with_name("expctl"))
TEMPLATE = Path(__file__).parents[1] / "e2e" / "foreign_repository"
ORPHAN_S = 10.0
FASTER = "def total(values):\n    return sum([value * value for value in values])\n"
BY_HAND = """# Kernel log on gfx1151

| # | change | effect | verdict |
| --- | --- | --- | --- |
| 1 | wider tiles | +4.0 % | keep |
| 2 | deeper pipeline | -1.0 % | reject |
"""
RIVALS = Path(__file__).parents[1] / "e2e" / "rivals" / "script.py"
RIVALS_STEP = """    rivals:
      argv: ["{python}", -S, bench/rivals.py, "{artifact}", "{out}"]
      timeout_s: 60
"""
TUNED = Path(__file__).parents[1] / "e2e" / "tuning" / "benchmark.py"
TABLES = "src/configs/cpu/hip/gemm/scaled_mm_a16w8_e5m2"
TUNE_STEP = f"""    tune:
      tables: {TABLES}
      configs: ["2,2,2,2,4,4"]
      shapes: [64x128x512, 64x512x128]
      quads: 2
"""
SUITE = """version: 1
iterations: 10
gate: {quiet_s: 0, patterns: [], others_percent: 0}
environments: {here: {}}
kernels:
  sum:
    source: bench/load.py
    benchmark: bench/times.py
    argv: ["{python}", "{benchmark}", "{M}", "13", "{times}"]
    shapes: [{M: 8}, {M: 9}]
"""
TIMES = """import sys
size, calls, times = sys.argv[1:]
with open(times, "w") as file:
    file.writelines(f"{100 + int(size)}\\n" for _ in range(int(calls)))
"""
PLAIN = {
    "PATH": os.environ["PATH"],
    "LANG": "C.UTF-8",
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{role}_{key}": each for role in ("AUTHOR", "COMMITTER") for key, each in (("NAME", "A"), ("EMAIL", "a@b.org"))},
}
WORDS = ("--title", "the builtin", "--hypothesis", "less to interpret")


class Stage:
    """A repository with P1 queued and a finding, in `folder`; every trial gets a copy."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "repository"
        self.environment = {**PLAIN, "HOME": str(folder), "EXPCTL_LOCK_DIR": str(folder / "locks")}

    def made(self) -> "Stage":
        (self.root.parent / "locks").mkdir(parents=True)
        shutil.copytree(TEMPLATE, self.root, ignore=shutil.ignore_patterns("__pycache__"))
        (self.root / "src" / "extra.py").write_text("SIZE = 1\n")
        self.git("init", "-q", "-b", "main")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "baseline")
        self.edit("def total(values):\n    return sum(value * value for value in values)\n")
        self.well("new", "P1", "--from-diff")
        self.well("finding", "add", "Known before.", "--kind", "external", "--evidence", "https://example.org/a")
        return self

    def copy(self, folder: Path) -> "Stage":
        shutil.copytree(self.root.parent, folder, symlinks=True)
        return Stage(folder)

    def edit(self, kernel: str = FASTER) -> None:
        (self.root / "src" / "total.py").write_text(kernel)
        (self.root / "src" / "extra.py").write_text(f"SIZE = {len(kernel)}\n")

    def patch(self) -> None:
        self.edit()
        (self.root.parent / "wide.patch").write_text(self.git("diff"))
        self.git("checkout", "-q", "--", "src")

    def rival(self) -> None:
        """Commit a step that times rivals."""
        shutil.copy(RIVALS, self.root / "bench" / "rivals.py")
        protocol = self.root / "protocol.yaml"
        protocol.write_text(protocol.read_text().replace("    benchmark:\n", f"{RIVALS_STEP}    benchmark:\n"))
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "rivals")

    def tuning(self) -> None:
        """Commit what to tune, and a benchmark whose times are known."""
        shutil.copy(TUNED, self.root / "bench" / "benchmark.py")
        protocol = self.root / "protocol.yaml"
        protocol.write_text(protocol.read_text().replace("    benchmark:\n", f"{TUNE_STEP}    benchmark:\n"))
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "tuning")

    def second(self) -> None:
        """Queue another change."""
        self.edit()
        self.well("new", "P2", "--from-diff", *WORDS)

    def suite(self) -> None:
        """Commit a list of kernels and shapes."""
        (self.root / "bench" / "times.py").write_text(TIMES)
        (self.root / "suite.yaml").write_text(SUITE)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "suite")

    def start(self, words: tuple[str, ...]) -> "subprocess.Popen[str]":
        pipe = subprocess.PIPE
        return subprocess.Popen([EXPCTL, *words], cwd=self.root, env=self.environment, stdout=pipe, stderr=pipe, text=True)

    def well(self, *words: str) -> None:
        ended = subprocess.run([EXPCTL, *words], cwd=self.root, env=self.environment, capture_output=True, text=True)
        assert ended.returncode == 0, f"{words}: {ended.stderr}"

    def git(self, *words: str) -> str:
        ended = subprocess.run(["git", *words], cwd=self.root, env=self.environment, capture_output=True, text=True)
        assert ended.returncode == 0, f"git {words}: {ended.stderr}"
        return ended.stdout

    def at_head(self, path: str) -> str:
        return self.git("show", f"HEAD:{path}")

    def proposals(self) -> list[str]:
        return self.git("ls-tree", "--name-only", "HEAD:experiments").split()


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command line, what is done before, and what has to be true when it has completed."""

    words: tuple[str, ...]
    done: Callable[[Stage], bool]
    before: Callable[[Stage], object] = lambda _: None


def _queued(stage: Stage) -> bool:
    return {"P1", "P2"} <= set(stage.proposals()) and "P3" not in stage.proposals() and FASTER not in stage.git("diff")


def _has_ended(stage: Stage, experiment: str) -> bool:
    """It has a record; or its ticket says that what another one has landed is in its way."""
    if "record.json" in stage.git("ls-tree", "--name-only", f"HEAD:experiments/{experiment}").split():
        return True
    return bool(json.loads(stage.at_head(f"experiments/{experiment}/queued.json")).get("blocked"))


COMMANDS: Mapping[str, Command] = {
    "new ID": Command(words=("new", "P2", "--from-diff", *WORDS), before=lambda stage: stage.edit(), done=_queued),
    "new": Command(words=("new", "--from-diff", *WORDS), before=lambda stage: stage.edit(), done=_queued),
    "new --patch": Command(words=("new", "--patch", "../wide.patch", *WORDS), before=lambda stage: stage.patch(), done=_queued),
    "queue": Command(
        words=("queue", "P1", "--priority", "7"),
        done=lambda stage: '"priority": 7' in stage.at_head("experiments/P1/queued.json"),
    ),
    "withdraw": Command(
        words=("withdraw", "P1", "--why", "P9 does it"),
        done=lambda stage: "P9 does it" in stage.at_head("experiments/P1/queued.json"),
    ),
    "finding add": Command(
        words=("finding", "add", "Reads are free.", "--kind", "external", "--evidence", "https://example.org"),
        done=lambda stage: stage.at_head("experiments/findings.yaml").count("Reads are free.") == 1,
    ),
    "finding supersede": Command(
        words=("finding", "supersede", "F1", "--by", "https://example.org/b"),
        done=lambda stage: stage.at_head("experiments/findings.yaml").count("https://example.org/b") == 1,
    ),
    "import": Command(
        words=("import", "../log.md", "--target", "gfx1151", "--renumber"),
        before=lambda stage: (stage.root.parent / "log.md").write_text(BY_HAND),
        done=lambda stage: len(stage.proposals()) == 4,  # P1, findings.yaml, two rows
    ),
    "run": Command(
        words=("run", "P1", "--wait", "60"),
        done=lambda stage: '"verdict"' in stage.at_head("experiments/P1/record.json"),
    ),
    "run --all": Command(
        words=("run", "--all", "--wait", "60"),
        before=lambda stage: stage.second(),
        done=lambda stage: all(_has_ended(stage, name) for name in ("P1", "P2")),
    ),
    "tune": Command(
        words=("tune", "--wait", "60"),
        before=lambda stage: stage.tuning(),
        # A kill after its very end, while Python exits, is answered by another tuning, which finds nothing better.
        done=lambda stage: "P4" not in stage.proposals() and bool(stage.at_head(f"{TABLES}/DEFAULT.json")),
    ),
    "calibrate": Command(
        words=("calibrate", "--rounds", "5", "--wait", "60"),
        done=lambda stage: any(stage.root.parent.glob(".local/state/expctl/calibrations/*/*.json")),
    ),
    "rivals": Command(
        words=("rivals", "--wait", "60"),
        before=lambda stage: stage.rival(),
        # Each call measures anew: two where the kill came after the commit.
        done=lambda stage: len(stage.git("ls-tree", "--name-only", "HEAD:experiments/rivals").split()) in (1, 2),
    ),
    "suite run": Command(
        words=("suite", "run", "--env", "here", "--out", "../results", "--wait", "60"),
        before=lambda stage: stage.suite(),
        done=lambda stage: {"M=8", "M=9"} <= set((stage.root.parent / "results" / "here.csv").read_text().split(",")),
    ),
    "ledger": Command(
        words=("ledger",),
        before=lambda stage: (stage.root / "ledger.md").write_text("by hand\n"),
        done=lambda stage: (stage.root / "ledger.md").read_text() == stage.at_head("ledger.md"),
    ),
}


def violations(stage: Stage, command: Command, after_s: float) -> Iterator[str]:
    """Kill the command after `after_s`, type it again, and yield what is not as it has to be."""
    command.before(stage)
    killed = stage.start(command.words)
    time.sleep(after_s)
    killed.send_signal(signal.SIGKILL)
    try:
        killed.communicate(timeout=ORPHAN_S)  # ends when nobody holds its output any more
    except subprocess.TimeoutExpired:
        yield f"something holds the output of the killed command after {ORPHAN_S:g} s"
        return
    again = stage.start(command.words)
    _, said = again.communicate()
    if again.returncode:
        yield f"the same command again ends with {again.returncode}: {said.strip()}"
        return
    if not command.done(stage):
        yield "it says that it is done, and it isn't"
    if left := stage.git("status", "--porcelain"):
        yield f"left in the work tree: {left}"
    stage.git("fsck")
    for words in (("ledger", "--check"), ("doctor", "--json")):
        asked = stage.start(words)
        out, err = asked.communicate()
        if asked.returncode and '"part": "targets"' not in out:
            yield f"{' '.join(words)} ends with {asked.returncode}: {out}{err}"


def played(trials: int, seed: int, only: str = "") -> Iterator[tuple[str, float, str]]:
    """Play `trials`; yield (command, moment of the kill in s, violation) for each, with "" for a sound trial."""
    draw = Random(seed)
    names = [name for name in COMMANDS if only in name]
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(Path(folder) / "stage").made()
        takes_s = {}
        for name in names:
            trial, began = stage.copy(Path(folder) / "undisturbed"), time.monotonic()
            COMMANDS[name].before(trial)
            began = time.monotonic()
            trial.well(*COMMANDS[name].words)
            takes_s[name] = time.monotonic() - began
            shutil.rmtree(trial.root.parent)
        for number in range(trials):
            name = names[number % len(names)]
            after_s = draw.uniform(0.0, 1.1 * takes_s[name])
            trial = stage.copy(Path(folder) / str(number))
            found = list(violations(trial, COMMANDS[name], after_s))
            yield from ((name, after_s, each) for each in found or [""])
            shutil.rmtree(trial.root.parent)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    counts: dict[str, list[int]] = {}
    for name, after_s, violation in played(given.trials, given.seed, given.only):
        count = counts.setdefault(name, [0, 0])
        count[0] += 1
        if violation:
            count[1] += 1
            print(f"{name}, killed after {after_s:.3f} s: {violation}", flush=True)
    for name, (trials, bad) in counts.items():
        print(f"{name:<18} {trials:>4} trials, {bad} violations")
    return int(any(bad for _, bad in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
