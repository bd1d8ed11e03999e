"""The control by its text (docs/HARNESS.md, "The control"): what each kind of wrong path shows, and an oracle for the rest."""

import math
from collections.abc import Callable, Sequence

import numpy
import pytest
from msgspec.structs import replace

from expctl.domain.experiment.proposal import Mode
from expctl.domain.protocol.inconsistencies import inconsistencies
from expctl.domain.protocol.model import Benchmark, Build, Control, KeepRule, Protocol, Style, Target, Toolchain
from expctl.domain.protocol.step import LimitedStep
from expctl.domain.verdict.control import Seen, Sight, judge_control, known_effect
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample, Side
from expctl.domain.verdict.sequential_test import MeasureMore
from tests.domain.verdict.test_control import PLAN, SIZES, samples

LOOKS = (3, 4, 5, 6, 8, 10)
LOW = (70.72, 25.60, 13.99, 10.14, 6.48, 5.36)  # docs/METHODOLOGY-TABLES.md, "Critical values"
HIGH = (10.47, 8.05, 6.12, 5.09, 3.92, 3.52)
QUIET = 0.0001
WRONG = {Sight.EXCHANGED, Sight.TOO_SMALL, Sight.TOO_LARGE}


def known_of(percent: float, role: Side = Side.CANDIDATE) -> float:
    return known_effect(Control(patch="-", slower_percent=percent), role)


def series(effect: float, wobble: float = QUIET, rounds: int = 10) -> list[float]:
    return [effect + wobble * (-1) ** number for number in range(rounds)]


def answer(big: Sequence[float], small: Sequence[float], known: float, plan: Plan = PLAN) -> MeasureMore | Seen:
    """What is answered as rounds come in one by one: the first sight, or the wish for more rounds at the end."""
    measured = samples(big, small)
    for number in range(len(big) + 1):
        found = judge_control([each for each in measured if each.round < number], plan, known)
        if isinstance(found, Seen):
            return found
        looks = [look for look in LOOKS if look > number]
        assert found == MeasureMore(rounds_left=looks[0] - number)
    return found


def sight(big: Sequence[float], small: Sequence[float] | None = None, percent: float = 5, faster: bool = False) -> Seen:
    found = answer(big, small or big, known_of(percent, Side.BASELINE if faster else Side.CANDIDATE))
    assert isinstance(found, Seen)
    return found


# ------------------------------------------------------------------ one wrong path each, seen in both roles

SHARES = {
    "as it is": (1.0, Sight.RIGHT),
    "a little over half": (0.52, Sight.RIGHT),
    "a little under half": (0.48, Sight.TOO_SMALL),
    "a little under double": (1.95, Sight.RIGHT),
    "a little over double": (2.1, Sight.TOO_LARGE),
    "all effects 1.9 times too large": (1.9, Sight.RIGHT),
    "ten times": (10.0, Sight.TOO_LARGE),
    "one build timed twice": (0.0, Sight.TOO_SMALL),
    "roles swapped": (-1.0, Sight.EXCHANGED),
    "roles swapped and half of it lost": (-0.55, Sight.EXCHANGED),
    "roles swapped and doubled": (-1.95, Sight.EXCHANGED),
}


@pytest.mark.parametrize("faster", [False, True])
@pytest.mark.parametrize("percent", [1.0, 4.0, 5.0, 50.0])
@pytest.mark.parametrize("name", SHARES)
def test_sign_and_size(name: str, percent: float, faster: bool) -> None:
    share, expected = SHARES[name]
    known = known_of(percent, Side.BASELINE if faster else Side.CANDIDATE)
    found = sight(series(share * known, QUIET * percent / 5), percent=percent, faster=faster)
    assert found.sight is expected
    assert found.effect.effect_percent == pytest.approx(100 * math.expm1(share * known), rel=2e-3, abs=0.02 * percent / 5)


@pytest.mark.parametrize(
    ("percent", "slower", "faster"), [(5, (-2.41, -9.30), (2.47, 10.25)), (4, (-1.94, -7.54), (1.98, 8.16))]
)
def test_the_limits_in_percent_of_throughput(percent: float, slower: tuple[float, ...], faster: tuple[float, ...]) -> None:
    """For 5 %: -2.4 to -9.3 % for the slower candidate, +2.5 to +10.25 % for the faster one."""
    for limits, is_faster in ((slower, False), (faster, True)):
        for limit, inward in zip(limits, (1, -1), strict=True):
            sign = math.copysign(0.1, limit) * inward
            inside, outside = (math.log1p((limit + each) / 100) for each in (sign, -sign))
            assert sight(series(inside, QUIET / 2), percent=percent, faster=is_faster).sight is Sight.RIGHT
            assert sight(series(outside, QUIET / 2), percent=percent, faster=is_faster).sight in WRONG


