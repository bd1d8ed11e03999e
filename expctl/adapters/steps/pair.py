"""The two workers of a round that take turns."""

import secrets
from collections.abc import Callable
from contextlib import ExitStack

from expctl.adapters.steps.worker import Worker
from expctl.domain.verdict.samples import Side


class Pair:
    """Two workers (benchmark processes), one per side, started in random order, whose inputs are made from one secret seed.
    `born` is the number of the round in which they were started, `layout` that of the builds that they run.
    """

    def __init__(self, begin: Callable[[Side, int, ExitStack], Worker], born: int, layout: int) -> None:
        self._open, self.rounds, self.born, self.layout, seed = ExitStack(), 0, born, layout, secrets.randbits(62)
        first = secrets.choice(tuple(Side))
        self.order = (first, Side.CANDIDATE if first is Side.BASELINE else Side.BASELINE)
        try:
            self.workers = {side: begin(side, seed, self._open) for side in self.order}
        except BaseException:
            self._open.close()
            raise

    def ask(self, request: str, wanted: str) -> None:
        """Send a request to both workers. Raises StepFailed unless each answers with the event `wanted`."""
        for worker in self.workers.values():
            worker.ask({"do": request}, wanted)

    def close(self) -> None:
        """End both processes at once, even while they work."""
        self._open.close()
