"""Adds up the cost of the simplifications of an epoch, which share one budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from expctl.domain.history.epochs import epochs_from

if TYPE_CHECKING:
    from expctl.domain.history.comparability import Comparability
    from expctl.domain.ledger.record_summary import RecordSummary


def simplify_used_percent(digests: Sequence[RecordSummary], *, target: str, conditions: Comparability, but: str) -> float:
    """Return the sum of the confirmed losses of the simplifications kept on `target`, in percent; gains count as 0.

    Only the epoch that a run under `conditions` would join counts. The experiment `but`, which is being run, is left out.
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
