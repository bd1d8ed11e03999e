"""Damage the files that expctl keeps below .git/expctl and in the user's state folder, and see that no figure ever lies.

    python -m tests.faults.state_fuzz [--trials 2000] [--seed 1] [--only WORD]

A trial copies a repository that has all such files, damages one of them, and types commands that read it: none may end in a
traceback, the ledger that they write or commit is that of the undamaged repository, and afterwards the file is sound again or
gone, or `expctl doctor` names it. Prints a line for each violation and one for each file; exits 1 after a violation.
"""

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random

from tests.e2e.foreign import FASTER, SLOWER, Foreign

DAMAGES: Mapping[str, Callable[[bytearray, Random], bytes]] = {
    "a bit": lambda text, draw: _changed(text, draw, lambda old: bytes([old[0] ^ 1 << draw.randrange(8)])),
    "a digit": lambda text, draw: _digit(text, draw),
    "a byte that is no text": lambda text, draw: _changed(text, draw, lambda _: b"\xff"),
    "zeros": lambda text, draw: _changed(text, draw, lambda _: bytes(200)),
    "cut": lambda text, draw: bytes(text[: draw.randrange(len(text) or 1)]),
    "longer": lambda text, draw: bytes(text) + draw.randbytes(40),
    "a part twice": lambda text, draw: _changed(text, draw, lambda old: old * 3),
    "empty": lambda *_: b"",
    "other bytes": lambda text, draw: draw.randbytes(len(text)),
}
HARMLESS = {"lock", "publishing", "reserve"}
"""Files whose contents decide nothing: the kernel holds the locks, and the reserve only takes room."""

OTHERS = {"builds", "artifacts", "checkouts", "scratch"}
"""Folders of what is built and checked out, which a run makes again or holds against a hash in its journal."""


def _changed(text: bytearray, draw: Random, to: Callable[[bytes], bytes]) -> bytes:
    at = draw.randrange(len(text) or 1)
    return bytes(text[:at]) + to(bytes(text[at : at + 1]) or b"\0") + bytes(text[at + 1 :])


def _digit(text: bytearray, draw: Random) -> bytes:
    places = [at for at, byte in enumerate(text) if chr(byte).isdigit()]
    if not places:
        return bytes(text) + b"1"
    text[draw.choice(places)] = ord(str(draw.randrange(10)))
    return bytes(text)


class Stage:
    """A repository with records, a queue, a calibration, an unfinished run, a publication that a kill cut short, and caches."""

    def __init__(self, folder: Path) -> None:
        self.repository = repository = Foreign.of("foreign_repository", folder)
        repository.environment["XDG_STATE_HOME"] = str(folder / "home" / "state")
        repository.propose("P1", FASTER)
        repository.concluded("run", "P1")
        repository.propose("P2", SLOWER)
        repository.propose("P3", FASTER.replace("value * value", "value ** 2"))
        repository.concluded("calibrate", "--rounds", "5")
        repository.concluded("status")
        self._killed(("run", "P2"), lambda: repository.journal("P2").count("Measured") > 1)
        intent = repository.root / ".git/expctl/publication.json"
        while not intent.exists():
            self._killed(("queue", "P3", "--priority", str(Random().randrange(9999))), intent.exists)

    def _killed(self, words: tuple[str, ...], when: Callable[[], object]) -> None:
        runner = self.repository.start(*words)
        while runner.poll() is None and not when():
            pass
        runner.kill()
        runner.wait()
        until = time.monotonic() + 60  # a git that it had started goes on to its end
        while any((self.repository.root / ".git/expctl").glob("*.lock")) and time.monotonic() < until:
            time.sleep(0.02)

    def copy(self, folder: Path) -> Foreign:
        """Copy the repository into `folder`, which is made."""
        copied = self.repository.copy(folder)
        copied.environment["XDG_STATE_HOME"] = str(folder / "home" / "state")
        return copied

    def files(self) -> list[Path]:
        """Every file of state, relative to the folder of the stage."""
        home = self.repository.root.parent
        folders = (self.repository.root / ".git/expctl", home / "home" / "state")
        found = sorted(file for folder in folders for file in folder.rglob("*") if file.is_file() and not file.is_symlink())
        return [file.relative_to(home) for file in found if file.name not in HARMLESS and not OTHERS & {*file.parts}]


class Truth:
    """What the undamaged repository says."""

    def __init__(self, repository: Foreign) -> None:
        list(self.said(repository))

    def said(self, repository: Foreign) -> Iterator[str]:
        """Type the commands; yield what none of them may say. The ledger that was written and the one that was committed are
        kept in `written` and `committed`, what doctor says in `doctor`.
        """
        for words in (("status",), ("doctor",), ("ledger",), ("queue", "P2", "--priority", "3"), ("ledger", "--check")):
            answer = repository.expctl(*words)
            if "Traceback" in answer.err or "BUG:" in answer.err or answer.status not in (0, 1, 75):
                yield f"{' '.join(words)}: {answer.status} {answer.err[-900:]}"
            if words == ("doctor",):
                self.doctor = answer.out
            if words == ("ledger",):
                self.written = (repository.root / "ledger.md").read_text()
        self.committed = repository.git("show", "HEAD:ledger.md")


def violations(trial: Foreign, file: Path, sound: bytes, truth: Truth) -> Iterator[str]:
    """Type what may read the damaged file, and yield what is not as it has to be."""
    damaged = file.read_bytes()
    found = Truth.__new__(Truth)
    yield from found.said(trial)
    if found.written != truth.written:
        yield "`ledger` writes another ledger"
    if (
        found.committed not in (truth.committed, trial.git("show", "HEAD~:ledger.md"))
        or trial.expctl("ledger", "--check").status
    ):
        yield "another ledger is committed"
    is_named = file.stem in found.doctor or file.stem in trial.expctl("doctor").out
    if file.exists() and file.read_bytes() == damaged and not is_named and not _says_the_same(sound, damaged):
        yield "neither mended nor named by doctor"


def _says_the_same(sound: bytes, damaged: bytes) -> bool:
    """Do two files of JSON say the same but for the hash of theirs, or a key that nobody knows?"""
    try:
        before, now = json.loads(sound), json.loads(damaged)
    except ValueError:
        return False
    return isinstance(now, dict) and all(now.get(key) == value for key, value in before.items() if key != "check")


def played(trials: int, seed: int, only: str = "") -> Iterator[tuple[str, str, str]]:
    """Play `trials`; yield (file, damage, violation) for each, with "" for a sound trial."""
    draw = Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(Path(folder) / "stage")
        files = [file for file in stage.files() if only in file.name]
        truth = Truth(stage.copy(Path(folder) / "undamaged"))
        for number in range(trials):
            file, (name, damage) = files[number % len(files)], draw.choice([*DAMAGES.items()])
            trial = stage.copy(Path(folder) / "trial")
            place = trial.root.parent / file
            sound = place.read_bytes()
            place.write_bytes(damage(bytearray(sound), draw))
            found = list(violations(trial, place, sound, truth)) if place.read_bytes() != sound else []
            yield from ((file.name, name, each) for each in found or [""])
            shutil.rmtree(trial.root.parent)


def main() -> int:
    """Play, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    counts: dict[str, list[int]] = {}
    for file, damage, violation in played(given.trials, given.seed, given.only):
        count = counts.setdefault(file, [0, 0])
        count[0] += 1
        if violation:
            count[1] += 1
            print(f"{file}, {damage}: {violation}", flush=True)
    for name, (trials, bad) in counts.items():
        print(f"{name:<40} {trials:>5} trials, {bad} violations")
    return int(any(bad for _, bad in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
