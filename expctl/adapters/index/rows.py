"""Convert record summaries to rows of the index and back. Rows have plain columns, as a command may read 10,000 of them."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from expctl.adapters.index.columns import SURROGATES, ground_of_text, ground_text, grounds_of, json_text, json_tuple
from expctl.adapters.index.schema import COLUMNS
from expctl.domain.experiment.ids import id_order
from expctl.domain.experiment.predictions import PredictionSummary
from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.domain.history.comparability import Comparability
from expctl.domain.history.epochs import Measuring
from expctl.domain.ledger.record_summary import RecordSummary, RuleSummary

Row = tuple[Any, ...]

GROUND = COLUMNS.index("ground")
KINDS = {kind.value: kind for kind in Kind}
VERDICTS = {verdict.value: verdict for verdict in Verdict}


def row_of(summary: RecordSummary) -> Row:
    """Return `summary` as a row for the table of records, with its comparability as JSON. Lone surrogates, which UTF-8 can't
    encode, are dropped from texts.
    """
    told: Sequence[Any] = summary.told or (None,) * len(PredictionSummary._fields)
    ban: Sequence[Any] = summary.ban[1:] if summary.ban else (None,) * (len(RuleSummary._fields) - 1)
    own, *again = summary.measurings or (None,)
    row = (
        summary.id,
        id_order(summary.id)[0],
        summary.title,
        summary.kind.value,
        summary.target,
        summary.verdict.value,
        summary.imported,
        summary.date,
        summary.lands,
        summary.by_older_rule,
        summary.sd_percent,
        summary.reason,
        summary.given,
        summary.cost_percent,
        *map(json_text, (summary.timed_on, summary.debts, summary.notes, summary.corrections, summary.passes)),
        *told,
        *ban,
        *(
            summary.effect_percent,
            summary.low_percent,
            summary.high_percent,
            summary.figures,
            summary.why,
            json_text(summary.gains),
        ),
        own.base if own else None,
        ground_text(own.conditions) if own else None,
        json_text(tuple([(each.target, each.date, ground_text(each.conditions)) for each in again])),
    )
    return tuple([SURROGATES.sub("", each) if type(each) is str and not each.isascii() else each for each in row])


def summaries(index: sqlite3.Connection) -> tuple[RecordSummary, ...]:
    """Return a summary of every record in the commit that the index is made of, in order of id."""
    grounds = grounds_of(index)
    rows = index.execute("select * from summaries")
    return tuple(sorted([summary_of_row(row, grounds) for row in rows], key=lambda each: id_order(each.id)))


def summary_of_row(row: Row, grounds: Mapping[int, Comparability]) -> RecordSummary:
    """Return the summary stored in `row` of the table of records; `grounds` maps the number in its column `ground`."""
    # fmt: off
    (
        name, _, title, kind, target, verdict, imported, date, lands, by_older_rule, sd_percent,
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
        by_older_rule == 1,
        sd_percent,
        reason,
        given,
        cost_percent,
        json_tuple(timed_on),
        json_tuple(debts),
        json_tuple(notes),
        json_tuple(corrections),
        json_tuple(passes),
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
        json_tuple(gains),
    )


def measurings_of(own: tuple[str, str, str, str, str], ground: Comparability | None) -> tuple[Measuring, ...]:
    """Return the measurements of one record: its own, unless `ground` is None, and those of its replications. `own` is (id,
    target, date, baseline commit, replications as JSON); `ground` is the Comparability of its own measurement.
    """
    name, target, date, base, again = own
    first = () if ground is None else (Measuring(name, target, date, base, ground),)
    if not again:
        return first
    return first + tuple(Measuring(name, on, at, base, ground_of_text(text), True) for on, at, text in json_tuple(again))
