"""A record in short: as much of it as lists and totals over all records need.

Named tuples are created in an eighth of the time of dataclasses, and one command creates ten thousand.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec import Struct

from expctl.domain.experiment.figures import states_text
from expctl.domain.experiment.ids import id_order
from expctl.domain.experiment.predictions import PredictionSummary, forecast_of
from expctl.domain.experiment.proposal import Kind, Mode, Verdict
from expctl.domain.experiment.record import OBJECTIVE, Origin, Record
from expctl.domain.history.baselines import ImportedBaseline, Landing, given_of, lands, timed_on
from expctl.domain.history.epochs import Epochs, Measuring, measurings
from expctl.domain.ledger.rows import DEBTS, Row, rule_row, why_of
from expctl.domain.ledger.sentences import TEXT_MAX, forecast_sentence, rule_sentence
from expctl.domain.protocol.boundaries import is_older
from expctl.domain.text import one_line

Interval = tuple[float, float, float]
"""An effect on the objective in percent, and the ends of its 95 % interval."""


class RuleSummary(NamedTuple):
    """A do-not-repeat rule in short.

    - `known`: expctl recognises a repeat by itself. `lapsed`: the record states that a condition has changed.
    - `waits`: the record says what would reopen the rule. `opened`: that text, or else the conditions that have changed.
    - `in_epoch`: the rule ends when figures are no longer comparable.
    - `text` and `sentence` are shown in the brief; `tried`, `why` and `opens` in the ledger.
    """

    id: str
    known: bool
    lapsed: bool
    waits: bool
    in_epoch: bool
    opened: str
    text: str
    sentence: str
    tried: str
    why: str
    opens: str


class RecordSummary(NamedTuple):
    """A record in short: what ledger, brief and status show of it.

    - `timed_on`: targets on which the experiment or a replication was timed. `by_older_rule`: not decided by today's.
    - `lands`: it moved the branch. `reason`: the first reason of an INCONCLUSIVE verdict. `why`: the verdict in a few words.
    - `effect_percent`: the effect on the objective; `low_percent`, `high_percent`: its 95 % interval (None: not timed).
    - `sd_percent`: the standard deviation of one round's objective (0: not timed).
    - `gains`: the effect in each of `measurings`, if it moved the branch (None: not timed).
    - `debts`: remarks about targets on which the change has yet to be measured or built.
    - `given`: hand-written figures of an imported kept change; `figures`: those of any imported record.
    - `cost_percent`: the loss of a kept simplification (None if it is none). `told`: the prediction. `ban`: the rule it left.
    - `passes`: (rule, written reason) of each do-not-repeat rule that matched and let it run nevertheless.
    """

    id: str
    title: str
    kind: Kind
    target: str
    verdict: Verdict
    imported: bool
    date: str
    lands: bool
    by_older_rule: bool
    sd_percent: float
    reason: str
    given: str | None
    cost_percent: float | None
    timed_on: tuple[str, ...]
    debts: tuple[str, ...]
    notes: tuple[str, ...]
    corrections: tuple[str, ...]
    passes: tuple[tuple[str, str], ...]
    told: PredictionSummary | None
    ban: RuleSummary | None
    measurings: tuple[Measuring, ...]
    effect_percent: float | None
    low_percent: float | None
    high_percent: float | None
    figures: str
    why: str
    gains: tuple[Interval | None, ...]

    @property
    def position(self) -> tuple[str, tuple[int, str]]:
        """Sort key in the history of the branch: by date, then by experiment id."""
        return (self.date, id_order(self.id))

    @property
    def row(self) -> Row:
        """The experiment's row in ledger.md."""
        return Row(
            id=self.id,
            title=self.title,
            target=self.target,
            verdict=self.verdict,
            imported=self.imported,
            date=self.date,
            effect_percent=self.effect_percent,
            low_percent=self.low_percent,
            high_percent=self.high_percent,
            given=self.figures,
            why=self.why,
        )


class SeenNoise(Struct, frozen=True, kw_only=True):
    """The noise in comparable experiments of a target: the median of their standard deviations of one round's objective."""

    target: str
    epoch: int
    sd_percent: float
    experiments: int


