"""Compares what proposers predicted with what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from expctl.domain.experiment.proposal import Kind, Prediction, Verdict
from expctl.domain.experiment.record import OBJECTIVE

if TYPE_CHECKING:
    from expctl.domain.experiment.record import Record


class Forecast(Struct, frozen=True, kw_only=True):
    """A proposer's prediction and the result. `gain_percent` is the measured effect on the objective, None if not timed.

    `counts` is False if the result says nothing about the idea: it is INVALID, the code on the target is unchanged, or it is an
    analysis, which always ends in KEEP.
    """

    id: str
    target: str
    hypothesis: str
    predicted: Prediction
    verdict: Verdict
    gain_percent: float | None
    counts: bool

    @property
    def verdict_holds(self) -> bool:
        """Is the verdict the predicted one?"""
        return self.verdict is self.predicted.verdict

    @property
    def gain_holds(self) -> bool | None:
        """Did the measured gain lie in the predicted range? None without a range or a measured gain."""
        if self.predicted.gain_percent is None or self.gain_percent is None:
            return None
        low, high = self.predicted.gain_percent
        return low <= self.gain_percent <= high

    @property
    def hoped(self) -> bool:
        """Was a KEEP predicted?"""
        return self.predicted.verdict is Verdict.KEEP

    @property
    def surplus_percent(self) -> float | None:
        """The middle of the predicted range of gain minus the measured gain, in percent; None if either is missing."""
        if self.predicted.gain_percent is None or self.gain_percent is None:
            return None
        return sum(self.predicted.gain_percent) / 2 - self.gain_percent


class PredictionSummary(NamedTuple):
    """A prediction and its result in short, for lists of many records; `sentence` is the text that the brief shows.

    `counts` says that the result tells something about the idea, `hoped` that a KEEP was predicted. `surplus_percent` is the
    predicted gain minus the measured one; it and `gain_holds` are None if either is missing.
    """

    counts: bool
    verdict_holds: bool
    gain_holds: bool | None
    hoped: bool
    surplus_percent: float | None
    sentence: str


class Accuracy(Struct, frozen=True, kw_only=True):
    """How many predictions came true: of verdicts, of ranges of gain and of KEEPs, each with the number of such predictions.
    `optimism_percent` is the median of predicted gain (middle of the range) minus measured gain.
    """

    verdicts: int = 0
    verdict_hits: int = 0
    gains: int = 0
    gain_hits: int = 0
    keeps: int = 0
    keep_hits: int = 0
    optimism_percent: float = 0.0


def forecast_of(record: Record) -> Forecast | None:
    """Return the prediction of a record with its result; None for a record without a prediction, or an imported one."""
    if record.prediction is None or not record.base:
        return None
    gain = next((each.effect_percent for each in record.estimates if each.size == OBJECTIVE), None)
    return Forecast(
        id=record.id,
        target=record.target,
        hypothesis=record.hypothesis,
        predicted=record.prediction,
        verdict=record.verdict,
        gain_percent=gain,
        counts=record.kind is not Kind.ANALYSIS and record.verdict is not Verdict.INVALID and not record.left_open,
    )


def accuracy_of(found: Iterable[Forecast | PredictionSummary]) -> Accuracy:
    """Count the predictions that came true, among those with `counts`: their result says something about the idea."""
    counted = [each for each in found if each.counts]
    ranged = [each for each in counted if each.gain_holds is not None]
    keeps = [each for each in counted if each.hoped]
    surplus = [each.surplus_percent for each in ranged if each.surplus_percent is not None]
    return Accuracy(
        verdicts=len(counted),
        verdict_hits=sum(each.verdict_holds for each in counted),
        gains=len(ranged),
        gain_hits=sum(bool(each.gain_holds) for each in ranged),
        keeps=len(keeps),
        keep_hits=sum(each.verdict_holds for each in keeps),
        optimism_percent=optimism(surplus),
    )


def accuracy_text(accuracy: Accuracy) -> str:
    """Return an accuracy as text, e.g. `5 of 6 verdicts as predicted (2 of 3 predicted KEEPs were kept); ...`."""
    if not accuracy.verdicts:
        return "no prediction has an outcome yet"
    kept = f" ({accuracy.keep_hits} of {accuracy.keeps} predicted KEEPs were kept)" if accuracy.keeps else ""
    text = f"{accuracy.verdict_hits} of {accuracy.verdicts} verdicts as predicted{kept}"
    if not accuracy.gains:
        return text
    off = f"{abs(accuracy.optimism_percent):.1f} points too {'high' if accuracy.optimism_percent >= 0 else 'low'}"
    return f"{text}; {accuracy.gain_hits} of {accuracy.gains} gains in the predicted range, whose middle is in the median {off}"


def prediction_text(prediction: Prediction) -> str:
    """Return a prediction as text, e.g. `KEEP, +1.0 to +3.0 %: fewer LDS passes`."""
    gain = f", {prediction.gain_percent[0]:+.1f} to {prediction.gain_percent[1]:+.1f} %" if prediction.gain_percent else ""
    return f"{prediction.verdict}{gain}{f': {prediction.text}' if prediction.text else ''}"


def outcome_text(forecast: Forecast) -> str:
    """Return the result of a predicted experiment as text, e.g. `KEEP, +2.30 %: as predicted, gain in range`."""
    gain = f", {forecast.gain_percent:+.2f} %" if forecast.gain_percent is not None else ""
    if not forecast.counts:
        return f"{forecast.verdict}{gain}: not counted"
    range_ = {True: ", gain in range", False: ", gain out of range", None: ""}[forecast.gain_holds]
    return f"{forecast.verdict}{gain}: {'as predicted' if forecast.verdict_holds else 'NOT as predicted'}{range_}"


def optimism(surplus: Sequence[float]) -> float:
    """Return the median of `surplus`, 0 if it is empty. The module `statistics` is not used, as importing it takes too long."""
    ordered, middle = sorted(surplus), len(surplus) // 2
    if not ordered:
        return 0.0
    return round(ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2, 2)
