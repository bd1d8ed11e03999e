"""Read what `expctl status` prints. Takes no lock and doesn't read the work tree, so it works during a run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from expctl.domain.history.baselines import Baseline, ImportedBaseline, baseline_of, standing_epochs
from expctl.domain.history.blind import BlindRates, blind_rates
from expctl.domain.queue.ordering import Entry, State
from expctl.domain.tuning.name import TUNE
from expctl.flow.repository.conditions import conditions_at
from expctl.flow.repository.pending import read_queue
from expctl.flow.repository.standing_records import standing_records

if TYPE_CHECKING:
    from expctl.domain.experiment.record import Record
    from expctl.domain.history.comparability import Comparability
    from expctl.domain.history.epochs import Epochs
    from expctl.domain.machine.interference import Foreign
    from expctl.domain.protocol.model import Protocol
    from expctl.ports.repository import Library


class Running(Struct, frozen=True, kw_only=True):
    """An experiment with an unfinished run, or a tuning (`tune`): its step and process. `alive` is False if that is gone."""

    experiment: str
    step: str
    pid: int
    alive: bool

    @property
    def resumed_by(self) -> str:
        """Return the command that goes on where it was."""
        return (
            "expctl tune with the options that expctl doctor names"
            if self.experiment == TUNE
            else f"expctl run {self.experiment}"
        )


class Waiting(Struct, frozen=True, kw_only=True):
    """One queued experiment; `why` is the reason why it can't run now, "" if it can."""

    id: str
    title: str
    depends_on: tuple[str, ...]
    state: str
    why: str
    priority: int


class RecentVerdict(Struct, frozen=True, kw_only=True):
    """A recently concluded experiment with its verdict, target, title and first reason."""

    id: str
    verdict: str
    target: str
    title: str
    reason: str


class EpochNow(Struct, frozen=True, kw_only=True):
    """The epoch to which the next run on `target` will belong; `since` is the id of the epoch's first experiment. If the next
    run opens a new epoch, `since` is "" and `begins` lists what changed. The compiler isn't checked, to save time.
    """

    target: str
    number: int
    since: str
    date: str = ""
    begins: tuple[str, ...] = ()


class GateNow(Struct, frozen=True, kw_only=True):
    """What would block a measurement on `target` now. `not_asked` are sensors that only `expctl gate` asks, to save time;
    `beside` are the runs on other cards, which don't block.
    """

    target: str
    blocking: tuple[Foreign, ...] = ()
    not_asked: tuple[str, ...] = ()
    beside: tuple[Foreign, ...] = ()


class Status(Struct, frozen=True, kw_only=True):
    """Everything that `expctl status` prints. `blocking`, `gate_target`, `not_asked` and `neighbours` are those of GateNow;
    `edited` says that the work tree's protocol.yaml isn't the one of HEAD.
    """

    name: str
    branch: str
    head: str
    epochs: tuple[EpochNow, ...]
    baselines: tuple[Baseline, ...]
    imported: tuple[ImportedBaseline, ...]
    running: tuple[Running, ...]
    queue: tuple[Waiting, ...]
    last: tuple[RecentVerdict, ...]
    debts: tuple[str, ...]
    blind: tuple[BlindRates, ...]
    blocking: tuple[Foreign, ...]
    gate_target: str
    not_asked: tuple[str, ...] = ()
    edited: bool = False
    beside: str = ""
    neighbours: tuple[Foreign, ...] = ()


def read_status(
    library: Library,
    *,
    head: str,
    branch: str,
    running: tuple[Running, ...],
    machine: Mapping[str, str],
    absent: Callable[[Protocol], Collection[str]],
    gate: Callable[[Protocol], Callable[[], GateNow]],
    edited: bool = False,
    beside: str = "",
) -> Status:
    """Read what `expctl status` prints about the commit `head`. `gate` begins to look at what blocks a measurement, and returns
    a function that says it; `machine` holds facts of this machine, `absent` names targets that it lacks; `edited` and `beside`
    are fields of the answer.
    """
    protocol = library.protocol(head)
    looked, totals = gate(protocol), library.stock(head)
    records = library.some_records(head, totals.newest)
    timed = standing_records(library, head, totals.standing.values())
    baselines = tuple(baseline_of(target, timed[name], totals.landings) for target, name in sorted(totals.standing.items()))
    conditions = conditions_at(library, head, protocol, machine, absent(protocol))
    epochs = totals.epochs.at(conditions, standing_epochs(totals.epochs, timed, baselines))
    blind = blind_rates(library.blind_slots(head), conditions)
    queue = tuple(_waiting(each) for each in read_queue(library, head).entries() if each.state is not State.WITHDRAWN)
    now = looked()
    return Status(
        name=protocol.name,
        branch=branch,
        head=head,
        epochs=epochs_now(epochs, conditions),
        baselines=baselines,
        imported=totals.given,
        running=running,
        queue=queue,
        last=tuple(_line(records[name]) for name in totals.newest),
        debts=tuple(f"{name}: {flag}" for name, flag in totals.debts),
        blind=blind,
        blocking=now.blocking,
        gate_target=now.target,
        not_asked=now.not_asked,
        edited=edited,
        beside=beside,
        neighbours=now.beside,
    )


def epochs_now(epochs: Epochs, conditions: Mapping[str, Comparability]) -> tuple[EpochNow, ...]:
    """Return the epoch of the next run for each target of `conditions` that was measured before."""
    found = []
    for name, ground in [each for each in conditions.items() if each[0] in epochs.used]:
        epoch, last = epochs.current(name, ground), epochs.last[name]
        if epoch is not None:
            found.append(EpochNow(target=name, number=epoch.number, since=epoch.first.id, date=epoch.first.date[:10]))
        else:
            number = 1 + sum(each.target == name for each in epochs.all)
            begins = tuple(str(change) for change in last.changes_to(ground))
            found.append(EpochNow(target=name, number=number, since="", begins=begins))
    return tuple(found)


def _waiting(entry: Entry) -> Waiting:
    proposal = entry.proposal
    return Waiting(
        id=entry.id,
        title=proposal.title,
        depends_on=proposal.depends_on,
        state=entry.state,
        why=entry.why,
        priority=entry.priority,
    )


def _line(record: Record) -> RecentVerdict:
    reason = record.reasons[0] if record.reasons else ""
    return RecentVerdict(id=record.id, verdict=record.verdict, target=record.target, title=record.title, reason=reason)
