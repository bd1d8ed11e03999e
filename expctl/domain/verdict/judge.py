"""From the samples of a run to its verdict and its estimates: what a run does while measuring and a replay does again."""

from collections.abc import Sequence
from dataclasses import replace

from expctl.domain.experiment.noise import Calibrated
from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.domain.experiment.record import OBJECTIVE, Estimate, Procedure
from expctl.domain.protocol.boundaries import VERSION, looks_until
from expctl.domain.protocol.model import Size
from expctl.domain.verdict.paired_rounds import by_pairs
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample, Session, Side, median_ns, round_effects, side_spreads
from expctl.domain.verdict.sequential_test import Decision, MeasureMore, decide
from expctl.domain.verdict.statistics import Interval, percent
from expctl.domain.verdict.untimed_work import all_charged

DIGITS = 8  # of an estimate in percent
ODD_SHARE = 0.25
ODD_LEAST = 3  # of few rounds a quarter is soon reached by one unlucky look
SPREAD_MOST = 4.0


def judge(samples: Sequence[Sample], plan: Plan, kind: Kind) -> MeasureMore | Decision:
    """The verdict of these samples, or what to measure next.

    Line 1 of the order of decisions: tainted rounds are measured again, never averaged in; a machine that taints more than
    a quarter of them is sick, and so is one that scatters both sides far beyond its calibration, or beats its own peak. An
    analysis reports what was measured and lands nothing.
    """
    tainted = {sample.round: sample.taints for sample in samples if sample.taints}
    rounds = {sample.round for sample in samples}
    if too_many(len(tainted), len(rounds)):
        why = ", ".join(sorted({taint for taints in tainted.values() for taint in taints}))
        return Decision(verdict=Verdict.INVALID, reasons=(f"unstable: {len(tainted)} rounds were tainted ({why})",))
    restless = restlessness(samples, plan.calibrated) if plan.calibrated else ""
    if restless:
        return Decision(verdict=Verdict.INVALID, reasons=(f"unstable: {restless}",), procedure=_so_far(samples, plan))
    pairs = by_pairs(round_effects(samples), plan.respawn)
    answer = decide(pairs.effects, plan)
    if isinstance(answer, Decision):
        answer = replace(answer, rounds=tuple(round for first in answer.rounds for round in pairs.rounds[first]))
        impossible = beyond_the_roofline(samples, answer, plan)
        if impossible:
            return replace(answer, verdict=Verdict.INVALID, reasons=(impossible,))
        answer = all_charged(answer, samples, plan)
    return reported(answer, kind)


def beyond_the_roofline(samples: Sequence[Sample], decision: Decision, plan: Plan) -> str:
    """The first size that a side did faster than the machine's peak allows: its clock or its work is not what it seems."""
    used = [sample for sample in samples if sample.round in set(decision.rounds)]
    for size, least_ns in plan.least_ns.items():
        for side in Side:
            found_ns = median_ns(used, side=side, size=size)
            if found_ns < least_ns:
                best = f"where the peak of the machine allows {least_ns:.0f} ns at best"
                return f"{size}: the {side} took {found_ns:.0f} ns {best}"
    return ""


def too_many(odd: int, rounds: int) -> bool:
    """More than a quarter of the rounds, and at least three."""
    return odd >= ODD_LEAST and odd > ODD_SHARE * rounds


def restlessness(samples: Sequence[Sample], calibrated: Calibrated) -> str:
    """The first size that spreads beyond 4 times its calibrated median in too many rounds of either side; else empty.

    Both sides, because one alone may be the candidate's own doing: a slow mode is a finding, no fault of the machine.
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
    """The procedure of a run that its own samples ended before the next look."""
    rounds = round_effects(samples)
    search = sum(each.session is Session.SEARCH for each in rounds)
    return Procedure(
        boundaries=VERSION,
        mode=plan.mode,
        looks=tuple(look for look in looks_until(plan.rounds) if look <= search),
        search_rounds=search,
        confirm_rounds=len(rounds) - search,
        simplify_used_percent=round(100 * plan.simplify_used, 4),
        calibrated=plan.calibrated,
        words=plan.words,
    )


def reported(answer: MeasureMore | Decision, kind: Kind) -> MeasureMore | Decision:
    """What an answer means for a proposal of this kind."""
    if isinstance(answer, MeasureMore) or kind is not Kind.ANALYSIS:
        return answer
    reason = f"finding recorded, no code lands; measured: {'; '.join(answer.reasons)}"
    return replace(answer, verdict=Verdict.KEEP, reasons=(reason,))


def estimates_of(decision: Decision, samples: Sequence[Sample], sizes: Sequence[Size]) -> tuple[Estimate, ...]:
    """The decision's intervals in percent, with the medians of the very rounds that they rest on."""
    chosen = set(decision.rounds)
    used, flop = [sample for sample in samples if sample.round in chosen], {size.name: size.flop for size in sizes}
    return tuple(_estimate(size, interval, used, flop.get(size, 0)) for size, interval in decision.intervals.items())


def _estimate(size: str, interval: Interval, samples: Sequence[Sample], flop: int) -> Estimate:
    return Estimate(
        size=size,
        effect_percent=round(percent(interval.mean), DIGITS),
        low_percent=round(percent(interval.low), DIGITS),
        high_percent=round(percent(interval.high), DIGITS),
        sd_percent=round(100 * interval.round_sd, 4),
        rounds=interval.rounds,
        baseline_ns=0.0 if size == OBJECTIVE else median_ns(samples, side=Side.BASELINE, size=size),
        candidate_ns=0.0 if size == OBJECTIVE else median_ns(samples, side=Side.CANDIDATE, size=size),
        flop=flop,
    )
