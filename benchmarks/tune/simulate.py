"""How well does a tuning choose, and what does it cost? `python -m benchmarks.tune.simulate [--long]`

Buckets with a known best config on the verdict's three simulated machines. What decides is what `expctl tune` calls: the screen
(domain/tuning/screen.py), the verdict of each contest (`sequential_test.decide`). Three usual ways
choose on the same machines. Exit 1 when a bar is missed.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.tune.machine import Landscape, Process, landscape
from benchmarks.verdict.machines import MACHINES, Machine, round_effects
from benchmarks.verdict.procedure import CONFIRM, ROUNDS, plan_of, settle
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.record import OBJECTIVE
from expctl.domain.tuning.screen import CONTROL, LAUNCHES, finalists
from expctl.domain.verdict.sequential_test import Decision

SEED = 20261125
SHORT, LONG = 40, 1_000
PLAN = plan_of({"one": 1.0})
LAUNCHES_OF_A_ROUND = 4
THRESHOLD, RETIMED = 0.03, 3
NEAR_SHARE_LEAST, SPOILT_MOST, REGRET_MOST, COST_MOST = 0.95, 0.005, 1.010, 1 / 3
FAR = 0.01  # "within 1 % of the best"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What a way chose in a bucket, which configs it compared last, and how many launches of one config it took."""

    config: str
    compared: tuple[str, ...]
    launches: int


Way = Callable[[np.random.Generator, Machine, Landscape], Chosen]


def verdicts(draw: np.random.Generator, machine: Machine, effects: Sequence[float]) -> list[Decision]:
    """Decide a contest of each config that is faster by one of `effects` (ln) than the current one."""
    search, confirm = (round_effects(draw, machine, len(effects), rounds)[..., :1] for rounds in (ROUNDS, CONFIRM))
    return [
        settle(one, other, PLAN, shift=lambda _, effect=effect: effect)  # type: ignore[misc]
        for one, other, effect in zip(search, confirm, effects, strict=True)
    ]


def launches_of(decision: Decision) -> int:
    """Return how many launches a contest took, of both sides."""
    procedure = decision.procedure
    return LAUNCHES_OF_A_ROUND * (procedure.search_rounds + procedure.confirm_rounds) if procedure else 0


def tuned(draw: np.random.Generator, machine: Machine, bucket: Landscape) -> Chosen:
    """Choose as `expctl tune` does."""
    others = {config: loss for config, loss in bucket.loss.items() if config != bucket.current}
    process, losses = Process(machine, draw), {CONTROL: bucket.loss[bucket.current]} | others
    screened = [process.launch(losses) for _ in range(LAUNCHES)]
    last, cost = finalists(screened), LAUNCHES * len(losses)
    for config in last:
        (decision,) = verdicts(draw, machine, [bucket.effect(config)])
        cost += launches_of(decision)
        if decision.verdict is Verdict.KEEP:
            return Chosen(config=config, compared=(bucket.current, *last), launches=cost)
    return Chosen(config=bucket.current, compared=(bucket.current, *last), launches=cost)


def every_verdict(draw: np.random.Generator, machine: Machine, bucket: Landscape) -> Chosen:
    """Decide every config against the current one by the full verdict, and take the KEEP with the largest estimate."""
    configs = [config for config in bucket.loss if config != bucket.current]
    decisions = verdicts(draw, machine, [bucket.effect(config) for config in configs])
    gains = {
        config: each.intervals[OBJECTIVE].mean
        for config, each in zip(configs, decisions, strict=True)
        if each.verdict is Verdict.KEEP
    }
    config = max(gains, key=lambda each: gains[each], default=bucket.current)
    return Chosen(config=config, compared=tuple(bucket.loss), launches=sum(map(launches_of, decisions)))


def best_of_one_run(draw: np.random.Generator, machine: Machine, bucket: Landscape) -> Chosen:
    """Time every config in a process of its own, one after the other, and take the fastest."""
    process = Process(machine, draw)
    times = {config: process.launch({config: loss})[config] for config, loss in bucket.loss.items()}
    return Chosen(config=min(times, key=lambda each: times[each]), compared=tuple(bucket.loss), launches=len(times))


