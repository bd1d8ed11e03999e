"""Settle a run: turn its decision into one commit with record and ledger, and move the branch to it.

The commit's parent is the candidate (KEEP) or the branch's head. The branch moves by one compare-and-swap, so that no kernel
is ever on it without its record.
"""

import hashlib
from collections.abc import Generator

from msgspec.structs import replace

from expctl.domain.experiment import free_change
from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.domain.experiment.record import SCHEMA, Artifact, Origin, Record, Replication
from expctl.domain.experiment.record import Test as TestFacts
from expctl.domain.history.build_differences import build_changes, fact_changes
from expctl.domain.run.events import Event, Invalidated, Pinned, Profiled, Published, Publishing, Tested
from expctl.domain.run.state_machine import Run, is_unchanged
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.judge import estimates_of
from expctl.domain.verdict.machine_states import times_by_state
from expctl.domain.verdict.samples import Side
from expctl.domain.verdict.sequential_test import Decision
from expctl.flow.measuring.comparability import environment
from expctl.flow.measuring.setup import CHECK_OUT
from expctl.flow.repository import preflight
from expctl.flow.repository.commit_messages import candidate_message, record_message
from expctl.flow.repository.ledger_inputs import NewRecord, ledger_with
from expctl.flow.repository.recovery import PATIENCE_S, publishing
from expctl.flow.run.open_run import OpenRun
from expctl.flow.run.remarks import flags_of, home_code, notes_of
from expctl.flow.run.rule_of_run import recorded_rule, waivers_of
from expctl.ports.context import Context


def settle(opened: OpenRun, run: Run, decision: Decision) -> Generator[Event, None, None]:
    """Commit record, samples and ledger.md of a decided run, and move the branch to that commit.

    Yields Publishing before the branch moves and Published after. If others have moved the branch meanwhile and the result
    doesn't hold there, yields just Invalidated; if they move it while this works, nothing, and the caller calls again. It must
    write each event to the journal at once, so that a killed run can be completed. Raises Busy if others publish for too long.
    """
    workspace, branch = opened.context.workspace, opened.branch
    head = workspace.branch_head(branch)
    lands = decision.verdict is Verdict.KEEP and run.kind is not Kind.ANALYSIS and opened.earlier is None
    pinned = run.last(Pinned)
    if head != opened.begun.base and opened.earlier is None and decision.verdict is not Verdict.INVALID:
        moved = repinned(opened, run, head, lands=lands)
        if isinstance(moved, Invalidated):
            yield moved
            return
        pinned = moved if moved is not None else pinned
    with publishing(opened.context, opened.id, wait_s=PATIENCE_S):
        if workspace.branch_head(branch) != head:
            return
        new, files = new_record(opened, run, decision, pinned)
        parent = pinned.candidate if lands and pinned is not None else head
        commit = workspace.commit_files(
            parent=parent,
            files=files | ledger_file(opened.context, parent, new),
            message=record_message(new.record),
            date=opened.context.clock.date(),
        )
        yield Publishing(head=head, commit=commit, branch=branch)
        if workspace.publish(branch=branch, old=head, new=commit):
            yield Published(commit=commit)


def repinned(opened: OpenRun, run: Run, head: str, *, lands: bool) -> Pinned | Invalidated | None:
    """Commit the candidate again on `head`, to which others moved the branch during the run.

    Returns None if `lands` is False, because the candidate then isn't published. Returns Invalidated if kernel, harness,
    protocol or proposal differ at `head`, or the candidate doesn't build there to the same artifact.
    """
    workspace, protocol = opened.context.workspace, opened.protocol
    # What a fleet judged beside an older kernel stands, as long as nothing else has changed; a KEEP is judged again.
    stands = opened.begun.device and not lands
    judges = [path for path in protocol.watched if not (stands and path in protocol.scope)]
    if workspace.differs(opened.begun.base, head, judges):
        return Invalidated(
            reason=f"base moved: {opened.branch} went to {head[:10]}, which changes what is measured or what judges it"
        )
    if opened.context.library.queued(head, opened.id).content != opened.begun.content:
        return Invalidated(reason=f"base moved: {head[:10]} has another proposal under this id than the one that was measured")
    if not lands:
        return None
    tree = preflight.tree_on(workspace, head, opened.queued)
    if isinstance(tree, Failed):
        return Invalidated(reason=f"base moved: the patch no longer applies to {head[:10]}: {tree.reason}")
    message = candidate_message(opened.queued.proposal, opened.begun.target)
    candidate = workspace.pin(base=head, tree=tree, message=message, ref=f"refs/expctl/{opened.id}", author=opened.author)
    name = opened.begun.target
    measured = run.artifact(Side.CANDIDATE, name)
    check_out, sources = workspace.check_out(candidate, CHECK_OUT[Side.CANDIDATE]), workspace.source_identity(candidate)
    with opened.tools.gate.working():
        built = opened.tools.toolchains.build(name, opened.target, tree=check_out, sources=sources)
    if isinstance(built, Failed) or measured is None or built.sha256 != measured.sha256:
        return Invalidated(reason=f"base moved: on {head[:10]} the candidate does not build to the artifact that was measured")
    before = run.last(Pinned)
    return Pinned(candidate=candidate, tree=tree, patch_id=before.patch_id if before else "")


