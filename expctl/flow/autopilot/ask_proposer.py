"""Ask the proposer that protocol.yaml names (a command or a sweep over constants) for an experiment, and queue it."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from expctl.domain.errors import Busy, Refused
from expctl.domain.experiment.proposal import Proposal
from expctl.domain.experiment.proposal_files import Draft
from expctl.domain.patch.sweep import Combination
from expctl.domain.protocol.model import Protocol
from expctl.domain.protocol.proposer import Refusal, Sweep
from expctl.domain.run.step_result import Failed
from expctl.domain.text import one_line
from expctl.flow.autopilot.preconditions import check_same_branch
from expctl.flow.autopilot.proposer_input import input_at
from expctl.flow.autopilot.run_all import BUSY_PAUSE_S
from expctl.flow.autopilot.steps import NothingProposed, SweepFinished
from expctl.flow.autopilot.sweep import best_of_sweep
from expctl.flow.queue.submit import Proposed, propose
from expctl.flow.repository import preflight
from expctl.flow.repository.recovery import clean_up_dead_runs
from expctl.ports.context import Context
from expctl.ports.proposers import Proposers, Search
from expctl.ports.repository import Holder

CHECK_OUT = "p"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposerTools:
    """What asking a proposer needs besides Context: `proposers` runs its command, `search` orders a sweep's combinations.
    `write` encodes a proposal as experiment.yaml; `pause` sleeps for some seconds.
    """

    proposers: Proposers
    search: Callable[[Sweep, Sequence[Combination]], Search]
    write: Callable[[Proposal], bytes]
    pause: Callable[[float], None] = time.sleep


def ask_proposer(
    context: Context, proposer_tools: ProposerTools, target: str = ""
) -> Proposed | NothingProposed | SweepFinished:
    """Ask protocol.yaml's proposer once for an experiment and queue it; NothingProposed if the proposal is unusable.

    If the proposer is a sweep that names no target, it is scored on `target` ("": the first available).
    Raises Refused if protocol.yaml has no proposer or the kernel, harness or protocol were changed meanwhile; Busy.
    """
    with context.locks.measuring(experiment="proposer") as holder:
        clean_up_dead_runs(context)
        try:
            answer = _ask(context, proposer_tools, holder, target)
        except Busy:
            raise
        except _NotAProposal as unfit:
            return _refused(proposer_tools, unfit.refusal)
        finally:
            context.workspace.remove_check_outs()
    if isinstance(answer, Failed):
        return _refused(proposer_tools, _failed(answer), fault=True)
    if isinstance(answer, SweepFinished):
        return answer
    draft, by, author = answer
    try:
        made = _queue(context, proposer_tools, draft, by, author)
    except Busy:
        raise
    except Refused as refusal:
        return _refused(proposer_tools, refusal, draft.proposal.id)
    proposer_tools.proposers.tell(None)
    return made


def _failed(answer: Failed) -> Refused:
    return Refused(
        one_line(answer.reason, 500),
        code="proposer-failed",
        expected="one proposal or none, and exit status 0 within timeout_s",
        found="a call that failed; nothing that it left was taken",
        where="protocol.yaml, proposer",
        hint="mend the command, or raise its timeout_s, and commit; expctl run --all --propose 1 asks it again",
    )


def _queue(context: Context, proposer_tools: ProposerTools, draft: Draft, by: str, author: str) -> Proposed:
    """Queue a proposal. While another process holds the repository's lock, wait; raises Busy if the user asks to stop
    meanwhile.
    """
    reported = False
    while True:
        try:
            return propose(context, draft.proposal, draft.text, draft.patch, by=by, author=author)
        except Busy as busy:
            if context.stop_requested():
                raise
            if not reported:
                said = (f"to queue {draft.proposal.id}: {busy.message}", one_line(busy.found), busy.hint)
                context.progress.step("waiting", "; ".join(filter(None, said)))
            reported = True
            proposer_tools.pause(BUSY_PAUSE_S)


class _NotAProposal(Exception):
    def __init__(self, refusal: Refused) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


def _ask(
    context: Context, proposer_tools: ProposerTools, holder: Holder, target: str
) -> tuple[Draft, str, str] | Failed | SweepFinished:
    head, branch = context.workspace.head(), context.workspace.branch()
    protocol = context.library.protocol(head)
    proposer = protocol.proposer
    if proposer is None:
        raise Refused(
            "protocol.yaml names no proposer",
            code="no-proposer",
            expected="the key `proposer`, with a command (argv) or a sweep",
            found="no such key",
            where="protocol.yaml",
            hint="add one and commit (docs/QUEUE.md of expctl), or leave --propose out",
        )
    holder.show("propose")
    if proposer.sweep is not None:
        draft = best_of_sweep(context, protocol, proposer.sweep, proposer_tools.search, proposer_tools.write, target)
        return (draft, "sweep", proposer.author) if isinstance(draft, Draft) else draft
    context.progress.working("propose", " ".join(proposer.argv))
    cwd = context.workspace.check_out(head, CHECK_OUT)
    try:
        answer = proposer_tools.proposers.ask(proposer, input_at(context, head), cwd=cwd, environment=protocol.environment)
    except Refused as refusal:
        raise _NotAProposal(refusal) from refusal
    finally:
        check_same_branch(context, branch)
        _check_untouched(context, protocol, head)
    if answer is None:
        return SweepFinished(why="the proposer has nothing more to propose")
    return answer if isinstance(answer, Failed) else (answer, "command", proposer.author)


def _check_untouched(context: Context, protocol: Protocol, head: str) -> None:
    now = context.workspace.head()
    if now != head and context.workspace.differs(head, now, protocol.watched):
        raise Refused(
            "the baseline was changed while the proposer worked",
            code="baseline-changed",
            expected=f"{', '.join(protocol.watched)} as in {head[:10]}",
            found=f"HEAD at {now[:10]}",
            where=str(context.workspace.root),
            hint=f"git log {head[:10]}..{now[:10]} shows by whom; if that is as you want it, expctl run --all again",
        )
    preflight.check_workspace(context.workspace, protocol.scope)


def _refused(proposer_tools: ProposerTools, refusal: Refused, experiment: str = "", *, fault: bool = False) -> NothingProposed:
    proposer_tools.proposers.tell(
        Refusal(
            id=experiment,
            code=refusal.code,
            refused=refusal.message,
            expected=refusal.expected,
            found=refusal.found,
            where=refusal.where,
            next=refusal.hint,
        )
    )
    return NothingProposed(refusal=refusal, fault=fault)
