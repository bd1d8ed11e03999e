"""Calibrations of noise that is known, because the tests made it."""

import math
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from expctl.domain.protocol.calibration_rounds import ROUNDS
from expctl.domain.protocol.model import Benchmark, Size, Style
from expctl.domain.verdict.calibration import (
    Calibration,
    SizeNoise,
    benchmark_identity,
    calibration_of,
    implausible,
    mde,
)
from expctl.domain.verdict.evidence import OBJECTIVE
from expctl.domain.verdict.samples import Sample, Side

BENCHMARK = Benchmark(
    argv=("run",), timeout_s=1, sizes=(Size(name="big", weight=0.6), Size(name="small", weight=0.4)), style=Style.FINE, quads=2
)
BASE_NS = 1e9


def rounds_of(effects: Sequence[dict[str, float]], spread: float = 0.0, taints: tuple[str, ...] = ()) -> list[Sample]:
    """Fine rounds with just these effects (log units) and, at every size and side, times that lie `spread` off their mean."""
    samples = []
    for index, effect in enumerate(effects):
        for launch, side in enumerate(Side):
            for size, value in effect.items():
                y = math.log(BASE_NS) - (value if side is Side.CANDIDATE else 0.0)
                ns = tuple(round(math.exp(y + sign * spread)) for sign in (1, -1, -1, 1) * 2)
                samples.append(
                    Sample(
                        round=index + (1000 if taints else 0), launch=launch, side=side, size=size, style=Style.FINE,
                        visit=2, ns=ns, order="AA", taints=taints, round_ms=2000 + index,
                    )
                )  # fmt: skip
    return samples


def calibrated(samples: Sequence[Sample]) -> Calibration:
    return calibration_of(samples, target="cpu", benchmark=BENCHMARK, date="2026-03-01T00:00:00Z", base="b0")


def noisy(n: int, *, sd: float = 0.003, memory: float = 0.0, mean: float = 0.0, seed: int = 1) -> list[dict[str, float]]:
    """AR(1) rounds of that stationary sd: x' = memory x + sqrt(1 - memory^2) sd z, independent between the sizes."""
    draw = Random(seed)
    state = {"big": draw.gauss(0, sd), "small": draw.gauss(0, sd)}
    effects = []
    for _ in range(n):
        effects.append({size: mean + value for size, value in state.items()})
        state = {size: memory * value + math.sqrt(1 - memory * memory) * draw.gauss(0, sd) for size, value in state.items()}
    return effects


def test_known_rounds_have_the_figures_that_a_pen_finds() -> None:
    effects = [{"big": 0.01, "small": 0.0}, {"big": 0.03, "small": 0.01}, {"big": 0.02, "small": -0.01}]
    found = calibrated(rounds_of(effects, spread=0.02))
    assert (found.rounds, found.tainted, found.round_s, found.style) == (3, 0, 2.001, Style.FINE)
    big = found.noise["big"]
    assert big.sd_percent == pytest.approx(1.0, abs=1e-4)
    assert big.mean_percent == pytest.approx(2.0, abs=1e-4)
    assert (big.low_percent, big.high_percent) == pytest.approx(
        (2 - 4.3027 / math.sqrt(3), 2 + 4.3027 / math.sqrt(3)), abs=1e-4
    )
    # about their mean the rounds lie at -1, +1, 0: (-1 * 1 + 1 * 0) / (1 + 1 + 0)
    assert big.autocorrelation == pytest.approx(-0.5, abs=1e-4)
    # eight times, each 2 % off: sqrt(8 / 7) * 2 %
    assert big.spread_percent == pytest.approx(2 * math.sqrt(8 / 7), abs=1e-4)
    assert found.noise[OBJECTIVE].mean_percent == pytest.approx(0.6 * 2.0, abs=1e-4)
    assert found.noise[OBJECTIVE].spread_percent == 0.0
    assert list(found.noise) == [OBJECTIVE, "big", "small"]


