"""What the simplifications of an epoch have cost together. Their losses add up, so they share one budget."""

import math
from collections.abc import Sequence

from expctl.domain.epochs import epochs_of
from expctl.domain.evidence import OBJECTIVE
from expctl.domain.experiment import Kind, Mode, Verdict
from expctl.domain.ground import Ground
from expctl.domain.record import Record


def simplify_used_percent(records: Sequence[Record], *, target: str, ground: Ground, but: str) -> float:
    """Sum of the confirmed losses (a gain counts as nothing) of the simplifications kept on `target`, in percent.

    Those count whose epoch a run on `ground` joins; none does where it opens a new one. `but` is the experiment that is run.
    """
    epochs = epochs_of(records)
    epoch = epochs.current(target, ground)
    return round(
        math.fsum(
            max(0.0, -estimate.effect_percent)
            for record in records
            if record.verdict is Verdict.KEEP and record.kind is not Kind.ANALYSIS and record.id != but
            if epoch is not None and epochs.of.get(record.id) == epoch
            if record.procedure is not None and record.procedure.mode is Mode.SIMPLIFY
            for estimate in record.estimates
            if estimate.size == OBJECTIVE
        ),
        4,
    )
