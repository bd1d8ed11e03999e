"""A night of experiments on the real kernel, undisturbed and killed twice with SIGKILL: are the verdicts the same?

    python -m benchmarks.queue.night FOLDER [--target cpu]

Clones this repository into FOLDER twice, takes a kept experiment back and adds a waste of time by hand (so that there is
something to win), queues ten proposals on that kernel and lets `expctl run --all` work through them. Every effect is 5 % or
more at every size, or decided without a clock. Prints a markdown table; exits with 1 when a verdict is not the expected one or
differs between the two.
Takes about a quarter of an hour on two quiet cores.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parents[2]
EXPCTL = (sys.executable, "-m", "expctl")
PAIR = "experiments/P16/change.patch"
TILE, PRODUCT, STAGE = "kernel/hip/wave_tile_cpu.h", "kernel/hip/scaled_mm.h", "kernel/hip/stage.h"
SLICES = "  for (int s = 0; s < kSlices; ++s) tile.multiply(slices.slice[s], wave);\n"
COLUMNS = "const Floats16 columns = load16(b[k]);"
SPIN = "  if (ON_CPU)\n    for (volatile int spin = 0; spin < {}; ++spin) {{\n    }}\n"
CORNER = "  const Corner corner(problem, block.m * C::block_m, block.n * C::block_n);\n"
WASTE = SPIN.format(1500)


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """One proposal: how the kernel is changed before `expctl new --from-diff`, and what must come of it."""

    title: str
    outcome: str
    change: Callable[[Path], None]
    options: tuple[str, ...] = ()


def replace(file: str, old: str, new: str) -> Callable[[Path], None]:
    """A change that puts `new` in the place of the one `old`."""

    def change(clone: Path) -> None:
        text = (clone / file).read_text()
        if text.count(old) != 1:
            raise SystemExit(f"{file}: expected once, found {text.count(old)} times: {old!r}")
        (clone / file).write_text(text.replace(old, new))

    return change


def pair(clone: Path) -> None:
    """P16's change."""
    git(clone, "apply", PAIR)


def spin(count: int, *, indent: str = "") -> Callable[[Path], None]:
    """Wastes time before the products of each chunk."""
    return replace(PRODUCT, SLICES, SLICES + "".join(f"{indent}{line}\n" for line in SPIN.format(count).splitlines()))


NIGHT: Mapping[str, Queued] = {
    "P30": Queued(title="Two fragments side by side, again", outcome="KEEP", change=pair),
    "P31": Queued(
        title="No waiting in every tile",
        outcome="KEEP",
        change=replace(PRODUCT, CORNER + WASTE, CORNER),
    ),
    "P32": Queued(
        title="The columns by reference",
        outcome="BLOCKED",
        change=replace(TILE, COLUMNS, "const Floats16 &columns = *reinterpret_cast<const Floats16 *>(b[k]);"),
    ),
    "P33": Queued(title="Wait in every chunk", outcome="REJECT", change=spin(2000)),
    "P34": Queued(title="Wait in every chunk, otherwise written", outcome="refused", change=spin(2000, indent="  ")),
    "P35": Queued(
        title="Only if waiting helped",
        outcome="skipped",
        change=spin(4000),
        options=("--depends-on", "P33.verdict == KEEP"),
    ),
    "P36": Queued(title="Does not build", outcome="REJECT", change=replace(PRODUCT, SLICES, SLICES.replace(";", ""))),
    "P37": Queued(
        title="One slice too few",
        outcome="REJECT",
        change=replace(PRODUCT, SLICES, SLICES.replace("s < kSlices", "s + 1 < kSlices")),
    ),
    "P38": Queued(
        title="Another name for the slice",
        outcome="NO-OP",
        change=replace(PRODUCT, SLICES, "  for (int one = 0; one < kSlices; ++one) tile.multiply(slices.slice[one], wave);\n"),
    ),
    "P39": Queued(title="Wait longer in every chunk", outcome="REJECT", change=spin(6000)),
}  # fmt: skip


