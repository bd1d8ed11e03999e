"""Calls a build at one size, each time on inputs of its own and into poisoned outputs, and checks some of what was timed."""

from __future__ import annotations

import gc
import secrets
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic

from expctl.harness import arrays
from expctl.harness.author import Author, Values
from expctl.harness.clock_check import ClockCheck
from expctl.harness.clocks import Clock, Timed, clock_for
from expctl.harness.comparison import compare, hint
from expctl.harness.device_arrays import arrays_on
from expctl.harness.limits import Judgement
from expctl.harness.report import BuildFailed
from expctl.harness.requests import TimedRequest

WARM_UP_CALLS, WARM_UP_S = 3, 0.2
WARM_UP_NUMBERS = 1 << 40
"""Calls of the warm-up are numbered from here: both sides then time the same inputs, however many calls it takes."""
SPOTS = 2
"""Timed calls of a size that are compared with the reference at each check. Which ones is drawn when they are over."""
CLOCK_STEPS = 20
LOOKED_AT = 64
"""Elements of each output that are looked at after every timed call for the poison."""


@dataclass(frozen=True, slots=True)
class Spot:
    """One timed call that will be checked: its number, the inputs after it, and a copy of its results."""

    number: int
    inputs: Values
    results: Values


class TimedSize:
    """Times calls of one size. Inputs come from `seed` and the number of the call."""

    def __init__(self, author: Author, size: str, seed: int) -> None:
        self._author, self.size, self._seed = author, size, seed
        inputs = author.examine(size, seed)
        self._outputs = author.outputs(size)
        self._device = arrays_on(author.kernel_class.device) if author.kernel_class.device else None
        with author.blaming("inputs"):
            self.clock: Clock = self._device.clock if self._device else clock_for((*inputs, *self._outputs))
        self._clock_check = ClockCheck(self.clock.allowance_ns)
        self._number, self._seen = 0, 0
        self._spots: list[Spot] = []

    def warm_up(self) -> None:
        """Call at least 3 times and for 200 ms. Raises Mistake for calls that are too short for the clock."""
        begin = monotonic()
        durations_ns: list[int] = []
        while len(durations_ns) < WARM_UP_CALLS or monotonic() - begin < WARM_UP_S:
            timed, _ = self._call(WARM_UP_NUMBERS + len(durations_ns), prepared=bool(durations_ns))
            durations_ns.append(timed.ns)
        least_ns, typical_ns = CLOCK_STEPS * self.clock.step_ns, statistics.median(durations_ns)
        if typical_ns < least_ns:
            expected = f"a call of at least {least_ns:.0f} ns at {self.size!r}, {CLOCK_STEPS} steps of the clock"
            raise self._author.mistake("sizes", expected, f"{typical_ns:.0f} ns: make the size larger, or loop in `call`")

    def time(self, iterations: int) -> TimedRequest:
        """Time `iterations` calls. Raises BuildFailed for an output that was not written."""
        with _no_collection():
            timed = [self._timed_call() for _ in range(iterations)]
        outside = [each.outside_ns for each in timed if each.outside_ns is not None]
        ns = tuple(max(1, each.ns) for each in timed)
        if outside:
            hidden_ns = statistics.median(
                seen - told for seen, told in zip(outside, ns, strict=True)
            )  # a host may be disturbed
            self._clock_check.add(sum(ns), sum(ns) + round(hidden_ns * len(ns)), len(ns))
        return TimedRequest(ns, sum(outside) if outside else None)

    def check(self) -> None:
        """Compare the chosen calls with the reference, and the clocks. Raises BuildFailed."""
        for spot in self._spots:
            inputs = self._author.draw(self.size, self._seed, spot.number)
            self._check_inputs(inputs, spot.inputs)
            failure = compare(self._author, inputs, spot.results, in_outputs=bool(self._outputs)).failure
            if failure:
                raise BuildFailed(f"{self.size}, timed call {spot.number + 1}: {failure}")
        self._spots, self._seen = [], 0
        self._clock_check.check()

    def test(self, number: int) -> Judgement:
        """Call once, with all arguments checked, and judge the results. Raises BuildFailed."""
        timed, inputs = self._call(number, prepared=False)
        results = self._author.results(timed.result, self._outputs)
        before = self._author.draw(self.size, self._seed, number)
        self._check_inputs(before, inputs)
        judgement = compare(self._author, before, results, in_outputs=bool(self._outputs))
        if judgement.failure is None:
            return judgement
        failure = judgement.failure + hint(self._author, before, results, in_outputs=bool(self._outputs))
        return Judgement(rel_l2=judgement.rel_l2, max_abs=judgement.max_abs, failure=failure)

    def _timed_call(self) -> Timed:
        number, self._number = self._number, self._number + 1
        timed, inputs = self._call(number, prepared=True)
        results = self._author.results(timed.result, self._outputs)
        self._look_for_poison(number)
        self._seen += 1
        if secrets.randbelow(self._seen) < SPOTS:  # of k calls each is among the chosen with probability SPOTS / k
            spot = Spot(number, inputs, tuple(map(arrays.copy_of, results)))
            self._keep(spot)
        return timed

    def _keep(self, spot: Spot) -> None:
        if len(self._spots) < SPOTS:
            self._spots.append(spot)
        else:
            self._spots[secrets.randbelow(SPOTS)] = spot

    def _call(self, number: int, *, prepared: bool) -> tuple[Timed, Values]:
        """Draw, poison, call; return the times and the inputs. Only unprepared arguments are checked for their types."""
        author, inputs = self._author, self._author.draw(self.size, self._seed, number)
        for output in self._outputs:
            arrays.poison(output)
        arguments = (*inputs, *self._outputs)
        placed = self._device.place(arguments) if self._device else arguments
        author.prepare(placed if prepared else ())
        with author.calling():
            timed = self.clock.time(author.kernel.call, author.build, placed)
        if self._device:
            fetched = self._device.fetch(placed)
            inputs, self._outputs = fetched[: len(inputs)], fetched[len(inputs) :]
        if self.clock.kind == "wall_time" and arrays.family(timed.result) and arrays.device(timed.result) == "gpu":
            raise author.mistake("inputs", "inputs on the GPU, where the result is", "inputs in host memory")
        return timed, inputs

    def _look_for_poison(self, number: int) -> None:
        for each in self._outputs:
            if arrays.poison_byte(each) == arrays.FLOAT_POISON:
                flat = each.reshape(-1)
                some = flat[:: max(1, flat.shape[0] // LOOKED_AT)]
                if arrays.is_poison(arrays.to_host(some), arrays.FLOAT_POISON).any():
                    raise BuildFailed(
                        f"{self.size}, timed call {number + 1}: an output is still the poison: it was not written"
                    )

    def _check_inputs(self, before: Values, after: Values) -> None:
        changed = [str(at) for at, pair in enumerate(zip(before, after, strict=True), 1) if not arrays.same_bits(*pair)]
        if changed and not self._author.kernel_class.in_place:
            raise BuildFailed(f"{self.size}: the call changed input {changed[0]} (say `in_place = True` if it may)")


@contextmanager
def _no_collection() -> Iterator[None]:
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
