"""Queueing a proposal: a patch and a hypothesis become experiments/<id>/ in a commit of their own."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from expctl.domain.errors import Refused
from expctl.domain.experiment import Proposal
from expctl.domain.ledger import ledger_of
from expctl.domain.ports import Queued
from expctl.domain.protocol import Protocol
from expctl.flow import preflight
from expctl.flow.messages import proposal_message
from expctl.flow.recover import clear_the_deck
from expctl.flow.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """What was queued, in which commit, and which files of the scope were restored to the baseline."""

    id: str
    title: str
    commit: str
    files: tuple[str, ...]
    restored: tuple[str, ...]


def propose(world: World, proposal: Proposal, text: bytes, patch: bytes | None) -> Proposed:
    """Commit `text` (experiment.yaml) with `patch`, or with the local changes of the scope when it is None.

    The commit comes first, the restoring second: a kill between leaves the change in both places, never in none.
    """
    workspace = world.workspace
    with world.locks.repository(experiment=proposal.id):
        clear_the_deck(world)
        head = workspace.head()
        protocol = world.library.protocol(head)
        branch = _check(world, protocol, proposal.id, head, captures=patch is None)
        preflight.check_tree(workspace, protocol, head)
        captured = workspace.dirty(protocol.scope) if patch is None else ()
        _check_sizes(world, protocol, captured)
        contents = workspace.capture(protocol.scope) if patch is None else patch
        queued = Queued(proposal=proposal, patch=contents, content=hashlib.sha256(contents).hexdigest())
        tree = preflight.check_patch(workspace, protocol, head, queued, proposed=False)
        files = {f"experiments/{proposal.id}/experiment.yaml": text, f"experiments/{proposal.id}/change.patch": contents}
        files["ledger.md"] = _ledger(world, protocol, head, proposal)
        commit = workspace.commit_files(parent=head, files=files, message=proposal_message(proposal), date=world.clock.date())
        if not workspace.publish(branch=branch, old=head, new=commit):
            raise Refused(
                f"{branch} moved meanwhile",
                expected=f"{branch} at {head[:10]}",
                found=workspace.head()[:10],
                hint="run the same command again; your files were not touched",
            )
        workspace.restore(captured, tree=tree)
        changed = tuple(file.path for file in workspace.changed_files(head, tree))
        return Proposed(id=proposal.id, title=proposal.title, commit=commit, files=changed, restored=tuple(captured))


def reapply(world: World, experiment: str) -> Sequence[str]:
    """Put the patch of a proposal into the work tree, on a clean scope. Returns the files that changed."""
    workspace = world.workspace
    with world.locks.repository(experiment=experiment):
        clear_the_deck(world)
        head = workspace.head()
        protocol = world.library.protocol(head)
        queued = world.library.queued(head, experiment)
        preflight.check_workspace(workspace, protocol.scope, experiment)
        tree = preflight.check_patch(workspace, protocol, head, queued)
        workspace.apply(queued.patch)
        return tuple(file.path for file in workspace.changed_files(head, tree))


def _check(world: World, protocol: Protocol, experiment: str, head: str, *, captures: bool) -> str:
    """Return the branch. Raises Refused when the id is taken, there is nothing to capture, or the tree isn't fit."""
    workspace = world.workspace
    taken = {each.id for each in world.library.proposals(head)} | {each.id for each in world.library.records(head)}
    if experiment in taken:
        raise Refused(
            f"{experiment} exists already",
            expected="an id that was never used: an id is bound to its content",
            found=f"experiments/{experiment}",
            hint=f"expctl show {experiment}; expctl new P{_next_number(taken)} --from-diff",
        )
    dirty = workspace.dirty(protocol.scope)
    if captures and not dirty:
        raise Refused(
            "there is nothing to capture",
            expected=f"local changes in {', '.join(protocol.scope)}",
            found="none",
            where=str(workspace.root),
            hint=f"edit the kernel first, or expctl new {experiment} --patch FILE",
        )
    # A captured scope is dirty by nature; a patch from a file needs it clean, so that nothing is mixed.
    return preflight.check_workspace(workspace, () if captures else protocol.scope, experiment)


def _check_sizes(world: World, protocol: Protocol, paths: Sequence[str]) -> None:
    """Before anything enters the object store."""
    total = sum(file.stat().st_size for path in paths if (file := world.workspace.root / path).is_file())
    if total > protocol.patch.bytes:
        raise Refused(
            "the changed files are too large for an experiment",
            expected=f"at most {protocol.patch.bytes} bytes (protocol.yaml, patch.bytes)",
            found=f"{total} bytes in {len(paths)} files",
            hint="move what does not belong to the kernel out of the scope, or ignore it in .gitignore",
        )


def _next_number(taken: set[str]) -> int:
    return 1 + max((int("".join(c for c in name[1:].split("-")[0] if c.isdigit()) or 0) for name in taken), default=0)


def _ledger(world: World, protocol: Protocol, head: str, proposal: Proposal) -> bytes:
    ledger = ledger_of(
        protocol=protocol,
        proposals=(*world.library.proposals(head), proposal),
        records=world.library.records(head),
        findings=world.library.findings(head),
    )
    return world.render(ledger).encode()
