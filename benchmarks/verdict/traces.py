"""Recorded rounds of real machines, from benchmarks/verdict/live.py: traces/TARGET.jsonl, one experiment a line."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.verdict.procedure import plan_of
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.protocol.model import Style
from expctl.domain.verdict.samples import RoundEffect, Session
from expctl.domain.verdict.sequential_test import Decision, decide

FOLDER = Path(__file__).parent / "traces"
NULLS = ("A/A", "moved")  # truths of candidates that are neither faster nor slower
BLOCK = 6  # neighbouring rounds that stay together when recorded noise is drawn again


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One blind experiment: what it was, what expctl said of it, and the rounds that this rests on."""

    id: str
    truth: str
    effect_percent: float
    verdict: Verdict
    weights: Mapping[str, float]
    rounds: tuple[RoundEffect, ...]

    def replayed(self) -> Verdict | None:
        """What `decide` says today of rounds of style `fine`, as all recorded ones are; None when it asks for more rounds."""
        answer = decide(self.rounds, plan_of(self.weights, Style.FINE))
        return answer.verdict if isinstance(answer, Decision) else None


def recorded() -> dict[str, list[Trace]]:
    """By target. Experiments without rounds (INVALID before any was whole) are left out."""
    found = {file.stem: [_trace(json.loads(line)) for line in file.read_text().splitlines()] for file in FOLDER.glob("*.jsonl")}
    return {target: [trace for trace in traces if trace.rounds] for target, traces in sorted(found.items())}


class RecordedNoise:
    """The rounds of all experiments of a target without effect, end to end, drawn in blocks of neighbours from any place on."""

    def __init__(self, traces: list[Trace]) -> None:
        some = [trace for trace in traces if trace.truth in NULLS]
        self.weights = some[0].weights
        self.rounds = np.array([[each.effect[size] for size in self.weights] for trace in some for each in trace.rounds])

    def __call__(self, draw: np.random.Generator, trials: int, rounds: int) -> np.ndarray:
        """(trials, rounds, 2, sizes): what was recorded stands for both effects."""
        starts = draw.integers(0, len(self.rounds), (trials, -(-rounds // BLOCK)))
        places = (starts[:, :, None] + np.arange(BLOCK)).reshape(trials, -1)[:, :rounds] % len(self.rounds)
        drawn = self.rounds[places]
        return np.stack([drawn, drawn], axis=2)


def _trace(line: dict[str, Any]) -> Trace:
    rounds = line.pop("rounds")
    if not isinstance(rounds, list):
        raise TypeError(f"rounds: expected a list, found {rounds!r}")
    effects = (
        RoundEffect(
            round=i,
            effect=each["effect"],
            mean_effect=each.get("mean_effect", each["effect"]),
            session=Session(each["session"]),
        )
        for i, each in enumerate(rounds)
    )
    line["verdict"] = Verdict(line["verdict"])
    return Trace(**{key: line[key] for key in Trace.__slots__ if key != "rounds"}, rounds=tuple(effects))
