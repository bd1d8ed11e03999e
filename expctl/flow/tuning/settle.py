"""Commit what a tuning found: with a KEEP the tables, and after them record, samples and ledger; the branch moves once."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace

from expctl.domain.errors import Refused
from expctl.domain.experiment.bucket_verdict import BucketVerdict
from expctl.domain.experiment.control_result import ControlResult
from expctl.domain.experiment.ids import next_number
from expctl.domain.experiment.proposal import Kind, Prediction, Proposal, Verdict
from expctl.domain.experiment.record import SCHEMA, BenchmarkIdentity, Origin, Record
from expctl.domain.experiment.record import Test as TestFacts
from expctl.domain.run.step_result import TestReport
from expctl.domain.tuning.benchmark import with_shapes
from expctl.domain.tuning.events import Landing
from expctl.domain.verdict.interference import taint_notes
from expctl.domain.verdict.judge import estimates_of, tail_flags
from expctl.domain.verdict.machine_states import times_by_state
from expctl.domain.verdict.samples import Sample, Side
from expctl.domain.verdict.sequential_test import Decision
from expctl.flow.measuring.comparability import environment
from expctl.flow.repository.commit_messages import candidate_message, record_message
from expctl.flow.repository.ledger_inputs import NewRecord, ledger_with
from expctl.flow.repository.recovery import PATIENCE_S, publishing
from expctl.flow.tuning.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a tuning found: the verdict of each bucket, that of the whole list with its samples, and the files of the tables
    that were compared and land with a KEEP, by name.
    """

    verdicts: tuple[BucketVerdict, ...]
    decision: Decision
    samples: tuple[Sample, ...] = ()
    tables: Mapping[str, bytes] = field(default_factory=dict)
    test: TestReport | None = None
    control: ControlResult | None = None


def settle(session: Session, branch: str, found: Found, write: Callable[[Proposal], bytes]) -> Record:
    """Publish record and tables; return the record. Raises Refused if what is measured or judges has changed meanwhile."""
    setup = session.setup
    context, workspace = setup.context, setup.context.workspace
    with publishing(context, "tune", wait_s=PATIENCE_S):
        head = workspace.branch_head(branch)
        if workspace.differs(setup.head, head, setup.protocol.watched):
            raise Refused(
                f"{branch} has moved to other tables, another kernel or another harness",
                code="tune-base-moved",
                expected=f"what a tuning rests on as in {setup.head[:10]}",
                found=head[:10],
                hint="expctl tune starts over there, so that no bucket is overwritten that another tuning has landed",
            )
        proposal = _proposal(session, found, context.library.experiments(head))
        candidate = workspace.commit_files(
            parent=head,
            files={f"{session.rule.tables}/{name}": raw for name, raw in found.tables.items()},
            message=candidate_message(proposal, setup.name),
            date=context.clock.date(),
        )
        record = _record(session, found, proposal, candidate)
        lands = record.verdict is Verdict.KEEP
        parent = candidate if lands else head
        folder = f"experiments/{proposal.id}"
        text = context.record_bytes(record)
        files = {
            f"{folder}/experiment.yaml": write(proposal),
            f"{folder}/change.patch": workspace.difference(head, candidate),
            f"{folder}/record.json": text,
            f"{folder}/contests.jsonl": context.samples_bytes(contest_samples(session)),
            "ledger.md": context.render(ledger_with(context.library, parent, NewRecord(record, text))).encode(),
        }
        files |= {f"{folder}/samples.jsonl": context.samples_bytes(found.samples)} if found.samples else {}
        commit = workspace.commit_files(parent=parent, files=files, message=record_message(record), date=context.clock.date())
        session.add(Landing(experiment=proposal.id, commit=commit, asked=session.asked))
        if workspace.publish(branch=branch, old=head, new=commit):
            return record
    return settle(session, branch, found, write)  # a person has committed in this moment


def contest_samples(session: Session) -> list[Sample]:
    """Return the samples of all contests, one after the other."""
    contests = [key for key in session.samples if not key.startswith("tables ")]
    return [sample for key in contests for sample in session.samples[key]]


def _proposal(session: Session, found: Found, taken: Mapping[str, Verdict | None]) -> Proposal:
    kept = sum(each.verdict is Verdict.KEEP for each in found.verdicts)
    buckets = len({(each.file, each.bucket) for each in found.verdicts})
    return Proposal(
        id=f"P{next_number(taken)}",
        title=f"Configs of {len(session.shapes)} shapes on {session.setup.name}: {kept} of {buckets} buckets",
        kind=Kind.CONFIG,
        hypothesis=f"One of {len(session.rule.configs)} configs is faster than what stands in {kept} of {buckets} buckets.",
        prediction=Prediction(verdict=Verdict.KEEP),
    )


def _record(session: Session, found: Found, proposal: Proposal, candidate: str) -> Record:
    setup, decision = session.setup, found.decision
    context, samples = setup.context, found.samples
    sizes = with_shapes(setup.benchmark, list(dict.fromkeys(each.size for each in samples))).sizes if samples else ()
    artifacts = {side.value: {setup.name: session.artifact} for side in Side}
    contests = context.samples_bytes(contest_samples(session))
    same = len(session.shapes) - len(sizes)
    return Record(
        schema=SCHEMA,
        id=proposal.id,
        title=proposal.title,
        kind=proposal.kind,
        origin=Origin.MEASURED,
        target=setup.name,
        verdict=decision.verdict,
        reasons=decision.reasons,
        hypothesis=proposal.hypothesis,
        base=context.workspace.parent(candidate),
        candidate=candidate,
        patch_id=context.workspace.patch_identity(context.workspace.difference(context.workspace.parent(candidate), candidate)),
        date=context.clock.date(),
        artifacts=artifacts,
        environment=environment(context, setup.tools, setup.name, setup.target) | context.walls().facts(),
        test=TestFacts(ok=True, cases=found.test.cases, summary=found.test.summary) if found.test else None,
        number_kind=setup.target.number_kind,
        estimates=estimates_of(decision, samples, sizes),
        notes=(
            *([f"{same} of {len(session.shapes)} shapes keep their config and were not compared"] if sizes and same else []),
            *taint_notes(samples),
        ),
        flags=(*context.walls().flags(), *(tail_flags(decision, samples) if samples else ())),
        procedure=decision.procedure,
        samples_sha256=hashlib.sha256(context.samples_bytes(samples)).hexdigest() if samples else "",
        yardstick=_yardstick(session),
        control=found.control,
        times=times_by_state(samples, decision.rounds) if samples else (),
        buckets=found.verdicts,
        contests_sha256=hashlib.sha256(contests).hexdigest(),
    )


def _yardstick(session: Session) -> BenchmarkIdentity:
    """Return what the shapes were measured with: the list stands in it, so that no figure passes for one of the KPI."""
    setup = session.setup
    benchmark = replace(with_shapes(setup.benchmark, session.shapes), quads=session.rule.quads)
    target = replace(setup.target, benchmark=benchmark)
    protocol = replace(setup.protocol, targets={**setup.protocol.targets, setup.name: target})
    return setup.context.library.benchmark_identity(setup.head, protocol, setup.name)
