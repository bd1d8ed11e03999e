"""A campaign beside the user's branch: `run --all` on a branch of its own, where nothing that the user edits is in its way.

It follows the user's branch (proposals, tickets, findings, commits of any kind), so that it comes home by a fast-forward.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from expctl.domain.errors import Refused
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.patch.merge import Whose
from expctl.domain.run.step_result import Failed
from expctl.flow.repository.beside import beside, bring_home, unmerged
from expctl.flow.repository.commit_messages import campaign_message
from expctl.flow.repository.ledger_inputs import read_ledger_inputs
from expctl.flow.repository.recovery import PATIENCE_S, publishing
from expctl.ports.context import Context


def seen_from(context: Context, branch: str) -> Context:
    """Return `context` with the repository as seen from `branch`."""
    return replace(context, workspace=context.seen_from(branch))


def experiments_beside(context: Context) -> Mapping[str, Verdict | None]:
    """Return the experiments of the unmerged campaign beside the present branch, with verdicts; none if there is none."""
    name = unmerged(context.workspace)
    return context.library.experiments(context.workspace.branch_head(name)) if name else {}


def check_open_beside(context: Context, experiment: str) -> None:
    """Raise Refused if the campaign beside the present branch has concluded `experiment`, which would be run twice."""
    if experiments_beside(context).get(experiment) in (None, Verdict.INVALID):
        return
    name, here = beside(context.workspace.branch()), context.workspace.branch()
    if context.library.record(context.workspace.head(), experiment) is None:
        raise Refused(
            f"{experiment} is concluded already, on the branch {name}",
            code="concluded-beside",
            expected="an experiment that no campaign has concluded",
            found=f"its record on {name}, which {here} lacks",
            where=f"experiments/{experiment}",
            hint=f"{bring_home(name)} brings it to {here}",
        )


def follow(context: Context, home: str) -> bool | Failed:
    """Merge what was committed on `home` into the campaign's branch, from which `context` sees the repository.

    Returns whether there was something; Failed, with nothing changed, if both changed the same lines of a file. ledger.md is
    rendered anew, and of a ticket that both changed the one at `home` counts. Raises Busy.
    """
    workspace = context.workspace
    with publishing(context, "campaign", wait_s=PATIENCE_S) as ours:
        theirs = workspace.branch_head(home)
        if workspace.is_ancestor(theirs, ours):
            return False
        new = theirs if workspace.is_ancestor(ours, theirs) else _merged(context, ours, theirs, home)
        if isinstance(new, Failed):
            return new
        return workspace.publish(branch=workspace.branch(), old=ours, new=new)


def _merged(context: Context, ours: str, theirs: str, home: str) -> str | Failed:
    workspace, message = context.workspace, campaign_message(home, context.workspace.branch())
    base = workspace.merge_base(ours, theirs)
    if not base:
        return Failed(reason=f"{home} and {workspace.branch()} have no commit in common")
    merged = workspace.merged_tree(base, ours, theirs, name=home, whose=_whose)
    if merged.conflicts:
        files = ", ".join(merged.conflicts)
        return Failed(reason=f"{home} and {workspace.branch()} changed the same lines of {files}")
    tree = workspace.commit_tree(base=ours, tree=merged.tree, message=message)
    ledger = {"ledger.md": context.render(read_ledger_inputs(context.library, tree).ledger()).encode()}
    return workspace.commit_files(parent=tree, files=ledger, message=message, date=context.clock.date(), merged=(ours, theirs))


def _whose(path: str) -> Whose:
    if path == "ledger.md":
        return Whose.OURS
    return Whose.THEIRS if path.startswith("experiments/") and path.endswith("/queued.json") else Whose.BOTH
