"""Commit changes to the queue: priorities, withdrawals, and which patches no longer apply (BLOCKED)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from expctl.domain.errors import Busy, Refused
from expctl.domain.experiment.queue_ticket import QueuedTicket, Ticket
from expctl.domain.ledger.inputs import LedgerInputs
from expctl.domain.protocol.model import Protocol
from expctl.domain.queue.ordering import Entry, State
from expctl.domain.run.step_result import Failed
from expctl.domain.text import one_line
from expctl.flow.repository import preflight
from expctl.flow.repository.campaign import check_open_beside
from expctl.flow.repository.commit_messages import queue_message
from expctl.flow.repository.ledger_inputs import read_ledger_inputs
from expctl.flow.repository.recovery import PATIENCE_S, publishing
from expctl.ports.context import Context

MOVABLE = (State.READY, State.WAITING, State.BLOCKED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebased:
    """Which queued patches no longer apply to a new baseline (`blocked`: id -> reason) and which do again (`freed`: ids)."""

    commit: str
    blocked: Mapping[str, str]
    freed: tuple[str, ...]


def prioritise(context: Context, experiment: str, priority: int) -> Entry:
    """Commit a new priority of a queued experiment (larger runs earlier); return its entry. Raises Refused if not queued."""
    return _change(context, experiment, f"priority {priority}", lambda ticket: replace(ticket, priority=priority))


def withdraw(context: Context, experiment: str, why: str) -> Entry:
    """Take an experiment out of the queue in a commit, and drop its unfinished run. Its id can't be used again. One withdrawn
    for this very reason stays as it is. Raises Refused if the experiment isn't queued, Busy if it is being measured.
    """

    def change(ticket: Ticket) -> Ticket:
        _check_not_measured(context, experiment)
        context.journal.forget(experiment)
        return replace(ticket, withdrawn=one_line(why, 500), withdrawn_on=context.clock.date())

    reason = one_line(why, 500)
    return _change(context, experiment, f"withdrawn: {one_line(why, 60)}", change, lambda ticket: ticket.withdrawn == reason)


def rebase_queue(context: Context) -> Rebased | None:
    """Check which queued patches apply to HEAD, and commit in their tickets what changed. The patches stay as they are. Returns
    None if nothing changed or the branch moved meanwhile. The caller holds the lock for measuring. Raises Busy.
    """
    with publishing(context, "queue", wait_s=PATIENCE_S) as head:
        return _rebased(context, head)


def _rebased(context: Context, head: str) -> Rebased | None:
    workspace = context.workspace
    inputs = read_ledger_inputs(context.library, head)
    changed: dict[str, Ticket] = {}
    for entry in inputs.queue():
        if entry.state not in MOVABLE:
            continue
        why = _obstacle(context, inputs.protocol, head, entry)
        ticket = _ticket(context, entry, inputs.waiting.filings[entry.id])
        if bool(why) != bool(ticket.blocked):
            changed[entry.id] = replace(ticket, blocked=why, blocked_on=head if why else "")
    if not changed:
        return None
    blocked = {name: ticket.blocked for name, ticket in changed.items() if ticket.blocked}
    freed = tuple(name for name in changed if name not in blocked)
    words = [f"{name} BLOCKED" for name in blocked] + [f"{name} free again" for name in freed]
    commit = _publish(context, inputs, head, changed, f"re-based: {', '.join(words)}")
    return Rebased(commit=commit, blocked=blocked, freed=freed) if workspace.head() == commit else None


def _obstacle(context: Context, protocol: Protocol, head: str, entry: Entry) -> str:
    """Return why the patch doesn't apply to `head`; "" if it does, or if the proposal can't be read (its run reports that)."""
    try:
        queued = context.library.queued(head, entry.id)
    except Refused:
        return ""
    tree = preflight.tree_on(context.workspace, head, queued)
    if isinstance(tree, Failed):
        return one_line(tree.reason)
    return "" if context.workspace.differs(head, tree, protocol.scope) else "the baseline has this change already"


def _ticket(context: Context, entry: Entry, filing: QueuedTicket) -> Ticket:
    return entry.ticket or Ticket(content=filing.content, base="", date=context.clock.date())


def _change(
    context: Context,
    experiment: str,
    what: str,
    change: Callable[[Ticket], Ticket],
    repeats: Callable[[Ticket], bool] = lambda _: False,
) -> Entry:
    """Commit a changed ticket. One for which `repeats` is true is as this command leaves it: it was killed after its commit."""
    with publishing(context, experiment) as head:
        check_open_beside(context, experiment)
        inputs = read_ledger_inputs(context.library, head)
        entry = next((each for each in inputs.queue() if each.id == experiment), None)
        if entry is not None and entry.ticket is not None and repeats(entry.ticket):
            return entry
        if entry is None or entry.state is State.WITHDRAWN:
            raise _not_queued(inputs, experiment, entry)
        ticket = change(_ticket(context, entry, inputs.waiting.filings[experiment]))
        if ticket != entry.ticket:
            commit = _publish(context, inputs, head, {experiment: ticket}, f"{experiment} {what}")
            if context.workspace.head() != commit:
                raise preflight.moved_meanwhile(context.workspace, head)
        return next(each for each in inputs.with_tickets({experiment: ticket}).queue() if each.id == experiment)


def _publish(context: Context, inputs: LedgerInputs, head: str, tickets: Mapping[str, Ticket], what: str) -> str:
    """Commit tickets and ledger.md on `head`, with `what` as the subject; return the commit. The branch is moved to it only if
    it is still at `head`.
    """
    workspace = context.workspace
    branch = preflight.check_workspace(workspace, (), *tickets)
    files = {f"experiments/{name}/queued.json": context.ticket_bytes(ticket) for name, ticket in tickets.items()}
    files["ledger.md"] = context.render(inputs.with_tickets(tickets).ledger()).encode()
    commit = workspace.commit_files(parent=head, files=files, message=queue_message(what), date=context.clock.date())
    workspace.publish(branch=branch, old=head, new=commit)
    return commit


def _check_not_measured(context: Context, experiment: str) -> None:
    if context.locks.measured() == experiment:
        raise Busy(
            f"{experiment} is being measured",
            code="experiment-being-measured",
            expected="an experiment that waits",
            found=f"expctl run {experiment}, or run --all, is at it",
            hint="let it end, since its verdict may say more than a withdrawal; or stop the run with Ctrl-C, then withdraw",
        )


def _not_queued(inputs: LedgerInputs, experiment: str, entry: Entry | None) -> Refused:
    summary = inputs.digests.get(experiment)
    withdrawn = f"withdrawn: {entry.why}" if entry else ""
    found = withdrawn or (f"it ended in {summary.verdict}" if summary else "no such experiment")
    return Refused(
        f"{experiment} is not in the queue",
        code="not-in-queue",
        expected="an experiment that is queued",
        found=found,
        where=f"experiments/{experiment}",
        hint="expctl queue lists what waits",
    )
