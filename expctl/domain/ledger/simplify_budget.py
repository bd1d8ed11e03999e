"""Adds up what kept simplifications have cost in an epoch, because they share one budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from expctl.domain.history.epochs import epochs_from

if TYPE_CHECKING:
    from expctl.domain.history.comparability import Comparability
    from expctl.domain.ledger.record_summary import RecordSummary


def simplify_used_percent(digests: Sequence[RecordSummary], *, target: str, conditions: Comparability, but: str) -> float:
    """Return the sum of the losses, in percent, of the simplifications kept on `target`; gains count as 0.

    Only those count whose measurements are comparable with one under `conditions`. The experiment `but` (running) doesn't.
    """
    epochs = epochs_from(one for each in digests for one in each.measurings)
    epoch = epochs.current(target, conditions)
    return round(
        math.fsum(
            each.cost_percent
            for each in digests
            if each.cost_percent and each.id != but and epoch is not None and epochs.of.get(each.id) == epoch
        ),
        4,
    )
