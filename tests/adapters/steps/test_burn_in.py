"""A burn-in with a real worker and readings as the test wants them."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from expctl.adapters.steps.runner import StepRunner
from expctl.domain.errors import Busy
from expctl.domain.machine.burn_in import BurnIn, DeviceReading
from expctl.domain.protocol.model import Benchmark, BurnInRule, Environment, Size, Style
from tests.fakes.machine import FakeWatch
from tests.fakes.run import FakeProgress

WORKER = """
import json, os, sys, time
def say(**line): os.write(int(os.environ["EXPCTL_RESULT_FD"]), json.dumps(line).encode() + b"\\n")
asked = 0
for line in sys.stdin:
    request = json.loads(line)
    if request["do"] == "begin":
        say(event="ready")
    elif request["do"] == "time":
        asked += 1
        if asked > FAILS: say(event="end", ok=False, reason="no device"); break
        time.sleep(0.01)
        say(event="sample", size=request["size"], ns=[1000] * request["iterations"])
"""
RULE = BurnInRule(most_s=1.0, window_s=0.3)
Burn = Callable[..., BurnIn]


@pytest.fixture
def watch() -> FakeWatch:
    return FakeWatch()


@pytest.fixture
def burn(tmp_path: Path, watch: FakeWatch) -> Burn:
    runner = StepRunner(environment=Environment(), scratch=tmp_path / "scratch", mark="m", experiment="P1", watch=watch)

    def burns(style: Style = Style.LAUNCH, fails: int = 10**6, rule: BurnInRule = RULE) -> BurnIn:
        argv = ("{python}", "-c", WORKER.replace("FAILS", str(fails)), "{artifact}")
        sizes = (Size(name="a", weight=0.5), Size(name="b", weight=0.5))
        benchmark = Benchmark(argv=argv, timeout_s=20, sizes=sizes, style=style, iterations=2, burn_in=rule)
        return runner.burn_in(benchmark, cwd=tmp_path, artifact=tmp_path / "build", progress=FakeProgress())

    return burns


def card(watch: FakeWatch, clock_mhz: Callable[[int], float], most: int = 10**6) -> None:
    """A card that is read each time it is asked, and at most `most` times."""
    seen: list[DeviceReading] = []

    def reads() -> tuple[DeviceReading, ...]:
        if len(seen) < most:
            clock = clock_mhz(len(seen))
            seen.append(DeviceReading(device="gpu", at_s=time.monotonic() - 0.001, clock_mhz=clock, temperature_c=61))
        return tuple(seen)

    watch.reads = reads


@pytest.mark.parametrize("style", list(Style))
def test_it_ends_when_a_falling_clock_has_settled(burn: Burn, watch: FakeWatch, style: Style) -> None:
    card(watch, lambda n: max(1755.0, 2000.0 - 20 * n))
    found = burn(style, rule=BurnInRule(most_s=15, window_s=0.3))
    assert found.steady, found
    assert (found.clock_mhz, found.temperature_c) == (1755, 61)
    assert 0.3 <= found.seconds < 15


def test_its_worker_is_watched_but_not_judged_and_what_was_seen_is_forgotten(burn: Burn, watch: FakeWatch) -> None:
    card(watch, lambda _: 1755.0)
    watch.taints = [("gpu is throttled by heat",)]
    assert burn().steady
    assert [(side, timed) for side, timed, _ in watch.looked] == [("baseline", False)] * 2
    assert (watch.cleared, watch.taints) == (1, [])


def test_one_that_never_settles_ends_after_the_most(burn: Burn, watch: FakeWatch) -> None:
    card(watch, lambda n: 1000.0 + 50 * n)
    found = burn()
    assert (found.steady, found.trouble) == (False, "")
    assert 1.0 <= found.seconds < 3


def test_a_sensor_that_vanishes_or_never_was_ends_it_after_a_window(burn: Burn, watch: FakeWatch) -> None:
    rule = BurnInRule(most_s=15, window_s=0.3)
    for most in (0, 4):
        card(watch, lambda n: 1000.0 + 50 * n, most)
        found = burn(rule=rule)
        assert (found.steady, found.trouble, found.clock_mhz) == (False, "no sensor read them for 0.3 s", 0)
        assert found.seconds < 5


def test_a_worker_that_fails_is_its_trouble(burn: Burn, watch: FakeWatch) -> None:
    card(watch, lambda n: 1000.0 + 50 * n)
    assert burn(fails=3).trouble == "baseline: no device"


def test_nothing_is_burnt_in_on_a_busy_machine(burn: Burn, watch: FakeWatch) -> None:
    watch.busy = True
    with pytest.raises(Busy):
        burn()
