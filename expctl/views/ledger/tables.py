"""Render the tables of the ledger that grow with every record: experiments, predictions, do-not-repeat rules.

The cells of a line depend on one record only, so they are rendered once and stored: `drawn` returns them escaped and separated
by tabs. What depends on other records (epoch, waived rules) is added when the table is made.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from expctl.domain.experiment.figures import effect_text
from expctl.domain.experiment.predictions import Forecast, forecast_of, outcome_text, prediction_text
from expctl.domain.ledger.rows import Line, Lines, Row, RuleRow, row_of, rule_row
from expctl.views.escape import Markdown, markdown_text
from expctl.views.ledger.markdown_table import cells

if TYPE_CHECKING:
    from expctl.domain.experiment.record import ChangedCondition, Estimate, Record
    from expctl.domain.ledger.epoch_lines import Border
    from expctl.domain.rules.match_levels import WaivedRepeat

LINE_MAX = 400
EXPERIMENT = ("id", "change", "kind", "target", "verdict", "effect on the KPI", "measured, on which baseline", "why")
FORECAST = ("id", "predicted", "came out", "hypothesis")
RULE = ("evidence", "what was tried", "state", "refused by", "it failed under these conditions")
MEASURED, STATE = EXPERIMENT.index("measured, on which baseline"), RULE.index("state")
CLOSED = "closed"
IN_EPOCH = "closed, opens with another epoch"
CORRECTED = "see [Corrections](#corrections-to-imported-rows)"
NOTED = "imported from before an analysis could land no code, see [Notes](#notes)"
BETWEEN = "\t"  # escaped text contains no tab


def drawn(record: Record) -> Lines:
    """Return a record's lines in the three tables of the ledger, as cells joined by tabs; "" where it has none."""
    forecast, rule = forecast_of(record), rule_row(record)
    return Lines(
        BETWEEN.join(_experiment(row_of(record))),
        BETWEEN.join(_forecast(forecast)) if forecast else "",
        BETWEEN.join(_rule(rule)) if rule else "",
    )


def experiment_cells(rows: Iterable[Row | Line], borders: Iterable[Border]) -> list[list[str]]:
    """Return one row of table cells per experiment, and one where the epoch of a target changes."""
    begins = {border.before: border for border in borders}
    lines = []
    for row in rows:
        if row.id in begins:
            border = begins[row.id]
            lines.append(cells((Markdown("—"), Markdown("**new epoch**"), "", border.target, "", "", "", border.text)))
        line = row.drawn.split(BETWEEN) if isinstance(row, Line) else _experiment(row)
        if row.epoch:
            line[MEASURED] += f", epoch {row.epoch}"
        lines.append(line)
    return lines


def forecast_cells(forecasts: Iterable[Forecast | Line]) -> list[list[str]]:
    """Return one row of table cells per prediction."""
    return [each.drawn.split(BETWEEN) if isinstance(each, Line) else _forecast(each) for each in forecasts]


def rule_cells(rules: Iterable[RuleRow | Line]) -> list[list[str]]:
    """Return one row of table cells per do-not-repeat rule."""
    lines = []
    for rule in rules:
        line = rule.drawn.split(BETWEEN) if isinstance(rule, Line) else _rule(rule)
        if rule.waived and line[STATE] in (CLOSED, IN_EPOCH):
            line[STATE] = markdown_text(f"{line[STATE]}; {_waived(rule.waived)}")
        lines.append(line)
    return lines


def shorten(text: str) -> str:
    """Join `text` to one line, and cut it after LINE_MAX characters."""
    joined = " ".join(text.split())
    return joined if len(joined) <= LINE_MAX else joined[: LINE_MAX - 1].rstrip() + "…"


def _experiment(row: Row) -> list[str]:
    """Return the table cells of an experiment, without its epoch."""
    target = f"{row.target} (imported)" if row.imported else row.target
    timed = "; ".join((effect_text(row.effect), *map(_at_size, row.sizes))) if row.effect else "not timed"
    effect = f"imported: {row.given}" if row.imported else timed
    again = [
        f"again on {other.target}{f' ({other.date})' if other.date else ''}: {other.verdict}, {'; '.join(other.reasons)}"
        for other in row.again
    ]
    links = (*([CORRECTED] if row.corrected else []), *([NOTED] if row.noted else []))
    reasons = "; ".join(part.rstrip(".") for part in (*row.why, *row.flags, *again))
    why = Markdown("; ".join((*([markdown_text(reasons)] if reasons else []), *links)))
    return cells((row.id, row.title, row.kind, target, row.verdict, effect, row.measured, why))


def _at_size(estimate: Estimate) -> str:
    return f"{estimate.size} {estimate.effect_percent:+.2f} %"


def _forecast(forecast: Forecast) -> list[str]:
    return cells((forecast.id, prediction_text(forecast.predicted), outcome_text(forecast), shorten(forecast.hypothesis)))


def _rule(rule: RuleRow) -> list[str]:
    """Return the table cells of a do-not-repeat rule, without the repeats that it was waived for."""
    by = f"expctl: {', '.join(rule.known_by)}" if rule.known_by else "reader"
    weak = f" (weak: {rule.weak})" if rule.weak else ""
    return cells(
        (f"{rule.id}{weak}", rule.text, _state(rule), by, "; ".join(f"{name}: {value}" for name, value in rule.conditions))
    )


def _state(rule: RuleRow) -> str:
    """Return the state of a rule as text (closed, open again, ...), according to its own record."""
    if rule.lapses:
        return "; ".join(map(_changed_condition, rule.lapses))
    return f"OPEN AGAIN on: {rule.reopened_by}" if rule.reopened_by else IN_EPOCH if rule.in_epoch else CLOSED


def _waived(waived: Iterable[WaivedRepeat]) -> str:
    return "; ".join(f"waived for {each.id} ({each.verdict}): {each.reason}" for each in waived)


def _changed_condition(lapse: ChangedCondition) -> str:
    evidence = f" ({lapse.evidence})" if lapse.evidence else ""
    return f"OPEN AGAIN: {lapse.condition}: {lapse.was} -> {lapse.now}{evidence}"
