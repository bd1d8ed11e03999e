"""Settling: from a decision to a record, a ledger and, for a KEEP, a moved branch. One publication for all of it.

The record commit is built on the candidate (KEEP) or on the branch's head, and the branch moves to it by one compare-and-swap,
so there is no moment at which a kernel stands without its record.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import replace

from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.domain.experiment.record import SCHEMA, Artifact, Estimate, Origin, Record, Replication
from expctl.domain.experiment.record import Test as TestFacts
from expctl.domain.history.build_differences import build_changes, fact_changes
from expctl.domain.protocol.model import Target
from expctl.domain.run.events import Event, Invalidated, Pinned, Profiled, Published, Publishing, Tested
from expctl.domain.run.state_machine import Run
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.interference import taint_notes
from expctl.domain.verdict.judge import estimates_of
from expctl.domain.verdict.samples import Side
from expctl.domain.verdict.sequential_test import Decision
from expctl.flow.measuring.comparability import environment, tool_versions, yardstick
from expctl.flow.repository import preflight
from expctl.flow.repository.commit_messages import candidate_message, record_message
from expctl.flow.repository.ledger_inputs import read_ledger_inputs
from expctl.flow.run.open_run import Desk
from expctl.flow.run.perform import CHECK_OUT
from expctl.flow.run.rule_of_run import rule_left, waivers_of

LARGE_PERCENT = 20.0


def settle(desk: Desk, run: Run, decision: Decision) -> Iterator[Event]:
    """Yield the events of settling, in the order intent, outcome. The caller journals each before asking for the next."""
    workspace = desk.world.workspace
    head = workspace.branch_head(desk.begun.branch)
    lands = decision.verdict is Verdict.KEEP and run.kind is not Kind.ANALYSIS and desk.earlier is None
    pinned = run.last(Pinned)
    if head != desk.begun.base and desk.earlier is None and decision.verdict is not Verdict.INVALID:
        moved = _follow(desk, run, head, lands)
        if isinstance(moved, Invalidated):
            yield moved
            return
        pinned = moved if moved is not None else pinned
    record = _record(desk, run, decision, pinned)
    parent = pinned.candidate if lands and pinned is not None else head
    commit = workspace.commit_files(
        parent=parent, files=_files(desk, run, record, parent), message=record_message(record), date=desk.world.clock.date()
    )
    yield Publishing(head=head, commit=commit)
    if workspace.publish(branch=desk.begun.branch, old=head, new=commit):
        yield Published(commit=commit)


def _follow(desk: Desk, run: Run, head: str, lands: bool) -> Pinned | Invalidated | None:
    """The branch moved since the pin. Unless what judges or is judged changed, the candidate follows: pinned on
    the new head, it must build to the very artifact that was measured.
    """
    workspace, protocol = desk.world.workspace, desk.protocol
    watched = (*protocol.scope, *protocol.harness, "protocol.yaml")
    if workspace.differs(desk.begun.base, head, watched):
        return Invalidated(
            reason=f"base moved: {desk.begun.branch} went to {head[:10]}, which changes what is measured or what judges it"
        )
    if not lands:
        return None
    tree = preflight.tree_on(workspace, head, desk.queued)
    if isinstance(tree, Failed):
        return Invalidated(reason=f"base moved: the patch no longer applies to {head[:10]}: {tree.reason}")
    message = candidate_message(desk.queued.proposal, desk.begun.target)
    candidate = workspace.pin(base=head, tree=tree, message=message, ref=f"refs/expctl/{desk.id}")
    name = desk.begun.target
    measured = run.artifact(Side.CANDIDATE, name)
    check_out, sources = workspace.check_out(candidate, CHECK_OUT[Side.CANDIDATE]), workspace.source_identity(candidate)
    with desk.equipment.gate.working():
        built = desk.equipment.toolchains.build(name, desk.target, tree=check_out, sources=sources)
    if isinstance(built, Failed) or measured is None or built.sha256 != measured.sha256:
        return Invalidated(reason=f"base moved: on {head[:10]} the candidate does not build to the artifact that was measured")
    before = run.last(Pinned)
    return Pinned(candidate=candidate, tree=tree, patch_id=before.patch_id if before else "")


# ------------------------------------------------------------------ the record


def _record(desk: Desk, run: Run, decision: Decision, pinned: Pinned | None) -> Record:
    samples = run.samples()
    estimates = estimates_of(decision, samples, desk.benchmark.sizes)
    samples_sha256 = hashlib.sha256(desk.world.samples_bytes(samples)).hexdigest() if samples else ""
    if desk.earlier is not None:
        replication = Replication(
            target=desk.begun.target,
            date=desk.world.clock.date(),
            verdict=decision.verdict,
            reasons=decision.reasons,
            estimates=estimates,
            environment=environment(desk.world, desk.equipment, desk.begun.target, desk.target),
            procedure=decision.procedure,
            samples_sha256=samples_sha256,
            yardstick=yardstick(desk.world, desk.protocol, desk.begun.base, desk.begun.target),
        )
        return replace(desk.earlier, replications=(*desk.earlier.replications, replication))
    artifacts = _artifacts(run)
    home = _home_code(desk, artifacts)
    proposal, patch_id = desk.queued.proposal, pinned.patch_id if pinned else ""
    tests = {each.target or desk.begun.target: _test_facts(each) for each in run.all(Tested)}
    return Record(
        schema=SCHEMA,
        id=desk.id,
        title=proposal.title,
        kind=proposal.kind,
        origin=Origin.MEASURED,
        target=desk.begun.target,
        verdict=decision.verdict,
        reasons=decision.reasons,
        hypothesis=proposal.hypothesis,
        prediction=proposal.prediction,
        base=desk.begun.base if pinned is None else desk.world.workspace.parent(pinned.candidate),
        candidate=pinned.candidate if pinned else "",
        tree=pinned.tree if pinned else "",
        protocol=desk.world.workspace.protocol_identity(desk.begun.base, ("protocol.yaml", *desk.protocol.harness)),
        patch_id=patch_id,
        content=desk.queued.content,
        date=desk.world.clock.date(),
        attempts=desk.attempt,
        artifacts=artifacts,
        environment=environment(desk.world, desk.equipment, desk.begun.target, desk.target),
        test=tests.get(desk.begun.target),
        guard_tests={name: facts for name, facts in tests.items() if name != desk.begun.target},
        number_kind=desk.target.number_kind,
        estimates=estimates,
        profile=(*build_changes(artifacts), *_profile_changes(run)),
        explanation=_explanation(run),
        notes=_notes(desk, run),
        flags=_flags(desk, run, decision, estimates),
        rule=rule_left(desk, run, decision.reasons[0], code=home) if decision.verdict is Verdict.REJECT else None,
        waivers=waivers_of(desk, run),
        procedure=decision.procedure,
        samples_sha256=samples_sha256,
        yardstick=yardstick(desk.world, desk.protocol, desk.begun.base, desk.begun.target),
    )


def _test_facts(tested: Tested) -> TestFacts:
    return TestFacts(ok=tested.ok, cases=tested.cases, summary=tested.summary)


def _artifacts(run: Run) -> dict[str, dict[str, Artifact]]:
    found: dict[str, dict[str, Artifact]] = {}
    for side in Side:
        built = {target: run.artifact(side, target) for target in run.targets()}
        found[side.value] = {target: artifact for target, artifact in built.items() if artifact is not None}
    return found


def _toolchain(desk: Desk) -> dict[str, str]:
    """Versions of what built the deciding target."""
    return tool_versions(desk.equipment, desk.begun.target, desk.target)


def _profile_changes(run: Run) -> tuple[str, ...]:
    """Each profile's difference in words; a failed profile is a note and nothing more. What guards found is named by them."""
    lines: list[str] = []
    for target in run.course.profiles:
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
    """What the deciding target's profiles say made the difference."""
    mine = (each for each in run.all(Profiled) if (each.target or run.begun().target) == run.begun().target)
    return next((each.why for each in mine if each.why), "")


