"""What a run says about rules when it settles: the one that it leaves, and those that had let it pass."""

from expctl.domain.experiment.record import Rule, Waiver
from expctl.domain.protocol.architectures import architecture_of
from expctl.domain.rules.conditions import ARCHITECTURE, COMPILERS, EPOCH, EPOCH_DIGITS
from expctl.domain.rules.matching import rule_of
from expctl.domain.run.events import Built
from expctl.domain.run.failing_target import judged_target
from expctl.domain.run.state_machine import Run
from expctl.domain.verdict.samples import Side
from expctl.flow.repository import preflight
from expctl.flow.rules.repeat_check import check_code
from expctl.flow.run.open_run import Desk


def rule_left(desk: Desk, run: Run, reason: str, *, code: str) -> Rule:
    """What a REJECT forbids from now on; `code` is the machine code at home.

    A candidate that did not build would not in any epoch of the harness, so its rule names none.
    """
    world, base, judged = desk.world, desk.begun.base, judged_target(run)
    target = desk.protocol.targets[judged]
    versions = dict(getattr(desk.equipment.toolchains.availability(judged, target), "versions", {}))
    epoch = world.workspace.protocol_identity(base, ("protocol.yaml", *desk.protocol.harness))
    return rule_of(
        desk.queued.proposal,
        reason,
        world.rulebook.identity(base, preflight.patch_on(world.workspace, base, desk.queued)),
        code=code,
        judged=judged,
        conditions={
            ARCHITECTURE: architecture_of(judged, target),
            "baseline": base[:12],
            **{name: versions[name] for name in COMPILERS if name in versions},
            **({EPOCH: epoch[:EPOCH_DIGITS]} if run.artifact(Side.CANDIDATE, judged) else {}),
        },
    )


def waivers_of(desk: Desk, run: Run) -> tuple[Waiver, ...]:
    """Those of the patch, from the journal; those of its machine code, looked up again. A replication asks no rule."""
    if desk.earlier is not None:
        return ()
    machine = desk.world.machine.get("machine", "")
    built = check_code(desk.world.rulebook, desk.protocol, desk.queued.proposal, run, machine) if run.last(Built) else ()
    known = {waiver.rule for waiver in desk.begun.waivers}
    return (*desk.begun.waivers, *(waiver for waiver in built if waiver.rule not in known))
