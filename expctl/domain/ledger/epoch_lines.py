"""Epochs as the ledger shows them: since when each lasts, and what the next run would begin."""

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
    """One sentence per epoch: since when, on what ground, what was changed for it."""
    return tuple(
        f"{each.target}, epoch {each.number}: since {each.first.id} ({each.first.date[:10]}), first"
        f" baseline {each.first.base[:12]}; {ground_text(each.ground)}{changed_text(each.begins)}"
        for each in epochs.all
    )


def ground_text(ground: Comparability) -> str:
    """What matters of a ground to a reader: KPI, compiler, machine, driver, clock policy."""
    shown = ("KPI" if "KPI" in ground.parts else "sizes", "compiler", "machine", "gpu", "kernel", "driver", "clock policy")
    return ", ".join(f"{name} {ground.parts[name]}" for name in shown if name in ground.parts)


def changed_text(begins: Sequence[Change]) -> str:
    """`; changed: compiler ziglang 0.16.0 -> ziglang 0.17.0`."""
    return f"; changed: {'; '.join(str(change) for change in begins)}" if begins else ""


def pending(protocol: Protocol, targets: Iterable[str], epochs: Epochs) -> dict[str, tuple[Change, ...]]:
    """By target that was measured: what protocol.yaml says otherwise than its last epoch, so the next run opens one.

    Nothing else is known here: a changed harness, compiler or machine shows when something is measured.
    """
    found = {}
    for target in targets:
        last = epochs.last.get(target)
        if last is not None and target in protocol.targets:
            stick = benchmark_identity_of(protocol, target, harness="")
            ground = comparability_of(
                protocol="", yardstick=BenchmarkIdentity(harness="", kpi=stick.kpi, build=stick.build), environment={}
            )
            if epochs.current(target, ground) is None:
                found[target] = last.changes_to(ground)
    return found
