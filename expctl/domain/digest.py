"""A record reduced to what a summary of all records needs: a few hundred bytes, so that ten thousand are soon folded."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from expctl.domain.epochs import Epochs, Measuring, measurings
from expctl.domain.evidence import OBJECTIVE
from expctl.domain.experiment import Kind, Verdict, id_order
from expctl.domain.ledger_baseline import Baseline, ImportedBaseline, baselines, imported_baselines, lands
from expctl.domain.ledger_rows import UNMEASURED, RuleRow, rule_rows
from expctl.domain.predictions import Forecast, forecast_of
from expctl.domain.record import Record
from expctl.domain.text import one_line

TEXT_MAX = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """Of one record. `timed_on` are the targets on which it or a replication was timed, `lands` whether it moved the branch,
    `reason` the first of an INCONCLUSIVE one, `sd_percent` that of one round's objective (0: not timed), `debt` its flag of
    a home that has not measured it, `given` the baseline's figures that it was imported with.
    """

    id: str
    title: str
    kind: Kind
    target: str
    verdict: Verdict
    imported: bool
    date: str
    reason: str
    lands: bool
    timed_on: tuple[str, ...] = ()
    sd_percent: float = 0.0
    debt: str = ""
    given: ImportedBaseline | None = None
    forecast: Forecast | None = None
    rule: RuleRow | None = None
    measurings: tuple[Measuring, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenNoise:
    """What the experiments of one epoch showed without a calibration: the median sd of one round's objective."""

    target: str
    epoch: int
    sd_percent: float
    experiments: int


def digest_of(record: Record) -> Digest:
    """Reduce one record."""
    objective = next((each for each in record.estimates if each.size == OBJECTIVE), None)
    forecast = forecast_of(record)
    rule = next(iter(rule_rows((record,))), None)
    return Digest(
        id=record.id,
        title=one_line(record.title, TEXT_MAX),
        kind=record.kind,
        target=record.target,
        verdict=record.verdict,
        imported=not record.base and record.history is not None,
        date=record.date,
        reason=one_line(record.reasons[0], TEXT_MAX) if record.reasons and record.verdict is Verdict.INCONCLUSIVE else "",
        lands=lands(record),
        timed_on=tuple(each.target for each in baselines((record,))),
        sd_percent=objective.sd_percent if objective else 0.0,
        debt=next((flag for flag in record.flags if flag.startswith(UNMEASURED)), ""),
        given=next(iter(imported_baselines((record,))), None),
        forecast=replace(forecast, hypothesis=one_line(forecast.hypothesis, TEXT_MAX)) if forecast else None,
        rule=replace(rule, text=one_line(rule.text, TEXT_MAX)) if rule else None,
        measurings=measurings(record),
    )


def in_order(digests: Iterable[Digest]) -> tuple[Digest, ...]:
    """In the order of the branch: by date, then by id. What folds digests below wants them so."""
    return tuple(sorted(digests, key=lambda each: (each.date, id_order(each.id))))


def standing(digests: Sequence[Digest]) -> Mapping[str, Digest]:
    """By target: whose samples show its baseline, which are the newest."""
    found: dict[str, Digest] = {}
    for each in reversed(digests):
        for target in each.timed_on:
            found.setdefault(target, each)
    return found


def baseline_of(target: str, shown_by: Record, digests: Sequence[Digest]) -> Baseline:
    """The baseline that the full record `shown_by` shows on `target`, placed among all the others."""
    alone = next(each for each in baselines((shown_by,)) if each.target == target)
    at = (shown_by.date, id_order(shown_by.id))
    landed = [((each.date, id_order(each.id)), each.id) for each in digests if each.lands]
    before = next((name for position, name in reversed(landed) if position < at), "")
    return replace(alone, since=alone.since or before, later=tuple(name for position, name in landed if position > at))


def given_baselines(digests: Iterable[Digest]) -> tuple[ImportedBaseline, ...]:
    """The imported figures of every target that was never timed here."""
    known = sorted(digests, key=lambda each: id_order(each.id))
    timed = {target for each in known for target in each.timed_on}
    last = {each.given.target: each.given for each in known if each.given}
    return tuple(last[target] for target in sorted(last) if target not in timed)


def seen_noise(target: str, digests: Iterable[Digest], epochs: Epochs) -> SeenNoise | None:
    """What the last epoch of `target` showed; None where nothing was timed in it."""
    last = epochs.last.get(target)
    found = [each.sd_percent for each in digests if each.sd_percent and last and epochs.of.get(each.id) is last]
    if last is None or not found:
        return None
    return SeenNoise(target=target, epoch=last.number, sd_percent=statistics.median(found), experiments=len(found))
