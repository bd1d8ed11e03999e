"""Find the proposal that this very command has queued before: the command was killed, or is typed twice."""

from collections.abc import Callable

from expctl.domain.experiment.ids import id_order
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.proposal_files import Queued
from expctl.domain.experiment.queue_ticket import QueuedTicket, content_of
from expctl.domain.run.step_result import Failed
from expctl.flow.queue.submit import Proposed
from expctl.flow.repository.recovery import publishing
from expctl.ports.context import Context


def queued_before(
    context: Context, text_of: Callable[[str], bytes], patch: bytes | None, *, experiment: str = "", by: str = ""
) -> Proposed | None:
    """Return the proposal that waits with the same words, patch and proposer; None if there is none. A killed publication is
    completed or undone first.

    `text_of` returns experiment.yaml for an id; `patch` None stands for the local changes of the kernel. Where these are gone,
    because they became a patch, only `experiment` or else the newest proposal is looked at, and its words tell.
    """
    with publishing(context, experiment or "new") as head:
        context.library.read_ahead(head, extends=True)  # for the proposal that follows, too
        experiments = context.library.experiments(head)
        scope = context.library.protocol(head).scope
        captured = context.workspace.dirty(scope) if patch is None else ()
        names = (experiment,) if experiment else context.library.waiting(head)
        if captured:
            patch = context.workspace.capture(scope)
        elif patch is None and not experiment:
            names = (max(experiments, key=id_order),) if experiments else ()
        open_ones = [name for name in names if experiments.get(name, Verdict.KEEP) is None]
        for name, filing in context.library.filings(head, open_ones).items():
            if not _is_ours(filing, by):
                continue
            known = context.library.queued(head, name).patch if patch is None else patch
            if content_of(text_of(name), known) == filing.content:
                return _proposed(context, head, context.library.queued(head, name), captured)
        return None


def _is_ours(filing: QueuedTicket, by: str) -> bool:
    ticket = filing.ticket
    return ticket is not None and not ticket.withdrawn and ticket.by == by and not filing.was_changed and not filing.unfit


def _proposed(context: Context, head: str, queued: Queued, captured: tuple[str, ...]) -> Proposed:
    workspace = context.workspace
    tree = workspace.candidate_tree(queued.ticket.base if queued.ticket is not None else head, queued.patch)
    if isinstance(tree, Failed):
        tree, captured = head, ()
    workspace.set_back(captured, tree=tree)
    files = tuple(each.path for each in workspace.changed_files(queued.ticket.base, tree)) if queued.ticket is not None else ()
    return Proposed(id=queued.proposal.id, title=queued.proposal.title, commit=head, files=files, restored=captured)