def test_rounds_of_one_pair_of_workers_are_one() -> None:
    """Where the workers' memory lies is worth 1 %, the same in all rounds of a pair: rounds alone would favour a side."""
    effects = [{"big": 0.01 * sign, "small": 0.01 * sign} for sign in (1, 1, 1, -1, -1, -1, 1)]
    samples = [replace(each, pair=each.round // 3 * 3) for each in rounds_of(effects)]
    found = calibration_of(
        samples, target="cpu", benchmark=replace(BENCHMARK, respawn=3), date="2026-03-01T00:00:00Z", base="b0"
    )
    assert found.rounds == 2
    assert found.round_s == pytest.approx(6.0075, abs=0.005)
    assert found.noise["big"].sd_percent == pytest.approx(math.sqrt(2), abs=1e-4)
    assert found.noise["big"].mean_percent == pytest.approx(0.0, abs=1e-4)
    assert not found.biased()


def test_a_known_sigma_is_found_again_and_so_is_that_of_the_objective() -> None:
    found = calibrated(rounds_of(noisy(2000)))
    assert found.noise["big"].sd_percent == pytest.approx(0.3, rel=0.05)
    assert found.noise[OBJECTIVE].sd_percent == pytest.approx(0.3 * math.hypot(0.6, 0.4), rel=0.05)
    assert found.biased() == ()
    assert found.remembering() == ()


@pytest.mark.parametrize("memory", [-0.4, 0.0, 0.3, 0.8])
def test_the_memory_of_an_ar1_process_is_found_again(memory: float) -> None:
    found = calibrated(rounds_of(noisy(2000, memory=memory)))
    assert found.noise["big"].autocorrelation == pytest.approx(memory, abs=4 * found.autocorrelation_error)
    assert ("big" in found.remembering()) == (memory > 0.25)


def test_24_rounds_warn_of_a_strong_memory_and_seldom_of_none() -> None:
    def warned(memory: float) -> int:
        return sum("big" in calibrated(rounds_of(noisy(ROUNDS, memory=memory, seed=seed))).remembering() for seed in range(100))

    assert warned(0.0) <= 5
    assert warned(0.8) >= 80


def test_a_harness_that_favours_a_side_is_named_and_an_honest_one_is_not() -> None:
    assert calibrated(rounds_of(noisy(ROUNDS, mean=0.01))).biased() == (OBJECTIVE, "big", "small")
    alarms = sum(bool(calibrated(rounds_of(noisy(ROUNDS, seed=seed))).biased()) for seed in range(200))
    assert alarms <= 3


def test_rounds_that_never_differ_have_no_noise_and_no_warning() -> None:
    found = calibrated(rounds_of([{"big": 0.0, "small": 0.0}] * 5))
    assert found.noise["big"] == SizeNoise(
        sd_percent=0.0, autocorrelation=0.0, mean_percent=0.0, low_percent=0.0, high_percent=0.0, spread_percent=0.0
    )
    assert (found.biased(), found.remembering()) == ((), ())


def test_tainted_rounds_are_counted_and_nothing_more() -> None:
    clean = rounds_of(noisy(6))
    odd = rounds_of([{"big": 0.5, "small": 0.5}] * 2, spread=0.5, taints=("ncu",))
    assert replace(calibrated([*clean, *odd]), tainted=0) == calibrated(clean)
    assert calibrated([*clean, *odd]).tainted == 2


def test_the_detectable_effect_is_the_formula_of_the_methodology() -> None:
    assert mde(1.0, 36) == pytest.approx((2.576 + 1.645) / 6)
    found = calibrated(rounds_of(noisy(ROUNDS)))
    assert found.mde_percent(10, "big") == pytest.approx(4.221 * found.noise["big"].sd_percent / math.sqrt(10))
    assert found.mde_percent(10) == mde(found.noise[OBJECTIVE].sd_percent, 10)


def test_a_run_is_given_sd_and_spread_of_every_size() -> None:
    found = calibrated(rounds_of(noisy(ROUNDS), spread=0.02))
    fixed = found.fixed()
    assert (fixed.date, fixed.rounds) == (found.date, ROUNDS)
    assert fixed.sd(OBJECTIVE) == found.noise[OBJECTIVE].sd_percent / 100
    assert fixed.spread("small") == pytest.approx(0.02 * math.sqrt(8 / 7), rel=1e-4)
    assert (fixed.sd("gone"), fixed.spread("gone")) == (0.0, 0.0)


CHANGES: dict[str, dict[str, Any]] = {
    "style": {"style": Style.LAUNCH},
    "a size": {"sizes": (Size(name="big", weight=0.6), Size(name="tiny", weight=0.4))},
    "a weight": {"sizes": (Size(name="big", weight=0.5), Size(name="small", weight=0.5))},
    "quads": {"quads": 3},
    "iterations": {"iterations": 3},
    "layouts": {"layouts": 8},
    "respawn": {"respawn": 4},
    "argv": {"argv": ("run", "faster")},
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_shapes_the_noise_is_in_the_identity(name: str) -> None:
    other = replace(BENCHMARK, **CHANGES[name])
    assert benchmark_identity("cpu", other) != benchmark_identity("cpu", BENCHMARK)
    assert benchmark_identity("gpu", BENCHMARK) != benchmark_identity("cpu", BENCHMARK)


def test_what_does_not_is_not() -> None:
    other = replace(BENCHMARK, rounds=10, timeout_s=99)
    assert benchmark_identity("cpu", other) == benchmark_identity("cpu", BENCHMARK)
    launch = replace(BENCHMARK, style=Style.LAUNCH)
    assert benchmark_identity("cpu", launch) == benchmark_identity("cpu", replace(launch, quads=3))


def test_figures_that_no_calibration_has_are_told() -> None:
    found = calibrated(rounds_of(noisy(ROUNDS)))
    assert implausible(found, "cpu", BENCHMARK) == ""
    assert implausible(replace(found, version=2), "cpu", BENCHMARK) == "version 2, expected 1"
    assert implausible(found, "gpu", BENCHMARK) == "it is of another benchmark"
    assert implausible(found, "cpu", replace(BENCHMARK, sizes=BENCHMARK.sizes[:1])) == "it is of another benchmark"
    for bad in (replace(found.noise["big"], sd_percent=-1.0), replace(found.noise["big"], sd_percent=math.inf)):
        assert implausible(replace(found, noise={**found.noise, "big": bad}), "cpu", BENCHMARK) == "its figures are none"
    assert implausible(replace(found, rounds=1), "cpu", BENCHMARK) == "its figures are none"
