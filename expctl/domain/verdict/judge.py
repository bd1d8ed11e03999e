"""Turns the samples of a run into its verdict and estimates, both while measuring and when a verdict is recomputed."""

from collections.abc import Sequence

from msgspec.structs import replace

from expctl.domain.experiment.noise import Calibrated
from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.domain.experiment.record import OBJECTIVE, Estimate, Procedure
from expctl.domain.protocol.boundaries import SEARCH
from expctl.domain.protocol.model import Size
from expctl.domain.verdict.configs import changed_config
from expctl.domain.verdict.interference import counted
from expctl.domain.verdict.paired_rounds import by_pairs
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample, Session, Side, median_ns, round_effects, side_spreads
from expctl.domain.verdict.sequential_test import Decision, MeasureMore, decide, procedure_of
from expctl.domain.verdict.statistics import Interval, percent
from expctl.domain.verdict.tails import heavier_tails, times_of
from expctl.domain.verdict.untimed_work import charge_untimed_work

DIGITS = 8  # of an estimate in percent
ODD_SHARE = 0.25
ODD_LEAST = 3  # so that one bad round of few is not too many
SPREAD_MOST = 4.0


def judge(samples: Sequence[Sample], plan: Plan, kind: Kind) -> MeasureMore | Decision:
    """Return the verdict of `samples` under `plan`, or how many rounds to measure next.

    Launches with foreign load are left out and measured again, unless the candidate itself slowed the clock (interference.py).
    The verdict is INVALID if too many rounds are so disturbed (at least three, and over a quarter), if the times of both sides
    vary far more than in the calibration, if the harness changed the config of a side, or if a time is shorter than the
    machine's peak allows. A proposal of kind `analysis`
    always gets KEEP, because it changes no code.
    """
    answer = reported(_judged(samples, plan), kind)
    if isinstance(answer, Decision) and answer.procedure is not None and plan.extended:
        return replace(answer, procedure=replace(answer.procedure, extended=True))
    return answer


def _judged(samples: Sequence[Sample], plan: Plan) -> MeasureMore | Decision:
    tainted = {sample.round: sample.taints for sample in samples if sample.taints}
    rounds = {sample.round for sample in samples}
    if too_many(len(tainted), len(rounds)):
        why = ", ".join(sorted({taint for taints in tainted.values() for taint in taints}))
        return Decision(verdict=Verdict.INVALID, reasons=(f"unstable: {len(tainted)} rounds were tainted ({why})",))
    too_wide = excess_spread(samples, plan.calibrated) if plan.calibrated else ""
    if too_wide:
        return Decision(verdict=Verdict.INVALID, reasons=(f"unstable: {too_wide}",), procedure=_so_far(samples, plan))
    changed = changed_config(samples)
    if changed:
        return Decision(verdict=Verdict.INVALID, reasons=(changed,), procedure=_so_far(samples, plan))
    samples = counted(samples)
    pairs = by_pairs(round_effects(samples), plan.respawn)
    answer = decide(pairs.effects, plan)
    if isinstance(answer, Decision):
        answer = replace(answer, rounds=tuple(round for first in answer.rounds for round in pairs.rounds[first]))
        impossible = beyond_the_roofline(samples, answer, plan)
        if impossible:
            return replace(answer, verdict=Verdict.INVALID, reasons=(impossible,))
        answer = charge_untimed_work(answer, samples, plan)
    return answer


def beyond_the_roofline(samples: Sequence[Sample], decision: Decision, plan: Plan) -> str:
    """Return a sentence about the first size that one side ran faster than the machine's peak allows; empty if none."""
    used = [sample for sample in samples if sample.round in set(decision.rounds)]
    for size, wall in plan.walls.items():
        for side in Side:
            found_ns = median_ns(used, side=side, size=size)
            if found_ns < wall.least_ns:
                return f"{size}: the {side} took {found_ns:.0f} ns, less than the wall of {wall.least_ns:.0f} ns: {wall.text}"
    return ""


def too_many(odd: int, rounds: int) -> bool:
    """Are `odd` bad rounds out of `rounds` too many, that is at least three and more than a quarter?"""
    return odd >= ODD_LEAST and odd > ODD_SHARE * rounds


