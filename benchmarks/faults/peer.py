"""The same random `kill -9` against `expctl run` and `dvc exp run`, and what is lost, done twice or stuck afterwards.

python -m benchmarks.faults.peer --dvc PATH/TO/dvc [--trials 200] [--seed 6] [--out benchmarks/faults/peer.json]

A trial: a fresh repository with one experiment; the command is started and killed (the process alone, as a kernel short of
memory does) after a random share of the time that it takes undisturbed; then the same command is typed again, twice at most.
dvc is not installed with expctl: python -m venv V && V/bin/pip install dvc.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Protocol

ROOT = Path(__file__).resolve().parents[2]

from tests.faults.fault_lab import Lab  # noqa: E402  the path is set above

AGAIN = 2
WAIT_S = 120.0
DVC_YAML = """stages:
  measure:
    cmd: sh measure.sh
    deps: [measure.sh]
    params: [kernel]
    outs: [result]
    metrics: [{metrics.json: {cache: false}}]
"""


MEASURE = """sleep 0.02
cp params.yaml result
echo '{"time": 1}' > metrics.json
"""


class Peer(Protocol):
    """One tool: how a trial is set up and what it left."""

    name: str
    version: str

    def set_up(self) -> tuple[list[str], Path, dict[str, str]]:
        """A fresh repository; argv, folder and environment of the command."""

    def recorded(self) -> int:
        """How often the experiment is on record."""

    def leftovers(self) -> list[str]:
        """Locks and other traces of a run that is over."""


@dataclass
class Expctl:
    """`expctl run P2` on the stand-in of the fault suite: a whole REJECT."""

    lab: Lab
    name: str = "expctl run"
    version: str = "this commit"

    def set_up(self) -> tuple[list[str], Path, dict[str, str]]:
        """A copy of the stage."""
        self.scene = self.lab.scene("first slower")
        return [str(Path(sys.executable).with_name("expctl")), "run", "P2"], self.scene.root, self.scene.environment

    def recorded(self) -> int:
        """Record commits of the experiment."""
        log = self.scene.git("log", "--format=%B", "main")
        return log.count("\nExpctl-Record: P2\n")

    def leftovers(self) -> list[str]:
        """Locks, worktrees and journals."""
        git = self.scene.root / ".git"
        left = [*git.rglob("*.lock"), *(git / "worktrees").glob("*"), *(git / "expctl" / "journal").glob("*.jsonl")]
        return [str(path.relative_to(git)) for path in left]


@dataclass
class Dvc:
    """`dvc exp run -n P2 -S kernel=60`: one stage of 20 ms."""

    folder: Path
    command: Path
    version: str
    name: str = "dvc exp run"

    def __post_init__(self) -> None:
        self.template, self.root = self.folder / "template", self.folder / "repository"
        self.environment = {
            "PATH": f"{self.command.parent}:{os.environ['PATH']}",
            "HOME": str(self.folder / "home"),
            "DVC_NO_ANALYTICS": "1",
            **{f"GIT_{role}_{what}": "user@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }
        for folder in (self.template, self.folder / "home"):
            folder.mkdir(parents=True)
        self._call(["git", "init", "-q", "-b", "main"], self.template)
        self._call([str(self.command), "init", "-q"], self.template)
        (self.template / "dvc.yaml").write_text(DVC_YAML)
        (self.template / "measure.sh").write_text(MEASURE)
        (self.template / "params.yaml").write_text("kernel: 50\n")
        self._call(["git", "add", "-A"], self.template)
        self._call(["git", "commit", "-q", "-m", "baseline"], self.template)

    def set_up(self) -> tuple[list[str], Path, dict[str, str]]:
        """A copy of the template."""
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(self.template, self.root, symlinks=True)
        return [str(self.command), "exp", "run", "-n", "P2", "-S", "kernel=60"], self.root, self.environment

    def recorded(self) -> int:
        """Experiments of that name."""
        refs = self._call(["git", "for-each-ref", "--format=%(refname)", "refs/exps"], self.root).split()
        return sum(ref.endswith("/P2") for ref in refs)

    def leftovers(self) -> list[str]:
        """Git locks, refs of an execution that is over, and locks of DVC that name a process which is gone."""
        git = self.root / ".git"
        refs = self._call(["git", "for-each-ref", "--format=%(refname)", "refs/exps/exec"], self.root).split()
        rwlock = self.root / ".dvc" / "tmp" / "rwlock"
        held = [rwlock] if rwlock.exists() and len(rwlock.read_text()) > len("{}") else []
        known = {"refs/exps/exec/EXEC_HEAD"}  # an undisturbed run leaves it too
        return [*(str(path.relative_to(git)) for path in git.rglob("*.lock")), *sorted({*refs} - known), *map(str, held)]

    def _call(self, argv: list[str], cwd: Path) -> str:
        return subprocess.run(argv, cwd=cwd, env=self.environment, check=True, capture_output=True, text=True).stdout


def main() -> None:
    """Play the trials of both tools and write the table."""
    parser = argparse.ArgumentParser(description="random kill -9, side by side")
    parser.add_argument("--dvc", type=Path, required=True, help="the dvc executable of a virtual environment of its own")
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    said = subprocess.run([str(options.dvc), "--version"], check=True, capture_output=True, text=True).stdout.strip()
    with Lab() as lab, tempfile.TemporaryDirectory(dir=lab.folder) as folder:
        peers: list[Peer] = [Expctl(lab), Dvc(Path(folder), options.dvc, said)]
        tables = [_play(peer, options.trials, Random(options.seed)) for peer in peers]  # noqa: S311  a repeatable draw
    command = f"python -m benchmarks.faults.peer --trials {options.trials} --seed {options.seed}"
    options.out.write_text(json.dumps({"command": command, "seed": options.seed, "tools": tables}, indent=1) + "\n")


def _play(peer: Peer, trials: int, draw: Random) -> dict[str, object]:
    whole_s = _undisturbed_s(peer)
    lost = duplicated = stuck = untrue = killed = 0
    examples: list[str] = []
    for number in range(trials):
        argv, cwd, environment = peer.set_up()
        killed += _killed(argv, cwd, environment, draw.uniform(0, whole_s))
        ends = [_ends(argv, cwd, environment)]
        while ends[-1][0] != 0 and len(ends) < AGAIN:
            ends.append(_ends(argv, cwd, environment))
        recorded, left = peer.recorded(), peer.leftovers()
        lost += recorded == 0
        duplicated += recorded > 1
        stuck += bool(left) or ends[-1][0] is None
        untrue += (ends[-1][0] == 0) != (recorded > 0)
        if recorded != 1 or left or ends[-1][0] != 0:
            examples.append(f"trial {number}: {recorded} recorded, left: {left[:3]}, {ends[-1][1][-160:]!r}")
        print(f"{peer.name} {number + 1}/{trials}: lost {lost}, twice {duplicated}, stuck {stuck}, untrue {untrue}", flush=True)
    return {
        "tool": f"{peer.name} ({peer.version})",
        "trials": trials,
        "killed_before_the_end": killed,
        "lost": lost,
        "duplicated": duplicated,
        "stuck": stuck,
        "untrue_exit_status": untrue,
        "undisturbed_s": round(whole_s, 2),
        "examples": examples[:12],
    }


def _undisturbed_s(peer: Peer) -> float:
    times = []
    for _ in range(3):
        argv, cwd, environment = peer.set_up()
        started = time.monotonic()
        subprocess.run(argv, cwd=cwd, env=environment, check=True, capture_output=True)
        times.append(time.monotonic() - started)
    return sorted(times)[1]


def _killed(argv: list[str], cwd: Path, environment: Mapping[str, str], after_s: float) -> bool:
    """Was it still running when it was killed?"""
    process = subprocess.Popen(argv, cwd=cwd, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(after_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return True
    return False


def _ends(argv: list[str], cwd: Path, environment: Mapping[str, str]) -> tuple[int | None, str]:
    """Exit status (None: it did not end) and what it said."""
    try:
        ended = subprocess.run(argv, cwd=cwd, env=environment, capture_output=True, text=True, timeout=WAIT_S, check=False)
    except subprocess.TimeoutExpired:
        return None, "did not end"
    return ended.returncode, (ended.stdout + ended.stderr).strip()


if __name__ == "__main__":
    main()
