"""Sentences of the ledger about epochs (groups of comparable measurements): since when each lasts, and what ended it."""

from __future__ import annotations

from collections.abc import Sequence

from expctl.domain.history.comparability import Change, Comparability, few_sizes
from expctl.domain.history.epochs import Epochs


def epoch_lines(epochs: Epochs) -> tuple[str, ...]:
    """Return one sentence per epoch (group of comparable measurements): its start, conditions, and why it began."""
    return tuple(
        f"{each.target}, epoch {each.number}: since {each.first.id} ({each.first.date[:10]}), first"
        f" baseline {each.first.base[:12]}; {conditions_text(each.conditions)}{changed_text(each.begins)}"
        for each in epochs.all
    )


def conditions_text(conditions: Comparability) -> str:
    """Return conditions of measurements as text, e.g. `compiler ziglang 0.16.0, machine EPYC 9354, 32 cores`."""
    shown = ("KPI" if "KPI" in conditions.parts else "sizes", "compiler", "machine", "gpu", "kernel", "driver", "clock policy")
    return ", ".join(f"{name} {few_sizes(conditions.parts[name])}" for name in shown if name in conditions.parts)


def changed_text(begins: Sequence[Change]) -> str:
    """Return changes between epochs as text, e.g. `; changed: compiler ziglang 0.16.0 -> ziglang 0.17.0`; "" for none."""
    return f"; changed: {'; '.join(str(change) for change in begins)}" if begins else ""