def _notes(desk: Desk, run: Run) -> tuple[str, ...]:
    """What a reader must know of targets that took no part, and of launches that were disturbed."""
    idle = [
        f"{failure.target} guards nothing: its baseline does not build: {failure.reason}"
        for target in desk.begun.guards
        if (failure := run.build_failure(Side.BASELINE, target)) is not None
    ]
    origin = desk.queued.ticket.base if desk.queued.ticket else ""
    moved = origin and desk.world.workspace.differs(origin, desk.begun.base, desk.protocol.scope)
    merged = f"re-based: proposed on {origin[:7]}, measured as its three-way merge with {desk.begun.base[:7]}"
    return (*desk.begun.absent, *idle, *([merged] if moved else []), *taint_notes(run.samples()))


def _flags(desk: Desk, run: Run, decision: Decision, estimates: tuple[Estimate, ...]) -> tuple[str, ...]:
    flags = []
    if decision.verdict is Verdict.KEEP and run.kind is not Kind.ANALYSIS:
        for home, target in _standing_in(desk):
            artifacts = [run.artifact(side, target) for side in Side]
            if all(artifacts) and len({artifact.code for artifact in artifacts if artifact}) > 1:
                flags.append(f"unmeasured at home: the {home} code changed; expctl run {desk.id} --target {home} settles it")
    large = [each.size for each in estimates if abs(each.effect_percent) > LARGE_PERCENT]
    if large:
        flags.append(f"large effect ({', '.join(large)}): look twice")
    removed = desk.removed_synchronisation
    if removed:
        flags.append(f"takes away or moves {', '.join(removed)}: tested with more launches and more orders of the waves")
    return tuple(flags)


