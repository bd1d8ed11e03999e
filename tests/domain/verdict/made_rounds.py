"""Rounds for the tests of the verdict: regular ones with a known mean, and whole lives of a run on a random machine."""

import math
import os
from collections.abc import Callable, Sequence
from random import Random

from hypothesis import Phase, settings
from hypothesis import strategies as st

from expctl.domain.experiment.proposal import Mode
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import RoundEffect, Session
from expctl.domain.verdict.sequential_test import Decision, MeasureMore, decide

MOST = 200  # rounds of a session


def gain(percent: float) -> float:
    """The effect, in log units, of so much more throughput."""
    return math.log1p(percent / 100)


def loss(percent: float) -> float:
    """The effect, in log units and without its sign, of so much less throughput."""
    return -math.log1p(-percent / 100)


PLAN = Plan(
    weights={"big": 0.6, "small": 0.4},
    mode=Mode.GAIN,
    guard=loss(0.5),
    regression=loss(0.3),
    worthwhile=gain(0.5),
    simplify=0.005,
    costly=gain(0.2),
)


def rounds(
    big: float,
    small: float,
    noise: float,
    n: int = MOST,
    which: Session = Session.SEARCH,
    apart: float = 0.0,
    mean: float = 0.0,
    drift: Callable[[int], float] = lambda _: 0.0,
) -> list[RoundEffect]:
    """Rounds with about these effects, all in percent; `noise` alternates in both sizes, `apart` against each other.

    In a confirmation the noise changes sign with each pair, for pairs are what it looks at. The mean time differs by `mean`
    from the robust effect, and `drift` adds to the round of a number.
    """
    first, slowly = (MOST, 2) if which is Session.CONFIRM else (0, 1)
    made = []
    for i in range(n):
        sign = (-1) ** (i // slowly)
        effects = {"big": big + (noise + apart) * sign, "small": small + (noise - 1.5 * apart) * sign}
        robust = {size: (value + drift(i)) / 100 for size, value in effects.items()}
        slower = {size: value + mean / 100 for size, value in robust.items()}
        made.append(RoundEffect(round=first + i, effect=robust, mean_effect=slower, session=which, duration_s=2.5))
    return made


def fresh(big: float, small: float, noise: float, mean: float = 0.0, apart: float = 0.0) -> list[RoundEffect]:
    """Rounds of a confirmation, as many as it could ask for."""
    return rounds(big, small, noise, which=Session.CONFIRM, mean=mean, apart=apart)


def decided(effects: Sequence[RoundEffect], plan: Plan) -> Decision:
    """The decision of a life with rounds enough; it must be one."""
    decision = decide(effects, plan)
    assert isinstance(decision, Decision), decision
    return decision


def more(search: Sequence[RoundEffect], confirm: Sequence[RoundEffect], plan: Plan) -> MeasureMore:
    """The answer where it must be to measure on."""
    answer = decide([*search, *confirm], plan)
    assert isinstance(answer, MeasureMore), answer
    return answer


class Life:
    """A plan with every round that a run could ask for."""

    def __init__(self, seed: int, plan: Plan, search: Sequence[RoundEffect], confirm: Sequence[RoundEffect]) -> None:
        self.seed, self.plan, self.search, self.confirm = seed, plan, search, confirm

    def __repr__(self) -> str:
        return f"made_life({self.plan!r}, {self.seed})"

    @property
    def rounds(self) -> list[RoundEffect]:
        return [*self.search, *self.confirm]


def made_life(plan: Plan, seed: int) -> Life:
    """A life on a random machine: quiet or loud, sizes alike or not, fading or not, with a mean time of its own or not."""
    draw = Random(seed)
    sd, shared = 10 ** draw.uniform(-4.2, -1.9), draw.random()
    middle, apart = draw.gauss(0.005, 0.008), draw.choice([0.001, 0.006])
    effects = {size: draw.gauss(middle, apart) for size in plan.weights}
    if plan.rescuers and draw.random() < 0.6:  # a rescuer gains, the objective stays
        off = sum(weight * effects[size] for size, weight in plan.weights.items()) - draw.gauss(0, 0.001)
        effects = {size: effect - off for size, effect in effects.items()}
    fades = draw.choice([0, 0, 0, 0.0005, -0.0005]) * draw.random()
    mean_off = draw.choice([0, 0, 0, -0.005, -0.01, -0.02])
    luck = draw.choice([0, 0, 0, draw.gauss(0, 0.006)])

    def made(number: int, session: Session) -> RoundEffect:
        off = shared * draw.gauss(0, sd) - fades * min(number, 40) + (luck if session is Session.CONFIRM else 0)
        robust = {size: effect + off + draw.gauss(0, sd) for size, effect in effects.items()}
        mean = {size: value + mean_off + draw.gauss(0, sd / 2) for size, value in robust.items()}
        return RoundEffect(round=number, effect=robust, mean_effect=mean, session=session, duration_s=2.5)

    search = [made(i, Session.SEARCH) for i in range(plan.rounds)]
    most = max(plan.confirm, 140)
    return Life(seed, plan, search, [made(plan.rounds + i, Session.CONFIRM) for i in range(most)])


def _plan(weights: list[int], rescuers: int, simplify_used: float, limits: dict[str, float], counts: tuple[int, int]) -> Plan:
    names = ["big", "small", "odd"][: len(weights)]
    return Plan(
        weights={name: weight / sum(weights) for name, weight in zip(names, weights, strict=True)},
        rescuers=tuple(names[:rescuers]),
        simplify=0.005,
        simplify_used=simplify_used,
        rounds=counts[0],
        confirm=counts[1],
        **limits,  # type: ignore[arg-type]
    )


PLANS = st.builds(
    _plan,
    st.lists(st.integers(1, 9), min_size=1, max_size=3),
    st.sampled_from([0, 0, 1, 2, 3]),
    st.sampled_from([0.0, 0.0, 0.003, 0.005, 0.008]),
    st.fixed_dictionaries(
        {
            "mode": st.sampled_from(Mode),
            "guard": st.sampled_from([loss(0.5), loss(0.2), loss(1), loss(3)]),
            "regression": st.sampled_from([loss(0.3), loss(0.1), loss(1)]),
            "worthwhile": st.sampled_from([gain(0.5), gain(0.2), gain(1)]),
            "costly": st.sampled_from([gain(0.2), gain(0.5)]),
            "slow_launch": st.sampled_from([0.0, 0.15, 0.6]),
        }
    ),
    st.sampled_from([(46, 70), (46, 70), (10, 70), (22, 70), (200, 200)]),
)
LIVES = st.builds(made_life, PLANS, st.integers(0, 2**32))


def lives(examples: int) -> settings:
    """So many lives, fifteen times as many with `--long`. A seed can't be made simpler, so nothing is tried to that end."""
    times = 15 if "EXPCTL_TESTS_LONG" in os.environ else 1
    return settings(max_examples=times * examples, phases=(Phase.explicit, Phase.generate))
