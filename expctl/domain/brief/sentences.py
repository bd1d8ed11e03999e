"""The sections of the brief about baselines, noise, findings, queue and predictions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from expctl.domain.brief.word_limit import ITEMS_MAX, Section
from expctl.domain.experiment.figures import speed_text, state_text, time_text
from expctl.domain.experiment.ids import id_order
from expctl.domain.experiment.predictions import Accuracy, PredictionSummary, accuracy_text, prediction_text
from expctl.domain.experiment.proposal import Proposal
from expctl.domain.experiment.record import OBJECTIVE
from expctl.domain.history.comparability import VECTORS
from expctl.domain.text import one_line
from expctl.domain.verdict.calibration import mde

if TYPE_CHECKING:
    from expctl.domain.experiment.finding import Finding
    from expctl.domain.experiment.noise import Calibrated
    from expctl.domain.history.baselines import Baseline, ImportedBaseline
    from expctl.domain.history.epochs import Epochs
    from expctl.domain.ledger.record_summary import RecordSummary, SeenNoise
    from expctl.domain.protocol.model import Protocol

LONG, SHORT = 420, 200  # characters of a quoted text
NAMED_MAX = 6
ROUNDS_TOLD = 10


def baseline_section(
    protocol: Protocol,
    baselines: Sequence[Baseline],
    given: Sequence[ImportedBaseline],
    epochs: Epochs,
    begins: Mapping[str, Sequence[str]],
) -> Section:
    """Return the brief's section about the current times of each target. `given` are times from an imported ledger; `begins`
    maps a target to the reasons why new times won't be comparable.
    """
    lines = [_baseline(each, epochs) for each in baselines]
    lines += [
        f"{target}: the next run begins a new epoch ({one_line('; '.join(why), SHORT)}); compare nothing with those above."
        for target, why in begins.items()
    ]
    lines += [f"{each.target}: imported figures only, by hand, from {each.id}: {one_line(each.given, LONG)}" for each in given]
    known = {each.target for each in baselines} | {each.target for each in given}
    lines += [f"{name}: nothing timed yet; its first run will." for name in protocol.decides if name not in known]
    return Section(key="baseline", title="Baseline per target", intro=tuple(lines))


def noise_section(protocol: Protocol, calibrated: Mapping[str, Calibrated], seen: Mapping[str, SeenNoise]) -> Section:
    """Return the brief's section about the noise of each target that may decide: as calibrated, else as seen in records."""
    return Section(
        key="noise",
        title="Noise floor",
        intro=tuple(_noise(name, calibrated.get(name), seen.get(name)) for name in protocol.decides),
    )


def finding_section(findings: Sequence[Finding], elsewhere: int = 0) -> Section:
    """Return the brief's section of valid findings, in file order. `elsewhere` is how many more are about other code."""
    items = [
        f"{each.id} ({each.kind}{f', {chr(44).join(each.evidence[:NAMED_MAX])}' if each.evidence else ''}):"
        f" {one_line(each.text, LONG)}"
        for each in findings
        if each.stands
    ]
    more = (f"{elsewhere} more are about other code: `expctl finding list`.",) if elsewhere else ()
    return Section(key="findings", title="Findings", intro=more, items=tuple(items), share=0.3, more="expctl finding list")


def next_section(proposals: Sequence[Proposal], queued: int) -> Section:
    """Return the brief's section about the queue. `queued` counts all its proposals; only those in `proposals` are listed."""
    intro = (
        (f"{queued} {'waits' if queued == 1 else 'wait'}; `expctl run {proposals[0].id}` starts the first.",)
        if proposals
        else ("The queue is empty.",)
    )
    items = tuple(_proposal(each) for each in proposals)
    return Section(
        key="next",
        title="Next experiments",
        intro=intro,
        items=items,
        share=0.12,
        more="expctl status",
        left_out=queued - len(items),
    )


