"""More of the control by its text, kept from whoever mends it: three sizes, disturbed rounds, workers in pairs."""

import math

import numpy
import pytest
from msgspec.structs import replace

from expctl.domain.experiment.proposal import Mode
from expctl.domain.protocol.model import Benchmark, Control, KeepRule, Size, Style
from expctl.domain.verdict.control import Seen, Sight, judge_control, known_effect
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample, Side
from expctl.domain.verdict.sequential_test import MeasureMore
from tests.domain.verdict.test_control_cases import by_the_text

WEIGHTS = {"a": 0.5, "b": 0.3, "c": 0.2}
SIZES = tuple(Size(name=name, weight=weight) for name, weight in WEIGHTS.items())


def plan(style: Style) -> Plan:
    return Plan.of(Benchmark(argv=("-",), timeout_s=1, sizes=SIZES, style=style), KeepRule(), Mode.GAIN)


def measured(style: Style, effects: dict[str, list[float]]) -> list[Sample]:
    """Rounds with these effects; in style fine one quad of one iteration, in a BAAB order of times that drift."""
    order = (Side.CANDIDATE, Side.BASELINE, Side.BASELINE, Side.CANDIDATE)
    found = []
    for name, values in effects.items():
        for number, effect in enumerate(values):
            for launch, side in enumerate(order if style is Style.LAUNCH else order[:2]):
                ns = round(10**9 * math.exp(-effect if side is Side.CANDIDATE else 0))
                times = (ns,) if style is Style.LAUNCH else (ns, ns)
                found.append(
                    Sample(round=number, launch=launch, side=side, size=name, style=style, visit=1, ns=times, order="BAAB")
                )
    return found


@pytest.mark.parametrize("style", Style)
def test_three_sizes_end_as_the_text_says(style: Style) -> None:
    draw, kinds = numpy.random.default_rng(4243), set()
    for _ in range(80):
        role = Side.CANDIDATE if draw.random() < 0.5 else Side.BASELINE
        known = known_effect(Control(patch="-", slower_percent=float(draw.uniform(1, 50))), role)
        sd = abs(known) * 10 ** float(draw.uniform(-2.5, 0.2))
        level = float(draw.uniform(-1.2, 2.6))
        effects = {name: list(known * level + draw.normal(0, sd, 10)) for name in WEIGHTS}
        if draw.random() < 0.3:
            effects["c"] = list(known * float(draw.uniform(-1, 4)) + draw.normal(0, sd, 10))
        whole = [math.fsum(WEIGHTS[name] * effects[name][number] for name in WEIGHTS) for number in range(10)]
        samples = measured(style, effects)
        found: Seen | MeasureMore = MeasureMore(rounds_left=3)
        for number in range(3, 11):
            found = judge_control([each for each in samples if each.round < number], plan(style), known)
            if isinstance(found, Seen):
                break
        assert isinstance(found, Seen)
        kind = {Sight.RIGHT: "right", Sight.UNCLEAR: "unclear"}.get(found.sight, "wrong")
        assert (kind, found.effect.rounds) == by_the_text({"objective": whole, **effects}, known)
        kinds.add(found.sight)
    assert len(kinds) >= 4


def test_disturbed_rounds_neither_save_nor_spoil_it() -> None:
    known = known_effect(Control(patch="-"), Side.CANDIDATE)
    right, wrong = (
        {name: [share * known + 1e-5 * (-1) ** number for number in range(10)] for name in WEIGHTS} for share in (1, -1)
    )
    for share, sight in ((right, Sight.RIGHT), (wrong, Sight.EXCHANGED)):
        other = wrong if share is right else right
        mixed = [each for each in measured(Style.LAUNCH, share) if each.round % 2]
        mixed += [replace(each, taints=("busy",)) for each in measured(Style.LAUNCH, other) if each.round % 2 == 0]
        found = judge_control(mixed, plan(Style.LAUNCH), known)
        assert isinstance(found, Seen)
        assert found.sight is sight


@pytest.mark.parametrize("role", Side)
def test_a_path_that_saw_only_one_of_four_launches_rightly_is_wrong(role: Side) -> None:
    """Times of another kernel in three of four launches: the effect is a quarter of itself."""
    known = known_effect(Control(patch="-", slower_percent=20.0), role)
    quarter = {name: [known / 4 + 1e-5 * (-1) ** number for number in range(10)] for name in WEIGHTS}
    found = judge_control(measured(Style.LAUNCH, quarter), plan(Style.LAUNCH), known)
    assert isinstance(found, Seen)
    assert found.sight is Sight.TOO_SMALL
