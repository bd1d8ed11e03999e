"""Totals that `status` needs: baseline per target, branch moves, the newest verdicts, open debts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from expctl.domain.history.baselines import ImportedBaseline, Landing
    from expctl.domain.history.epochs import Epochs

LAST = 5  # verdicts that are shown


class StatusTotals(Struct, frozen=True, kw_only=True):
    """Totals over all records for `status`. `standing` maps a target to the experiment that shows its baseline.

    `landings` are the moves of the branch, oldest first; `newest` the ids measured last (the last one last); `debts` pairs of
    an id and its flag. `epochs.of` is empty.
    """

    epochs: Epochs
    standing: Mapping[str, str]
    landings: tuple[Landing, ...]
    given: tuple[ImportedBaseline, ...]
    newest: tuple[str, ...]
    debts: tuple[tuple[str, str], ...]
