"""Digests as rows of the index: plain columns, for ten thousand are read for one command. Lists stand in one column as JSON."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from expctl.adapters.index.columns import HALVES, ground_of_text, ground_text, grounds_of, list_text, listed
from expctl.adapters.index.schema import COLUMNS
from expctl.domain.experiment.proposal import Kind, Verdict, id_order
from expctl.domain.history.comparability import Comparability
from expctl.domain.history.epochs import Measuring
from expctl.domain.ledger.record_summary import PredictionSummary, RecordSummary, RuleSummary

Row = tuple[Any, ...]

GROUND = COLUMNS.index("ground")
KINDS = {kind.value: kind for kind in Kind}
VERDICTS = {verdict.value: verdict for verdict in Verdict}


def row_of(digest: RecordSummary) -> Row:
    """The row of a digest, its ground as text. What no view would show of its texts is left out."""
    told: Sequence[Any] = digest.told or (None,) * len(PredictionSummary._fields)
    ban: Sequence[Any] = digest.ban[1:] if digest.ban else (None,) * (len(RuleSummary._fields) - 1)
    own, *again = digest.measurings or (None,)
    row = (
        digest.id,
        id_order(digest.id)[0],
        digest.title,
        digest.kind.value,
        digest.target,
        digest.verdict.value,
        digest.imported,
        digest.date,
        digest.lands,
        digest.timed_once,
        digest.sd_percent,
        digest.reason,
        digest.given,
        digest.cost_percent,
        *map(list_text, (digest.timed_on, digest.debts, digest.notes, digest.corrections, digest.passes)),
        *told,
        *ban,
        *(digest.effect_percent, digest.low_percent, digest.high_percent, digest.figures, digest.why, list_text(digest.gains)),
        own.base if own else None,
        ground_text(own.conditions) if own else None,
        list_text(tuple([(each.target, each.date, ground_text(each.conditions)) for each in again])),
    )
    return tuple([HALVES.sub("", each) if type(each) is str and not each.isascii() else each for each in row])


def digests(index: sqlite3.Connection) -> tuple[RecordSummary, ...]:
    """Every record in order of id."""
    grounds = grounds_of(index)
    rows = index.execute("select * from digests")
    return tuple(sorted([digest_of_row(row, grounds) for row in rows], key=lambda each: id_order(each.id)))


def digest_of_row(row: Row, grounds: Mapping[int, Comparability]) -> RecordSummary:
    """The digest of a row of COLUMNS, its ground as a number."""
    # fmt: off
    (
        name, _, title, kind, target, verdict, imported, date, lands, timed_once, sd_percent,
        reason, given, cost_percent, timed_on, debts, notes, corrections, passes,
        counts, verdict_holds, gain_holds, hoped, surplus_percent, told,
        known, lapsed, waits, in_epoch, opened, forbids, ban, tried, failed, opens,
        effect_percent, low_percent, high_percent, figures, why, gains,
        base, ground, again,
    ) = row
    # fmt: on
    return RecordSummary(
        name,
        title,
        KINDS[kind],
        target,
        VERDICTS[verdict],
        imported == 1,
        date,
        lands == 1,
        timed_once == 1,
        sd_percent,
        reason,
        given,
        cost_percent,
        listed(timed_on),
        listed(debts),
        listed(notes),
        listed(corrections),
        listed(passes),
        None
        if counts is None
        else PredictionSummary(
            counts == 1, verdict_holds == 1, None if gain_holds is None else gain_holds == 1, hoped == 1, surplus_percent, told
        ),
        None
        if known is None
        else RuleSummary(name, known == 1, lapsed == 1, waits == 1, in_epoch == 1, opened, forbids, ban, tried, failed, opens),
        measurings_of((name, target, date, base, again), None if ground is None else grounds[ground]),
        effect_percent,
        low_percent,
        high_percent,
        figures,
        why,
        listed(gains),
    )


def measurings_of(own: tuple[str, str, str, str, str], ground: Comparability | None) -> tuple[Measuring, ...]:
    """The measurings of a record: of the columns name, target, date, base and again, and the ground of its own."""
    name, target, date, base, again = own
    first = () if ground is None else (Measuring(name, target, date, base, ground),)
    if not again:
        return first
    return first + tuple(Measuring(name, on, at, base, ground_of_text(text), True) for on, at, text in listed(again))
