"""Queue a proposal: commit its patch and hypothesis as experiments/<id>/."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from expctl.domain.errors import Refused
from expctl.domain.experiment.ids import next_number
from expctl.domain.experiment.proposal import Proposal
from expctl.domain.experiment.proposal_files import Queued
from expctl.domain.experiment.queue_ticket import Ticket, content_of
from expctl.domain.ledger.inputs import LedgerInputs
from expctl.domain.protocol.model import Protocol
from expctl.domain.queue.ordering import State
from expctl.domain.text import one_line, written_reason
from expctl.flow.queue.eligibility import check_circle, check_conditions
from expctl.flow.repository import preflight
from expctl.flow.repository.campaign import experiments_beside
from expctl.flow.repository.commit_messages import proposal_message
from expctl.flow.repository.ledger_inputs import read_ledger_inputs
from expctl.flow.repository.recovery import publishing
from expctl.flow.rules.repeat_check import check_patch, check_patterns
from expctl.ports.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """A queued proposal: its commit, the files that its patch changes, and those of them reset to HEAD in the work tree."""

    id: str
    title: str
    commit: str
    files: tuple[str, ...]
    restored: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """What has to be asked while nobody waits for the branch, because it may compile: does a rule know `patch` on `commit`?"""

    commit: str
    patch: bytes
    targets: tuple[str, ...]


ASKED_MAX = 5
OF_PROPOSALS = ("experiment.yaml", "change.patch", "queued.json")


def propose(
    context: Context, proposal: Proposal, text: bytes, patch: bytes | None, *, by: str = "", author: str = ""
) -> Proposed:
    """Queue an experiment: commit `text` (experiment.yaml), `patch` and a ticket with the hash of both.

    Without a `patch`, the local changes to the kernel become the patch, and are reset once it is committed. `by` is the name of
    the proposer, "" for a person, `author` its author (`Name <e-mail>`; "": whom git knows). The patch is compared with the
    do-not-repeat rules, by what it compiles to too: that is asked without the branch's lock, and again if HEAD or the local
    changes are other ones afterwards. Raises Refused with nothing changed.
    """
    answered = None
    for _ in range(ASKED_MAX):
        made = _publish(context, proposal, text, patch, by=by, author=author, answered=answered)
        if isinstance(made, Proposed):
            return made
        protocol = context.library.protocol(made.commit)
        context.progress.working("rules", "was it tried before? Compiles what it must; a minute the first time")
        check_patch(context.rulebook, protocol, proposal, made.patch, commit=made.commit, targets=made.targets)
        answered = made
    raise preflight.moved_meanwhile(context.workspace, made.commit)


def _publish(
    context: Context,
    proposal: Proposal,
    text: bytes,
    patch: bytes | None,
    *,
    by: str,
    author: str,
    answered: _Question | None,
) -> Proposed | _Question:
    """Commit the proposal, or return what has to be asked before, if that isn't what was `answered`."""
    workspace = context.workspace
    with publishing(context, proposal.id) as head:
        context.library.read_ahead(head, extends=True)
        protocol = context.library.protocol(head)
        branch = _check(context, protocol, proposal.id, head, captures=patch is None)
        preflight.check_tree(workspace, protocol, head)
        preflight.check_free(workspace, head, proposal.id)
        captured = workspace.dirty(protocol.scope) if patch is None else ()
        _check_sizes(context, protocol, captured)
        check_conditions(proposal, protocol)
        contents = workspace.capture(protocol.scope) if patch is None else patch
        ticket = Ticket(
            content=content_of(text, contents), base=head, date=context.clock.date(), by=by, author=author or workspace.author()
        )
        queued = Queued(proposal=proposal, patch=contents, content=ticket.content, ticket=ticket)
        tree = preflight.check_patch(workspace, protocol, head, queued, proposed=False)
        check_patterns(context.rulebook, proposal, contents, commit=head)
        inputs = read_ledger_inputs(context.library, head)
        check_circle(proposal, [entry.proposal for entry in inputs.queue() if entry.state is not State.WITHDRAWN])
        if by:
            _check_not_queued(context, inputs, queued, head)
        if not _is_answered(context, queued, head, answered):
            return _Question(commit=head, patch=contents, targets=tuple(protocol.targets))
        files = {
            f"experiments/{proposal.id}/experiment.yaml": text,
            f"experiments/{proposal.id}/change.patch": contents,
            f"experiments/{proposal.id}/queued.json": context.ticket_bytes(ticket),
            "ledger.md": context.render(inputs.with_proposal(proposal, ticket).ledger()).encode(),
        }
        commit = workspace.commit_files(parent=head, files=files, message=proposal_message(proposal), date=context.clock.date())
        if not workspace.publish(branch=branch, old=head, new=commit, captured=captured, tree=tree):
            raise preflight.moved_meanwhile(workspace, head)
        changed = tuple(file.path for file in workspace.changed_files(head, tree))
        return Proposed(id=proposal.id, title=proposal.title, commit=commit, files=changed, restored=tuple(captured))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reapplied:
    """A proposal's patch in the work tree: the changed files, and those of them with conflict markers."""

    files: tuple[str, ...]
    conflicts: tuple[str, ...]


