"""What the page is made of, computed from records another way."""

import pytest
from msgspec.structs import replace

from expctl.domain.experiment.finding import EvidenceKind, Finding
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.record import Origin
from expctl.domain.history.audit import Audit, CommitComparison, audited_effect, finding_text
from expctl.domain.history.kept_changes import Promise
from tests.views.page.accounts import account, some_records

RECORDS = some_records(120, 7)
MADE = account(RECORDS)


def test_every_experiment_has_one_row_the_newest_first() -> None:
    measured = [row for row in MADE.rows if not row.imported]
    assert sorted(row.id for row in MADE.rows) == sorted(each.id for each in RECORDS)
    assert [row.date for row in measured] == sorted((row.date for row in measured), reverse=True)
    assert all(row.imported for row in MADE.rows[len(measured) :])


def test_each_epoch_has_the_changes_that_it_kept() -> None:
    kept = {each.id for each in RECORDS if each.verdict is Verdict.KEEP and each.estimates and each.kind != "analysis"}
    steps = [step.id for each in MADE.epochs if each.path for step in each.path.steps]
    assert set(steps) == kept
    assert len(steps) == len(set(steps))
    for each in MADE.epochs:
        product = 1.0
        for step in each.path.steps if each.path else ():
            product *= 1 + step.effect[0] / 100
            assert step.total[0] == pytest.approx(100 * (product - 1))


def test_noise_and_predictions_are_those_of_what_was_timed() -> None:
    timed = {each.id: each for each in RECORDS if each.estimates}
    assert {each.id for each in MADE.noise} == set(timed)
    assert [each.date for each in MADE.noise] == sorted(each.date for each in MADE.noise)
    assert all(each.sd_percent == timed[each.id].estimates[0].sd_percent for each in MADE.noise)
    assert all(each.epoch > 0 for each in MADE.noise)
    told = {each.forecast.id: each for each in MADE.foretold}
    assert set(told) == {name for name, each in timed.items() if each.kind != "analysis" and each.origin is Origin.MEASURED}
    for name, each in told.items():
        prediction = timed[name].prediction
        assert prediction is not None
        assert (each.low_percent, each.high_percent) == prediction.gain_percent
        assert each.effect[0] == timed[name].estimates[0].effect_percent


def test_an_invalid_run_says_nothing_of_its_prediction() -> None:
    (first, *_) = [each for each in RECORDS if each.estimates]
    invalid = replace(first, verdict=Verdict.INVALID)
    assert account([invalid]).foretold == ()


def audit(effect: float) -> Audit:
    (estimate, *_) = next(each.estimates for each in RECORDS if each.estimates)
    measured = replace(estimate, effect_percent=effect, low_percent=effect - 1, high_percent=effect + 1)
    whole = CommitComparison(before="a" * 40, after="b" * 40, verdict=Verdict.KEEP, estimates=(measured,))
    layers = tuple(f"P{number}" for number in range(14))
    return Audit(
        target="gfx1151-static, odd",
        epoch=3,
        first="0123456789abcdef",
        head="fedcba9876543210",
        date="",
        layers=layers,
        promise=Promise(),
        whole=whole,
        falls_short=effect < 0,
    )


@pytest.mark.parametrize("effect", [12.34, -3.5, 0.0])
def test_what_an_audit_measured_is_read_from_its_finding(effect: float) -> None:
    text = finding_text(audit(effect))
    assert audited_effect(text) == ("gfx1151-static, odd", 3, (effect, effect - 1, effect + 1))
    made = account(RECORDS, [Finding(text=text, since="P1", kind=EvidenceKind.MEASURED, id="F4")])
    assert [(each.finding, each.epoch, each.effect[0]) for each in made.audited] == [("F4", 3, effect)]


@pytest.mark.parametrize(
    "text",
    [
        "Audit of cpu, epoch 1: nothing",
        "Audits help: +1.00 % [+0.50, +1.50];",
        finding_text(replace(audit(1.0), whole=CommitComparison(before="a", after="b", note="gone"))),
    ],
)
def test_other_findings_are_no_audits(text: str) -> None:
    assert audited_effect(text) is None
