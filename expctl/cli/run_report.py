"""Report each step of `expctl run`: as lines for a person, or as dicts for --json and --notify."""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.history.blind import rates_text
from expctl.domain.queue.ordering import State
from expctl.domain.text import one_line
from expctl.flow.autopilot.blind_slot import BlindOutcome
from expctl.flow.autopilot.campaign import WentBeside
from expctl.flow.autopilot.steps import Ended, NothingProposed, Skipped, Step
from expctl.flow.queue.edit_queue import Rebased
from expctl.flow.queue.submit import Proposed
from expctl.flow.run.experiment import Outcome

if TYPE_CHECKING:
    from expctl.domain.errors import Refused
    from expctl.domain.experiment.record import Estimate


def print_step(step: Step) -> None:
    """Print one step of `expctl run`: a verdict or a change of the queue; a refusal goes to standard error."""
    from expctl.cli.console_errors import explain
    from expctl.cli.output import after, print_lines

    match step:
        case Outcome(record=record):
            with after(f"{record.id} ended in {record.verdict}, which is committed"):
                print_lines(_outcome_lines(step))
        case BlindOutcome():
            print_lines(_blind_lines(step))
        case Skipped():
            print(f"{step.id}  not run ({'refused' if step.state is State.READY else step.state})", file=sys.stderr)
            explain(step.refusal)
        case NothingProposed():
            print("the proposal was refused; the proposer is told why", file=sys.stderr)
            explain(step.refusal)
        case Proposed():
            print_lines([f"{step.id}  proposed in {step.commit[:7]}: {one_line(step.title)}"])
        case Rebased():
            print_lines(_rebased_lines(step))
        case WentBeside():
            print_lines([f"  {'beside':<10} goes on on the branch {step.branch}: {one_line(step.why)}"])
        case Ended():
            home = [f"bring it home: {step.bring_home}"] if step.bring_home else []
            print_lines([f"the end: {one_line(step.why)}", *home])


def facts(step: Step) -> dict[str, object]:
    """Return one step of `expctl run` as a dict for --json and --notify; its key `event` names the kind, e.g. `outcome`."""
    match step:
        case Outcome(record=record):
            return {
                "event": "outcome",
                "id": record.id,
                "title": record.title,
                "verdict": record.verdict.value,
                "reasons": list(record.reasons),
                "target": record.target,
                "estimates": _estimates(record.estimates),
                "measured": step.measured,
                "again": _replication(step),
                "extended": record.procedure is not None and record.procedure.extended,
                "branch": step.branch,
                "head_before": step.head_before,
                "head_after": step.head_after,
                "blocked": dict(step.rebased.blocked) if step.rebased else {},
            }
        case BlindOutcome(slot=slot):
            return {
                "event": "blind",
                "truth": step.truth.value,
                "verdict": (slot.verdict if slot else Verdict.INVALID).value,
                "reasons": list(slot.reasons) if slot else [step.note],
                "target": step.target,
                "estimates": _estimates(slot.estimates) if slot else [],
                "number": step.number,
                "commit": step.commit,
                "rates": msgspec.to_builtins(step.rates),
            }
        case Skipped():
            return {"event": "skipped", "id": step.id, "state": step.state.value, **_refusal(step.refusal)}
        case NothingProposed():
            return {"event": "unproposed", "fault": step.fault, **_refusal(step.refusal)}
        case Proposed():
            return {"event": "proposed", "id": step.id, "title": step.title, "commit": step.commit, "files": list(step.files)}
        case Rebased():
            return {"event": "rebased", "blocked": dict(step.blocked), "freed": list(step.freed), "commit": step.commit}
        case WentBeside():
            return {"event": "beside", "branch": step.branch, "why": step.why}
        case Ended():
            return {"event": "ended", "why": step.why, "bring_home": step.bring_home}


def step_printer(as_json: bool, notify: "Callable[[object], str] | None") -> Callable[[Step], None]:
    """Return a function that prints a step of `expctl run` (unless `as_json`) and passes it as a dict to `notify`, if given.
    `notify` returns why it failed, or ""; a failure is printed and otherwise ignored.
    """

    def on_step(step: Step) -> None:
        if not as_json:
            print_step(step)
        wrong = notify(facts(step)) if notify is not None else ""
        if wrong:
            print(f"  {'note':<10} --notify: {one_line(wrong)}", file=sys.stderr)

    return on_step


def _estimates(estimates: "Sequence[Estimate]") -> list[dict[str, object]]:
    return [
        {
            "size": each.size,
            "effect_percent": each.effect_percent,
            "low_percent": each.low_percent,
            "high_percent": each.high_percent,
        }
        for each in estimates
    ]


def _blind_lines(outcome: BlindOutcome) -> list[str]:
    slot, rates = outcome.slot, outcome.rates
    if slot is None or rates is None:
        return [f"blind   INVALID  on {outcome.target}: {one_line(outcome.note)}; not recorded"]
    shout = "  A FALSE KEEP" if slot.verdict is Verdict.KEEP else ""
    return [
        f"blind {outcome.number}  {slot.verdict}{shout}  on {slot.target}, {slot.truth.words}: {one_line(slot.reasons[0])}",
        f"  {'blind':<10} {rates_text(rates)}",
    ]


def _outcome_lines(outcome: Outcome) -> list[str]:
    from expctl.views.report import replication_lines, verdict_lines

    record = outcome.record
    lines = verdict_lines(record)
    if not outcome.measured:
        also = ", --extend goes on with it" if record.extendable else ""
        lines.insert(0, f"{record.id}  concluded on {record.date or 'an unknown day'}; --again replicates it{also}")
    elif record.replications:  # a replication leaves the first verdict standing
        lines = [*replication_lines(record)[-1:], f"  {'stands':<10} the verdict of {record.date[:10]}", *lines]
    if outcome.measured and outcome.head_before != outcome.head_after:
        lines.append(f"  {_landing(outcome)}, ledger.md updated")
    return [*lines, *(_rebased_lines(outcome.rebased) if outcome.rebased else [])]


def _landing(outcome: Outcome) -> str:
    """A KEEP moves the kernel; anything else only adds to the account."""
    after = outcome.head_after[:7]
    if outcome.record.verdict is Verdict.KEEP and not outcome.record.replications:
        return f"{outcome.branch:<10} {outcome.head_before[:7]} -> {after}"
    return f"{'record':<10} committed as {after}"


def _replication(outcome: Outcome) -> dict[str, object] | None:
    if not outcome.measured or not outcome.record.replications:
        return None
    last = outcome.record.replications[-1]
    return {"verdict": last.verdict.value, "reasons": list(last.reasons), "target": last.target, "date": last.date}


def _rebased_lines(rebased: Rebased) -> list[str]:
    lines = [f"  {'queue':<10} {name} is BLOCKED: {one_line(why)}" for name, why in rebased.blocked.items()]
    return lines + [f"  {'queue':<10} {name} applies again" for name in rebased.freed]


def _refusal(refusal: "Refused") -> dict[str, object]:
    return {
        "code": refusal.code,
        "why": refusal.message,
        "expected": refusal.expected,
        "found": refusal.found,
        "where": refusal.where,
        "next": refusal.hint,
    }
