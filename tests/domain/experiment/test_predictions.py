"""Predictions against outcomes: what is a hit, what is not counted."""

import pytest
from msgspec.structs import replace

from expctl.domain.experiment.predictions import Forecast, accuracy_of, accuracy_text, forecast_of, outcome_text
from expctl.domain.experiment.proposal import Kind, Prediction, Verdict
from expctl.domain.experiment.record import Estimate, Origin, Record

GAIN = Estimate(size="objective", effect_percent=2.3, low_percent=1.7, high_percent=2.9, sd_percent=0.4, rounds=10)
RECORD = Record(
    id="P1",
    title="t",
    kind=Kind.PERF,
    origin=Origin.MEASURED,
    target="cpu",
    verdict=Verdict.KEEP,
    reasons=("r",),
    base="b",
    hypothesis="h",
    prediction=Prediction(verdict=Verdict.KEEP, gain_percent=(1.0, 3.0)),
    estimates=(GAIN,),
)


def prediction_of(record: Record) -> Forecast:
    found = forecast_of(record)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (RECORD, "KEEP, +2.30 %: as predicted, gain in range"),
        (replace(RECORD, prediction=Prediction(verdict=Verdict.KEEP)), "KEEP, +2.30 %: as predicted"),
        (
            replace(RECORD, prediction=Prediction(verdict=Verdict.KEEP, gain_percent=(3, 5))),
            "KEEP, +2.30 %: as predicted, gain out of range",
        ),
        (replace(RECORD, verdict=Verdict.REJECT, estimates=()), "REJECT: NOT as predicted"),
        (replace(RECORD, verdict=Verdict.INVALID), "INVALID, +2.30 %: not counted"),
        (replace(RECORD, kind=Kind.ANALYSIS), "KEEP, +2.30 %: not counted"),
        (replace(RECORD, verdict=Verdict.INCONCLUSIVE, estimates=()), "INCONCLUSIVE: not counted"),
    ],
)
def test_an_outcome_in_words(record: Record, words: str) -> None:
    assert outcome_text(prediction_of(record)) == words


def test_nothing_predicted_or_nothing_measured_is_no_forecast() -> None:
    assert forecast_of(replace(RECORD, prediction=None)) is None
    assert forecast_of(replace(RECORD, base="", origin=Origin.IMPORTED)) is None


def test_the_hit_rate_counts_verdicts_gains_and_predicted_keeps() -> None:
    missed = replace(RECORD, verdict=Verdict.REJECT, prediction=Prediction(verdict=Verdict.KEEP, gain_percent=(4.0, 6.0)))
    wild = replace(missed, prediction=Prediction(verdict=Verdict.KEEP, gain_percent=(40.0, 60.0)))
    noop = replace(RECORD, verdict=Verdict.NO_OP, estimates=(), prediction=Prediction(verdict=Verdict.NO_OP))
    invalid = replace(RECORD, verdict=Verdict.INVALID)
    accuracy = accuracy_of(map(prediction_of, (RECORD, missed, noop, invalid)))
    assert (accuracy.verdicts, accuracy.verdict_hits) == (3, 2)
    assert (accuracy.keeps, accuracy.keep_hits) == (2, 1)
    assert (accuracy.gains, accuracy.gain_hits) == (2, 1)
    assert accuracy.optimism_percent == pytest.approx((-0.3 + 2.7) / 2)
    assert accuracy_text(accuracy) == (
        "2 of 3 verdicts as predicted (1 of 2 predicted KEEPs were kept); 1 of 2 gains in the predicted range,"
        " whose middle is in the median 1.2 points too high"
    )
    assert accuracy_of(map(prediction_of, (RECORD, missed, wild))).optimism_percent == pytest.approx(2.7)
    assert accuracy_text(accuracy_of(())) == "no prediction has an outcome yet"
