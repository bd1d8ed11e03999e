"""Deciding a concluded experiment again, from its samples and the protocol of its baseline."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from expctl.domain.experiment.proposal import Kind, Mode
from expctl.domain.experiment.record import Record, Replication
from expctl.domain.protocol.boundaries import VERSION
from expctl.domain.protocol.model import Benchmark, KeepRule
from expctl.domain.verdict.fixed_rounds import decide_v0
from expctl.domain.verdict.judge import estimates_of, judge, reported
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample, round_effects
from expctl.domain.verdict.sequential_test import MeasureMore

RULE_V0 = "v0"


class UnplayableError(ValueError):
    """These samples can't be decided again by this expctl."""


class Replay(Struct, frozen=True, kw_only=True):
    """What the samples say today: the parts of the record that they decide, by key; `rule` is a version of the bounds or v0."""

    rule: str
    parts: Mapping[str, object]


def was_decided_by_samples(record: Record | Replication) -> bool:
    """Were there rounds enough to decide? Else a build, a test or what was seen beside the samples did."""
    return bool(record.estimates) or record.procedure is not None


def replayed(
    record: Record | Replication, kind: Kind, mode: Mode, samples: Sequence[Sample], benchmark: Benchmark, keep: KeepRule
) -> Replay:
    """Decide again. Raises UnplayableError when these samples decide nothing, or bounds of another version decided."""
    procedure = record.procedure
    if procedure is None:
        decision = reported(decide_v0(round_effects(samples), Plan.of(benchmark, keep, mode)), kind)
    elif procedure.boundaries != VERSION:
        raise UnplayableError(f"decided by bounds {procedure.boundaries}; this expctl has {VERSION}")
    else:
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
        rule=procedure.boundaries if procedure else RULE_V0,
        parts={
            "verdict": decision.verdict,
            "reasons": decision.reasons,
            "estimates": estimates_of(decision, samples, benchmark.sizes),
            "procedure": decision.procedure,
        },
    )
