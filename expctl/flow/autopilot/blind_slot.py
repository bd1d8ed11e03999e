"""Run a blind slot: measure HEAD against itself, or against itself with the control's slow-down, as a run measures a candidate.

Which of the two it is was drawn, and nothing that builds, measures or judges is told. docs/decisions/027-blind-slots.md.
"""

import hashlib
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from expctl.domain.errors import Interrupted, Refused
from expctl.domain.experiment.proposal import Kind, Mode, Verdict
from expctl.domain.experiment.record import Procedure
from expctl.domain.history.blind import FILE, BlindRates, BlindSlot, Truth, blind_rates
from expctl.domain.history.comparability import Comparability
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.judge import estimates_of, judge
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample, Side
from expctl.domain.verdict.sequential_test import Decision, MeasureMore
from expctl.flow.autopilot.preconditions import check_preconditions
from expctl.flow.measuring.calibrate import known_noise
from expctl.flow.measuring.comparability import comparability_here
from expctl.flow.measuring.compare_builds import build_sides, measure_sessions
from expctl.flow.measuring.control import slowed_commit
from expctl.flow.measuring.setup import Setup
from expctl.flow.repository import preflight
from expctl.flow.repository.commit_messages import blind_message
from expctl.flow.repository.ledger_inputs import read_ledger_inputs
from expctl.flow.repository.recovery import PATIENCE_S, clean_up_dead_runs, publishing
from expctl.ports.context import Context

DRAW = secrets.SystemRandom().random
Chance = Callable[[], float]
"""Returns a random number from 0 to 1, excluding 1."""

CANDIDATE = "candidate\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindOutcome:
    """The end of a blind slot: `slot` and its `number` in experiments/blind.jsonl, added by `commit`, and the `rates` with it.

    Without a slot nothing was recorded, because machine or harness failed (INVALID): `note` says how.
    """

    target: str
    truth: Truth
    slot: BlindSlot | None = None
    number: int = 0
    commit: str = ""
    rates: BlindRates | None = None
    note: str = ""


class _Compared(Struct, frozen=True, kw_only=True):
    artifacts: tuple[str, str]
    samples: tuple[Sample, ...]
    decision: Decision


def run_blind(context: Context, *, count: int, target: str, chance: Chance = DRAW) -> Iterator[BlindOutcome]:
    """Run `count` blind slots on `target` ("": first available) now; yield each.

    Raises Refused after one that was kept, Busy, or Interrupted.
    """
    for number in range(count):
        if context.stop_requested():
            raise Interrupted(f"stopped before blind slot {number + 1} of {count}; what was measured is committed")
        outcome = blind_slot(context, target=target, chance=chance)
        yield outcome
        check_not_kept(outcome)


def check_not_kept(outcome: BlindOutcome) -> None:
    """Raise Refused if a blind slot was kept: its candidate can't be faster, so machine or harness is wrong."""
    slot = outcome.slot
    if slot is None or slot.verdict is not Verdict.KEEP:
        return
    raise Refused(
        "a blind slot was kept, so a KEEP of this machine or harness can't be trusted now",
        code="blind-slot-kept",
        expected=f"no KEEP of {slot.truth.words}",
        found=f"KEEP  {slot.reasons[0]}",
        where=f"experiments/{FILE}, line {outcome.number}, on {slot.target}",
        hint="expctl gate and expctl calibrate show what disturbs the machine; expctl run --blind 10 measures how often it"
        " happens; then expctl run ID --again for what was kept lately; expctl run --all goes on",
    )


def blind_slot(context: Context, *, target: str, chance: Chance) -> BlindOutcome:
    """Run one blind slot on `target` ("": first available) and commit its outcome. A KEEP lands nothing.

    Nothing is kept of a slot that is stopped or killed, or that ends INVALID. Raises Refused, Busy or Interrupted.
    """
    with context.locks.measuring(experiment="blind") as holder:
        clean_up_dead_runs(context)
        check_preconditions(context, target)
        branch = preflight.check_workspace(context.workspace, (), "blind", FILE)
        setup = _setup(context, target)
        identity = context.workspace.files_identity(setup.head, ("protocol.yaml", *setup.protocol.harness))
        context.progress.title("blind", "a blind slot", base=setup.head, target=setup.name, protocol=identity)
        holder.show("measure")
        try:
            truth, candidate = _drawn(setup, chance)
            found = _compared(setup, candidate)
            if truth is Truth.SLOW and isinstance(found, _Compared) and len(set(found.artifacts)) == 1:
                found = Failed(reason=f"the control changes nothing in the build of {setup.name}")
        finally:
            context.workspace.remove_check_outs()
        if isinstance(found, Failed) or found.decision.procedure is None or found.decision.verdict is Verdict.INVALID:
            note = found.reason if isinstance(found, Failed) else found.decision.reasons[0]
            return BlindOutcome(target=setup.name, truth=truth, note=note)
        slot = _slot(setup, truth, found, found.decision.procedure)
        with publishing(context, "blind", wait_s=PATIENCE_S):
            return _published(context, branch, slot, context.samples_bytes(found.samples))