def _record(opened: OpenRun, run: Run, decision: Decision, pinned: Pinned | None, samples_sha256: str) -> Record:
    samples = run.samples()
    estimates = estimates_of(decision, samples, opened.benchmark.sizes)
    times = times_by_state(samples, decision.rounds)
    if opened.earlier is not None:
        replication = Replication(
            target=opened.begun.target,
            date=opened.context.clock.date(),
            verdict=decision.verdict,
            reasons=decision.reasons,
            estimates=estimates,
            environment=_environment(opened),
            procedure=decision.procedure,
            burn_ins=run.burn_ins(),
            first_runs=run.first_runs(),
            samples_sha256=samples_sha256,
            yardstick=opened.context.library.benchmark_identity(opened.begun.base, opened.protocol, opened.begun.target),
            control=run.control(),
            times=times,
        )
        compared = [target for target in run.targets() if is_unchanged(run, target)]
        compared += [opened.begun.target] if estimates else []
        flags = free_change.settled(opened.earlier.flags, compared)
        flags += tuple(flag for flag in opened.context.walls().flags() if flag not in flags)
        return replace(opened.earlier, flags=flags, replications=(*opened.earlier.replications, replication))
    artifacts = _artifacts(run)
    home = home_code(opened, artifacts)
    proposal, patch_id = opened.queued.proposal, pinned.patch_id if pinned else ""
    tests = {each.target or opened.begun.target: _test_facts(each) for each in run.all(Tested)}
    record = Record(
        schema=SCHEMA,
        id=opened.id,
        title=proposal.title,
        kind=proposal.kind,
        origin=Origin.MEASURED,
        target=opened.begun.target,
        verdict=decision.verdict,
        reasons=decision.reasons,
        hypothesis=proposal.hypothesis,
        prediction=proposal.prediction,
        base=opened.begun.base if pinned is None else opened.context.workspace.parent(pinned.candidate),
        candidate=pinned.candidate if pinned else "",
        tree=pinned.tree if pinned else "",
        protocol=opened.context.workspace.files_identity(opened.begun.base, ("protocol.yaml", *opened.protocol.harness)),
        patch_id=patch_id,
        content=opened.queued.content,
        date=_date(opened),
        attempts=opened.attempt,
        artifacts=artifacts,
        environment=_environment(opened),
        test=tests.get(opened.begun.target),
        guard_tests={name: facts for name, facts in tests.items() if name != opened.begun.target},
        number_kind=opened.target.number_kind,
        estimates=estimates,
        profile=(*build_changes(artifacts, timed=opened.begun.target), *_profile_changes(run)),
        explanation=_explanation(run),
        notes=notes_of(opened, run),
        flags=(*opened.context.walls().flags(), *flags_of(opened, run, decision, estimates)),
        rule=recorded_rule(opened, run, decision.reasons[0], code=home) if decision.verdict is Verdict.REJECT else None,
        waivers=waivers_of(opened, run),
        procedure=decision.procedure,
        burn_ins=run.burn_ins(),
        first_runs=run.first_runs(),
        samples_sha256=samples_sha256,
        yardstick=opened.context.library.benchmark_identity(opened.begun.base, opened.protocol, opened.begun.target),
        control=run.control(),
        times=times,
    )
    return record if opened.undecided is None else _extended(opened.undecided, record)


