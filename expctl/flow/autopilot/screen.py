"""A cheap screen of what an agent proposes: the rules, then builds and tests as `expctl try` does them. Nothing is timed."""

from expctl.domain.errors import Refused
from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.domain.experiment.proposal_files import Draft, Queued
from expctl.domain.text import one_line
from expctl.flow.repository import preflight
from expctl.flow.rules.repeat_check import check_patch
from expctl.flow.run.try_patch import try_patch
from expctl.ports.context import Context

FINE_AS_NO_OP = (Kind.SIMPLIFY, Kind.INFRA)


def check_rules(context: Context, draft: Draft) -> None:
    """Raise Refused if the patch may not be made, or a do-not-repeat rule forbids it. This builds nothing."""
    head = context.workspace.head()
    protocol = context.library.protocol(head)
    queued = Queued(proposal=draft.proposal, patch=draft.patch, content="")
    preflight.check_patch(context.workspace, protocol, head, queued, proposed=False)
    check_patch(context.rulebook, protocol, draft.proposal, draft.patch, commit=head, targets=tuple(protocol.targets))


def check_by_try(context: Context, draft: Draft, target: str) -> None:
    """Raise Refused if an experiment with this patch would end before anything is timed; a NO-OP of a simplification may."""
    tried = try_patch(context, draft.patch, target=target)
    if tried.verdict is None or (tried.verdict is Verdict.NO_OP and draft.proposal.kind in FINE_AS_NO_OP):
        return
    raise Refused(
        f"{draft.proposal.id} would end {tried.verdict}: it was tried before the queue",
        code="screened-out",
        expected="a change that builds, passes the tests and changes machine code",
        found=one_line("; ".join(tried.reasons) or "no reason given", 600),
        where=", ".join(tried.files[:5]),
        hint="mend it, and propose it again; expctl try shows all that it says",
    )
