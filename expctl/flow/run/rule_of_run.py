"""Compute the do-not-repeat rule that a rejected run leaves, and the waivers: why earlier rules that match let a run pass."""

from expctl.domain.experiment.record import Rule, Waiver
from expctl.domain.protocol.architectures import architecture_of
from expctl.domain.rules.conditions import ARCHITECTURE, COMPILERS
from expctl.domain.rules.matching import rule_of
from expctl.domain.run.events import Built
from expctl.domain.run.failing_target import failing_target
from expctl.domain.run.state_machine import Run
from expctl.flow.repository import preflight
from expctl.flow.rules.repeat_check import check_code
from expctl.flow.run.open_run import OpenRun


def recorded_rule(opened: OpenRun, run: Run, reason: str, *, code: str) -> Rule:
    """Return the do-not-repeat rule of a rejected run. `code` is the machine code's hash for the hardware target, or ""."""
    context, base, judged = opened.context, opened.begun.base, failing_target(run)
    target = opened.protocol.targets[judged]
    versions = dict(getattr(opened.tools.toolchains.availability(judged, target), "versions", {}))
    return rule_of(
        opened.queued.proposal,
        reason,
        context.rulebook.identity(base, preflight.patch_on(context.workspace, base, opened.queued)),
        code=code,
        judged=judged,
        conditions={
            ARCHITECTURE: architecture_of(judged, target),
            "baseline": base[:12],
            **{name: versions[name] for name in COMPILERS if name in versions},
        },
        worthwhile_percent=opened.protocol.keep.worthwhile_percent,
    )


def waivers_of(opened: OpenRun, run: Run) -> tuple[Waiver, ...]:
    """Return a waiver for each do-not-repeat rule that matches a run's patch or machine code; none for a replication. Raises
    Repeated if one of these rules forbids the run.
    """
    if opened.earlier is not None:
        return ()
    machine = opened.context.machine.get("machine", "")
    built = (
        check_code(opened.context.rulebook, opened.protocol, opened.queued.proposal, run, machine) if run.last(Built) else ()
    )
    known = {waiver.rule for waiver in opened.begun.waivers}
    return (*opened.begun.waivers, *(waiver for waiver in built if waiver.rule not in known))
