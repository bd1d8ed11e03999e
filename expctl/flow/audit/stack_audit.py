"""Audit the kept changes: is HEAD as much faster than the first baseline of its epoch as their recorded gains add up to?"""

from dataclasses import dataclass

from msgspec.structs import replace

from expctl.domain.errors import Refused
from expctl.domain.experiment.finding import EvidenceKind
from expctl.domain.experiment.record import OBJECTIVE
from expctl.domain.history.audit import Audit, CommitComparison, LeftOut, finding_text
from expctl.domain.history.epochs import Epoch, epochs_of
from expctl.domain.history.kept_changes import KeptChange, Promise, combined_promises, falls_short, kept_changes_of
from expctl.domain.run.step_result import Failed
from expctl.flow.audit.bisect import bisect
from expctl.flow.audit.commit_comparison import compare_commits
from expctl.flow.audit.edit_findings import add
from expctl.flow.measuring.comparability import comparability_here
from expctl.flow.measuring.setup import Setup
from expctl.flow.repository import preflight
from expctl.flow.repository.recovery import clean_up_dead_runs
from expctl.ports.context import Context
from expctl.ports.repository import FindingsEditor


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Options of an audit: the target ("": the first available), and whether to measure HEAD without each kept change
    (`leave_one_out`), and to search for the change that lost its gain (`bisect`).
    """

    target: str = ""
    leave_one_out: bool = False
    bisect: bool = False


def audit(context: Context, asked: Asked) -> Audit:
    """Measure HEAD against the first baseline of its epoch, and compare the effect with the recorded gains. Commits nothing.
    Raises Refused if no change was kept in this epoch, Busy if another process uses the repository or the machine, Interrupted.
    """
    with context.locks.measuring(experiment="audit") as holder:
        clean_up_dead_runs(context)
        head = context.workspace.head()
        protocol = context.library.protocol(head)
        tools = context.tools_for(protocol, "audit")
        chosen = preflight.choose_targets(protocol, tools.toolchains, asked.target).deciding
        setup = Setup(context=context, protocol=protocol, tools=tools, head=head, name=chosen)
        epoch = _epoch(setup)
        layers = _stack(setup, epoch)
        title = f"HEAD against the first baseline of epoch {epoch.number}: {len(layers)} changes"
        context.progress.title("audit", title, base=epoch.first.base, target=chosen, protocol=epoch.conditions.protocol)
        holder.show("measure")
        try:
            return _measured(setup, epoch, layers, asked)
        finally:
            context.workspace.remove_check_outs()


def record(context: Context, editor: FindingsEditor, found: Audit) -> Audit:
    """Commit the result of an audit as a finding; return it with the finding's id. Raises Refused if nothing was measured."""
    if found.whole.objective is None:
        raise Refused(
            "the audit measured nothing, so there is nothing to record",
            code="audit-without-estimate",
            expected="a measured difference between HEAD and the first baseline of the epoch",
            found=found.whole.note,
            hint="remove this obstacle, then expctl audit --record again",
        )
    experiments = tuple(name for name in found.layers if " " not in name)
    evidence = (*experiments, found.first, found.head)
    noted = add(context, editor, text=finding_text(found), kind=EvidenceKind.MEASURED, evidence=evidence)
    return replace(found, finding=noted.finding.id)


def _epoch(setup: Setup) -> Epoch:
    context = setup.context
    epochs = epochs_of(context.library.records(setup.head))
    ground = comparability_here(context, setup.tools, setup.protocol, setup.head, setup.name)
    epoch = epochs.current(setup.name, ground)
    if epoch is None:
        last = epochs.last.get(setup.name)
        why = "; ".join(str(change) for change in last.changes_to(ground)) if last else "nothing was measured there yet"
        raise Refused(
            f"nothing was measured yet in the current epoch of {setup.name}, so there is nothing to audit",
            code="epoch-just-begun",
            expected="an experiment measured with the harness, protocol, tools and machine of today",
            found=why,
            hint="run an experiment first; measurements made under other conditions are never compared",
        )
    if not (context.workspace.is_commit(epoch.first.base) and context.workspace.is_ancestor(epoch.first.base, setup.head)):
        raise Refused(
            f"HEAD does not descend from the first baseline of the current epoch ({epoch.number}), so they can't be compared",
            code="head-not-of-this-epoch",
            expected=f"{epoch.first.base[:10]}, the baseline of {epoch.first.id}, in the history of HEAD",
            found=f"HEAD at {setup.head[:10]}",
            hint="git fetch --unshallow, or switch to the branch on which it was measured",
        )
    return epoch


