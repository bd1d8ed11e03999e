"""Times products of several formulations in turn, in an order drawn anew for each round."""

from __future__ import annotations

import random
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import torch

from kernel.rivals.formulations import Product
from kernel.rivals.operands import OperandSet

TURN_S = 0.02
"""What one turn of a formulation takes."""


class Turn(ABC):
    """One formulation, ready to be timed: a `turn` computes the product of each operand set several times."""

    def __init__(self, product: Product, sets: Sequence[OperandSet]) -> None:
        self._product, self._sets = product, sets
        self.prepare()
        self._set_ns = self.total_ns(1)

    @abstractmethod
    def prepare(self) -> None:
        """Compute every product, so that nothing is left to be made ready."""

    @abstractmethod
    def once(self) -> None:
        """Compute the product of each operand set once."""

    @abstractmethod
    def total_ns(self, repeats: int) -> float:
        """Return the ns of `repeats` calls of `once`."""

    def ns(self, seconds: float = TURN_S) -> float:
        """Return the ns of one product, as the mean of a turn of about so many seconds."""
        return self.total_ns(self._repeats(seconds)) / self.products(seconds)

    def products(self, seconds: float) -> int:
        """Return how many products such a turn computes."""
        return self._repeats(seconds) * len(self._sets)

    def _repeats(self, seconds: float) -> int:
        return max(1, round(seconds * 1e9 / self._set_ns))


class WallTurn(Turn):
    """Wall time on a CPU."""

    def prepare(self) -> None:  # noqa: D102 - see Turn
        for _ in range(2):
            self.once()

    def once(self) -> None:  # noqa: D102 - see Turn
        for each in self._sets:
            self._product(each)

    def total_ns(self, repeats: int) -> float:  # noqa: D102 - see Turn
        begin = time.perf_counter_ns()
        for _ in range(repeats):
            self.once()
        return time.perf_counter_ns() - begin


class GraphTurn(Turn):
    """Device time on a GPU. The products are replayed from a CUDA graph: the time of no host is in it."""

    def prepare(self) -> None:  # noqa: D102 - see Turn
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):  # what compiles, tunes or takes a workspace does it now
            for _ in range(3):
                self._product(self._sets[0])
        torch.cuda.current_stream().wait_stream(side)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            for each in self._sets:
                self._product(each)
        self._begin, self._end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.once()
        torch.cuda.synchronize()

    def once(self) -> None:  # noqa: D102 - see Turn
        self._graph.replay()

    def total_ns(self, repeats: int) -> float:  # noqa: D102 - see Turn
        self._begin.record()
        for _ in range(repeats):
            self.once()
        self._end.record()
        self._end.synchronize()
        return float(self._begin.elapsed_time(self._end)) * 1e6


def rounds(turns: Mapping[str, Turn], count: int, seed: int) -> dict[str, list[float]]:
    """Give every formulation `count` turns, in an order drawn for each round; return the ns of a product in each turn."""
    order, shuffled = list(turns), random.Random(seed)  # noqa: S311
    found: dict[str, list[float]] = {name: [] for name in turns}
    for _ in range(count):
        shuffled.shuffle(order)
        for name in order:
            found[name].append(round(turns[name].ns(), 1))
    return found
