"""Begin a run, after checking everything that could prevent it, or resume an interrupted one from its journal."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from expctl.domain.errors import Refused
from expctl.domain.experiment.proposal_files import Queued
from expctl.domain.experiment.record import Origin, Record, Waiver
from expctl.domain.ledger.simplify_budget import simplify_used_percent
from expctl.domain.patch.synchronisation import removed_synchronisation
from expctl.domain.protocol.model import Benchmark, Protocol, Target
from expctl.domain.run.events import Begun, Event
from expctl.domain.text import AUTHOR, one_line
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample
from expctl.flow.measuring.calibrate import known_noise
from expctl.flow.measuring.comparability import comparability_here
from expctl.flow.measuring.control import check_control, what_remains
from expctl.flow.measuring.setup import Setup, benchmark_of
from expctl.flow.queue.eligibility import check_binding, check_eligible
from expctl.flow.repository import preflight
from expctl.flow.repository.pending import read_queue
from expctl.flow.repository.protocol_notes import tell_edits, tell_older_gate
from expctl.flow.rules.repeat_check import check_patch, check_patterns
from expctl.ports.context import Context, Tools
from expctl.ports.repository import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRun:
    """One unfinished run: its proposal, its first event `begun`, and the protocol and tools of the baseline commit.

    `earlier` is the existing record if this run replicates it; `attempt` is 1, or one more after each INVALID run. `undecided`
    is the record that this run continues, and `before` has that record's samples.
    """

    context: Context
    tools: Tools
    protocol: Protocol
    queued: Queued
    begun: Begun
    earlier: Record | None
    attempt: int
    undecided: Record | None = None
    before: tuple[Sample, ...] = ()

    @property
    def id(self) -> str:
        """Return the experiment's id."""
        return self.begun.id

    @property
    def author(self) -> str:
        """Return the author of the commit that a KEEP lands."""
        return proposer_of(self.context.workspace, self.queued, self.begun)

    @property
    def branch(self) -> str:
        """Return the branch on which the result is published: that of the campaign, else the one on which the run began."""
        return self.context.workspace.campaign or self.begun.branch

    @property
    def target(self) -> Target:
        """Return the section of protocol.yaml on the target whose timing decides this run."""
        return self.protocol.targets[self.begun.target]

    @property
    def removed_synchronisation(self) -> tuple[str, ...]:
        """Return the barriers and waits that the patch removes or moves."""
        return removed_synchronisation(self.queued.patch.decode(errors="replace"))

    @property
    def benchmark(self) -> Benchmark:
        """Return the timed target's benchmark. Raises TypeError if it has none, which can't happen for a target that may
        decide.
        """
        return benchmark_of(self.protocol, self.begun.target)

    def plan(self) -> Plan:
        """Return the statistical plan of the run (sizes, rounds, limits), which is fixed before the first measurement."""
        plan = Plan.of(
            self.benchmark,
            self.protocol.keep,
            self.queued.proposal.mode,
            simplify_used_percent=self.begun.simplify_used_percent,
            calibrated=self.begun.calibrated,
            kept_by=self.begun.kept_by,
        )
        return plan.extend() if self.begun.extends else plan


def proposer_of(workspace: Workspace, queued: Queued, begun: Begun) -> str:
    """Return who proposed the change, as `Name <e-mail>`: by its ticket, or who committed the proposal by hand. "" where git
    could take neither for an author: anybody can write a ticket, and old commits may name nobody.
    """
    named = queued.ticket.author if queued.ticket is not None else ""
    if re.fullmatch(AUTHOR, named):
        return named
    committed_by = workspace.who_added(begun.base, f"experiments/{begun.id}/experiment.yaml")
    return committed_by if re.fullmatch(AUTHOR, committed_by) else ""


