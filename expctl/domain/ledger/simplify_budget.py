"""Adds up the losses of the simplifications kept in an epoch, because together they may not exceed one limit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from expctl.domain.history.epochs import epochs_from

if TYPE_CHECKING:
    from expctl.domain.history.comparability import Comparability
    from expctl.domain.ledger.record_summary import RecordSummary


def simplify_used_percent(digests: Sequence[RecordSummary], *, target: str, conditions: Comparability, but: str) -> float:
    """Return the sum of the losses, in percent, of the simplifications kept on `target`; a gain counts as 0. Only measurements
    comparable with one under `conditions` count. The experiment `but`, which is being run, is left out.
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
