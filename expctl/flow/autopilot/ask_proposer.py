"""Ask the proposer that protocol.yaml names (a command or a sweep over constants) for an experiment, and queue it."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from expctl.domain.errors import Busy, Refused
from expctl.domain.experiment.proposal import Proposal
from expctl.domain.experiment.proposal_files import Draft
from expctl.domain.patch.sweep import Combination
from expctl.domain.protocol.model import Protocol
from expctl.domain.protocol.proposer import Leaves, Proposer, Refusal, Sweep
from expctl.domain.queue.night import KeptCall, NightEvent, Usage, What
from expctl.domain.run.step_result import Failed
from expctl.domain.text import one_line
from expctl.flow.autopilot.preconditions import check_same_branch
from expctl.flow.autopilot.proposer_input import input_at
from expctl.flow.autopilot.run_all import BUSY_PAUSE_S
from expctl.flow.autopilot.screen import check_by_try, check_rules
from expctl.flow.autopilot.steps import NothingProposed, SweepFinished
from expctl.flow.autopilot.sweep import best_of_sweep
from expctl.flow.measuring.hot_loops import LoopCounter, Uncounted, count_hot_loops
from expctl.flow.queue.submit import Proposed, propose
from expctl.flow.repository import preflight
from expctl.flow.repository.recovery import clean_up_dead_runs
from expctl.ports.context import Context
from expctl.ports.proposers import NightLog, Proposers, Search
from expctl.ports.repository import Holder

CHECK_OUT = "p"
TITLE_MAX, FOUND_MAX = 120, 300
NO_USAGE = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposerTools:
    """What asking a proposer needs besides Context: `proposers` runs its command, `search` orders a sweep's combinations.
    `write` encodes a proposal as experiment.yaml, `read` decodes it; `pause` sleeps for some seconds. `night` keeps account of
    calls, `counter` counts hot loops for the brief (None: neither).
    """

    proposers: Proposers
    search: Callable[[Sweep, Sequence[Combination]], Search]
    write: Callable[[Proposal], bytes]
    read: Callable[[bytes, str], Proposal] | None = None
    pause: Callable[[float], None] = time.sleep
    night: NightLog | None = None
    counter: LoopCounter | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """What a call has left: a proposal of the commit `head`, by whom, what it cost. `is_kept`: it was left before a kill."""

    draft: Draft
    head: str
    by: str
    author: str
    screens: bool = False
    usage: Usage = NO_USAGE
    is_kept: bool = False


def ask_proposer(
    context: Context, proposer_tools: ProposerTools, target: str = ""
) -> Proposed | NothingProposed | SweepFinished:
    """Ask protocol.yaml's proposer once for an experiment and queue it; NothingProposed if the proposal is unusable. What a
    call has left before a kill is taken up instead of a new call.

    If the proposer is a sweep that names no target, it is scored on `target` ("": the first available).
    Raises Refused if protocol.yaml has no proposer or the kernel, harness or protocol were changed meanwhile; Busy.
    """
    account = _Account(context, proposer_tools)
    with context.locks.measuring(experiment="proposer") as holder:
        clean_up_dead_runs(context)
        try:
            answer = account.left() or _ask(context, proposer_tools, holder, target)
        except Busy:
            raise
        except _NotAProposal as unfit:
            return account.refused(unfit.refusal, usage=proposer_tools.proposers.usage())
        finally:
            context.workspace.remove_check_outs()
    if isinstance(answer, Failed):
        return account.refused(_failed(answer), usage=proposer_tools.proposers.usage(), fault=True)
    if isinstance(answer, SweepFinished):
        return answer
    account.keep(answer)
    try:
        made = account.queued_before(answer)
        if made is None:
            if answer.screens:
                check_rules(context, answer.draft)
                check_by_try(context, answer.draft, target)
            made = _queue(context, proposer_tools, answer.draft, answer.by, answer.author)
    except Busy:
        raise
    except Refused as refusal:
        return account.refused(refusal, answer.draft, usage=answer.usage)
    account.proposed(answer)
    return made


class _Account:
    """Tells the proposer and the campaign's account how a call has ended."""

    def __init__(self, context: Context, proposer_tools: ProposerTools) -> None:
        self._context, self._tools, self._night = context, proposer_tools, proposer_tools.night

    def left(self) -> _Answer | None:
        """Return what a call has left that a kill kept from being settled; None if there is nothing of that kind."""
        night = self._night.present() if self._night is not None else None
        kept = self._night.kept() if self._night is not None else None
        if night is None or kept is None or kept.call != night.calls or self._tools.read is None:
            return None
        proposer = self._context.library.protocol(self._context.workspace.head()).proposer
        if proposer is None or proposer.sweep is not None:
            return None
        draft = Draft(proposal=self._tools.read(kept.text, "night-call.json"), text=kept.text, patch=kept.patch)
        return _answer(draft, proposer, kept.head, kept.usage, is_kept=True)

    def keep(self, answer: _Answer) -> None:
        """Keep what a call has left until it is settled."""
        if self._night is not None and not answer.is_kept and (night := self._night.present()) is not None:
            draft = answer.draft
            self._night.keep(
                KeptCall(call=night.calls, text=draft.text, patch=draft.patch, usage=answer.usage, head=answer.head)
            )

    def queued_before(self, answer: _Answer) -> Proposed | None:
        """Return the proposal if it was queued just before the kill that ended its call; None if it wasn't."""
        workspace, name = self._context.workspace, answer.draft.proposal.id
        if not answer.is_kept or name not in self._context.library.experiments(workspace.head()):
            return None
        queued = self._context.library.queued(workspace.head(), name)
        if queued.patch != answer.draft.patch or queued.ticket is None or queued.ticket.by != answer.by:
            return None
        return Proposed(id=name, title=answer.draft.proposal.title, commit=workspace.head(), files=(), restored=())

    def proposed(self, answer: _Answer) -> None:
        """Note that a proposal was queued."""
        self._tools.proposers.tell(None)
        self._note(What.PROPOSED, answer.draft, answer.usage, None)

    def refused(
        self, refusal: Refused, draft: Draft | None = None, *, usage: Usage | None = None, fault: bool = False
    ) -> NothingProposed:
        """Note that a call was refused or, with `fault`, has failed; the next call is told why."""
        self._tools.proposers.tell(
            Refusal(
                id=draft.proposal.id if draft is not None else "",
                code=refusal.code,
                refused=refusal.message,
                expected=refusal.expected,
                found=refusal.found,
                where=refusal.where,
                next=refusal.hint,
            )
        )
        self._note(What.FAILED if fault else What.REFUSED, draft, usage or NO_USAGE, refusal)
        return NothingProposed(refusal=refusal, fault=fault)

    def _note(self, what: What, draft: Draft | None, usage: Usage, refusal: Refused | None) -> None:
        if self._night is None:
            return
        event = NightEvent(at=self._context.clock.date(), what=what, usage=usage)
        if draft is not None:
            title = one_line(draft.proposal.title, TITLE_MAX)
            event = replace(event, id=draft.proposal.id, title=title, patch=self._context.workspace.patch_identity(draft.patch))
        if refusal is not None:
            found = one_line(refusal.found, FOUND_MAX)
            refused = one_line(refusal.message, FOUND_MAX)
            event = replace(event, code=refusal.code, refused=refused, found=found, where=one_line(refusal.where, FOUND_MAX))
        self._night.append(event)
        self._night.keep(None)


