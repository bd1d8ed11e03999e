"""Changes that were kept since an epoch began, and the gains that their records state (promise). Pure."""

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from expctl.domain.experiment.proposal import Mode
from expctl.domain.experiment.record import OBJECTIVE, Estimate, Record, Replication
from expctl.domain.history.baselines import lands
from expctl.domain.history.comparability import measurement_conditions
from expctl.domain.history.epochs import Epoch
from expctl.domain.verdict.samples import Sample, Side
from expctl.domain.verdict.statistics import percent


class Promise(Struct, frozen=True, kw_only=True):
    """The gain that records state for kept changes, and the ends of its 95 % interval, in log units."""

    effect: float = 0.0
    low: float = 0.0
    high: float = 0.0

    @property
    def words(self) -> str:
        """Effect and interval in percent as text, e.g. `+12.31 % [+11.90, +12.80]`."""
        return f"{percent(self.effect):+.2f} % [{percent(self.low):+.2f}, {percent(self.high):+.2f}]"


class KeptChange(Struct, frozen=True, kw_only=True):
    """One commit that changed code which a patch may touch. `id` is its experiment, empty for a commit made by hand.

    `promises` maps each problem size, and `objective`, to the gain that was recorded when the change was kept, on the audited
    target; empty if it wasn't measured on that target.
    """

    commit: str
    id: str = ""
    title: str = ""
    mode: Mode = Mode.GAIN
    promises: Mapping[str, Promise] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The experiment's id, or the short commit, e.g. `P16` or `4f2c91a by hand`."""
        return self.id or f"{self.commit[:7]} by hand"


def kept_changes_of(commits: Sequence[str], records: Sequence[Record], epoch: Epoch) -> tuple[KeptChange, ...]:
    """Return one kept change for each of `commits`, in their order, with the gains recorded for it in `epoch`."""
    kept = {record.candidate: record for record in records if lands(record)}
    return tuple(_kept_change(commit, kept.get(commit), epoch) for commit in commits)


def combined_promises(kept: Sequence[KeptChange]) -> dict[str, Promise]:
    """Return, for each size, the gain of all changes together. Log gains add up, and so do the squares of how far their
    intervals reach below them, and above.
    """
    sizes = dict.fromkeys(size for change in kept for size in change.promises)
    return {size: _together([change.promises[size] for change in kept if size in change.promises]) for size in sizes}


def beyond_promise(samples: Sequence[Sample], promises: Mapping[str, Promise]) -> tuple[Sample, ...]:
    """Return `samples` with the candidate's times lengthened by the promised gain (the lower end of its interval) at each size.
    The effect computed from them is >= 0 if, and only if, at least that gain was measured.
    """
    stretch = {size: math.exp(promise.low) for size, promise in promises.items() if size != OBJECTIVE}
    return tuple(
        sample if sample.side is Side.BASELINE or sample.size not in stretch else _stretched(sample, stretch[sample.size])
        for sample in samples
    )


def falls_short(measured: Estimate, promised: Promise, worthwhile_percent: float) -> bool:
    """Return whether the measured effect is below the promised one by more than `worthwhile_percent` / 100 and by more than
    noise, which is sqrt((promised - its low)^2 + (measured's high - measured)^2). All effects are in log units.
    """
    effect, high = _log(measured.effect_percent), _log(measured.high_percent)
    missing = promised.effect - effect
    return missing > math.hypot(high - effect, promised.effect - promised.low) and missing > worthwhile_percent / 100


def _kept_change(commit: str, record: Record | None, epoch: Epoch) -> KeptChange:
    if record is None:
        return KeptChange(commit=commit)
    mode = record.procedure.mode if record.procedure else Mode.GAIN
    promises = {each.size: _promise(each) for each in _estimates(record, epoch)}
    return KeptChange(commit=commit, id=record.id, title=record.title, mode=mode, promises=promises)


def _estimates(record: Record, epoch: Epoch) -> tuple[Estimate, ...]:
    """Return the estimates of an experiment that were measured in `epoch`: its own, else those of its newest replication."""
    measured: tuple[Record | Replication, ...] = (record, *record.replications)
    found = [
        each.estimates
        for each, (target, _, conditions) in zip(measured, measurement_conditions(record), strict=True)
        if target == epoch.target and each.estimates and epoch.holds(conditions)
    ]
    return found[0] if record.target == epoch.target and found else found[-1] if found else ()


def _promise(estimate: Estimate) -> Promise:
    effect, low, high = map(_log, (estimate.effect_percent, estimate.low_percent, estimate.high_percent))
    return Promise(effect=effect, low=low, high=high)


def _together(promises: Sequence[Promise]) -> Promise:
    effect = math.fsum(each.effect for each in promises)
    below, above = (
        math.hypot(*reaches) for reaches in zip(*((p.effect - p.low, p.high - p.effect) for p in promises), strict=True)
    )
    return Promise(effect=effect, low=effect - below, high=effect + above)


def _stretched(sample: Sample, by: float) -> Sample:
    return replace(sample, ns=tuple(max(1, round(ns * by)) for ns in sample.ns))


def _log(effect_percent: float) -> float:
    return math.log1p(effect_percent / 100)
