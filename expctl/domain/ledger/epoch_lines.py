"""Sentences of the ledger about epochs (groups of comparable measurements): since when each lasts, and what ended it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from expctl.domain.experiment.record import BenchmarkIdentity
from expctl.domain.history.benchmark_identity import benchmark_identity_of
from expctl.domain.history.comparability import Change, Comparability, comparability_of
from expctl.domain.history.epochs import Epochs

if TYPE_CHECKING:
    from expctl.domain.protocol.model import Protocol


def epoch_lines(epochs: Epochs) -> tuple[str, ...]:
    """Return one sentence per epoch: its first experiment and date, its conditions, and what changed before it."""
    return tuple(
        f"{each.target}, epoch {each.number}: since {each.first.id} ({each.first.date[:10]}), first"
        f" baseline {each.first.base[:12]}; {conditions_text(each.conditions)}{changed_text(each.begins)}"
        for each in epochs.all
    )


def conditions_text(conditions: Comparability) -> str:
    """Return the conditions of measurements as text, e.g. `compiler ziglang 0.16.0, machine EPYC 9354, 32 cores`."""
    shown = ("KPI" if "KPI" in conditions.parts else "sizes", "compiler", "machine", "gpu", "kernel", "driver", "clock policy")
    return ", ".join(f"{name} {conditions.parts[name]}" for name in shown if name in conditions.parts)


def changed_text(begins: Sequence[Change]) -> str:
    """Return the changes at the start of an epoch as text, e.g. `; changed: compiler ziglang 0.16.0 -> ziglang 0.17.0`."""
    return f"; changed: {'; '.join(str(change) for change in begins)}" if begins else ""


def pending(protocol: Protocol, targets: Iterable[str], epochs: Epochs) -> dict[str, tuple[Change, ...]]:
    """Return, by target, the changes in protocol.yaml for which the next run opens a new epoch.

    A changed harness, compiler or machine isn't seen here, only when something is measured.
    """
    found = {}
    for target in targets:
        last = epochs.last.get(target)
        if last is not None and target in protocol.targets:
            benchmark = benchmark_identity_of(protocol, target, harness="")
            conditions = comparability_of(
                protocol="",
                yardstick=BenchmarkIdentity(harness="", kpi=benchmark.kpi, build=benchmark.build),
                environment={},
            )
            if epochs.current(target, conditions) is None:
                found[target] = last.changes_to(conditions)
    return found
