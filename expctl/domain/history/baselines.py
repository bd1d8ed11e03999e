"""The current code of each target and its measured times, according to the records."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from expctl.domain.experiment.ids import id_order
from expctl.domain.experiment.machine_times import TimesOfSize
from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.domain.experiment.record import OBJECTIVE, Estimate, Origin, Record, Times
from expctl.domain.history.epochs import Epoch, Epochs
from expctl.domain.protocol.model import NumberKind

SPEEDS = (NumberKind.WALL_TIME, NumberKind.DEVICE_TIME)

Position = tuple[str, tuple[int, str]]


class Figure(Struct, frozen=True, kw_only=True):
    """The median time `ns` of one iteration at one size; `flop` is its number of floating-point operations, 0 if unknown.

    `times` say how single iterations scatter, `low_ns` and `high_ns` are the 95 % interval of the median over launches (None
    and 0 in older records). Where the machine had more states (`states`) than one, the time is that of the state with the
    most rounds: number `state`, from 0 for the fastest.
    """

    size: str
    ns: float
    flop: int
    times: Times | None = None
    low_ns: float = 0.0
    high_ns: float = 0.0
    state: int = 0
    states: int = 1


class Baseline(Struct, frozen=True, kw_only=True):
    """The newest code that was timed on `target`, and its times.

    `since` is the experiment that made this code ("": the code is older than all experiments), `shown_by` the one that timed
    it, `later` are the experiments that changed the branch afterwards without being timed on this target.
    """

    target: str
    commit: str
    since: str
    shown_by: str
    date: str
    kind: NumberKind
    figures: tuple[Figure, ...]
    later: tuple[str, ...] = ()


class ImportedBaseline(Struct, frozen=True, kw_only=True):
    """The last kept change of a target in an imported, hand-written ledger; used if expctl has not timed the target."""

    target: str
    id: str
    title: str
    given: str
    date: str


class Landing(NamedTuple):
    """An experiment whose change was merged into the branch, with its date."""

    date: str
    id: str

    @property
    def position(self) -> Position:
        """Sort key in the history of the branch: by date, then by experiment id."""
        return (self.date, id_order(self.id))


class _Timing(Struct, frozen=True, kw_only=True):
    record: Record
    target: str
    date: str
    estimates: tuple[Estimate, ...]
    times: tuple[TimesOfSize, ...]


def lands(record: Record) -> bool:
    """Return whether the experiment moved this repository's branch: it was measured here, is a KEEP and not an analysis."""
    return record.origin is Origin.MEASURED and record.verdict is Verdict.KEEP and record.kind is not Kind.ANALYSIS


def baselines(records: Sequence[Record]) -> tuple[Baseline, ...]:
    """Return the baseline of every target that was ever timed, sorted by target."""
    newest: dict[str, _Timing] = {}
    for timing in sorted(_timings(records), key=lambda timing: (_position(timing.record), timing.date)):
        newest[timing.target] = timing
    return tuple(_baseline(newest[target], records) for target in sorted(newest))


def baseline_of(target: str, shown_by: Record, landings: Sequence[Landing]) -> Baseline:
    """Return the baseline of `target`: `shown_by` is the last record that timed it; `landings` are all, in branch order."""
    alone = next(each for each in baselines((shown_by,)) if each.target == target)
    at = _position(shown_by)
    before = next((each.id for each in reversed(landings) if each.position < at), "")
    return replace(alone, since=alone.since or before, later=tuple(each.id for each in landings if each.position > at))


def standing_epochs(epochs: Epochs, records: Mapping[str, Record], baselines: Iterable[Baseline]) -> dict[str, Epoch]:
    """Return, by target, the epoch (comparable measurements) in which its baseline was measured, where it is known."""
    found = {each.target: epochs.shown_by(records[each.shown_by], each.target, each.date) for each in baselines}
    return {target: epoch for target, epoch in found.items() if epoch is not None}


def given_of(record: Record) -> str | None:
    """Return the hand-written result of an imported experiment that changed code and was kept; None for any other record."""
    if record.origin is not Origin.IMPORTED or record.history is None:
        return None
    code = record.verdict is Verdict.KEEP and record.kind not in (Kind.ANALYSIS, Kind.INFRA)
    return record.history.result if code else None


def timed_on(record: Record) -> tuple[str, ...]:
    """Return the names of the targets on which the experiment or one of its replications was timed, sorted."""
    return tuple(sorted({timing.target for timing in _timings((record,))}))


def _timings(records: Sequence[Record]) -> Iterator[_Timing]:
    for record in records:
        if record.origin is not Origin.MEASURED or record.number_kind not in SPEEDS:
            continue
        if record.buckets:  # a tuning has timed shapes of its own list, not those of the KPI
            continue
        if record.verdict is not Verdict.INVALID and _figures(record.estimates):
            yield _Timing(record=record, target=record.target, date=record.date, estimates=record.estimates, times=record.times)
        for again in record.replications:
            if again.verdict is not Verdict.INVALID and _figures(again.estimates):
                yield _Timing(record=record, target=again.target, date=again.date, estimates=again.estimates, times=again.times)


def _baseline(timing: _Timing, records: Sequence[Record]) -> Baseline:
    record = timing.record
    landed = sorted((other for other in records if lands(other)), key=_position)
    before = [other.id for other in landed if _position(other) < _position(record)]
    return Baseline(
        target=timing.target,
        commit=record.candidate if lands(record) else record.base,
        since=record.id if lands(record) else before[-1] if before else "",
        shown_by=record.id,
        date=timing.date,
        kind=record.number_kind,
        figures=_figures(timing.estimates, timing.times, candidate=lands(record)),
        later=tuple(other.id for other in landed if _position(other) > _position(record)),
    )


def _figures(
    estimates: Sequence[Estimate], times: Sequence[TimesOfSize] = (), *, candidate: bool = False
) -> tuple[Figure, ...]:
    by_size = {each.size: each for each in times}
    return tuple(
        _figure(estimate, by_size.get(estimate.size), candidate=candidate)
        for estimate in estimates
        if estimate.size != OBJECTIVE and estimate.baseline_ns > 0 and estimate.candidate_ns > 0
    )


def _figure(estimate: Estimate, times: TimesOfSize | None, *, candidate: bool) -> Figure:
    figure = Figure(
        size=estimate.size,
        ns=estimate.candidate_ns if candidate else estimate.baseline_ns,
        flop=estimate.flop,
        times=estimate.candidate_times if candidate else estimate.baseline_times,
    )
    if times is None:
        return figure
    side = times.main.candidate if candidate else times.main.baseline
    return replace(
        figure,
        ns=side.ns,
        low_ns=side.low_ns,
        high_ns=side.high_ns,
        state=times.states.index(times.main),
        states=len(times.states),
    )


def _position(record: Record) -> Position:
    return (record.date, id_order(record.id))