def _date(opened: OpenRun) -> str:
    """Return the date of the record: now, or when the run began if the kernel beside which it was judged is no longer the
    newest one. Records are read in the order of their dates.
    """
    workspace, base = opened.context.workspace, opened.begun.base
    is_newest = not opened.begun.device or not workspace.differs(
        base, workspace.branch_head(opened.branch), opened.protocol.scope
    )
    return opened.context.clock.date() if is_newest else opened.begun.date


def _environment(opened: OpenRun) -> dict[str, str]:
    """Return the conditions of the measurement, what the self-test of the walls has found on that machine, and in a fleet the
    device.
    """
    found = environment(opened.context, opened.tools, opened.begun.target, opened.target)
    device = {"device": opened.begun.device} if opened.begun.device else {}
    return found | opened.context.walls().facts() | device


def _extended(undecided: Record, record: Record) -> Record:
    """Return the record of an extension with the parts that only the first run has: tests, replications, further builds.
    `undecided` is the first run's record.
    """
    artifacts = {side: {**undecided.artifacts.get(side, {}), **built} for side, built in record.artifacts.items()}
    return replace(
        record,
        artifacts=artifacts,
        test=undecided.test,
        guard_tests=undecided.guard_tests,
        burn_ins=(*undecided.burn_ins, *record.burn_ins),
        first_runs=(*undecided.first_runs, *record.first_runs),
        replications=undecided.replications,
    )


def _test_facts(tested: Tested) -> TestFacts:
    return TestFacts(ok=tested.ok, cases=tested.cases, summary=tested.summary)


def _artifacts(run: Run) -> dict[str, dict[str, Artifact]]:
    found: dict[str, dict[str, Artifact]] = {}
    for side in Side:
        built = {target: run.artifact(side, target) for target in run.targets()}
        found[side.value] = {target: artifact for target, artifact in built.items() if artifact is not None}
    return found


def _profile_changes(run: Run) -> tuple[str, ...]:
    lines: list[str] = []
    for target in run.roles.profiles:
        found = {each.side: each for each in run.all(Profiled) if (each.target or run.begun().target) == target}
        if len(found) < len(Side):
            continue
        failures = [f"profile of the {side}: nothing: {each.failure}" for side, each in found.items() if each.failure]
        remarks = [f"profile of the {side}: {each.remark}" for side, each in found.items() if each.remark]
        facts = () if failures else fact_changes(found[Side.BASELINE].facts, found[Side.CANDIDATE].facts)
        changes = [*failures, *remarks, *facts]
        lines += changes if target == run.begun().target else [f"{target}: {', '.join(changes)}"]
    return tuple(lines)


def _explanation(run: Run) -> str:
    mine = (each for each in run.all(Profiled) if (each.target or run.begun().target) == run.begun().target)
    return next((each.why for each in mine if each.why), "")


def new_record(opened: OpenRun, run: Run, decision: Decision, pinned: Pinned | None) -> tuple[NewRecord, dict[str, bytes]]:
    """Return the record of a decided run, or the earlier one with this replication, and the files of its experiment that come
    with it: path -> contents. Nothing is committed yet. Raises Repeated.
    """
    context, folder, again = opened.context, f"experiments/{opened.id}", opened.earlier is not None
    samples = context.samples_bytes(run.samples()) if run.samples() else b""
    record = _record(opened, run, decision, pinned, hashlib.sha256(samples).hexdigest() if samples else "")
    profile = {} if again else {_profile_key(opened, each): each.facts for each in run.all(Profiled) if each.facts}
    new = NewRecord(record, context.record_bytes(record), profile)
    files = {f"{folder}/record.json": new.text}
    if samples:
        files[f"{folder}/samples{f'-{len(record.replications) + 1}' if again else ''}.jsonl"] = samples
    if profile:
        files[f"{folder}/profile.json"] = context.profile_bytes(profile)
    return new, files


def ledger_file(context: Context, parent: str, *new: NewRecord) -> dict[str, bytes]:
    """Return ledger.md as it is with new records upon the commit `parent`, path -> contents."""
    return {"ledger.md": context.render(ledger_with(context.library, parent, *new)).encode()}


def _profile_key(opened: OpenRun, profiled: Profiled) -> str:
    """Return the key of a profile in profile.json: `baseline` or `candidate`, after the target's name if that was not timed."""
    return f"{profiled.target} {profiled.side}" if profiled.target not in {"", opened.begun.target} else profiled.side.value
