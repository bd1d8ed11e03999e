"""How long does `expctl rules check` take? Run `python -m benchmarks.rules.speed [--repeats 5] [CASE...]`.

The rules of this repository's history are asked about patches for a kernel of tests/rules_corpus/history, by the real command.
`cold`: nothing is kept, as in a fresh clone, but the commit brings what `expctl rules compile` wrote. `bare`: it brings
nothing, so that the rejected changes are compiled, too; this has no bound. `next`: those are kept, the patch is new. `again`:
the same patch once more, the median of `--repeats`. Beside the time that passes there are the processor seconds of the command
with all that it starts, and what is kept since: preprocessed + compiled. Python keeps what it compiled of expctl, as it does
everywhere else. Exit status 1 says that a bound is exceeded.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.scale.measure import plain_environment
from expctl.adapters.rules.compiled_file import FILE
from tests.rules_corpus.test_own_rules import FOLDER, ROOT, repository

WARM_MS_MOST, COLD_S_MOST = 100.0, 10.0
EXPCTL = Path(sys.executable).with_name("expctl")
PATCHES = FOLDER / "patches"
ELSEWHERE = "--- /dev/null\n+++ b/docs/note.md\n@@ -0,0 +1 @@\n+A note.\n"
COMPILED = {
    "gfx1151": ("head", "P7-honest", "P2-honest"),
    "cpu": ("head", "P17-honest", "P17-repeat"),
    "all targets": ("head", "P19-honest", "P25-honest"),
    "sm_90": ("ring", "P33-honest", "P33-repeat"),
}
"""By the target whose code they change: the kernel, the first patch for it, and the next one."""


class Cost(NamedTuple):
    """Seconds that passed and seconds of processors, and what was started."""

    wall_s: float
    processor_s: float
    preprocessed: int
    compiled: int

    def __str__(self) -> str:
        return f"{self.wall_s:8.3f} s {self.processor_s:8.2f} s  {self.preprocessed:3} + {self.compiled:<3}"


def checked(root: Path, patch: Path) -> Cost:
    """Ask `expctl rules check` about a patch."""
    kept = [len([*folder.iterdir()]) if folder.is_dir() else 0 for folder in _caches(root)]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    ran = subprocess.run(
        [EXPCTL, "rules", "check", str(patch), "--json"],
        cwd=root,
        env={**plain_environment(), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    wall_s, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if ran.returncode not in (0, 1) or not ran.stdout.startswith("{"):
        raise RuntimeError(ran.stderr)
    spent_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    now = [len([*folder.iterdir()]) if folder.is_dir() else 0 for folder in _caches(root)]
    return Cost(wall_s, spent_s, now[0] - kept[0], now[1] - kept[1])


def _caches(root: Path) -> tuple[Path, Path]:
    meanings = root / ".git" / "expctl" / "meanings"
    return meanings / "sources", meanings / "compiled"


def brought(root: Path, brings: bool) -> None:
    """Let HEAD bring what rejected changes compile to, or not."""
    if (root / FILE).exists() == brings:
        return
    if brings:
        subprocess.run(
            [EXPCTL, "rules", "compile"],
            cwd=root,
            env={**plain_environment(), "PYTHONPATH": str(ROOT)},
            check=True,
            capture_output=True,
        )
    else:
        (root / FILE).unlink()
    for words in (["add", "-A", FILE], ["commit", "-q", "-m", "What is brought"]):
        subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@b.c", *words], cwd=root, check=True)


def again(root: Path, patch: Path, repeats: int) -> Cost:
    """Ask about a patch that was asked about; return medians."""
    costs = [checked(root, patch) for _ in range(repeats)]
    wall_s, spent_s = (statistics.median(each[at] for each in costs) for at in (0, 1))
    return Cost(wall_s, spent_s, max(each.preprocessed for each in costs), max(each.compiled for each in costs))


def main(repeats: int, cases: list[str]) -> int:
    """Print the table; return the exit status."""
    slow: list[str] = []

    def row(name: str, what: str, cost: Cost, most_s: float | None) -> None:
        too_slow = most_s is not None and cost.wall_s > most_s
        slow.extend([name] if too_slow else [])
        print(f"{name:22} {what:6} {cost}{f'  more than {most_s:g} s' if too_slow else ''}", flush=True)

    print(f"{'patch':22} {'':6} {'passed':>10} {'processors':>10}  preprocessed + compiled")
    with tempfile.TemporaryDirectory() as folder:
        roots = {name: repository(Path(folder) / name, name, set(), is_short=False).root for name in ("head", "ring")}
        note = Path(folder) / "note.patch"
        note.write_text(ELSEWHERE)
        for root in roots.values():
            checked(root, note)  # the index of records is made at the first question
        for name, patch in (("known by its patch", ROOT / "experiments" / "P17" / "change.patch"), ("of no source", note)):
            if not cases or name in cases:
                row(name, "", again(roots["head"], patch, repeats), WARM_MS_MOST / 1000)
        for name, (state, *pair) in COMPILED.items():
            if (cases and name not in cases) or (name == "sm_90" and not shutil.which("nvcc")):
                continue
            root = roots[state]
            first, other = (PATCHES / f"{each}.patch" for each in pair)
            for what, brings, most_s in (("bare", False, None), ("cold", True, COLD_S_MOST)):
                brought(root, brings)
                checked(root, note)  # the index of records is made at the first question
                shutil.rmtree(root / ".git" / "expctl" / "meanings", ignore_errors=True)
                row(name, what, checked(root, first), most_s)
            row(name, "again", again(root, first, repeats), WARM_MS_MOST / 1000)
            row(name, "next", checked(root, other), COLD_S_MOST)
    return 1 if slow else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(COMPILED))
    given = parser.parse_args()
    sys.exit(main(given.repeats, given.cases))
