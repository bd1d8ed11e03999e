"""What the HTML page of `expctl report` is made of: the ledger, and of every record what its plots show. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from expctl.domain.experiment.ids import id_order
from expctl.domain.experiment.predictions import Forecast, forecast_of
from expctl.domain.experiment.record import OBJECTIVE
from expctl.domain.history.audit import audited_effect
from expctl.domain.history.epochs import Epoch, epochs_from
from expctl.domain.ledger.kept_gains import Path, kept_gains
from expctl.domain.ledger.record_summary import Interval, RecordSummary, in_order
from expctl.domain.ledger.totals import landed_of

if TYPE_CHECKING:
    from expctl.domain.experiment.finding import Finding
    from expctl.domain.experiment.record import Record
    from expctl.domain.ledger.model import Ledger
    from expctl.domain.ledger.rows import Row
    from expctl.domain.ledger.totals import LedgerRule
    from expctl.domain.queue.dependency_answer import Profile
    from expctl.domain.verdict.plot_data import Picture
    from expctl.domain.verdict.spread import SideSpread


class EpochPath(Struct, frozen=True, kw_only=True):
    """An epoch of a target, begun with the experiment `since`, and the changes kept in it (`path`, None without any)."""

    target: str
    number: int
    since: str
    date: str
    path: Path | None


class NoiseSeen(Struct, frozen=True, kw_only=True):
    """The noise in one timed experiment: the standard deviation of one round's objective, in percent. `epoch` 0: unknown."""

    id: str
    target: str
    date: str
    epoch: int
    sd_percent: float


class Foretold(Struct, frozen=True, kw_only=True):
    """A predicted range of gain in percent, and the measured effect on the objective with its 95 % interval."""

    forecast: Forecast
    low_percent: float
    high_percent: float
    effect: Interval


class Audited(Struct, frozen=True, kw_only=True):
    """What an audit measured for all kept changes of an epoch together, and the id of the finding that records it."""

    target: str
    epoch: int
    finding: str
    effect: Interval


class Account(Struct, frozen=True, kw_only=True):
    """The contents of the page, at the commit `head`. `rows` are all experiments, newest first, imported ones last.

    `epochs` and `noise` are in the order of time, `foretold` newest first; `rules` are all do-not-repeat rules, `since` the
    lines of `expctl report --since`, if they were asked for.
    """

    head: str
    branch: str
    ledger: Ledger
    rows: tuple[Row, ...]
    epochs: tuple[EpochPath, ...]
    noise: tuple[NoiseSeen, ...]
    foretold: tuple[Foretold, ...]
    audited: tuple[Audited, ...]
    rules: tuple[LedgerRule, ...]
    since: tuple[str, ...] = ()


class Part(Struct, frozen=True, kw_only=True):
    """What the page shows of one experiment. `record` is complete, as for `expctl show`; `epoch` is the number of its epoch.

    `picture` are its rounds, `spreads` the times of single iterations, each empty if it has no readable samples: `missing`
    says why. `profile` are facts of both sides, `patch` is the text of its change.
    """

    record: Record
    epoch: Epoch | None
    picture: Picture | None
    spreads: tuple[SideSpread, ...]
    missing: str
    profile: Profile
    patch: str


def account_of(
    ledger: Ledger,
    summaries: Sequence[RecordSummary],
    records: Iterable[Record],
    rules: Sequence[LedgerRule],
    *,
    head: str,
    branch: str,
    since: Sequence[str] = (),
) -> Account:
    """Return the contents of the page; `summaries` and `records` are of all experiments, in any order."""
    ordered = in_order(summaries)
    epochs = epochs_from(one for each in ordered for one in each.measurings)
    measured = sorted((*ledger.latest, *ledger.earlier), key=lambda row: (row.date, id_order(row.id)), reverse=True)
    found = [told for record in records if (told := _foretold(record)) is not None]
    dates = {each.id: each.date for each in ordered}
    return Account(
        head=head,
        branch=branch,
        ledger=ledger,
        rows=(*measured, *reversed(ledger.imported)),
        epochs=tuple(_epoch_path(each, ordered) for each in epochs.all),
        noise=tuple(
            NoiseSeen(
                id=each.id,
                target=each.target,
                date=each.date,
                epoch=epochs.number(each.id),
                sd_percent=each.sd_percent,
            )
            for each in ordered
            if each.sd_percent
        ),
        foretold=tuple(
            sorted(found, key=lambda each: (dates.get(each.forecast.id, ""), id_order(each.forecast.id)), reverse=True)
        ),
        audited=tuple(_audited(ledger.findings)),
        rules=tuple(rules),
        since=tuple(since),
    )


def _epoch_path(epoch: Epoch, ordered: Sequence[RecordSummary]) -> EpochPath:
    paths = kept_gains((landed_of(each) for each in ordered if each.lands), {epoch.target: epoch})
    return EpochPath(
        target=epoch.target,
        number=epoch.number,
        since=epoch.first.id,
        date=epoch.first.date,
        path=paths[0] if paths else None,
    )


def _foretold(record: Record) -> Foretold | None:
    forecast = forecast_of(record)
    if forecast is None or forecast.predicted.gain_percent is None or not forecast.counts:
        return None
    objective = next((each for each in record.estimates if each.size == OBJECTIVE), None)
    if objective is None:
        return None
    low, high = forecast.predicted.gain_percent
    effect = (objective.effect_percent, objective.low_percent, objective.high_percent)
    return Foretold(forecast=forecast, low_percent=low, high_percent=high, effect=effect)


def _audited(findings: Iterable[Finding]) -> Iterable[Audited]:
    for each in findings:
        found = audited_effect(each.text)
        if found is not None:
            target, epoch, effect = found
            yield Audited(target=target, epoch=epoch, finding=each.id, effect=effect)