def resume(context: Context, events: Sequence[Event], *, wanted: str, earlier: Record | None, attempt: int) -> OpenRun:
    """Resume the interrupted run with the journal `events`, at the step after the last one.

    `earlier` is the record that the run replicates, if any; `attempt` is 1, or one more after each INVALID run. Raises Refused
    if the proposal has changed since the run began, or if `wanted` is neither "" nor the target of that run.
    """
    begun = next(event for event in events if isinstance(event, Begun))
    protocol = context.library.protocol(begun.base)
    if wanted and wanted != begun.target:
        raise Refused(
            f"{begun.id} has an unfinished run on {begun.target}",
            code="unfinished-run-on-another-target",
            expected=f"--target {begun.target}, or none",
            found=one_line(wanted, 60),
            hint=f"expctl run {begun.id}; then the other target",
        )
    if begun.device != context.device:
        raise Refused(
            f"{begun.id} has an unfinished run on another device",
            code="unfinished-run-on-another-device",
            expected="the device that has begun it: samples of two are never put together",
            found=f"a run by {begun.device or 'this machine alone'}",
            hint="expctl run --all --on fleet goes on with it" if begun.device else f"expctl run {begun.id}",
        )
    preflight.check_workspace(context.workspace, protocol.scope, begun.id)
    queued = _still_queued(context, begun)
    tools = context.tools_for(protocol, begun.id)
    keeps_card = begun.card and not begun.device  # a fleet's device is asked for above
    if keeps_card and (card := tools.gate.check(protocol.targets[begun.target])) != begun.card:
        raise Refused(
            f"{begun.id} has an unfinished run on another card",
            code="unfinished-run-on-another-card",
            expected=f"{begun.card}, which has begun it: samples of two cards are never put together",
            found=card,
            hint=f"expctl run {begun.id}, with the variable that shows it that card (docs/GATE.md, Several cards)",
        )
    show_title(context, begun.id, queued, protocol, begun.base, begun.target)
    tell_older_gate(context, protocol, begun.base)
    context.progress.step("resume", f"an unfinished run goes on after {type(events[-1]).__name__.lower()}")
    undecided = context.library.record(begun.extends, begun.id) if begun.extends else None
    return OpenRun(
        context=context,
        tools=tools,
        protocol=protocol,
        queued=queued,
        begun=begun,
        earlier=None if undecided else earlier,
        attempt=undecided.attempts if undecided else attempt,
        undecided=undecided,
        before=context.library.read_samples(begun.extends, begun.id) if undecided else (),
    )


def reopened(context: Context, events: Sequence[Event]) -> OpenRun:
    """Return the run of `events`, of which nothing is left but to settle it: workspace and device are not looked at. Raises
    Refused if the proposal has changed since the run began.
    """
    begun = next(event for event in events if isinstance(event, Begun))
    protocol, queued = context.library.protocol(begun.base), _still_queued(context, begun)
    tools = context.tools_for(protocol, begun.id)
    return OpenRun(context=context, tools=tools, protocol=protocol, queued=queued, begun=begun, earlier=None, attempt=1)


def _still_queued(context: Context, begun: Begun) -> Queued:
    try:
        queued = context.library.queued(context.workspace.head(), begun.id)
    except Refused as refusal:
        journal = f"{context.workspace.state}/journal/{begun.id}.jsonl"
        refusal.hint = f"bring the proposal back, or give the unfinished run up: remove {journal}"
        raise
    if queued.content != begun.content:
        raise Refused(
            f"{begun.id} was changed after its run began",
            code="proposal-changed-after-begin",
            expected="the files with which the run began: an id is bound to its content",
            found="another experiment.yaml or change.patch",
            where=f"experiments/{begun.id}",
            hint=f"restore it (git log -- experiments/{begun.id}) or propose the change under a new id",
        )
    return queued


