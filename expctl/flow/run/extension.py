"""Continue an experiment that ended INCONCLUSIVE: with the same two builds, the samples it has, and the looks that are left."""

import hashlib
from collections.abc import Sequence

from expctl.domain.errors import Refused
from expctl.domain.experiment.record import Record
from expctl.domain.history.comparability import changes, measurement_conditions
from expctl.domain.protocol.boundaries import EXTENDED_ROUNDS
from expctl.domain.protocol.model import Protocol
from expctl.domain.run.events import Begun, Pinned
from expctl.domain.run.state_machine import Run
from expctl.domain.verdict.judge import judge
from expctl.domain.verdict.samples import Sample, Side
from expctl.domain.verdict.sequential_test import Decision
from expctl.flow.measuring.comparability import comparability_here
from expctl.flow.queue.eligibility import check_binding
from expctl.flow.repository import preflight
from expctl.flow.run.open_run import OpenRun, show_title
from expctl.ports.context import Context, Tools


def check_extendable(record: Record | None, experiment: str, target: str) -> Record:
    """Return `record` if `--extend` may continue it on `target` ("": its own). Raises Refused if more rounds can't decide it,
    or `target` isn't its own.
    """
    if record is None or not record.extendable:
        found = "it has no record" if record is None else f"{record.verdict}: {record.reasons[0]}"
        raise Refused(
            f"{experiment} can't be extended",
            code="not-extendable",
            expected="an INCONCLUSIVE verdict, decided from samples by this version of expctl, "
            f"that has not gone to {EXTENDED_ROUNDS} rounds yet",
            found=found,
            hint=f"expctl show {experiment} says more; `expctl run {experiment} --again` measures a concluded experiment anew",
        )
    if target not in {"", record.target}:
        raise _not_the_same(experiment, [f"target {record.target} -> {target}"])
    return record


def extend(context: Context, record: Record) -> OpenRun:
    """Begin a run that continues `record`, once the machine is quiet, with the record's commits, plan and conditions. Raises
    Refused, with nothing changed, if machine, harness, protocol or kernel have changed since the record.
    """
    workspace, experiment, head = context.workspace, record.id, context.workspace.head()
    protocol = context.library.protocol(record.base)
    branch = preflight.check_workspace(workspace, protocol.scope, experiment)
    preflight.check_tree(workspace, protocol, record.base)
    queued = context.library.queued(head, experiment)
    check_binding(queued)
    tools = context.tools_for(protocol, experiment)
    targets = preflight.choose_targets(protocol, tools.toolchains, record.target)
    card = tools.gate.check(protocol.targets[record.target])
    show_title(context, experiment, queued, protocol, record.base, record.target)
    _check_conditions(context, tools, protocol, record, head, content=queued.content)
    with tools.gate.measuring(protocol.targets[record.target]):  # its builds are there already: nothing comes before the gate
        pass
    procedure, built = record.procedure, record.artifacts.get(Side.CANDIDATE.value, {})
    begun = Begun(
        id=experiment,
        target=record.target,
        guards=tuple(name for name in targets.guards if name in built),
        absent=targets.absent,
        base=record.base,
        branch=branch,
        content=queued.content,
        again=False,
        date=context.clock.date(),
        simplify_used_percent=procedure.simplify_used_percent if procedure else 0.0,
        calibrated=procedure.calibrated if procedure else None,
        waivers=record.waivers,
        extends=head,
        card=card,
        kept_by=procedure.kept_by if procedure else "",
    )
    opened = OpenRun(
        context=context,
        tools=tools,
        protocol=protocol,
        queued=queued,
        begun=begun,
        earlier=None,
        attempt=record.attempts,
        undecided=record,
        before=_samples(context, record, head, here=context.device or card),
    )
    _check_open(opened)
    rounds = len({sample.round for sample in opened.before})
    context.progress.step("extend", f"goes on from {rounds} rounds, to {EXTENDED_ROUNDS} of search or confirmation at most")
    return opened