def retimed(draw: np.random.Generator, machine: Machine, bucket: Landscape) -> Chosen:
    """Time the three fastest of one run and the current one again, back to back; take the fastest if it is 3 % faster."""
    process = Process(machine, draw)
    times = {config: process.launch({config: loss})[config] for config, loss in bucket.loss.items()}
    last = [bucket.current, *sorted(set(times) - {bucket.current}, key=lambda each: times[each])[:RETIMED]]
    again = {config: process.launch({config: bucket.loss[config]})[config] for config in last}
    fastest = min(again, key=lambda each: again[each])
    faster = again[bucket.current] - again[fastest] > THRESHOLD
    return Chosen(config=fastest if faster else bucket.current, compared=tuple(last), launches=len(times) + len(last))


WAYS: dict[str, Way] = {
    "expctl tune": tuned,
    "best of one run": best_of_one_run,
    "a verdict for every config": every_verdict,
    "finalists again, 3 %": retimed,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """Of many buckets: the share within 1 % of the best; of those that were best, the share made slower; mean t / t of the
    best; of that what the choice among the compared lost, and what the best was missed by; launches of one config in a bucket.
    """

    near: float
    spoilt: float
    regret: float
    selection: float
    exploration: float
    launches: float


def quality(buckets: Sequence[Landscape], chosen: Sequence[Chosen]) -> Quality:
    """Sum up what a way chose."""
    losses = np.array([bucket.loss[each.config] for bucket, each in zip(buckets, chosen, strict=True)])
    reached = np.array([min(bucket.loss[name] for name in each.compared) for bucket, each in zip(buckets, chosen, strict=True)])
    best_now = np.array([bucket.is_best_now for bucket in buckets])
    return Quality(
        near=float(np.mean(losses <= np.log1p(FAR))),
        spoilt=float(np.mean(losses[best_now] > 0)) if best_now.any() else 0.0,
        regret=float(np.mean(np.exp(losses))),
        selection=float(np.mean(np.exp(losses - reached))) - 1,
        exploration=float(np.mean(np.exp(reached))) - 1,
        launches=float(np.mean([each.launches for each in chosen])),
    )


def missed(found: Quality, brute: Quality, buckets: int) -> list[str]:
    """Return the bars that a tuning misses; few buckets get four standard errors more."""
    slack = 4 * (NEAR_SHARE_LEAST * (1 - NEAR_SHARE_LEAST) / buckets) ** 0.5 if buckets < LONG else 0.0
    bars = {
        f"within 1 % in {100 * found.near:.1f} %": found.near >= NEAR_SHARE_LEAST - slack,
        f"spoilt {100 * found.spoilt:.2f} %": found.spoilt <= SPOILT_MOST + slack / 4,
        f"mean regret {found.regret:.4f}": found.regret <= REGRET_MOST,
        f"{100 * found.launches / brute.launches:.0f} % of the launches": found.launches <= COST_MOST * brute.launches,
    }
    return [bar for bar, holds in bars.items() if not holds]


def on_machine(machine: Machine, buckets: int) -> tuple[dict[str, Quality], list[str]]:
    """Return the quality of each way on the same buckets, and the bars that expctl misses there."""
    made = np.random.default_rng([SEED, 0])
    landscapes = [landscape(made) for _ in range(buckets)]
    found = {}
    for number, (name, way) in enumerate(WAYS.items(), 1):
        chosen = [way(np.random.default_rng([SEED, number, at]), machine, each) for at, each in enumerate(landscapes)]
        found[name] = quality(landscapes, chosen)
    return found, missed(found["expctl tune"], found["a verdict for every config"], buckets)


def table(machine: Machine, found: dict[str, Quality]) -> list[str]:
    """Return the lines of one machine."""
    heads = ("within 1 %", "spoilt", "regret", "selection", "exploration", "launches")
    lines = [f"{machine.name:<28}" + "".join(f"{head:>13}" for head in heads)]
    for name, each in found.items():
        cells = (
            f"{100 * each.near:.1f} %", f"{100 * each.spoilt:.2f} %", f"{each.regret:.4f}",
            f"{100 * each.selection:.2f} %", f"{100 * each.exploration:.2f} %", f"{each.launches:.0f}",
        )  # fmt: skip
        lines.append(f"  {name:<26}" + "".join(f"{cell:>13}" for cell in cells))
    return lines


def main() -> int:
    """Print the tables; return 1 when a bar is missed."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--long", action="store_true", help=f"{LONG} buckets of each machine instead of {SHORT}")
    buckets = LONG if arguments.parse_args().long else SHORT
    failures = []
    for machine in MACHINES:
        found, bars = on_machine(machine, buckets)
        print("\n".join(table(machine, found)))
        failures += [f"{machine.name}: {bar}" for bar in bars]
    print("\n".join(["missed:", *failures] if failures else [f"all bars are held, over {buckets} buckets of each machine"]))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