def reapply(context: Context, experiment: str) -> Reapplied:
    """Apply a proposal's patch to the work tree, merged with later commits. Where these changed the same lines, the file gets
    both versions between conflict markers. What a killed call has applied is completed. Raises Refused if the kernel has other
    local changes or the patch can't be merged.
    """
    workspace = context.workspace
    with publishing(context, experiment) as head:
        protocol = context.library.protocol(head)
        queued = context.library.queued(head, experiment)
        preflight.check_workspace(workspace, (), experiment)
        merged = preflight.marked_tree(workspace, protocol, head, queued)
        if not workspace.are_as_in(merged.tree, workspace.dirty(protocol.scope)):
            preflight.check_workspace(workspace, protocol.scope, experiment)
        workspace.apply(merged.tree)
        files = tuple(file.path for file in workspace.changed_files(head, merged.tree))
        return Reapplied(files=files, conflicts=merged.conflicts)


def _check(context: Context, protocol: Protocol, experiment: str, head: str, *, captures: bool) -> str:
    workspace = context.workspace
    taken = context.library.experiments(head).keys() | experiments_beside(context).keys()
    if experiment in taken:
        raise Refused(
            f"{experiment} exists already",
            code="experiment-exists",
            expected="an id that was never used: an id is bound to its content",
            found=f"experiments/{experiment}",
            hint=f"expctl show {experiment}; expctl new P{next_number(taken)} --from-diff",
        )
    if captures and not workspace.dirty(protocol.scope):
        raise Refused(
            "there is nothing to capture",
            code="nothing-to-capture",
            expected=f"local changes in {', '.join(protocol.scope)}",
            found="none",
            where=str(workspace.root),
            hint="edit the kernel first, or expctl new --patch FILE",
        )
    return preflight.check_workspace(workspace, (), experiment)


def _check_sizes(context: Context, protocol: Protocol, paths: Sequence[str]) -> None:
    total = sum(file.stat().st_size for path in paths if (file := context.workspace.root / path).is_file())
    if total > protocol.patch.bytes:
        raise Refused(
            "the changed files are too large for an experiment",
            code="changed-files-too-large",
            expected=f"at most {protocol.patch.bytes} bytes (protocol.yaml, patch.bytes)",
            found=f"{total} bytes in {len(paths)} files",
            hint="move what does not belong to the kernel out of the scope, or ignore it in .gitignore",
        )


def _is_answered(context: Context, queued: Queued, head: str, answered: _Question | None) -> bool:
    """Is it known that no rule forbids the patch on `head`? Yes without rules, with a precondition, or if it was `answered`."""
    if written_reason(queued.proposal.precondition) or not context.rulebook.ruled(head):
        return True
    return answered is not None and answered.patch == queued.patch and _adds_proposals(context, answered.commit, head)


def _adds_proposals(context: Context, old: str, new: str) -> bool:
    """Do two commits differ by proposals and the ledger alone, so that a patch does the same on both, under the same rules?"""
    paths = [] if old == new else [PurePosixPath(file.path) for file in context.workspace.changed_files(old, new)]
    return all(
        str(path) == "ledger.md" or (path.parts[0] == "experiments" and path.name in OF_PROPOSALS and len(path.parts) == 3)
        for path in paths
    )


def _check_not_queued(context: Context, inputs: LedgerInputs, queued: Queued, head: str) -> None:
    """Raise Refused if a queued proposal has the same patch."""
    patch_id = context.workspace.patch_identity(queued.patch)
    entries = [entry for entry in inputs.queue() if entry.state is not State.MALFORMED]
    patches = context.library.patches(head, [entry.id for entry in entries])
    for entry in entries:
        if (patch := patches.get(entry.id)) and context.workspace.patch_identity(patch) == patch_id:
            raise Refused(
                f"{entry.id} proposes the same change already",
                code="same-change-queued",
                expected="a change that is not in the queue",
                found=f"{entry.id} ({entry.state}): {one_line(entry.proposal.title, 80)}",
                where=f"experiments/{entry.id}",
                hint=f"expctl show {entry.id}",
            )
