"""Deciding a concluded experiment again, from its samples and the protocol of its baseline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from expctl.domain.experiment.proposal import Kind
from expctl.domain.experiment.record import Procedure, Record, Replication
from expctl.domain.protocol.boundaries import VERSION
from expctl.domain.protocol.model import Benchmark, KeepRule
from expctl.domain.verdict.judge import estimates_of, judge
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample
from expctl.domain.verdict.sequential_test import MeasureMore


class UnplayableError(ValueError):
    """These samples can't be decided again by this expctl."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What the samples say today: the parts of the record that they decide, by key; `rule` is the version of the bounds."""

    rule: str
    parts: Mapping[str, object]


def was_decided_by_samples(record: Record | Replication) -> bool:
    """Were there rounds enough to decide? Else a build, a test or what was seen beside the samples did."""
    return bool(record.estimates) or record.procedure is not None


def older_rule(record: Record | Replication) -> str:
    """Return which older rule decided `record`, in words; empty where the rule of this expctl did."""
    if record.procedure is None:
        return "a fixed number of rounds, before records named their procedure"
    return f"bounds {record.procedure.boundaries}, not {VERSION}" if record.procedure.boundaries != VERSION else ""


def replayed(procedure: Procedure, kind: Kind, samples: Sequence[Sample], benchmark: Benchmark, keep: KeepRule) -> Replay:
    """Decide again by the bounds that decided. Raises UnplayableError when there are too few samples to decide."""
    plan = Plan.of(
        benchmark,
        keep,
        procedure.mode,
        simplify_used_percent=procedure.simplify_used_percent,
        calibrated=procedure.calibrated,
        words=procedure.words,
    )
    decision = judge(samples, plan, kind)
    if isinstance(decision, MeasureMore):
        missing = f"{decision.rounds_left} rounds of the {decision.session}"
        raise UnplayableError(f"these samples are too few to decide: {missing} are missing")
    return Replay(
        rule=procedure.boundaries,
        parts={
            "verdict": decision.verdict,
            "reasons": decision.reasons,
            "estimates": estimates_of(decision, samples, benchmark.sizes),
            "procedure": decision.procedure,
        },
    )
