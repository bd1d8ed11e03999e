"""Recomputes the verdict of a finished experiment from its stored samples and the protocol of its baseline."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from expctl.domain.experiment.proposal import Kind
from expctl.domain.experiment.record import Procedure, Record, Replication
from expctl.domain.protocol.boundaries import VERSION, is_older
from expctl.domain.protocol.model import Benchmark, KeepRule
from expctl.domain.verdict.judge import contradicted, estimates_of, judge
from expctl.domain.verdict.machine_states import times_by_state
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample
from expctl.domain.verdict.sequential_test import MeasureMore


class UnplayableError(ValueError):
    """Raised if a verdict can't be recomputed, because this version of expctl needs more rounds than were measured."""


class Replay(Struct, frozen=True, kw_only=True):
    """A recomputed verdict. `parts` are the recomputed fields of the record by key; `rule` is the VERSION of the critical
    values.
    """

    rule: str
    parts: Mapping[str, object]


def was_decided_by_samples(record: Record | Replication) -> bool:
    """Did timings decide the verdict, rather than a failed build, a failed test or foreign load?"""
    return bool(record.estimates) or record.procedure is not None


def older_rule(procedure: Procedure | None) -> str:
    """Describe the older decision procedure of a record (None: it names none); empty if it is the current one or unknown."""
    if procedure is None:
        return "a fixed number of rounds, before records named their procedure"
    named = procedure.boundaries
    return f"bounds {named}, not {VERSION}" if is_older(named) else ""


def replayed(procedure: Procedure, kind: Kind, samples: Sequence[Sample], benchmark: Benchmark, keep: KeepRule) -> Replay:
    """Recompute the verdict of `samples` by the recorded procedure. Raises UnplayableError if the samples are too few to
    decide.
    """
    plan = Plan.of(
        benchmark,
        keep,
        procedure.mode,
        simplify_used_percent=procedure.simplify_used_percent,
        calibrated=procedure.calibrated,
        kept_by=procedure.kept_by,
    )
    decision = judge(samples, plan.extend() if procedure.extended else plan, kind)
    if isinstance(decision, MeasureMore):
        missing = f"{decision.rounds_left} rounds of the {decision.session}"
        raise UnplayableError(f"these samples are too few to decide: {missing} are missing")
    decision = contradicted(decision, procedure.contradicted)
    return Replay(
        rule=procedure.boundaries,
        parts={
            "verdict": decision.verdict,
            "reasons": decision.reasons,
            "estimates": estimates_of(decision, samples, benchmark.sizes),
            "procedure": decision.procedure,
            "times": times_by_state(samples, decision.rounds),
        },
    )