def summary_of(record: Record) -> RecordSummary:
    """Return a record in short."""
    objective = next((each for each in record.estimates if each.size == OBJECTIVE), None)
    return RecordSummary(
        id=record.id,
        title=record.title,
        kind=record.kind,
        target=record.target,
        verdict=record.verdict,
        imported=record.origin is Origin.IMPORTED,
        date=record.date,
        lands=lands(record),
        by_older_rule=bool(record.estimates) and (record.procedure is None or is_older(record.procedure.boundaries)),
        sd_percent=objective.sd_percent if objective else 0.0,
        reason=one_line(record.reasons[0], TEXT_MAX) if record.reasons and record.verdict is Verdict.INCONCLUSIVE else "",
        given=given_of(record),
        cost_percent=_cost_percent(record),
        timed_on=timed_on(record),
        debts=tuple(flag for flag in record.flags if flag.startswith(DEBTS)),
        notes=(*record.notes, *filter(None, map(states_text, record.times))),
        corrections=record.history.corrections if record.history else (),
        passes=tuple((each.rule, each.reason) for each in record.waivers if each.written),
        told=_told(record),
        ban=_ban(record),
        measurings=measurings(record),
        effect_percent=objective.effect_percent if objective else None,
        low_percent=objective.low_percent if objective else None,
        high_percent=objective.high_percent if objective else None,
        figures=record.history.result if record.history and record.origin is Origin.IMPORTED else "",
        why=why_of(record),
        gains=_gains(record) if lands(record) else (),
    )


def in_order(digests: Iterable[RecordSummary]) -> tuple[RecordSummary, ...]:
    """Return summaries sorted by date, then id: the order in which experiments moved the branch."""
    return tuple(sorted(digests, key=lambda each: each.position))


def standing(digests: Iterable[RecordSummary]) -> Mapping[str, str]:
    """Return target -> id of the last experiment that was timed on it. `digests` must be in branch order."""
    return {target: each.id for each in digests for target in each.timed_on}


def landings(digests: Iterable[RecordSummary]) -> tuple[Landing, ...]:
    """Return the experiments that moved the branch, in the order of `digests`."""
    return tuple(Landing(each.date, each.id) for each in digests if each.lands)


def given_baselines(digests: Iterable[RecordSummary]) -> tuple[ImportedBaseline, ...]:
    """Return the latest times that an imported ledger gives for each target that expctl has never timed itself."""
    known = sorted(digests, key=lambda each: id_order(each.id))
    timed = {target for each in known for target in each.timed_on}
    last = {each.target: each for each in known if each.given is not None and each.target not in timed}
    return tuple(
        ImportedBaseline(target=target, id=each.id, title=each.title, given=each.given or "", date=each.date)
        for target, each in sorted(last.items())
    )


def seen_noise(target: str, digests: Iterable[RecordSummary], epochs: Epochs) -> SeenNoise | None:
    """Return the noise in the last epoch (group of comparable measurements) of `target`; None if nothing was timed in it."""
    import statistics

    last = epochs.last.get(target)
    found = [each.sd_percent for each in digests if each.sd_percent and last and epochs.of.get(each.id) is last]
    if last is None or not found:
        return None
    return SeenNoise(target=target, epoch=last.number, sd_percent=statistics.median(found), experiments=len(found))


def _gains(record: Record) -> tuple[Interval | None, ...]:
    measured = (record.estimates, *(each.estimates for each in record.replications))
    objectives = [next((each for each in estimates if each.size == OBJECTIVE), None) for estimates in measured]
    return tuple((each.effect_percent, each.low_percent, each.high_percent) if each else None for each in objectives)


def _cost_percent(record: Record) -> float | None:
    if record.verdict is not Verdict.KEEP or record.kind is Kind.ANALYSIS:
        return None
    if record.procedure is None or record.procedure.mode is not Mode.SIMPLIFY:
        return None
    return next((max(0.0, -each.effect_percent) for each in record.estimates if each.size == OBJECTIVE), None)


def _told(record: Record) -> PredictionSummary | None:
    forecast = forecast_of(record)
    if forecast is None:
        return None
    return PredictionSummary(
        counts=forecast.counts,
        verdict_holds=forecast.verdict_holds,
        gain_holds=forecast.gain_holds,
        hoped=forecast.hoped,
        surplus_percent=forecast.surplus_percent,
        sentence=forecast_sentence(forecast),
    )


def _ban(record: Record) -> RuleSummary | None:
    row = rule_row(record)
    if row is None:
        return None
    return RuleSummary(
        id=row.id,
        known=bool(row.known_by),
        lapsed=bool(row.lapses),
        waits=bool(row.reopened_by),
        in_epoch=row.in_epoch,
        opened=row.reopened_by or "; ".join(f"{each.condition}: {each.was} -> {each.now}" for each in row.lapses),
        text=one_line(row.text, TEXT_MAX),
        sentence=rule_sentence(row),
        tried=row.tried,
        why=row.why,
        opens=row.opens,
    )
