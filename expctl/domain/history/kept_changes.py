"""The stack: every change of the scope since an epoch began, and what the records promise of it. Pure."""

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from expctl.domain.experiment.proposal import Mode
from expctl.domain.experiment.record import OBJECTIVE, Estimate, Record, Replication
from expctl.domain.history.baselines import lands
from expctl.domain.history.comparability import grounds_of
from expctl.domain.history.epochs import Epoch
from expctl.domain.verdict.samples import Sample, Side
from expctl.domain.verdict.statistics import percent


class Promise(Struct, frozen=True, kw_only=True):
    """An effect as it was confirmed, and the half-width of its 95 % interval, in log units."""

    effect: float = 0.0
    half_width: float = 0.0

    @property
    def sure(self) -> float:
        """The effect, less what it may be wrong by."""
        return self.effect - self.half_width

    @property
    def words(self) -> str:
        """`+12.31 % (+- 0.42)`."""
        return f"{percent(self.effect):+.2f} % (+- {percent(self.half_width):.2f})"


class KeptChange(Struct, frozen=True, kw_only=True):
    """One commit that changed the scope. `id` is the experiment that was kept as this commit, empty for a commit by hand;
    `promises` are by size, with the objective, of the target that is audited. None of another target promises anything.
    """

    commit: str
    id: str = ""
    title: str = ""
    mode: Mode = Mode.GAIN
    promises: Mapping[str, Promise] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """`P16`, or `4f2c91a by hand`."""
        return self.id or f"{self.commit[:7]} by hand"


def stack_of(commits: Sequence[str], records: Sequence[Record], epoch: Epoch) -> tuple[KeptChange, ...]:
    """The layers of `commits`, in the order in which they landed. Only what was measured in `epoch` is a promise."""
    kept = {record.candidate: record for record in records if lands(record)}
    return tuple(_layer(commit, kept.get(commit), epoch) for commit in commits)


def together(layers: Sequence[KeptChange]) -> dict[str, Promise]:
    """What layers promise together, by size: effects add up in log units, and so do the squares of their half-widths."""
    sizes = dict.fromkeys(size for layer in layers for size in layer.promises)
    parts = {size: [layer.promises[size] for layer in layers if size in layer.promises] for size in sizes}
    return {
        size: Promise(
            effect=math.fsum(each.effect for each in found), half_width=math.sqrt(math.fsum(p.half_width**2 for p in found))
        )
        for size, found in parts.items()
    }


def beyond_promise(samples: Sequence[Sample], promises: Mapping[str, Promise]) -> tuple[Sample, ...]:
    """The samples with the candidate's times stretched by what is surely promised, so that an effect of zero means "as
    promised" and the verdict engine can judge it as it judges any other.
    """
    stretch = {size: math.exp(promise.sure) for size, promise in promises.items() if size != OBJECTIVE}
    return tuple(
        sample if sample.side is Side.BASELINE or sample.size not in stretch else _stretched(sample, stretch[sample.size])
        for sample in samples
    )


def falls_short(measured: Estimate, promised: Promise, worthwhile_percent: float) -> bool:
    """Is what was measured less than promised, beyond both their intervals and by more than is worth a search?"""
    effect, low = _log(measured.effect_percent), _log(measured.low_percent)
    missing = promised.effect - effect
    return missing > math.hypot(effect - low, promised.half_width) and missing > worthwhile_percent / 100


def _layer(commit: str, record: Record | None, epoch: Epoch) -> KeptChange:
    if record is None:
        return KeptChange(commit=commit)
    mode = record.procedure.mode if record.procedure else Mode.GAIN
    promises = {each.size: _promise(each) for each in _estimates(record, epoch)}
    return KeptChange(commit=commit, id=record.id, title=record.title, mode=mode, promises=promises)


def _estimates(record: Record, epoch: Epoch) -> tuple[Estimate, ...]:
    """The verdict's own, or the newest replication's: what was measured on this very ground, for no difference is ever
    computed across epochs.
    """
    measured: tuple[Record | Replication, ...] = (record, *record.replications)
    found = [
        each.estimates
        for each, (target, _, ground) in zip(measured, grounds_of(record), strict=True)
        if target == epoch.target and each.estimates and epoch.holds(ground)
    ]
    return found[0] if record.target == epoch.target and found else found[-1] if found else ()


def _promise(estimate: Estimate) -> Promise:
    low, high = _log(estimate.low_percent), _log(estimate.high_percent)
    return Promise(effect=_log(estimate.effect_percent), half_width=(high - low) / 2)


def _stretched(sample: Sample, by: float) -> Sample:
    return replace(sample, ns=tuple(max(1, round(ns * by)) for ns in sample.ns))


def _log(effect_percent: float) -> float:
    return math.log1p(effect_percent / 100)
