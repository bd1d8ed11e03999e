"""Decides a concluded experiment again, from its samples and the protocol of its baseline."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from expctl.domain.experiment.proposal import Kind
from expctl.domain.experiment.record import Procedure, Record, Replication
from expctl.domain.protocol.boundaries import VERSION
from expctl.domain.protocol.model import Benchmark, KeepRule
from expctl.domain.verdict.judge import estimates_of, judge
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample
from expctl.domain.verdict.sequential_test import MeasureMore


class UnplayableError(ValueError):
    """The samples are too few to be decided again by this version of expctl."""


class Replay(Struct, frozen=True, kw_only=True):
    """The result of deciding samples again: the fields of a record by key (`parts`), and the version of the bounds (`rule`)."""

    rule: str
    parts: Mapping[str, object]


def was_decided_by_samples(record: Record | Replication) -> bool:
    """Did samples decide the verdict, and not a build, a test or interference?"""
    return bool(record.estimates) or record.procedure is not None


def older_rule(record: Record | Replication) -> str:
    """Return which older decision procedure decided `record`, in words; empty where the current or an unknown one did."""
    if record.procedure is None:
        return "a fixed number of rounds, before records named their procedure"
    named = record.procedure.boundaries
    return f"bounds {named}, not {VERSION}" if named.isdecimal() and int(named) < int(VERSION) else ""


def replayed(procedure: Procedure, kind: Kind, samples: Sequence[Sample], benchmark: Benchmark, keep: KeepRule) -> Replay:
    """Decide samples again by the recorded procedure. Raises UnplayableError when they are too few."""
    plan = Plan.of(
        benchmark,
        keep,
        procedure.mode,
        simplify_used_percent=procedure.simplify_used_percent,
        calibrated=procedure.calibrated,
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
