"""Comparison and contests go on where a later launch sends a confirmation back to its search."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from expctl.domain.experiment.record import Artifact
from expctl.domain.machine.interference import BELOW_ITS_CLOCK
from expctl.domain.protocol.model import Benchmark, KeepRule, Size, Style
from expctl.domain.protocol.tune import Tune
from expctl.domain.tuning.contest import Bucket, Contest
from expctl.domain.tuning.events import TuneEvent, TuningBegun
from expctl.domain.verdict.samples import Sample, Side
from expctl.domain.verdict.samples import Session as Part
from expctl.domain.verdict.sequential_test import Decision
from expctl.flow.tuning.comparison import compared
from expctl.flow.tuning.contests import shoot_out
from expctl.flow.tuning.session import Session

SHAPE, CONFIG = "64x512x128", "2,2,2,2,4,4"
BUCKET = Bucket(file="DEFAULT.json", name="any", shapes=(SHAPE,))
BENCHMARK = Benchmark(argv=("x",), timeout_s=1, sizes=(Size(name="n=8", weight=1.0),), style=Style.LAUNCH)
SLOW = f"nvidia 0 {BELOW_ITS_CLOCK}"


@dataclass(kw_only=True)
class Made(Session):
    """A session whose candidate is 10 % faster in all rounds. In the first of the search, four of its launches are slowed down
    and repeated: that may be chance. In the first of the confirmation a fifth one is; by that, all five count.
    """

    spells: list[int] = field(default_factory=list)
    """The rounds that each quiet spell of the machine has measured."""

    def round(self, benchmark: Benchmark, number: int) -> tuple[Sample, ...]:
        disturbed = {(1, 0): 4, (2, 0): 1}.get((len(self.spells), self.spells[-1]), 0)
        self.spells[-1] += 1
        sides = [Side.BASELINE, *[Side.CANDIDATE] * (disturbed + 2), Side.BASELINE]
        slow = range(1, 1 + disturbed)
        return tuple(
            Sample(
                round=number, launch=place, side=side, size=benchmark.sizes[0].name, style=Style.LAUNCH, visit=10, order="ABBA",
                ns=((1000 if side is Side.BASELINE else 3000 if place in slow else 900) + (7 * number + place) % 5,) * 10,
                taints=(SLOW,) if place in slow else (), round_ms=100,
            )
            for place, side in enumerate(sides)
        )  # fmt: skip

    @contextmanager
    def measuring(self) -> Iterator[None]:
        self.spells.append(0)
        yield


class Memory:
    """A journal that keeps nothing on disk."""

    def __init__(self) -> None:
        self.events: list[TuneEvent] = []

    def read(self, _: str) -> tuple[TuneEvent, ...]:
        return tuple(self.events)

    def append(self, _: str, event: TuneEvent) -> None:
        self.events.append(event)


def session() -> Made:
    progress = SimpleNamespace(outlook=lambda _: None, step=lambda *_: None)
    setup: Any = SimpleNamespace(
        benchmark=BENCHMARK,
        protocol=SimpleNamespace(keep=KeepRule()),
        context=SimpleNamespace(progress=progress),
        tools=None,
    )
    journal: Any = Memory()
    search: Any = None
    begun = TuningBegun(base="b", rests_on="w", command="expctl tune")
    rule = Tune(tables="t", configs=(CONFIG,), shapes=(SHAPE,))
    return Made(
        setup=setup, rule=rule, shapes=(SHAPE,), journal=journal, key="here-0", asked="", begun=begun, search=search,
        cwd=Path(), artifact=Artifact(sha256="0", code="0"), layouts=(Path(),),
    )  # fmt: skip


def parts(samples: list[Sample]) -> list[Part | None]:
    """The parts of a measurement in the order of their rounds, equal ones that follow one another once."""
    found = [each.session for each in sorted(samples, key=lambda each: each.round)]
    return [part for number, part in enumerate(found) if number == 0 or found[number - 1] is not part]


def test_a_comparison_goes_back_to_its_search_and_is_decided() -> None:
    tuning = session()
    decision, samples = compared(tuning, "tables 0", {SHAPE: CONFIG})
    assert parts(list(samples))[:3] == [Part.SEARCH, Part.CONFIRM, Part.SEARCH]
    assert isinstance(decision, Decision)


def test_a_contest_goes_back_to_its_search_and_is_decided() -> None:
    tuning = session()
    decided = shoot_out(tuning, [BUCKET], {BUCKET.key: [CONFIG]})
    contest = Contest(bucket=BUCKET, config=CONFIG)
    assert parts(tuning.samples[contest.key])[:3] == [Part.SEARCH, Part.CONFIRM, Part.SEARCH]
    assert isinstance(decided[contest], Decision)
