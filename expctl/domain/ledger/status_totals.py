"""What all records come to for `status`, which shows a handful of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from expctl.domain.history.baselines import ImportedBaseline, Landing
    from expctl.domain.history.epochs import Epochs

LAST = 5  # verdicts that are shown


class StatusTotals(Struct, frozen=True, kw_only=True):
    """`standing` is by target the id of the experiment that shows its baseline, `landings` what moved the branch in its
    order, `newest` the ids that were measured last (the last one last), `debts` ids with their flags. `epochs` lacks `of`.
    """

    epochs: Epochs
    standing: Mapping[str, str]
    landings: tuple[Landing, ...]
    given: tuple[ImportedBaseline, ...]
    newest: tuple[str, ...]
    debts: tuple[tuple[str, str], ...]
