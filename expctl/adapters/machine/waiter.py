"""What happens while the gate waits: the user is shown for what, and the first Ctrl-C ends the wait."""

from collections.abc import Callable

from msgspec.structs import replace

from expctl.domain.errors import Interrupted
from expctl.domain.machine.waiting import Wait
from expctl.domain.protocol.model import Gate
from expctl.ports.measuring import Progress


class Waiter:
    """Shows waits by `progress`. `stop_requested` tells whether the user has asked to stop; `wait_s`, if not None, replaces the
    seconds that the protocol waits for a quiet machine.
    """

    def __init__(
        self, progress: Progress, stop_requested: Callable[[], bool] = lambda: False, wait_s: float | None = None
    ) -> None:
        self.progress, self._stop_requested, self._wait_s = progress, stop_requested, wait_s

    def rule(self, rule: Gate) -> Gate:
        """Return the protocol's limits, with the seconds that the user is ready to wait."""
        return rule if self._wait_s is None else replace(rule, wait_s=self._wait_s)

    def told(self, wait: Wait) -> None:
        """Show a wait. Raises Interrupted if the user has asked to stop: nothing is under way that a wait could finish."""
        if self._stop_requested():
            raise Interrupted(f"stopped while waiting for {wait.what}; the same command goes on from there")
        self.progress.waiting(wait)