def check_builds(opened: OpenRun, run: Run) -> None:
    """Raise Refused and drop the run's journal if the candidate or a build isn't the one that the record was measured with."""
    record, pinned = opened.undecided, run.last(Pinned)
    if record is None:
        return
    found = [] if pinned is None or pinned.tree == record.tree else [f"tree {record.tree[:10]} -> {pinned.tree[:10]}"]
    for side in Side:
        for target in run.targets():
            before, now = record.artifacts.get(side.value, {}).get(target), run.artifact(side, target)
            if before is not None and (now is None or now.sha256 != before.sha256):
                found.append(f"build of the {side} for {target} {before.sha256[:8]} -> {now.sha256[:8] if now else 'failed'}")
            elif before is not None and now is not None and now.layouts != before.layouts:
                found.append(f"layouts of the {side} for {target}")
    if found:
        opened.context.journal.forget(opened.id)
        raise _not_the_same(opened.id, found)


def give_up(opened: OpenRun, decision: Decision) -> Refused:
    """Drop the journal of an extension that ended INVALID; the record stays as it is. Returns (not raises) the error."""
    opened.context.journal.forget(opened.id)
    return Refused(
        f"the extension of {opened.id} is INVALID; its record stays INCONCLUSIVE",
        code="extension-invalid",
        expected="rounds that count, on the same machine",
        found="; ".join(decision.reasons),
        hint=f"expctl run {opened.id} --extend measures the further rounds again",
    )


def _check_conditions(context: Context, tools: Tools, protocol: Protocol, record: Record, head: str, *, content: str) -> None:
    (_, _, then), *_ = measurement_conditions(record)
    found = [str(each) for each in changes(then, comparability_here(context, tools, protocol, record.base, record.target))]
    found += [
        f"{path} on {context.workspace.branch()} since {record.base[:10]}"
        for path in dict.fromkeys(protocol.watched)
        if context.workspace.differs(record.base, head, (path,))
    ]
    found += [] if record.content in ("", content) else [f"proposal {record.content[:8]} -> {content[:8]}"]
    if found:
        raise _not_the_same(record.id, found)


def _samples(context: Context, record: Record, head: str, *, here: str) -> tuple[Sample, ...]:
    """Return the samples at `head`. Raises Refused unless `record` was made of them, by the device `here` alone."""
    samples = context.library.read_samples(head, record.id)
    others = sorted({sample.device for sample in samples} - {here})
    if others:
        raise _not_the_same(record.id, [f"device {others[0] or 'this machine'} -> {here or 'this machine'}"])
    found = hashlib.sha256(context.samples_bytes(samples)).hexdigest()
    if found != record.samples_sha256:
        file = f"experiments/{record.id}/samples.jsonl"
        raise Refused(
            f"{record.id} can't go on: its samples were changed since they were measured",
            code="extension-other-samples",
            expected=f"{file} with SHA-256 {record.samples_sha256[:12]}, as in its record",
            found=f"{len(samples)} samples with SHA-256 {found[:12]}",
            hint=f"git log -- {file} shows who changed it; git checkout COMMIT -- {file}, then commit, brings it back",
        )
    return samples


def _check_open(opened: OpenRun) -> None:
    answer = judge(opened.before, opened.plan(), opened.queued.proposal.kind)
    if isinstance(answer, Decision):
        raise Refused(
            f"{opened.id} has no look left to go on to",
            code="extension-without-looks",
            expected="samples that are undecided under the extended plan",
            found=f"{answer.verdict}: {answer.reasons[0]}",
            hint=f"expctl replay {opened.id} tells whether its samples are those of its record",
        )


def _not_the_same(experiment: str, found: Sequence[str]) -> Refused:
    return Refused(
        f"{experiment} can't go on: what it is measured with has changed",
        code="extension-not-comparable",
        expected="the machine, harness, protocol, kernel and builds of its record",
        found="\n".join(found),
        hint=f"expctl run {experiment} --again replicates it as evidence; or propose the change under a new id",
    )
