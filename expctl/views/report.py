"""Records, status and proposals as text for a terminal. All untrusted text is made one printable line."""

from collections.abc import Iterable

from expctl.domain.experiment.bucket_verdict import bucket_lines
from expctl.domain.experiment.control_result import control_text
from expctl.domain.experiment.figures import interval_text, states_text, throughput_text, time_text, times_text
from expctl.domain.experiment.proposal import Prediction, Proposal, Verdict
from expctl.domain.experiment.record import OBJECTIVE, Artifact, Estimate, Origin, Record
from expctl.domain.history.epochs import Epoch
from expctl.domain.machine.burn_in import BurnIn
from expctl.domain.machine.first_run import FirstRun
from expctl.domain.machine.interference import Foreign
from expctl.domain.protocol.boundaries import EXTENDED_ROUNDS
from expctl.domain.rules.match_levels import levels_of
from expctl.domain.text import one_line


def verdict_lines(record: Record) -> list[str]:
    """Return the lines that a run prints at its end: estimates, figures of profile or build, the verdict and its reasons."""
    lines = [f"  {'benchmark' if i == 0 else '':<10} {estimate_line(each)}" for i, each in enumerate(record.estimates)]
    lines += [line for each in record.times for line in labelled("states", states_text(each))]
    label = "profile" if record.verdict is Verdict.KEEP and record.estimates else "builds"  # only a timed KEEP is profiled
    lines += [f"  {label if i == 0 else '':<10} {one_line(text, 220)}" for i, text in enumerate(record.profile)]
    lines += [f"  {'why':<10} {one_line(record.explanation, 400)}"] if record.explanation else []
    for index, reason in enumerate(record.reasons):
        lines.append(f"  {record.verdict if index == 0 else '':<10} {one_line(reason)}")
    lines += [f"  {'note':<10} {one_line(text)}" for text in (*record.flags, *record.notes)]
    further = f"expctl run {record.id} --extend goes on from these samples, up to {EXTENDED_ROUNDS} rounds"
    return lines + (labelled("next", further) if record.extendable else [])


def estimate_line(estimate: Estimate) -> str:
    """Return an estimated effect as text, e.g. `n=768 46.8 -> 47.9 GFLOP/s +2.3 % [+1.7, +2.9] 10 rounds, sd 0.81 %`. It has
    the size, the baseline's and the candidate's speed, and the gain with its interval.
    """
    effect = interval_text(estimate.effect_percent, estimate.low_percent, estimate.high_percent)
    if not estimate.baseline_ns:
        return f"{estimate.size:<10} {effect}"
    show = (lambda ns: throughput_text(estimate.flop, ns)) if estimate.flop else time_text
    speeds = f"{show(estimate.baseline_ns)} -> {show(estimate.candidate_ns)}"
    apart = 100 * (estimate.baseline_ns / estimate.candidate_ns - 1)
    odd = (
        ""
        if estimate.low_percent - 1 <= apart <= estimate.high_percent + 1
        else "; the times are medians over calls, which have several speeds"
    )
    return f"{estimate.size:<10} {speeds}  {effect}   {estimate.rounds} rounds, sd {estimate.sd_percent:.2f} %{odd}"


def record_lines(record: Record, references: Iterable[str] = (), placed: Iterable[str] = ()) -> list[str]:
    """Return all about one experiment as lines of text. `placed` are lines on its epoch and on the predictions scored so far,
    `references` texts for further reading.
    """
    lines = [f"{record.id}  {one_line(record.title)}", f"  {record.kind}, {record.origin}, target {record.target}"]
    lines += labelled("hypothesis", record.hypothesis) + prediction_lines(record.prediction) + _outcome_lines(record)
    lines += placed
    if record.history is not None:
        lines += labelled("change", record.history.change) + labelled("result", record.history.result)
        lines += labelled("why", record.history.why)
        for text in record.history.corrections:
            lines += labelled("correction", text)
    if record.test is not None:
        lines += labelled("test", ("pass: " if record.test.ok else "fail: ") + record.test.summary)
    for name, test in record.guard_tests.items():
        lines += labelled("test", f"{name}: " + ("pass: " if test.ok else "fail: ") + test.summary)
    lines += _burn_in_lines(record.burn_ins) + _first_run_lines(record.first_runs)
    lines += verdict_lines(record) + _times_lines(record.estimates) + _control_lines(record)
    if record.rule is not None:
        under = ", ".join(f"{key} {value}" for key, value in record.rule.conditions.items())
        lines += labelled("rule", f"do not repeat: {record.rule.text} (failed under: {under or 'not stated'})")
        lines += labelled("known by", ", ".join(levels_of(record)))
        lines += labelled("reopened by", record.rule.reopened_by)
        for lapse in record.rule.lapsed:
            lines += labelled("open again", f"{lapse.condition}: {lapse.was} -> {lapse.now}; {lapse.evidence}")
    for waiver in record.waivers:
        kind = "written" if waiver.written else "verified"
        lines += labelled("let pass", f"by the rule of {waiver.rule} ({waiver.level}), {kind}: {waiver.reason}")
    for line in bucket_lines(record.buckets):
        lines += labelled("bucket", line)
    return lines + replication_lines(record) + drift_lines(record) + _evidence_lines(record) + _reference_lines(references)


def _control_lines(record: Record) -> list[str]:
    """Return the line on the control of the measuring path, for a record that rests on timing; without one it says so."""
    if record.control is not None:
        return labelled("control", f"{control_text(record.control)}, {record.control.date}")
    timed = record.origin is Origin.MEASURED and bool(record.estimates)
    return labelled("control", "none: no stand-in of known speed was measured before it") if timed else []


