"""Draw the rows of the ledger's Markdown tables. A row depends on its record only: cells aren't padded to a common width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from expctl.domain.text import plain_text
from expctl.views.escape import Markdown, markdown_text

if TYPE_CHECKING:
    from expctl.domain.ledger.kept_gains import Step
    from expctl.domain.ledger.record_summary import Interval
    from expctl.domain.ledger.rows import Row
    from expctl.domain.ledger.totals import LedgerRule

CELL_MAX, LINE_MAX = 80, 160
TITLE_MAX, TARGET_MAX = 48, 16
TRIED_MAX, FAILED_MAX, OPENS_MAX = 50, 42, 44


def cell(text: object, limit: int = CELL_MAX) -> Markdown:
    """Escape `text` and cut it to `limit` characters of Markdown; `-` if it is empty. Markdown is returned unchanged."""
    if isinstance(text, Markdown):
        return text or Markdown("-")
    plain = plain_text(str(text))
    escaped, kept = markdown_text(plain), limit
    while len(escaped) > limit:
        kept -= 1 if kept == limit else (len(escaped) - limit + 1) // 2  # an escaped letter takes two characters
        escaped = markdown_text(plain[:kept].rstrip() + "…")
    return Markdown(escaped or "-")


def line(*cells: object) -> Markdown:
    """Return one row of a Markdown table with these cells, escaped and cut to the usual width."""
    return Markdown(f"| {' | '.join(map(cell, cells))} |")


def head(*names: object) -> Markdown:
    """Return the header row of a table and the delimiter row below it."""
    return Markdown(f"{line(*names)}\n|{' --- |' * len(names)}")


def link(experiment: str) -> Markdown:
    """Return a link to an experiment's folder. Ids need no escaping."""
    return Markdown(f"[{experiment}](experiments/{experiment})")


def measured_rows(found: Sequence[Row]) -> Markdown:
    """Return Markdown table rows, one for each measured experiment."""
    return Markdown("\n".join(map(measured_row, found)))


def imported_rows(found: Sequence[Row]) -> Markdown:
    """Return Markdown table rows, one for each imported experiment."""
    return Markdown("\n".join(map(imported_row, found)))


def rule_rows(found: Sequence[LedgerRule]) -> Markdown:
    """Return Markdown table rows, one for each do-not-repeat rule."""
    return Markdown("\n".join(map(rule_row, found)))


def step_rows(found: Sequence[Step]) -> Markdown:
    """Return Markdown table rows, one for each kept change: experiment, title, its effect, effect of all up to it."""
    return Markdown("\n".join(map(step_row, found)))


def measured_row(row: Row) -> Markdown:
    """Return the table row of a measured experiment, at most LINE_MAX characters: its reason is cut to fit."""
    percent, low, high = row.effect_percent, row.low_percent, row.high_percent
    effect = Markdown("-") if percent is None or low is None or high is None else effect_text((percent, low, high))
    cells = (link(row.id), cell(row.verdict), cell(row.title, TITLE_MAX), cell(row.target, TARGET_MAX), effect)
    start = f"| {' | '.join(cells)} | "
    return Markdown(f"{start}{cell(row.why, min(CELL_MAX, LINE_MAX - len(start) - 2))} |")


def imported_row(row: Row) -> Markdown:
    """Return the table row of an imported experiment, with the figures that the old ledger gave."""
    return line(link(row.id), row.verdict, row.title, row.target, row.given, row.why)


def rule_row(rule: LedgerRule) -> Markdown:
    """Return the table row of a do-not-repeat rule; `(you)` marks one that only a reader can check: its patch is unknown."""
    by = rule.id if rule.known else f"{rule.id} (you)"
    return line(by, cell(rule.tried, TRIED_MAX), cell(rule.why, FAILED_MAX), cell(rule.opens, OPENS_MAX))


def step_row(step: Step) -> Markdown:
    """Return the table row of a kept change, with its own effect and that of all changes up to it."""
    return line(link(step.id), cell(step.title, TITLE_MAX), effect_text(step.effect), gain_text(step.total))


def effect_text(effect: Interval) -> Markdown:
    """Return an effect with its interval, e.g. `+8.61 % [+7.90, +9.32]`."""
    percent, low, high = effect
    return Markdown(f"{percent:+.2f} % [{low:+.2f}, {high:+.2f}]")


def gain_text(effect: Interval) -> Markdown:
    """Return the joint effect of several changes with its interval, e.g. `**+19.5 %** [+18.6, +20.4]`."""
    percent, low, high = effect
    return Markdown(f"**{percent:+.1f} %** [{low:+.1f}, {high:+.1f}]")
