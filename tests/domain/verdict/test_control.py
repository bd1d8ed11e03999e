"""When a stand-in of known speed counts as seen."""

import math
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from expctl.domain.experiment.proposal import Mode
from expctl.domain.experiment.record import BenchmarkIdentity
from expctl.domain.protocol.model import Benchmark, Control, KeepRule, Size, Style
from expctl.domain.verdict.control import LOOKS, Seen, Sight, control_identity, judge_control, known_effect
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample, Side
from expctl.domain.verdict.sequential_test import MeasureMore

CONTROL = Control(patch="slower.patch", slower_percent=5.0)
SIZES = (Size(name="big", weight=0.9), Size(name="small", weight=0.1))
PLAN = Plan.of(Benchmark(argv=("-",), timeout_s=1, sizes=SIZES), KeepRule(), Mode.GAIN)
KNOWN = known_effect(CONTROL, Side.CANDIDATE)
WOBBLE = 0.0005


def samples(big: Sequence[float], small: Sequence[float] | None = None) -> list[Sample]:
    """Rounds with these effects, ln(t_baseline / t_candidate), at both sizes."""

    def sample(number: int, launch: int, side: Side, size: str, effect: float) -> Sample:
        ns = 10**9 if side is Side.BASELINE else int(10**9 * math.exp(-effect))
        return Sample(round=number, launch=launch, side=side, size=size, style=Style.LAUNCH, visit=1, ns=(ns,), order="ABBA")

    found: list[Sample] = []
    for number, effects in enumerate(zip(big, small or big, strict=True)):
        for launch, side in enumerate((Side.BASELINE, Side.CANDIDATE, Side.CANDIDATE, Side.BASELINE)):
            found += [sample(number, launch, side, size.name, each) for size, each in zip(SIZES, effects, strict=True)]
    return found


def steady(effect: float, rounds: int = 10) -> list[float]:
    return [effect + WOBBLE * (-1) ** number for number in range(rounds)]


def seen(big: Sequence[float], small: Sequence[float] | None = None, known: float = KNOWN) -> Seen:
    found = judge_control(samples(big, small), PLAN, known)
    assert isinstance(found, Seen)
    return found


def test_the_known_effect_is_that_of_the_stand_in_in_its_place() -> None:
    assert math.exp(-known_effect(CONTROL, Side.CANDIDATE)) == pytest.approx(1.05)
    assert known_effect(CONTROL, Side.BASELINE) == -KNOWN


@pytest.mark.parametrize(
    ("share", "sight"),
    [
        (1.0, Sight.RIGHT),
        (0.6, Sight.RIGHT),
        (1.9, Sight.RIGHT),
        (0.4, Sight.TOO_SMALL),
        (0.0, Sight.TOO_SMALL),
        (-0.1, Sight.TOO_SMALL),
        (2.2, Sight.TOO_LARGE),
        (-1.0, Sight.EXCHANGED),
        (-3.0, Sight.EXCHANGED),
    ],
)
def test_sign_and_size_decide_in_both_roles(share: float, sight: Sight) -> None:
    assert seen(steady(share * KNOWN)).sight is sight
    assert seen(steady(-share * KNOWN), known=-KNOWN).sight is sight


def test_a_light_size_alone_may_show_that_something_is_wrong() -> None:
    found = seen(steady(KNOWN), steady(-KNOWN))
    assert (found.sight, found.name) == (Sight.EXCHANGED, "small")
    assert found.effect.effect_percent == pytest.approx(5.0, abs=0.1)


def test_the_size_that_can_not_be_told_is_named() -> None:
    noisy = [0.4 * KNOWN + 0.9 * KNOWN * (-1) ** (number + 1) for number in range(10)]
    told = seen(steady(KNOWN), noisy)
    assert (told.sight, told.name) == (Sight.UNCLEAR, "small")
    assert seen([2 * each for each in noisy]).name == "objective"


def test_it_ends_at_the_first_look_that_tells_and_is_too_noisy_after_the_last() -> None:
    assert judge_control([], PLAN, KNOWN) == MeasureMore(rounds_left=3)
    assert judge_control(samples(steady(KNOWN, 2)), PLAN, KNOWN) == MeasureMore(rounds_left=1)
    assert seen(steady(KNOWN)).effect.rounds == 3
    noisy = [KNOWN + 0.2 * (-1) ** number for number in range(LOOKS[-1])]
    assert judge_control(samples(noisy[:-1]), PLAN, KNOWN) == MeasureMore(rounds_left=1)
    found = seen(noisy)
    assert (found.sight, found.name, found.effect.rounds) == (Sight.UNCLEAR, "objective", LOOKS[-1])


def test_a_disturbed_round_does_not_count() -> None:
    rounds = samples(steady(KNOWN, 4))
    tainted = [replace(each, taints=("ncu",)) if each.round == 1 else each for each in rounds]
    assert judge_control([each for each in tainted if each.round < 3], PLAN, KNOWN) == MeasureMore(rounds_left=1)
    assert isinstance(judge_control(tainted, PLAN, KNOWN), Seen)


def test_the_identity_is_of_all_but_the_kernel() -> None:
    yardstick = BenchmarkIdentity(harness="h", kpi="k", build="b", harness_code="c")
    machine = {"cpu": "x", "ziglang": "1"}
    known = control_identity("cpu", CONTROL, b"patch", yardstick, machine)
    assert known == control_identity("cpu", CONTROL, b"patch", replace(yardstick, harness="comments"), dict(machine))
    others = {
        control_identity("gpu", CONTROL, b"patch", yardstick, machine),
        control_identity("cpu", replace(CONTROL, slower_percent=6.0), b"patch", yardstick, machine),
        control_identity("cpu", CONTROL, b"another", yardstick, machine),
        control_identity("cpu", CONTROL, b"patch", replace(yardstick, harness_code="d"), machine),
        control_identity("cpu", CONTROL, b"patch", replace(yardstick, kpi="l"), machine),
        control_identity("cpu", CONTROL, b"patch", replace(yardstick, build="a"), machine),
        control_identity("cpu", CONTROL, b"patch", yardstick, {**machine, "ziglang": "2"}),
    }
    assert len(others - {known}) == 7