def excess_spread(samples: Sequence[Sample], calibrated: Calibrated) -> str:
    """Return a sentence about the first size whose times vary too much on both sides in too many rounds; else empty.

    Too much is a standard deviation over 4 times the calibrated one. One side alone doesn't count: the build itself may be the
    cause. `too_many` says how many rounds are too many.
    """
    spreads = side_spreads(samples)
    for size in sorted({size for size, _ in spreads}):
        usual = calibrated.spread(size)
        wide = [sum(value > SPREAD_MOST * usual for value in spreads.get((size, side), {}).values()) for side in Side]
        rounds = len(spreads.get((size, Side.BASELINE), {}))
        if usual and all(too_many(count, rounds) for count in wide):
            return (
                f"{size} spread more than {SPREAD_MOST:g} times its calibrated {100 * usual:.2g} % within a side in "
                f"{wide[0]} (baseline) and {wide[1]} (candidate) of {rounds} rounds"
            )
    return ""


def _so_far(samples: Sequence[Sample], plan: Plan) -> Procedure:
    rounds = round_effects(samples)
    search = sum(each.session is Session.SEARCH for each in rounds)
    looks = tuple(look for look in SEARCH.until(plan.rounds) if look <= search)
    return procedure_of(plan, looks, search_rounds=search, confirm_rounds=len(rounds) - search)


def reported(answer: MeasureMore | Decision, kind: Kind) -> MeasureMore | Decision:
    """Turn any verdict on a proposal of kind `analysis` into KEEP with a finding; return everything else unchanged."""
    if isinstance(answer, MeasureMore) or kind is not Kind.ANALYSIS:
        return answer
    reason = f"finding recorded, no code lands; measured: {'; '.join(answer.reasons)}"
    return replace(answer, verdict=Verdict.KEEP, reasons=(reason,))


def contradicted(decision: Decision, why: str) -> Decision:
    """Return the verdict of a gain that a second device did not confirm, for the reason `why` ("": it did, or wasn't asked)."""
    if not why or decision.verdict is not Verdict.KEEP or decision.procedure is None:
        return decision
    procedure = replace(decision.procedure, contradicted=why)
    reasons = (f"not confirmed by a second device: {why}", *decision.reasons)
    return replace(decision, verdict=Verdict.INCONCLUSIVE, reasons=reasons, procedure=procedure)


def tail_flags(decision: Decision, samples: Sequence[Sample]) -> tuple[str, ...]:
    """Return a sentence for each size at which one side has clearly more slow iterations (a heavier tail). Only the rounds from
    which `decision` was computed are looked at.
    """
    chosen = set(decision.rounds)
    used = [sample for sample in counted(samples) if sample.round in chosen]
    return heavier_tails(used, (size for size in decision.intervals if size != OBJECTIVE))


def estimates_of(decision: Decision, samples: Sequence[Sample], sizes: Sequence[Size]) -> tuple[Estimate, ...]:
    """Return the intervals of `decision` in percent, each with both sides' times in the rounds that it is computed from."""
    chosen = set(decision.rounds)
    used, flop = [sample for sample in counted(samples) if sample.round in chosen], {size.name: size.flop for size in sizes}
    return tuple(_estimate(size, interval, used, flop.get(size, 0)) for size, interval in decision.intervals.items())


def _estimate(size: str, interval: Interval, samples: Sequence[Sample], flop: int) -> Estimate:
    timed = size != OBJECTIVE
    return Estimate(
        size=size,
        effect_percent=round(percent(interval.mean), DIGITS),
        low_percent=round(percent(interval.low), DIGITS),
        high_percent=round(percent(interval.high), DIGITS),
        sd_percent=round(100 * interval.round_sd, 4),
        rounds=interval.rounds,
        baseline_ns=median_ns(samples, side=Side.BASELINE, size=size) if timed else 0.0,
        candidate_ns=median_ns(samples, side=Side.CANDIDATE, size=size) if timed else 0.0,
        flop=flop,
        baseline_times=times_of(samples, side=Side.BASELINE, size=size) if timed else None,
        candidate_times=times_of(samples, side=Side.CANDIDATE, size=size) if timed else None,
    )
