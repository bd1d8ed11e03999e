"""Kill commands at random moments from outside, then type them again: they have to complete, once, and leave nothing.

    python -m tests.faults.outside_kills [--trials 500] [--seed 1] [--only WORD] [--jobs N] [--out FILE]

Nothing of expctl is imported: a trial is a copy of a small repository, a process that is killed (one in four by TERM or Ctrl-C
instead), and the same command again. Prints a line for each violation and one for each command; exits 1 after a violation.
"""

import argparse
import contextlib
import json
import multiprocessing
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from random import Random

from tests.faults import outside_before
from tests.faults.outside_commands import COMMANDS, Command
from tests.faults.outside_stage import Stage

ORPHAN_S = 10.0
OWN_LINE = re.compile(r'^  File "[^"]*/expctl/(\w+/)*\w+\.py"', re.MULTILINE)
"""A line of a traceback that names a module of expctl. Without one Python was interrupted before expctl's first line."""
LONGEST_S = 300.0
SIGNALS = (signal.SIGKILL,) * 6 + (signal.SIGTERM, signal.SIGINT)
CODE = re.compile(r"^Error \[([a-z0-9-]+)\]", re.MULTILINE)
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Undisturbed:
    """What a command does that nobody kills. `ends`: (exit status, code of the error) of the first call and of a second one,
    which may be a refusal; `left`, `files` and `wrong` are of the stage after the first.
    """

    takes_s: float
    ends: frozenset[tuple[int, str]]
    left: frozenset[str]
    files: dict[str, str]
    wrong: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """When the trial `number` kills, as a part of what the undisturbed command takes, and by which signal."""

    number: int
    name: str
    part: float
    by: signal.Signals


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a trial has found: [] if it is sound."""

    moment: Moment
    after_s: float
    violations: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        for each in self.violations:
            yield f"{self.moment.name}, trial {self.moment.number}, {self.moment.by.name} after {self.after_s:.3f} s: {each}"


def ended(stage: Stage, command: Command) -> tuple[tuple[int, str], str]:
    """Type a command and wait for its end, or until it serves and obeys Ctrl-C. Also returns what it said."""
    process = stage.start(command.words, command.asked)
    line = ""
    if command.serves:
        assert process.stdout is not None
        line = process.stdout.readline()
        process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=LONGEST_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return (-1, "endless"), f"it has not ended after {LONGEST_S:g} s"
    code = CODE.search(err) if process.returncode else None
    return (process.returncode, code[1] if code else ""), f"{line}{out}{err}".strip()


def undisturbed(stage: Stage, command: Command) -> Undisturbed:
    """Type a command twice in a stage that is prepared for it. Raises AssertionError if it doesn't do what it should."""
    began = time.monotonic()
    first, said = ended(stage, command)
    takes_s = time.monotonic() - began
    assert first[0] in (0, 130), f"{command.words} ends with {first}: {said}"
    assert command.done(stage), f"{command.words} has not done it: {said}"
    left, files, wrong = stage.left(), stage.files() if command.same else {}, stage.wrong()
    again, _ = ended(stage, command)
    return Undisturbed(takes_s=takes_s, ends=frozenset({first, again}), left=left, files=files, wrong=wrong)


def violations(stage: Stage, command: Command, whole: Undisturbed, after_s: float, by: signal.Signals) -> Iterator[str]:
    """Kill the command after `after_s`, type it again, and yield what is not as it has to be."""
    killed = stage.start(command.words, command.asked)
    time.sleep(after_s)
    killed.send_signal(by)
    try:
        _, err = killed.communicate(timeout=ORPHAN_S)  # ends when nobody holds its output any more
    except subprocess.TimeoutExpired:
        yield f"something holds the output of the killed command after {ORPHAN_S:g} s: {stage.living()}"
        killed.kill()
        return
    if "Traceback" in err and OWN_LINE.search(err):
        yield f"the killed command ends with a traceback: {err}"
    if orphans := stage.outlived(ORPHAN_S):
        yield f"processes of the killed command live after {ORPHAN_S:g} s: {orphans}"
    end, said = ended(stage, command)
    if end not in whole.ends:
        yield f"the same command again ends with {end}, not as undisturbed with one of {sorted(whole.ends)}: {said}"
        return
    try:
        done = command.done(stage)
    except (OSError, AssertionError) as error:
        yield f"it says that it is done, and it isn't: {error}"
    else:
        if not done:
            yield f"it says that it is done, and it isn't: {said}"
    if (left := stage.left()) != whole.left:
        yield f"the work tree has {sorted(left - whole.left)}, and not {sorted(whole.left - left)}"
    elif command.same and (files := stage.files()) != whole.files:
        yield f"files have other contents: {sorted(name for name, _ in files.items() ^ whole.files.items())}"
    stage.git("fsck")
    if wrong := stage.wrong() - whole.wrong:
        yield f"wrong: {sorted(wrong)}"
    if orphans := stage.outlived(ORPHAN_S):
        yield f"processes live after {ORPHAN_S:g} s: {orphans}"


