"""What a repository is doing at one moment: what `status --watch` and `report --serve` show again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from expctl.domain.verdict.under_way import UnderWay
    from expctl.flow.status import Status


class Live(Struct, frozen=True, kw_only=True):
    """The state of things (`status`), and the run under way or interrupted (`run`, None without one).

    `timed` says that a launch was being timed, so that the gate was not looked at.
    """

    status: Status
    run: UnderWay | None
    timed: bool