def prediction_section(digests: Sequence[RecordSummary], accuracy: Accuracy, elsewhere: Collection[str] = ()) -> Section:
    """Return the brief's section about predictions: how many came true, then those that didn't, then those that did. Both lists
    are newest first. Those of the ids `elsewhere` are about other files than were asked for, and counted only.
    """
    told = [(each.id, each.told) for each in digests if each.told and each.id not in elsewhere]
    order = sorted(told, key=lambda each: (not _is_hit(each[1]), id_order(each[0])), reverse=True)
    items = tuple(each.sentence for _, each in order[:ITEMS_MAX])
    rate = accuracy_text(accuracy)
    return Section(
        key="predictions",
        title="Predictions so far",
        intro=(f"{rate[0].upper()}{rate[1:]}.",),
        items=items,
        share=0.12,
        left_out=sum(each.told is not None for each in digests) - len(items),
    )


def _is_hit(told: PredictionSummary) -> bool:
    return told.counts and told.verdict_holds and told.gain_holds is not False


def _baseline(baseline: Baseline, epochs: Epochs) -> str:
    figures = "; ".join(
        f"{each.size} {f'{time_text(each.ns)} = ' if each.flop else ''}"
        f"{speed_text(each.flop, each.ns, each.low_ns, each.high_ns)}{state_text(each.state, each.states)}"
        for each in baseline.figures
    )
    since = f"since {baseline.since}" if baseline.since else "as expctl found it"
    later = baseline.later
    landed = f"; landed later, not timed here: {', '.join(later[:NAMED_MAX])}" if later else ""
    more = f" and {len(later) - NAMED_MAX} more" if len(later) > NAMED_MAX else ""
    last = epochs.last.get(baseline.target)
    parts = last.conditions.parts if last else {}
    machine = (
        _gpus(parts["gpu"]) if "gpu" in parts else ", ".join(parts[name] for name in ("machine", VECTORS) if name in parts)
    )
    epoch = (
        f", epoch {last.number} (since {last.first.id}, {last.first.date[:10]}{machine and f'; on {machine}'})" if last else ""
    )
    return (
        f"{baseline.target}: {figures} ({baseline.kind}), commit {baseline.commit[:12]}, {since}, shown by"
        f" {baseline.shown_by}{epoch}{landed}{more}."
    )


def _gpus(names: str) -> str:
    """Return GPUs in words, like ones counted: `4 x NVIDIA H200`."""
    counts = Counter(names.split(", "))
    return ", ".join(f"{count} x {name}" if count > 1 else name for name, count in counts.items())


def _noise(target: str, calibrated: Calibrated | None, seen: SeenNoise | None) -> str:
    if calibrated is not None and OBJECTIVE in calibrated.noise:
        sd = calibrated.noise[OBJECTIVE].sd_percent
        return f"{target}: calibrated {calibrated.date[:10]} over {calibrated.rounds} rounds, {_detects(sd)}."
    if seen is not None:
        several = seen.experiments > 1
        return (
            f"{target}: not calibrated here (`expctl calibrate --target {target}`); {seen.experiments} timed"
            f" experiment{'s' * several} of epoch {seen.epoch} showed{', in the median,' * several}"
            f" {_detects(seen.sd_percent)}."
        )
    return f"{target}: not known; `expctl calibrate --target {target}` measures it where {target} is available."


def _detects(sd_percent: float) -> str:
    return f"sd of one round {sd_percent:.2f} %, which detects {mde(sd_percent, ROUNDS_TOLD):.2f} % in {ROUNDS_TOLD} rounds"


def _proposal(proposal: Proposal) -> str:
    return "; ".join(_proposal_parts(proposal)) + f". Hypothesis: {one_line(proposal.hypothesis, LONG)}"


def _proposal_parts(proposal: Proposal) -> Iterator[str]:
    yield f"{proposal.id} ({proposal.kind}, {proposal.mode}): {one_line(proposal.title, SHORT)}"
    yield f"predicted {one_line(prediction_text(proposal.prediction), SHORT)}"
    if proposal.depends_on:
        yield f"after {', '.join(proposal.depends_on)}"
    if proposal.precondition:
        yield f"new precondition: {one_line(proposal.precondition, SHORT)}"