def git(clone: Path, *words: str) -> str:
    """What git said. Raises CalledProcessError."""
    return subprocess.run(("git", "-C", str(clone), *words), check=True, capture_output=True, text=True).stdout


def expctl(clone: Path, *words: str) -> str:
    """What expctl said. Raises SystemExit with its words where it refuses."""
    ran = subprocess.run((*EXPCTL, *words), check=False, cwd=clone, capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(f"expctl {' '.join(words)}: {ran.stdout}{ran.stderr}")
    return ran.stdout


def queued(clone: Path) -> Path:
    """A clone in which the older kernel stands and the night is queued."""
    git(HERE, "clone", "--quiet", "--no-hardlinks", str(HERE), str(clone))
    git(clone, "config", "user.name", "night")
    git(clone, "config", "user.email", "night@example.invalid")
    expctl(clone, "withdraw", "P15", "--why", "its effect is smaller than this night's")
    git(clone, "apply", "-R", PAIR)
    replace(PRODUCT, CORNER, CORNER + WASTE)(clone)
    git(clone, "commit", "--quiet", "-am", "Take P16 back, and wait in every tile")
    for name, each in NIGHT.items():
        each.change(clone)
        expctl(
            clone, "new", name, "--from-diff", "--title", each.title, "--hypothesis", "part of a rehearsed night", *each.options
        )
    return clone


def kill_at(clone: Path, runner: "subprocess.Popen[bytes]", experiment: str, event: str) -> None:
    """SIGKILL once the journal of `experiment` holds `event`. Raises SystemExit when the night ends before."""
    journal = clone / ".git/expctl/journal" / f"{experiment}.jsonl"
    while runner.poll() is None:
        if journal.is_file() and f'"{event}"' in journal.read_text():
            os.kill(runner.pid, signal.SIGKILL)
            runner.wait()
            return
        time.sleep(0.05)
    raise SystemExit(f"the night ended before {experiment} was at {event}")


def outcomes(clone: Path) -> dict[str, str]:
    """Id -> verdict, else the state in the queue."""
    said = (clone.parent / f"{clone.name}.log").read_text()
    states = {each["id"]: each["state"] for each in json.loads(expctl(clone, "queue", "--json"))["entries"]}
    if states.get("P34") == "ready" and "this change was tried before, as P33, and rejected" in said:
        states["P34"] = "refused"
    found = {}
    for name in NIGHT:
        record = clone / f"experiments/{name}/record.json"
        found[name] = json.loads(record.read_text())["verdict"] if record.is_file() else states.get(name, "lost")
    return found


def night(clone: Path, target: str, kills: tuple[tuple[str, str], ...] = ()) -> dict[str, str]:
    """Runs the queue to its end; kills it on the way and starts it again."""
    with (clone.parent / f"{clone.name}.log").open("ab") as log:
        for experiment, event in (*kills, ("", "")):
            runner = subprocess.Popen((*EXPCTL, "run", "--all", "--target", target), cwd=clone, stdout=log, stderr=log)
            if experiment:
                kill_at(clone, runner, experiment, event)
            elif runner.wait():
                raise SystemExit(f"run --all ended with {runner.returncode}, see {log.name}")
    expctl(clone, "ledger", "--check")
    return outcomes(clone)


def main() -> int:
    """Two nights and their table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path)
    options.add_argument("--target", default="cpu")
    told = options.parse_args()
    told.folder.mkdir(parents=True)
    calm = night(queued(told.folder / "calm"), told.target)
    killed = night(queued(told.folder / "killed"), told.target, kills=(("P31", "Measured"), ("P33", "Built")))
    print("| id | proposal | expected | undisturbed | killed twice |\n|---|---|---|---|---|")
    for name, each in NIGHT.items():
        print(f"| {name} | {each.title} | {each.outcome} | {calm[name]} | {killed[name]} |")
    expected = {name: each.outcome for name, each in NIGHT.items()}
    return 0 if calm == killed == expected else 1


if __name__ == "__main__":
    raise SystemExit(main())