def _stack(setup: Setup, epoch: Epoch) -> tuple[KeptChange, ...]:
    context = setup.context
    commits = context.workspace.commits_touching(epoch.first.base, setup.head, setup.protocol.scope)
    layers = kept_changes_of(commits, context.library.records(setup.head), epoch)
    if not layers:
        raise Refused(
            f"epoch {epoch.number} of {setup.name} has no kept change to audit",
            code="nothing-landed",
            expected="a commit that changed the kernel since the first baseline of the epoch",
            found=f"{', '.join(setup.protocol.scope)} as in {epoch.first.base[:10]}",
            hint="expctl run ID: an audit needs an experiment with the verdict KEEP",
        )
    return layers


def _measured(setup: Setup, epoch: Epoch, layers: tuple[KeptChange, ...], asked: Asked) -> Audit:
    promise = combined_promises(layers).get(OBJECTIVE, Promise())
    whole = compare_commits(setup, epoch.first.base, setup.head, name="stack")
    left_out = tuple(_without(setup, layers, number) for number in range(len(layers))) if asked.leave_one_out else ()
    bisection = bisect(setup, epoch.first.base, layers) if asked.bisect else None
    answer = bisection.whole if bisection else None
    short = whole.objective is not None and falls_short(whole.objective, promise, setup.protocol.keep.worthwhile_percent)
    return Audit(
        target=setup.name,
        epoch=epoch.number,
        first=epoch.first.base,
        head=setup.head,
        date=setup.context.clock.date(),
        layers=tuple(layer.name for layer in layers),
        promise=promise,
        whole=whole,
        falls_short=answer.lost if answer else short,
        left_out=left_out,
        bisection=bisection,
    )


def _without(setup: Setup, layers: tuple[KeptChange, ...], number: int) -> LeftOut:
    """Measure HEAD against HEAD without kept change `number`; if a later change can't be applied without it, say which one."""
    workspace, layer = setup.context.workspace, layers[number]
    name, needed_by = f"without {layer.name}", ""
    rebuilt = _rebuilt(setup, layer, layers[number + 1 :])
    if isinstance(rebuilt, _Needed):
        needed_by = rebuilt.by
        note = f"{needed_by} depends on it and can't be applied without it: {rebuilt.reason}; not measured"
        found = _unmeasured(setup, name, note)
    elif not workspace.differs(rebuilt, setup.head, setup.protocol.scope):
        found = _unmeasured(setup, name, "nothing of it is left in HEAD; not measured")
    else:
        found = compare_commits(setup, rebuilt, setup.head, name=name)
        found = replace(found, note=found.note.replace(rebuilt[:10], f"the stack {name}"))
    return LeftOut(
        name=layer.name, title=layer.title, promise=layer.promises.get(OBJECTIVE), contest=found, needed_by=needed_by
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Needed:
    """The first later change (`by`) that can't be applied without the kept change left out, and the `reason`."""

    by: str
    reason: str


def _rebuilt(setup: Setup, layer: KeptChange, later: tuple[KeptChange, ...]) -> str | _Needed:
    """Return a commit that is HEAD without `layer`, or _Needed if a later change can't be applied without it.

    It is made by taking the scope as it was before `layer` and applying the `later` changes in order. Reverting `layer` in HEAD
    would conflict with lines that later changes added and removed again. The commit has no ref.
    """
    workspace, scope = setup.context.workspace, setup.protocol.scope
    tree = workspace.tree_with(setup.head, workspace.parent(layer.commit), scope)
    for each in later:
        applied = workspace.reapplied_tree(tree, each.commit, scope)
        if isinstance(applied, Failed):
            return _Needed(by=each.name, reason=applied.reason)
        tree = applied
    return workspace.commit_tree(base=setup.head, tree=tree, message=f"HEAD without {layer.name}\n")


def _unmeasured(setup: Setup, name: str, note: str) -> CommitComparison:
    setup.context.progress.step(name, note)
    return CommitComparison(before="", after=setup.head, note=note)