def test_a_speed_where_a_time_is_due_looks_exchanged() -> None:
    for faster in (False, True):
        known = known_of(5, Side.BASELINE if faster else Side.CANDIDATE)
        said = [replace(each, ns=tuple(10**18 // ns for ns in each.ns)) for each in samples(series(known))]
        found = judge_control(said, PLAN, known)
        assert isinstance(found, Seen)
        assert found.sight is Sight.EXCHANGED


@pytest.mark.parametrize(
    ("bias", "passes"), [(0.0, True), (0.02, True), (-0.02, True), (0.03, False), (-0.03, False), (0.06, False)]
)
def test_a_constant_bias_of_two_points_passes_and_of_three_does_not(bias: float, passes: bool) -> None:
    """In favour of one side: what is too small in one role is too large in the other, so both are shown."""
    found = [sight(series(known_of(5, role) + bias), faster=role is Side.BASELINE).sight for role in Side]
    assert (set(found) == {Sight.RIGHT}) is passes


# ------------------------------------------------------------------ one size right, the other wrong

ONE_WRONG = {
    "light size lost": (1.0, 0.2, "small", Sight.TOO_SMALL),
    "light size far too large": (1.0, 4.0, "small", Sight.TOO_LARGE),
    "light size exchanged": (1.0, -1.0, "small", Sight.EXCHANGED),
    "heavy size lost, objective with it": (0.2, 1.0, "", Sight.TOO_SMALL),
    "light size a little too small": (1.0, 0.45, "small", Sight.TOO_SMALL),
}


@pytest.mark.parametrize("faster", [False, True])
@pytest.mark.parametrize("name", ONE_WRONG)
def test_one_size_right_and_the_other_wrong(name: str, faster: bool) -> None:
    big, small, where, expected = ONE_WRONG[name]
    known = known_of(5, Side.BASELINE if faster else Side.CANDIDATE)
    found = sight(series(big * known), series(small * known), faster=faster)
    assert found.sight is expected
    assert found.name == where or (not where and found.name in ("big", "objective"))


def test_two_wrong_sizes_whose_mean_is_right_do_not_pass() -> None:
    even = Plan.of(
        Benchmark(argv=("-",), timeout_s=1, sizes=tuple(replace(each, weight=0.5) for each in SIZES)), KeepRule(), Mode.GAIN
    )
    known = known_of(5)
    found = answer(series(-0.2 * known), series(2.2 * known), known, even)
    assert isinstance(found, Seen)
    assert found.sight in WRONG
    assert found.name in ("big", "small")


def test_a_size_beyond_its_limit_but_not_for_sure_is_measured_on() -> None:
    known = known_of(5)
    unsure = [known * (0.3 - 0.5 * (-1) ** number) for number in range(10)]
    assert answer(series(known)[:9], unsure[:9], known) == MeasureMore(rounds_left=1)
    assert sight(series(known), unsure).sight is Sight.UNCLEAR


# ------------------------------------------------------------------ noise and drift

NOISY: dict[str, Callable[[int], float]] = {
    "20 % to and fro": lambda number: 0.2 * (-1) ** number,
    "8 % to and fro": lambda number: 0.08 * (-1) ** number,
    "one round far out": lambda number: 0.5 * (number == 1),
    "steps of 20 %": lambda number: 0.2 * (number // 2 % 2) - 0.1,
}


@pytest.mark.parametrize("name", NOISY)
def test_after_ten_rounds_without_an_answer_it_is_too_noisy(name: str) -> None:
    for role in Side:
        known = known_of(5, role)
        found = sight([known + NOISY[name](number) for number in range(10)], faster=role is Side.BASELINE)
        assert (found.sight, found.effect.rounds) == (Sight.UNCLEAR, 10)


def drifting(known: float, by_round: float, by_launch: float) -> list[Sample]:
    """Both sides slow down by round and by launch."""
    return [
        replace(each, ns=tuple(round(ns * math.exp(by_round * each.round + by_launch * each.launch)) for ns in each.ns))
        for each in samples(series(known))
    ]


@pytest.mark.parametrize(("by_round", "by_launch"), [(0.05, 0.0), (0.0, 0.05), (-0.02, 0.03), (0.3, 0.2)])
def test_a_drift_of_the_machine_is_no_effect(by_round: float, by_launch: float) -> None:
    for role in Side:
        found = judge_control(drifting(known_of(5, role), by_round, by_launch), PLAN, known_of(5, role))
        assert isinstance(found, Seen)
        assert (found.sight, found.effect.rounds) == (Sight.RIGHT, 3)


def test_pairs_of_workers_count_as_one() -> None:
    plan = Plan.of(Benchmark(argv=("-",), timeout_s=1, sizes=SIZES, style=Style.FINE, respawn=2), KeepRule(), Mode.GAIN)
    known = known_of(5)
    paired = [replace(each, pair=each.round - each.round % 2) for each in samples(series(known, rounds=20))]
    for number in range(6):
        assert isinstance(judge_control([each for each in paired if each.round < number], plan, known), MeasureMore)
    found = judge_control([each for each in paired if each.round < 6], plan, known)
    assert isinstance(found, Seen)
    assert found.sight is Sight.RIGHT


# ------------------------------------------------------------------ any series, by the rule as it is written


def by_the_text(effects: dict[str, Sequence[float]], known: float) -> tuple[str, int]:
    """right, wrong or unclear, and after how many rounds."""
    least, most = sorted((known / 2, known * 2))
    for look, low, high in zip(LOOKS, LOW, HIGH, strict=True):
        means = {name: float(numpy.mean(values[:look])) for name, values in effects.items()}
        spread = {name: float(numpy.std(values[:look], ddof=1)) / math.sqrt(look) for name, values in effects.items()}
        ends = {name: (means[name] - low * spread[name], means[name] + high * spread[name]) for name in effects}
        sure = ends["objective"][0] > 0 if known > 0 else ends["objective"][1] < 0
        if sure and all(least <= mean <= most for mean in means.values()):
            return "right", look
        if any(end[1] < least or end[0] > most for end in ends.values()):
            return "wrong", look
    return "unclear", LOOKS[-1]


def test_random_series_end_as_the_text_says() -> None:
    draw, seen = numpy.random.default_rng(1609), dict.fromkeys(("right", "wrong", "unclear"), 0)
    for _ in range(250):
        known = known_of(draw.uniform(1, 50), Side.BASELINE if draw.random() < 0.5 else Side.CANDIDATE)
        share, sd = draw.uniform(-1.5, 3), abs(known) * 10 ** draw.uniform(-2.5, 0.3)
        big, small = (known * (share + draw.normal(0, 0.3) * (draw.random() < 0.3)) + draw.normal(0, sd, 10) for _ in SIZES)
        expected = by_the_text({"objective": list(0.9 * big + 0.1 * small), "big": list(big), "small": list(small)}, known)
        found = answer(list(big), list(small), known)
        assert isinstance(found, Seen)
        kind = {Sight.RIGHT: "right", Sight.UNCLEAR: "unclear"}.get(found.sight, "wrong")
        assert (kind, found.effect.rounds) == expected
        seen[kind] += 1
    assert min(seen.values()) >= 20


# ------------------------------------------------------------------ limits of the key


@pytest.mark.parametrize(
    ("percent", "sound"), [(1, True), (50, True), (0.99, False), (50.01, False), (0, False), (-5, False), (math.nan, False)]
)
def test_the_share_is_one_to_fifty_percent(percent: float, sound: bool) -> None:
    step = LimitedStep(argv=("run",), timeout_s=1)
    benchmark = Benchmark(
        argv=("run",), timeout_s=1, sizes=SIZES, control=Control(patch="slower.patch", slower_percent=percent)
    )
    here = Target(build=Build(toolchain=Toolchain.COMMAND, argv=("make",)), test=step, benchmark=benchmark)
    protocol = Protocol(version=1, name="x", scope=("src",), harness=("bench",), decides=("here",), targets={"here": here})
    faults = inconsistencies(protocol)
    assert (faults == ()) is sound
    assert all("slower_percent: expected 1 to 50" in fault for fault in faults)
