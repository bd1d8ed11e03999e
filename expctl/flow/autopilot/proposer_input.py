"""Compute the JSON input of a proposer's command: the text of `expctl brief`, and the facts behind it."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from expctl.domain.brief.compose import WORDS_MAX
from expctl.domain.brief.task import Task
from expctl.domain.brief.text import brief_text
from expctl.domain.brief.word_limit import Section
from expctl.domain.experiment.record import Record
from expctl.domain.history.baselines import Baseline, baselines
from expctl.domain.protocol.model import KeepRule, PatchLimits
from expctl.flow.brief import brief_here
from expctl.flow.repository.pending import read_queue
from expctl.ports.context import Context
from expctl.ports.repository import HotLoopStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a proposer must know of protocol.yaml: folders that a patch may touch and may not, targets, sizes, limits."""

    name: str
    goal: str
    scope: tuple[str, ...]
    harness: tuple[str, ...]
    decides: tuple[str, ...]
    sizes: tuple[str, ...]
    keep: KeepRule
    patch: PatchLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """One queued experiment; `why` is the reason why it can't run now, "" if it can."""

    id: str
    title: str
    state: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PastExperiment:
    """One concluded experiment; `forbids` is the text of its do-not-repeat rule, "" if it has none that is in force."""

    id: str
    title: str
    verdict: str
    reasons: tuple[str, ...]
    forbids: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposerInput:
    """A proposer's input: `head` is the baseline commit, `next_id` an unused id, `sections` the text of `expctl brief`."""

    head: str
    next_id: str
    protocol: Rules
    baselines: tuple[Baseline, ...]
    queue: tuple[Waiting, ...]
    records: tuple[PastExperiment, ...]
    sections: tuple[Section, ...]


def input_at(
    context: Context, head: str, loops: HotLoopStore | None = None, absent: Mapping[str, str] = MappingProxyType({})
) -> tuple[ProposerInput, Task]:
    """Return what a proposer's command gets when `head` is the baseline commit: as JSON, and as the task that a coding agent
    reads. `loops` are the hot loops that were counted here, `absent` says what targets lack here.
    """
    protocol, records = context.library.protocol(head), context.library.records(head)
    benchmarks = [target.benchmark for target in protocol.targets.values() if target.benchmark is not None]
    whole = brief_here(
        context.library,
        context.calibrations,
        context.rulebook,
        head=head,
        machine=context.machine,
        words_max=WORDS_MAX,
        loops=loops,
        absent=absent,
    )
    task = Task(brief=brief_text(whole), scope=protocol.scope, watched=protocol.watched, next_id=whole.next_id)
    given = ProposerInput(
        head=head,
        next_id=whole.next_id,
        protocol=Rules(
            name=protocol.name,
            goal=protocol.goal,
            scope=protocol.scope,
            harness=protocol.harness,
            decides=protocol.decides,
            sizes=tuple(dict.fromkeys(size.name for benchmark in benchmarks for size in benchmark.sizes)),
            keep=protocol.keep,
            patch=protocol.patch,
        ),
        baselines=baselines(records),
        queue=tuple(
            Waiting(id=each.id, title=each.proposal.title, state=each.state, why=each.why)
            for each in read_queue(context.library, head).entries()
        ),
        records=tuple(_past(record, open_again=record.id in whole.open_again) for record in records),
        sections=whole.sections,
    )
    return given, task


def _past(record: Record, *, open_again: bool) -> PastExperiment:
    return PastExperiment(
        id=record.id,
        title=record.title,
        verdict=record.verdict,
        reasons=record.reasons,
        forbids=record.rule.text if record.rule and not open_again else "",
    )
