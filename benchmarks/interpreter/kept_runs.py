"""Runs of the guard on mutants, in a file that an interrupted command goes on from."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What the guard said of a mutant with one seed; `said` is "" if it found nothing."""

    mutant: str
    seed: int
    said: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRuns:
    """Runs of the guard on one tree of sources, kept in a file; without one they are only remembered."""

    file: Path | None
    tree: str
    runs: dict[tuple[str, int], Ran] = field(default_factory=dict)

    @staticmethod
    def read(file: Path | None, tree: str) -> KeptRuns:
        """Return those in `file`, which need not be there; lines of other trees stay there and count for nothing."""
        kept = KeptRuns(file=file, tree=tree)
        lines = file.read_text().splitlines() if file is not None and file.exists() else []
        for told in map(json.loads, lines):
            if told.pop("tree") == tree:
                kept.runs[told["mutant"], told["seed"]] = Ran(**told)
        return kept

    def of(self, mutant: str, seed: int) -> Ran | None:
        """Return a run, None if there was none."""
        return self.runs.get((mutant, seed))

    def keep(self, run: Ran) -> Ran:
        """Write a run down, and return it."""
        self.runs[run.mutant, run.seed] = run
        if self.file is not None:
            with self.file.open("a") as lines:
                lines.write(json.dumps(asdict(run) | {"tree": self.tree}) + "\n")
        return run