def begin(
    context: Context, experiment: str, *, wanted: str, earlier: Record | None, attempt: int, kept_by: str = ""
) -> OpenRun:
    """Begin a new run on the target `wanted` ("": the first available), once all checks have passed.

    `earlier` is the record that the run replicates, if any; `attempt` is 1, or one more after each INVALID run. `kept_by`: see
    Begun. Raises Refused with no change in the repository.
    """
    workspace = context.workspace
    head = workspace.head()
    base = _base(head, experiment, earlier)
    protocol = context.library.protocol(base)
    branch = preflight.check_workspace(workspace, protocol.scope, experiment)
    preflight.check_tree(workspace, protocol, base)
    queued = context.library.queued(head, experiment)
    tools = context.tools_for(protocol, experiment)
    tools.gate.check()
    targets = preflight.choose_targets(protocol, tools.toolchains, wanted)
    card = tools.gate.check(protocol.targets[targets.deciding])
    for guard in (protocol.targets[name] for name in targets.guards):
        if guard.test is not None:
            tools.gate.check(guard)
    check_binding(queued)
    if earlier is None:
        _check_second_device(context, protocol)
        check_eligible(read_queue(context.library, head), experiment)
    preflight.check_patch(workspace, protocol, base, queued)
    waivers: tuple[Waiver, ...] = ()
    if earlier is None:
        part, patch = (targets.deciding, *targets.guards), preflight.patch_on(workspace, base, queued)
        check_patterns(context.rulebook, queued.proposal, patch, commit=base)
        waivers = check_patch(context.rulebook, protocol, queued.proposal, patch, commit=base, targets=part)
    setup = Setup(context=context, protocol=protocol, tools=tools, head=base, name=targets.deciding)
    check_control(setup, then=what_remains(experiment, is_new=earlier is None))
    show_title(context, experiment, queued, protocol, base, targets.deciding)
    for waiver in waivers:
        context.progress.step("rule", f"{waiver.rule} matches ({waiver.level}) and lets it pass: {one_line(waiver.reason)}")
    ground = comparability_here(context, tools, protocol, base, targets.deciding)
    used = simplify_used_percent(context.library.digests(head), target=targets.deciding, conditions=ground, but=experiment)
    noise = known_noise(context, tools, protocol, base=base, target=targets.deciding)
    begun = Begun(
        id=experiment,
        target=targets.deciding,
        guards=targets.guards,
        absent=targets.absent,
        base=base,
        branch=branch,
        content=queued.content,
        again=earlier is not None,
        date=context.clock.date(),
        simplify_used_percent=used,
        calibrated=noise,
        waivers=waivers,
        device=context.device,
        card=card,
        kept_by=kept_by,
    )
    return OpenRun(
        context=context, tools=tools, protocol=protocol, queued=queued, begun=begun, earlier=earlier, attempt=attempt
    )


def _check_second_device(context: Context, protocol: Protocol) -> None:
    if protocol.keep.second_device and not context.device:
        raise Refused(
            "this protocol keeps nothing that a second device has not confirmed",
            code="second-device-needed",
            expected="a fleet of at least two devices",
            found="this machine alone",
            where="protocol.yaml, keep.second_device",
            hint="expctl run --all --on fleet; docs/FLEET.md",
        )


def _base(head: str, experiment: str, earlier: Record | None) -> str:
    if earlier is None:
        return head
    if earlier.origin is Origin.IMPORTED or not earlier.base:
        raise Refused(
            f"{experiment} was imported; there is no patch to run again",
            code="imported-has-no-patch",
            expected="an experiment that expctl measured",
            found=f"origin {earlier.origin}",
            hint=f"expctl show {experiment}",
        )
    if earlier.buckets:
        raise Refused(
            f"{experiment} is a tuning: its sides are tables of one build, and a run times the KPI",
            code="tuning-not-run-again",
            expected="an experiment whose patch changes what is built",
            found=f"verdicts on {len(earlier.buckets)} contests of configs",
            hint=f"git worktree add -b again ../again {earlier.base[:12]}, then expctl tune there, times its buckets again",
        )
    return earlier.base


def show_title(context: Context, experiment: str, queued: Queued, protocol: Protocol, base: str, target: str) -> None:
    """Print the heading of a run, and one line for each way in which child processes can't be confined on this machine. What is
    open is known from the self-test, which is made now if it wasn't yet. Raises MachineTrouble if it can't be.
    """
    identity = context.workspace.files_identity(base, ("protocol.yaml", *protocol.harness))
    context.progress.title(experiment, queued.proposal.title, base=base, target=target, protocol=identity)
    if not context.device:  # nothing is measured in the work tree of a fleet's head, and a worker's is its own
        tell_edits(context, protocol, base)
    for gap in context.gaps:
        context.progress.step("walls", gap)
    walls = context.walls()
    if walls.flag:
        context.progress.step("walls", f"{walls.flag} (expctl doctor walls)")
