"""What a repository is doing at one moment: what `status --watch` and `report --serve` show again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from expctl.domain.machine.interference import Foreign
    from expctl.domain.verdict.under_way import UnderWay
    from expctl.flow.status import Status

LOCK = "lock"
"""The sensor of the gate that sees who holds the machine."""


class Live(Struct, frozen=True, kw_only=True):
    """The state of things (`status`), and the run under way or interrupted (`run`, None without one).

    `waits` says that a run waits for a quiet machine, `timed` that it was found quiet and launches are being timed; then the
    gate was not looked at.
    """

    status: Status
    run: UnderWay | None
    waits: bool = False
    timed: bool = False

    @property
    def culprits(self) -> tuple[Foreign, ...]:
        """What blocks a measurement, without the lock of the run under way itself."""
        own = any(each.alive for each in self.status.running)
        return tuple(each for each in self.status.blocking if not (own and each.sensor == LOCK))
