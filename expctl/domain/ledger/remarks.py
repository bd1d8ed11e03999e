"""What the ledger gathers over all records: remarks, debts, what is undecided, what let a rule pass. In the order of ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.rules.match_levels import WaivedRepeat

if TYPE_CHECKING:
    from expctl.domain.ledger.record_summary import RecordSummary


class Remark(Struct, frozen=True, kw_only=True):
    """A sentence about one or more rows, said once: a note, or what is known today of imported rows and was not then."""

    text: str
    ids: tuple[str, ...]


class Debt(Struct, frozen=True, kw_only=True):
    """A KEEP decided elsewhere that changed the code of the home target."""

    id: str
    flag: str


def corrections(digests: Iterable[RecordSummary]) -> tuple[Remark, ...]:
    """What is known today of imported rows, in the order of the first row that it belongs to."""
    return remarks((each.id, text) for each in digests for text in each.corrections)


def notes(digests: Iterable[RecordSummary]) -> tuple[Remark, ...]:
    """The notes of all rows, in the order of the first row that each belongs to."""
    return remarks((each.id, text) for each in digests for text in each.notes)


def undecided(digests: Iterable[RecordSummary]) -> tuple[str, ...]:
    """Ids of what was measured to the end of its rounds without a verdict about the idea."""
    return tuple(each.id for each in digests if each.verdict is Verdict.INCONCLUSIVE)


def debts(digests: Iterable[RecordSummary]) -> tuple[Debt, ...]:
    """What landed on the word of another target."""
    return tuple(Debt(id=each.id, flag=flag) for each in digests for flag in each.debts)


def waived(digests: Iterable[RecordSummary]) -> Mapping[str, tuple[WaivedRepeat, ...]]:
    """Id of a rule -> the experiments that it let pass for a written reason."""
    by_rule: dict[str, list[WaivedRepeat]] = {}
    for each in digests:
        for rule, reason in each.passes:
            by_rule.setdefault(rule, []).append(WaivedRepeat(id=each.id, verdict=each.verdict, reason=reason, written=True))
    return {name: tuple(passes) for name, passes in by_rule.items()}


def remarks(said: Iterable[tuple[str, str]]) -> tuple[Remark, ...]:
    """Each sentence once, with every row that it belongs to."""
    ids: dict[str, list[str]] = {}
    for row, text in said:
        ids.setdefault(text, []).append(row)
    return tuple(Remark(text=text, ids=tuple(found)) for text, found in ids.items())
