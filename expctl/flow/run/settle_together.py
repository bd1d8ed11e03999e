"""Settle several runs that keep nothing: one commit has all their records, and a ledger.md with all of them.

A KEEP is settled alone (settle.py), so that the commit with its record changes nothing besides.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.run.actions import Settle
from expctl.domain.run.events import Event, Pinned
from expctl.domain.run.state_machine import next_action
from expctl.flow.repository.commit_messages import records_message
from expctl.flow.repository.ledger_inputs import NewRecord
from expctl.flow.repository.recovery import PATIENCE_S, publishing
from expctl.flow.run.experiment import run_of
from expctl.flow.run.open_run import reopened
from expctl.flow.run.settle import ledger_file, new_record, repinned
from expctl.ports.context import Context


class Settled(NamedTuple):
    """A decided run, settled but for its commit: its record, and the files of its experiment, path -> contents."""

    new: NewRecord
    files: Mapping[str, bytes]


def settled(context: Context, events: tuple[Event, ...], head: str) -> Settled | None:
    """Return what the first run of an experiment leaves on the commit `head`; None if it has to be settled alone: it is not
    decided, or a KEEP, or INVALID, as one that doesn't hold on `head`. Raises Refused.
    """
    opened = reopened(context, events)
    run = run_of(opened, events)
    action = next_action(run)
    if not isinstance(action, Settle) or action.decision.verdict in (Verdict.KEEP, Verdict.INVALID):
        return None
    if head != opened.begun.base and repinned(opened, run, head, lands=False) is not None:
        return None
    return Settled(*new_record(opened, run, action.decision, run.last(Pinned)))


def settle_together(context: Context, runs: Sequence[Settled], *, head: str, branch: str) -> str:
    """Commit the records of runs and move `branch` from `head` to that commit, which is returned; "" if it was no longer there.
    A kill leaves all of them committed, or none. Raises Refused; Busy if others publish for too long.
    """
    new = [each.new for each in runs]
    with publishing(context, f"{new[0].record.id} and {len(new) - 1} more", wait_s=PATIENCE_S):
        if context.workspace.branch_head(branch) != head:
            return ""
        files = {path: text for each in runs for path, text in each.files.items()}
        commit = context.workspace.commit_files(
            parent=head,
            files=files | ledger_file(context, head, *new),
            message=records_message([each.record for each in new]),
            date=context.clock.date(),
        )
        return commit if context.workspace.publish(branch=branch, old=head, new=commit) else ""
