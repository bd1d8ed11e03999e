"""Lists over all records for ledger.md: corrections, missing measurements, waived do-not-repeat rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from expctl.domain.experiment.free_change import UNCOMPARED
from expctl.domain.rules.match_levels import WaivedRepeat

if TYPE_CHECKING:
    from expctl.domain.ledger.record_summary import RecordSummary


class Remark(Struct, frozen=True, kw_only=True):
    """A sentence about one or more experiments: a note, or a correction of imported ones."""

    text: str
    ids: tuple[str, ...]


class Debt(Struct, frozen=True, kw_only=True):
    """A kept change that has yet to be measured, or built, on a hardware target; the remark `flag` names the target."""

    id: str
    flag: str

    @property
    def is_uncompared(self) -> bool:
        """Whether the change was kept untimed although its code couldn't be compared with the baseline's on this target."""
        return self.flag.startswith(UNCOMPARED)


def corrections(digests: Iterable[RecordSummary]) -> tuple[Remark, ...]:
    """Return the corrections of imported experiments; equal ones are merged."""
    return remarks((each.id, text) for each in digests for text in each.corrections)


def debts(digests: Iterable[RecordSummary]) -> tuple[Debt, ...]:
    """Return the kept changes that have yet to be measured or built on a target, one entry per change and target."""
    return tuple(Debt(id=each.id, flag=flag) for each in digests for flag in each.debts)


def waived(digests: Iterable[RecordSummary]) -> Mapping[str, tuple[WaivedRepeat, ...]]:
    """Return rule id -> the experiments that ran, for a written reason, although this do-not-repeat rule matched them."""
    by_rule: dict[str, list[WaivedRepeat]] = {}
    for each in digests:
        for rule, reason in each.passes:
            by_rule.setdefault(rule, []).append(WaivedRepeat(id=each.id, verdict=each.verdict, reason=reason, written=True))
    return {name: tuple(passes) for name, passes in by_rule.items()}


def remarks(said: Iterable[tuple[str, str]]) -> tuple[Remark, ...]:
    """Turn (experiment id, sentence) pairs into remarks, one for each different sentence."""
    ids: dict[str, list[str]] = {}
    for row, text in said:
        ids.setdefault(text, []).append(row)
    return tuple(Remark(text=text, ids=tuple(found)) for text, found in ids.items())