def _burn_in_lines(burn_ins: Iterable[BurnIn]) -> list[str]:
    """Return a line for each burn-in: the state of the GPU as the confirmation began, and as it went on after a break."""
    words = [f"confirmation {'went on' if number else 'began'} {each}" for number, each in enumerate(burn_ins)]
    return [line for text in words for line in labelled("burn-in", text)]


def _first_run_lines(first_runs: Iterable[FirstRun]) -> list[str]:
    """Return a line for each build whose first run filled a compiler's cache."""
    return [line for each in first_runs for line in labelled("first run", str(each))]


def _times_lines(estimates: Iterable[Estimate]) -> list[str]:
    """Return a line for each size and side (baseline, candidate) on the times of single iterations: median, mean, quantiles."""
    sides = [
        (f"{each.size}, {side}", ns, times)
        for each in estimates
        for side, ns, times in (
            ("baseline", each.baseline_ns, each.baseline_times),
            ("candidate", each.candidate_ns, each.candidate_times),
        )
    ]
    return [
        line
        for who, ns, times in sides
        if times is not None
        for line in labelled("times", f"{who}: median {time_text(ns)}, {times_text(times)} of the median")
    ]


def replication_lines(record: Record) -> list[str]:
    """Return a line for each time that a concluded experiment was measured again: verdict, target, date and first reason."""
    found = enumerate(record.replications, start=1)
    words = [(f"again {index}", f"{each.verdict} on {each.target}, {each.date}: {each.reasons[0]}") for index, each in found]
    lines = [line for label, text in words for line in labelled(label, text)]
    return lines + [line for each in record.replications for line in _burn_in_lines(each.burn_ins)]


def drift_lines(record: Record) -> list[str]:
    """Return the lines on what a change gains with each side's own best config; [] where that was not measured."""
    drift = record.drift
    if drift is None:
        return []
    lines = [estimate_line(each) for each in drift.estimates]
    own = labelled("own best", f"{drift.verdict} with each side's own best config, {drift.date}: {drift.reasons[0]}")
    return [*own, *(line for each in lines for line in labelled("", each)), *labelled("drift", drift.explanation)]


def epoch_lines(epoch: Epoch) -> list[str]:
    """Return a line on an experiment's epoch: its number, its target, and the experiment with which it began."""
    return labelled("epoch", f"{epoch.number} of {epoch.target}, since {epoch.first.id} ({epoch.first.date[:10]})")


def proposal_lines(proposal: Proposal, references: Iterable[str]) -> list[str]:
    """Return a queued proposal as lines of text; `references` are texts for further reading, from protocol.yaml."""
    lines = [f"{proposal.id}  {one_line(proposal.title)}", f"  {proposal.kind}, queued, mode {proposal.mode}"]
    lines += labelled("hypothesis", proposal.hypothesis) + prediction_lines(proposal.prediction)
    lines += labelled("depends on", ", ".join(proposal.depends_on)) + labelled("precondition", proposal.precondition)
    return lines + _reference_lines(references)


def prediction_lines(prediction: Prediction | None) -> list[str]:
    """Return a line with the predicted verdict and gain; [] without a prediction."""
    if prediction is None:
        return []
    gain = f", {prediction.gain_percent[0]:+g} to {prediction.gain_percent[1]:+g} %" if prediction.gain_percent else ""
    return labelled("prediction", f"{prediction.verdict}{gain}{'. ' if prediction.text else ''}{prediction.text}")


def _outcome_lines(record: Record) -> list[str]:
    prediction = record.prediction
    if prediction is None:
        return []
    gain = next((each.effect_percent for each in record.estimates if each.size == OBJECTIVE), None)
    measured = f"{record.verdict}" + (f", {gain:+.2f} %" if gain is not None else "")
    hits = ["the verdict as predicted" if record.verdict is prediction.verdict else f"predicted was {prediction.verdict}"]
    if prediction.gain_percent and gain is not None:
        low, high = prediction.gain_percent
        hits.append("the gain within the predicted range" if low <= gain <= high else f"predicted was {low:+g} to {high:+g} %")
    return labelled("outcome", f"{measured}: {'; '.join(hits)}")


def _reference_lines(references: Iterable[str]) -> list[str]:
    return [line for i, text in enumerate(references) for line in labelled("" if i else "references", text)]


def foreign_lines(foreign: Iterable[Foreign]) -> list[str]:
    """Return a line for each process or device that blocks a measurement: what it is, who owns it, since when."""
    lines = []
    for each in foreign:
        owner = ", ".join(part for part in (each.detail, each.who) if part)
        since = f", since {each.since}" if each.since else ""
        lines.append(f"  {each.sensor:<10} {one_line(each.what)}{f': {one_line(owner)}' if owner else ''}{since}")
    return lines


def labelled(label: str, text: str) -> list[str]:
    """Return [one line with `label` and `text`]; [] if `text` is empty."""
    return [f"  {label:<10} {one_line(text, 1200)}"] if text.strip() else []


def _evidence_lines(record: Record) -> list[str]:
    if not record.base:
        return []
    lines = [f"  {'commits':<10} base {record.base[:12]}, candidate {record.candidate[:12]}, {record.date}"]
    for side, by_target in record.artifacts.items():
        lines += [f"  {'artifact':<10} {side}, {target}: {_artifact(artifact)}" for target, artifact in by_target.items()]
    machine = ", ".join(f"{key} {value}" for key, value in record.environment.items())
    return [*lines, *labelled("machine", machine)]


def _artifact(artifact: Artifact) -> str:
    facts = ", ".join(f"{fact.name} {fact.value:.12g}{f' {fact.unit}' if fact.unit else ''}" for fact in artifact.facts)
    layouts = f", {1 + len(artifact.layouts)} layouts" if artifact.layouts else ""
    return f"code {artifact.code[:12]}{layouts}" + (f" ({facts})" if facts else "")
