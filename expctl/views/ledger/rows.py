"""Make the rows of the ledger's Markdown tables.

A row depends on its own record only: cells aren't padded to a common width, so that one new record changes one line.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from expctl.domain.experiment.figures import interval_text
from expctl.domain.text import plain_text
from expctl.views.escape import Markdown, markdown_text

if TYPE_CHECKING:
    from expctl.domain.ledger.kept_gains import Step
    from expctl.domain.ledger.record_summary import Interval
    from expctl.domain.ledger.rows import Row
    from expctl.domain.ledger.totals import LedgerRule

CELL_MAX, LINE_MAX = 80, 160
TITLE_MAX, TARGET_MAX = 48, 16
ROWS_KEPT = 1 << 18  # who lands results renders the ledger for each, and a row depends on its own record only
TRIED_MAX, FAILED_MAX, OPENS_MAX = 50, 42, 44


def cell(text: object, limit: int = CELL_MAX) -> Markdown:
    """Return `text` as a table cell: escaped and cut to `limit` characters of Markdown; `-` if it is empty. A `Markdown` is
    returned unchanged.
    """
    if isinstance(text, Markdown):
        return text or Markdown("-")
    plain = plain_text(str(text))
    escaped, kept = markdown_text(plain), limit
    while len(escaped) > limit:
        kept -= 1 if kept == limit else (len(escaped) - limit + 1) // 2  # an escaped letter takes two characters
        escaped = markdown_text(plain[:kept].rstrip() + "…")
    return Markdown(escaped or "-")


def line(*cells: object) -> Markdown:
    """Return one row of a Markdown table with these cells, each escaped and cut to CELL_MAX characters."""
    return Markdown(f"| {' | '.join(map(cell, cells))} |")


def head(*names: object) -> Markdown:
    """Return the header row of a Markdown table with these column heads, and the delimiter row below it."""
    return Markdown(f"{line(*names)}\n|{' --- |' * len(names)}")


def link(experiment: str) -> Markdown:
    """Return a Markdown link to an experiment's folder; `experiment` is its id, which needs no escaping."""
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
    """Return Markdown table rows, one for each kept change: id, title, its effect, and the effect of all kept so far."""
    return Markdown("\n".join(map(step_row, found)))


@functools.lru_cache(maxsize=ROWS_KEPT)
def measured_row(row: Row) -> Markdown:
    """Return the table row of a measured experiment, at most LINE_MAX characters long: its last cell, the reason, is cut."""
    percent, low, high = row.effect_percent, row.low_percent, row.high_percent
    effect = Markdown("-") if percent is None or low is None or high is None else effect_text((percent, low, high))
    cells = (link(row.id), cell(row.verdict), cell(row.title, TITLE_MAX), cell(row.target, TARGET_MAX), effect)
    start = f"| {' | '.join(cells)} | "
    return Markdown(f"{start}{cell(row.why, min(CELL_MAX, LINE_MAX - len(start) - 2))} |")


@functools.lru_cache(maxsize=ROWS_KEPT)
def imported_row(row: Row) -> Markdown:
    """Return the table row of an imported experiment, with the figures as the ledger kept by hand gave them."""
    return line(link(row.id), row.verdict, row.title, row.target, row.given, row.why)


@functools.lru_cache(maxsize=ROWS_KEPT)
def rule_row(rule: LedgerRule) -> Markdown:
    """Return the table row of a do-not-repeat rule. `(you)` marks a rule that only a reader can apply, because expctl doesn't
    know the patch that failed.
    """
    by = rule.id if rule.known else f"{rule.id} (you)"
    return line(by, cell(rule.tried, TRIED_MAX), cell(rule.why, FAILED_MAX), cell(rule.opens, OPENS_MAX))


def step_row(step: Step) -> Markdown:
    """Return the table row of a kept change, with its own effect and the effect of all changes kept so far."""
    return line(link(step.id), cell(step.title, TITLE_MAX), effect_text(step.effect), gain_text(step.total))


def effect_text(effect: Interval) -> Markdown:
    """Return an effect with its interval, e.g. `+8.61 % [+7.90, +9.32]`, whose halves differ in width."""
    return Markdown(interval_text(*effect))


def gain_text(effect: Interval) -> Markdown:
    """Return the effect of several changes together, with its interval, e.g. `**+19.5 %** [+18.6, +20.4]`."""
    percent, low, high = effect
    return Markdown(f"**{percent:+.1f} %** [{low:+.1f}, {high:+.1f}]")
