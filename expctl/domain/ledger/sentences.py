"""Sentences of the brief about a record's do-not-repeat rule and its prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from expctl.domain.experiment.predictions import Forecast, outcome_text, prediction_text
from expctl.domain.text import one_line

if TYPE_CHECKING:
    from expctl.domain.ledger.rows import RuleRow

TEXT_MAX, CONDITIONS_MAX = 200, 160


def rule_sentence(rule: RuleRow) -> str:
    """Return a do-not-repeat rule in one sentence, e.g. `P17, refused by expctl: wider tiles: slower (failed under cc 1.0)`."""
    under = one_line(", ".join(f"{name} {value}" for name, value in rule.conditions), CONDITIONS_MAX)
    failed = f" (failed under {under})" if under else ""
    return f"{rule.id}, refused by {'expctl' if rule.known_by else 'you'}: {one_line(rule.text, TEXT_MAX)}{failed}"


def forecast_sentence(forecast: Forecast) -> str:
    """Return a prediction and its result, e.g. `P3 on cpu: predicted KEEP, +1.0 to +3.0 %; came REJECT, -1.20 %: ...`."""
    return (
        f"{forecast.id} on {forecast.target}: predicted {one_line(prediction_text(forecast.predicted), TEXT_MAX)}; came"
        f" {outcome_text(forecast)}. Hypothesis: {one_line(forecast.hypothesis, TEXT_MAX)}"
    )
