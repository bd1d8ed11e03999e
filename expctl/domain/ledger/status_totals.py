"""Totals over all records that `expctl status` shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from expctl.domain.history.baselines import ImportedBaseline, Landing
    from expctl.domain.history.epochs import Epochs

LAST = 5  # verdicts that are shown


class StatusTotals(Struct, frozen=True, kw_only=True):
    """Totals over all records for `expctl status`. `standing` maps a target to the experiment that was last timed on it.

    `landings` are the experiments that moved the branch, oldest first; `newest` are the ids of the last ones measured, the
    newest last; `debts` are (id, what has yet to be measured). `epochs.of` has only the epochs of `standing`, to save time.
    """

    epochs: Epochs
    standing: Mapping[str, str]
    landings: tuple[Landing, ...]
    given: tuple[ImportedBaseline, ...]
    newest: tuple[str, ...]
    debts: tuple[tuple[str, str], ...]