def _answer(draft: Draft, proposer: Proposer, head: str, usage: Usage, *, is_kept: bool = False) -> _Answer:
    return _Answer(
        draft=draft, head=head, by="command", author=proposer.author, screens=proposer.screen, usage=usage, is_kept=is_kept
    )


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


def _ask(context: Context, proposer_tools: ProposerTools, holder: Holder, target: str) -> _Answer | Failed | SweepFinished:
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
        return _Answer(draft=draft, head=head, by="sweep", author=proposer.author) if isinstance(draft, Draft) else draft
    absent: dict[str, str] = {}
    if proposer_tools.counter is not None:
        loops = count_hot_loops(context, proposer_tools.counter)
        absent = {each.target: each.why for each in loops if isinstance(each, Uncounted)}
        context.workspace.remove_check_outs()
    context.progress.working("propose", " ".join(proposer.argv))
    cwd = context.workspace.check_out(head, CHECK_OUT)
    night = proposer_tools.night.present() if proposer_tools.night is not None else None
    given, task = input_at(context, head, proposer_tools.counter.store if proposer_tools.counter is not None else None, absent)
    try:
        answer = proposer_tools.proposers.ask(
            proposer,
            given,
            task,
            cwd=cwd,
            environment=protocol.environment,
            call=night.calls if night is not None else 0,
        )
    except Refused as refusal:
        raise _NotAProposal(refusal) from refusal
    finally:
        check_same_branch(context, branch)
        _check_untouched(context, protocol, head)
    if answer is None and proposer.leaves is Leaves.DIFF:
        raise _NotAProposal(
            Refused(
                "the agent left nothing",
                code="agent-left-nothing",
                expected="an edit in the check-out, and its words",
                found="neither; its log is .git/expctl/proposer/log",
                hint="propose another idea",
            )
        )
    if answer is None:
        return SweepFinished(why="the proposer has nothing more to propose")
    if isinstance(answer, Failed):
        return answer
    return _answer(answer, proposer, head, proposer_tools.proposers.usage())


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
