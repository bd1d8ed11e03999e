"""What stands, what runs, what waits, what blocks. Takes no lock and reads commits only, so it works during a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from expctl.domain.history.baselines import Baseline, ImportedBaseline, baseline_of
from expctl.domain.queue.ordering import Entry, State
from expctl.flow.repository.pending import read_queue

if TYPE_CHECKING:
    from expctl.domain.experiment.record import Record
    from expctl.domain.history.epochs import Epochs
    from expctl.domain.machine.interference import Foreign
    from expctl.domain.protocol.model import Protocol
    from expctl.ports.repository import Library


class Running(Struct, frozen=True, kw_only=True):
    """The experiment under way, by whom, at which step; `alive` is False when its runner died and `run` would resume it."""

    experiment: str
    step: str
    pid: int
    alive: bool


class Waiting(Struct, frozen=True, kw_only=True):
    """One queued experiment, in the order in which it runs; `why` it doesn't run now, where there is a reason."""

    id: str
    title: str
    depends_on: tuple[str, ...]
    state: str
    why: str
    priority: int


class Verdicts(Struct, frozen=True, kw_only=True):
    """One line of the last verdicts."""

    id: str
    verdict: str
    target: str
    title: str
    reason: str


class EpochNow(Struct, frozen=True, kw_only=True):
    """The epoch that a run on `target` would join: its number, the experiment that opened it, and when.

    `begins` says what is different from the last one where the next run would open a new one; `since` is empty then. The
    compiler is not looked at: that would take longer than all the rest.
    """

    target: str
    number: int
    since: str
    date: str = ""
    begins: tuple[str, ...] = ()


class Status(Struct, frozen=True, kw_only=True):
    """Everything that `expctl status` prints."""

    name: str
    branch: str
    head: str
    epochs: tuple[EpochNow, ...]
    baselines: tuple[Baseline, ...]
    imported: tuple[ImportedBaseline, ...]
    running: tuple[Running, ...]
    queue: tuple[Waiting, ...]
    last: tuple[Verdicts, ...]
    unmeasured_at_home: tuple[str, ...]
    blocking: tuple[Foreign, ...]


def read_status(
    library: Library,
    *,
    head: str,
    branch: str,
    running: tuple[Running, ...],
    machine: Mapping[str, str],
    foreign: Callable[[tuple[str, ...]], tuple[Foreign, ...]],
) -> Status:
    """Read the state of the repository at `head`. Of records, those that are shown are read whole."""
    protocol, stock = library.protocol(head), library.stock(head)
    records = library.some_records(head, {*stock.standing.values(), *stock.newest})
    return Status(
        name=protocol.name,
        branch=branch,
        head=head,
        epochs=epochs_now(library, protocol, head, stock.epochs, machine),
        baselines=tuple(baseline_of(target, records[name], stock.landings) for target, name in sorted(stock.standing.items())),
        imported=stock.given,
        running=running,
        queue=tuple(_waiting(each) for each in read_queue(library, head).entries() if each.state is not State.WITHDRAWN),
        last=tuple(_line(records[name]) for name in stock.newest),
        unmeasured_at_home=tuple(f"{name}: {flag}" for name, flag in stock.debts),
        blocking=foreign(protocol.gate.patterns),
    )


def epochs_now(
    library: Library, protocol: Protocol, head: str, epochs: Epochs, machine: Mapping[str, str]
) -> tuple[EpochNow, ...]:
    """The epoch of every target that decides and was measured before."""
    found = []
    for name in [each for each in protocol.decides if each in epochs.last]:
        ground = library.comparability(head, protocol, name, machine)
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


def _line(record: Record) -> Verdicts:
    reason = record.reasons[0] if record.reasons else ""
    return Verdicts(id=record.id, verdict=record.verdict, target=record.target, title=record.title, reason=reason)