def drawn(trials: int, seed: int, names: Sequence[str]) -> list[Moment]:
    """The moments of all trials: commands take turns, in an order that is drawn."""
    draw = Random(seed)
    names = draw.sample(names, len(names))
    return [
        Moment(number=number, name=names[number % len(names)], part=draw.uniform(0.0, 1.1), by=draw.choice(SIGNALS))
        for number in range(trials)
    ]


@contextlib.contextmanager
def trial(folder: Path, name: str, number: str) -> Iterator[Stage]:
    """A copy of the prepared stage of a command; it is removed at the end."""
    copy = Stage(folder / "before" / COMMANDS[name].before.__name__).copy(folder / "trials" / name / number)
    COMMANDS[name].there(copy)
    yield copy
    shutil.rmtree(copy.beside)


def prepared(folder: Path, before: str) -> None:
    """Do in a copy of the stage what is to be done before a command."""
    stage = Stage(folder / "stage").copy(folder / "before" / before)
    getattr(outside_before, before)(stage)


def seen(folder: Path, name: str) -> Undisturbed | str:
    """Look at a command that nobody kills; a string says in what it fails."""
    try:
        with trial(folder, name, "undisturbed") as copy:
            return undisturbed(copy, COMMANDS[name])
    except (AssertionError, OSError) as error:
        return f"undisturbed: {error}"


def played_one(folder: Path, moment: Moment, whole: Undisturbed | str) -> Outcome:
    """Play one trial; where the command fails undisturbed, that is the violation."""
    if isinstance(whole, str):
        return Outcome(moment=moment, after_s=0.0, violations=(whole,))
    after_s, found = moment.part * whole.takes_s, list[str]()
    try:
        with trial(folder, moment.name, str(moment.number)) as copy:
            found.extend(violations(copy, COMMANDS[moment.name], whole, after_s, moment.by))
    except (AssertionError, OSError) as error:
        found.append(str(error))
    return Outcome(moment=moment, after_s=after_s, violations=tuple(found))


def played(trials: int, seed: int, only: str = "", jobs: int = 1) -> Iterator[Outcome]:
    """Play `trials` with `jobs` processes, and yield what each has found, in the order in which they were drawn."""
    moments = drawn(trials, seed, [name for name in COMMANDS if re.search(only, name)])
    names = list(dict.fromkeys(moment.name for moment in moments))
    before = dict.fromkeys(COMMANDS[name].before.__name__ for name in names)
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool,
    ):
        Stage(Path(folder) / "stage").made()
        list(pool.map(partial(prepared, Path(folder)), before))
        whole = dict(zip(names, pool.map(partial(seen, Path(folder)), names), strict=True))
        wholes = [whole[moment.name] for moment in moments]
        yield from pool.map(partial(played_one, Path(folder)), moments, wholes)


@dataclass(frozen=True, slots=True)
class Row:
    """The trials of one command."""

    name: str
    trials: int
    violations: int


def rows(outcomes: Sequence[Outcome]) -> list[Row]:
    """One row for each command, in the order of COMMANDS."""
    played_of = {name: [each for each in outcomes if each.moment.name == name] for name in COMMANDS}
    return [Row(name, len(own), sum(bool(each.violations) for each in own)) for name, own in played_of.items() if own]


def table(found: Sequence[Row], command: str, seed: int) -> dict[str, object]:
    """What --out gets. `expctl` is the tree that was tested."""
    tree = subprocess.run(["git", "rev-parse", "HEAD:expctl"], cwd=ROOT, capture_output=True, text=True, check=True)
    head = {"command": command, "seed": seed, "expctl": tree.stdout.strip()}
    sums = {"trials": sum(row.trials for row in found), "violations": sum(row.violations for row in found)}
    return {**head, **sums, "commands": [asdict(row) for row in found]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="commands whose name has this, a regular expression")
    parser.add_argument("--jobs", type=int, default=1, help="processes that play; each moment is drawn before (default: 1)")
    parser.add_argument("--out", type=Path, help="also write the table as JSON")
    given = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in a shell's background it is ignored, by the commands too
    only = f" --only '{given.only}'" if given.only else ""
    command = f"python -m tests.faults.outside_kills --trials {given.trials} --seed {given.seed}{only}"
    outcomes = []
    for outcome in played(given.trials, given.seed, given.only, given.jobs):
        outcomes.append(outcome)
        for line in outcome.lines():
            print(line, flush=True)
        if given.out:  # after each, for who can't wait
            given.out.write_text(json.dumps(table(rows(outcomes), command, given.seed), indent=1) + "\n")
    found = rows(outcomes)
    for row in found:
        print(f"{row.name:<22} {row.trials:>4} trials, {row.violations} violations")
    return int(any(row.violations for row in found))


if __name__ == "__main__":
    sys.exit(main())