def _setup(context: Context, target: str) -> Setup:
    head = context.workspace.head()
    protocol = context.library.protocol(head)
    tools = context.tools_for(protocol, "blind")
    name = preflight.choose_targets(protocol, tools.toolchains, target).deciding
    return Setup(context=context, protocol=protocol, tools=tools, head=head, name=name)


def _drawn(setup: Setup, chance: Chance) -> tuple[Truth, str]:
    """Draw what the candidate is; return it with its commit. Where the target has no control that fits, it is HEAD's tree."""
    workspace = setup.context.workspace
    if setup.benchmark.control is not None and chance() < 0.5:
        slowed = slowed_commit(setup)
        if not isinstance(slowed, Failed):
            return Truth.SLOW, slowed
        setup.context.progress.step("control", f"not used: {slowed.reason}")
    tree = workspace.tree_with(setup.head, setup.head, setup.protocol.scope)
    return Truth.NULL, workspace.commit_tree(base=setup.head, tree=tree, message=CANDIDATE)


def _compared(setup: Setup, candidate: str) -> _Compared | Failed:
    """Build, test and measure `candidate` against HEAD. Failed if a step fails: machine, harness or control are at fault.

    Where a side has layouts (placements of its code), the candidate takes another than the baseline in each round.
    """
    context, tools = setup.context, setup.tools
    noise = known_noise(context, tools, setup.protocol, base=setup.head, target=setup.name)
    plan = Plan.of(setup.benchmark, setup.protocol.keep, Mode.GAIN, calibrated=noise)
    built = build_sides(setup, {Side.BASELINE: setup.head, Side.CANDIDATE: candidate})
    if isinstance(built, Failed):
        return built
    (baseline, layouts), (made, (first, *others)) = built[Side.BASELINE], built[Side.CANDIDATE]
    tested = _tested(setup, first)
    if tested is not None:
        return tested

    def judged(samples: Sequence[Sample]) -> Decision | MeasureMore:
        return judge(samples, plan, Kind.PERF)

    artifacts: Mapping[Side, Sequence[Path]] = {Side.BASELINE: layouts, Side.CANDIDATE: (*others, first)}
    measured = measure_sessions(setup, artifacts, judged, "blind")
    if isinstance(measured, Failed):
        return measured
    samples, decision = measured
    return _Compared(artifacts=(baseline.sha256, made.sha256), samples=samples, decision=decision)


def _tested(setup: Setup, artifact: Path) -> Failed | None:
    step = setup.target.test
    if step is None:
        raise TypeError(f"{setup.name} has no test")
    cwd = setup.check_out(setup.head, Side.BASELINE)
    setup.context.progress.working("test", setup.name)
    with setup.tools.gate.working(setup.target):
        report = setup.tools.steps.test(step, cwd=cwd, artifact=artifact, progress=setup.context.progress)
    return replace(report, reason=f"test: {report.reason}") if isinstance(report, Failed) else None


def _slot(setup: Setup, truth: Truth, found: _Compared, procedure: Procedure) -> BlindSlot:
    context, control = setup.context, setup.benchmark.control
    return BlindSlot(
        date=context.clock.date(),
        target=setup.name,
        truth=truth,
        slower_percent=control.slower_percent if control is not None and truth is Truth.SLOW else 0.0,
        verdict=found.decision.verdict,
        reasons=found.decision.reasons,
        estimates=estimates_of(found.decision, found.samples, setup.benchmark.sizes),
        procedure=procedure,
        head=setup.head,
        ground=_ground(setup),
        artifacts=found.artifacts,
        samples_sha256=hashlib.sha256(context.samples_bytes(found.samples)).hexdigest(),
    )


def _ground(setup: Setup) -> Comparability:
    return comparability_here(setup.context, setup.tools, setup.protocol, setup.head, setup.name)


def _published(context: Context, branch: str, slot: BlindSlot, samples: bytes) -> BlindOutcome:
    """Add the slot to experiments/blind.jsonl in one commit with its samples and the ledger, wherever the branch is now."""
    workspace, library = context.workspace, context.library
    while True:
        head = workspace.branch_head(branch)
        inputs = read_ledger_inputs(library, head)
        inputs = replace(inputs, blind=(*inputs.blind, slot))
        files = {
            f"experiments/{FILE}": library.blind_text(head) + context.blind_bytes(slot),
            slot.evidence: samples,
            "ledger.md": context.render(inputs.ledger()).encode(),
        }
        commit = workspace.commit_files(parent=head, files=files, message=blind_message(slot), date=slot.date)
        if workspace.publish(branch=branch, old=head, new=commit):
            rates = blind_rates(inputs.blind, {slot.target: slot.ground})
            return BlindOutcome(
                target=slot.target,
                truth=slot.truth,
                slot=slot,
                number=len(inputs.blind),
                commit=commit,
                rates=rates[0],
            )
