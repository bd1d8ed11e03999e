"""Judges a control: does the measuring path see a stand-in of known speed with the right sign and about the right size?"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from expctl.domain.experiment.control_result import StandInEffect
from expctl.domain.experiment.record import OBJECTIVE, BenchmarkIdentity
from expctl.domain.protocol.boundaries import SEARCH
from expctl.domain.protocol.model import Control
from expctl.domain.verdict.evidence import Evidence, evidence_of
from expctl.domain.verdict.interference import counted
from expctl.domain.verdict.paired_rounds import by_pairs
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample, Session, Side, round_effects
from expctl.domain.verdict.sequential_test import MeasureMore
from expctl.domain.verdict.statistics import Interval, percent

LOOKS = SEARCH.until(12)
FACTOR = 2.0  # between the known effect and the one that is seen
DIGITS = 4


class Sight(StrEnum):
    """What the measuring path makes of a stand-in; every word but `right` is a failure of the control, put for a person."""

    RIGHT = "as expected"
    EXCHANGED = "the roles of baseline and candidate look exchanged"
    TOO_SMALL = "a kernel of another speed hardly shows: is the build timed that the benchmark is given?"
    TOO_LARGE = "the times change far more than the kernel"
    UNCLEAR = "too noisy to tell"


class Seen(Struct, frozen=True, kw_only=True):
    """How a stand-in was seen, at which size (or `objective`), and its measured effect there."""

    sight: Sight
    name: str
    effect: StandInEffect


def known_effect(control: Control, role: Side) -> float:
    """Return the effect, ln(t_baseline / t_candidate), of the slower stand-in in the place of `role`."""
    slower = math.log1p(control.slower_percent / 100)
    return -slower if role is Side.CANDIDATE else slower


def judge_control(samples: Sequence[Sample], plan: Plan, known: float) -> MeasureMore | Seen:
    """Return how a stand-in with the effect `known` is seen in `samples`, or how many rounds the next look needs.

    The intervals are those of a search. Right: the objective's lies on the right side of zero, and all estimates are within a
    factor of 2 of `known`. Wrong: an interval, of the objective or a size, lies wholly outside of this factor.
    """
    rounds = by_pairs(round_effects(counted(samples)), plan.respawn).effects
    for n in LOOKS:
        if len(rounds) < n:
            return MeasureMore(rounds_left=n - len(rounds))
        seen = _seen(evidence_of(rounds[:n], plan, Session.SEARCH), known)
        if seen.sight is not Sight.UNCLEAR:
            break
    return seen


def _seen(evidence: Evidence, known: float) -> Seen:
    intervals = evidence.intervals
    sights = {name: _sight(found, known) for name, found in intervals.items()}
    far = [name for name, found in intervals.items() if not 1 / FACTOR <= found.mean / known <= FACTOR]
    wrong = next((name for name, sight in sights.items() if sight is not Sight.UNCLEAR), "")
    right = not far and not wrong and min(evidence.objective.low / known, evidence.objective.high / known) > 0
    name = wrong or (OBJECTIVE if OBJECTIVE in far or not far else far[0])
    sight = Sight.RIGHT if right else sights[name]
    found = intervals[name]
    effect = StandInEffect(
        effect_percent=round(percent(found.mean), DIGITS),
        low_percent=round(percent(found.low), DIGITS),
        high_percent=round(percent(found.high), DIGITS),
        rounds=found.rounds,
    )
    return Seen(sight=sight, name=name, effect=effect)


def _sight(found: Interval, known: float) -> Sight:
    """Return which failure the interval of one effect shows for sure; UNCLEAR for none."""
    least, most = sorted((found.low / known, found.high / known))
    if most < 1 / FACTOR:
        return Sight.EXCHANGED if found.mean / known <= -1 / FACTOR else Sight.TOO_SMALL
    return Sight.TOO_LARGE if least > FACTOR else Sight.UNCLEAR


def control_identity(
    target: str, control: Control, patch: bytes, yardstick: BenchmarkIdentity, environment: Mapping[str, str]
) -> str:
    """Return 16 hex digits of all that a control depends on but the kernel: stand-in, benchmark, harness, tools, machine."""
    code = yardstick.harness_code or yardstick.harness
    parts = [target, control.slower_percent, hashlib.sha256(patch).hexdigest(), yardstick.kpi, yardstick.build, code]
    return hashlib.sha256(json.dumps([*parts, sorted(environment.items())]).encode()).hexdigest()[:16]