def _standing_in(desk: Desk) -> list[tuple[str, str]]:
    """(hardware target, static target) pairs where the hardware is not what decided."""
    targets: list[tuple[str, Target]] = list(desk.protocol.targets.items())
    return [(each.stands_for, name) for name, each in targets if each.stands_for and each.stands_for != desk.begun.target]


def _home_code(desk: Desk, artifacts: dict[str, dict[str, Artifact]]) -> str:
    """Machine-code hash at home; empty when it equals the baseline's, for then it identifies nothing."""
    for _, target in _standing_in(desk):
        codes = [artifacts[side.value][target].code for side in Side if target in artifacts[side.value]]
        if len(set(codes)) == len(Side):
            return codes[1]
    return ""


# ------------------------------------------------------------------ the files


def _files(desk: Desk, run: Run, record: Record, parent: str) -> dict[str, bytes]:
    """Path -> contents of everything that the record commit changes."""
    world, folder = desk.world, f"experiments/{desk.id}"
    number = len(record.replications)
    files = {f"{folder}/record.json": world.record_bytes(record)}
    samples = run.samples()
    if samples:
        files[f"{folder}/samples{f'-{number + 1}' if number else ''}.jsonl"] = world.samples_bytes(samples)
    profile = {_profile_key(desk, each): each.facts for each in run.all(Profiled) if each.facts}
    if profile and not number:
        files[f"{folder}/profile.json"] = world.profile_bytes(profile)
    books = read_ledger_inputs(world.library, parent).with_record(record, {} if number else profile)
    files["ledger.md"] = world.render(books.ledger()).encode()
    return files


def _profile_key(desk: Desk, profiled: Profiled) -> str:
    """`baseline` of the deciding target, `gfx1151-static baseline` of a guard."""
    return f"{profiled.target} {profiled.side}" if profiled.target not in {"", desk.begun.target} else profiled.side.value
