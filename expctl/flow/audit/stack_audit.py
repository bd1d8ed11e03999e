"""The audit of the stack: is HEAD as much faster than the epoch's first baseline as the records say? Modelled on calibrate:
it holds the locks of a run, measures, and commits nothing.
"""

from dataclasses import dataclass, replace

from expctl.domain.errors import Refused
from expctl.domain.experiment.record import OBJECTIVE, EvidenceKind
from expctl.domain.history.audit import Audit, Contest, LeftOut, finding_text
from expctl.domain.history.epochs import Epoch, epochs_of
from expctl.domain.history.kept_changes import Layer, Promise, falls_short, stack_of, together
from expctl.domain.run.step_result import Failed
from expctl.flow.audit.bisect import bisect
from expctl.flow.audit.commit_comparison import Ring, contest
from expctl.flow.audit.edit_findings import add
from expctl.flow.measuring.comparability import ground_here
from expctl.flow.repository import preflight
from expctl.flow.repository.recovery import clear_the_deck
from expctl.ports.context import World
from expctl.ports.repository import FindingsPen


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What an audit is to do beyond measuring the whole stack."""

    target: str = ""
    leave_one_out: bool = False
    bisect: bool = False


def audit(world: World, asked: Asked) -> Audit:
    """Measure. Raises Refused where the epoch has no stack, Busy or Interrupted; nothing is kept then."""
    with world.locks.repository(experiment="audit") as holder:
        clear_the_deck(world)
        head = world.workspace.head()
        protocol = world.library.protocol(head)
        equipment = world.equip(protocol, "audit")
        chosen = preflight.choose_targets(protocol, equipment.toolchains, asked.target).deciding
        ring = Ring(world=world, protocol=protocol, equipment=equipment, head=head, target=chosen)
        epoch = _epoch(ring)
        layers = _stack(ring, epoch)
        title = f"HEAD against the first baseline of epoch {epoch.number}: {len(layers)} changes"
        world.progress.title("audit", title, base=epoch.first.base, target=chosen, protocol=epoch.ground.protocol)
        holder.show("measure")
        try:
            return _measured(ring, epoch, layers, asked)
        finally:
            world.workspace.remove_check_outs()


def record(world: World, pen: FindingsPen, found: Audit) -> Audit:
    """Keep the audit's figures as a measured finding, resting on the experiments of the stack and on both commits."""
    if found.whole.objective is None:
        raise Refused(
            "nothing was measured that could be recorded",
            expected="an audit with an estimate",
            found=found.whole.note,
            hint="expctl audit says why",
        )
    experiments = tuple(name for name in found.layers if " " not in name)
    evidence = (*experiments, found.first, found.head)
    noted = add(world, pen, text=finding_text(found), kind=EvidenceKind.MEASURED, evidence=evidence)
    return replace(found, finding=noted.finding.id)


def _epoch(ring: Ring) -> Epoch:
    """The epoch under way. Raises Refused where nothing was measured in it, or HEAD does not follow from its first baseline."""
    world = ring.world
    epochs = epochs_of(world.library.records(ring.head))
    ground = ground_here(world, ring.equipment, ring.protocol, ring.head, ring.target)
    epoch = epochs.current(ring.target, ground)
    if epoch is None:
        last = epochs.last.get(ring.target)
        why = "; ".join(str(change) for change in last.changes_to(ground)) if last else "nothing was measured there yet"
        raise Refused(
            f"the epoch of {ring.target} has just begun: there is no stack to audit",
            expected="an experiment that was measured on the ground of today",
            found=why,
            hint="run an experiment first; figures of another epoch are never compared",
        )
    if not (world.workspace.is_commit(epoch.first.base) and world.workspace.is_ancestor(epoch.first.base, ring.head)):
        raise Refused(
            f"HEAD does not follow from the first baseline of epoch {epoch.number}",
            expected=f"{epoch.first.base[:10]}, the baseline of {epoch.first.id}, in the history of HEAD",
            found=f"HEAD at {ring.head[:10]}",
            hint="git fetch --unshallow, or switch to the branch on which it was measured",
        )
    return epoch


def _stack(ring: Ring, epoch: Epoch) -> tuple[Layer, ...]:
    world = ring.world
    commits = world.workspace.commits_touching(epoch.first.base, ring.head, ring.protocol.scope)
    layers = stack_of(commits, world.library.records(ring.head), epoch)
    if not layers:
        raise Refused(
            f"nothing has landed in epoch {epoch.number} of {ring.target}",
            expected="a change of the scope since its first baseline",
            found=f"{', '.join(ring.protocol.scope)} as in {epoch.first.base[:10]}",
            hint="expctl run P15: an audit needs a KEEP",
        )
    return layers


def _measured(ring: Ring, epoch: Epoch, layers: tuple[Layer, ...], asked: Asked) -> Audit:
    promise = together(layers).get(OBJECTIVE, Promise())
    whole = contest(ring, epoch.first.base, ring.head, name="stack")
    left_out = tuple(_without(ring, layer) for layer in layers) if asked.leave_one_out else ()
    bisection = bisect(ring, epoch.first.base, layers) if asked.bisect else None
    answer = bisection.whole if bisection else None
    short = whole.objective is not None and falls_short(whole.objective, promise, ring.protocol.keep.worthwhile_percent)
    return Audit(
        target=ring.target,
        epoch=epoch.number,
        first=epoch.first.base,
        head=ring.head,
        date=ring.world.clock.date(),
        layers=tuple(layer.name for layer in layers),
        promise=promise,
        whole=whole,
        falls_short=answer.lost if answer else short,
        left_out=left_out,
        bisection=bisection,
    )


def _without(ring: Ring, layer: Layer) -> LeftOut:
    """HEAD against HEAD with one layer reverted three ways. What does not revert cleanly is a note."""
    workspace, name = ring.world.workspace, f"without {layer.name}"
    tree = workspace.reverted_tree(ring.head, layer.commit, ring.protocol.scope)
    if isinstance(tree, Failed):
        ring.world.progress.step(name, f"does not revert: {tree.reason}")
        found = Contest(before="", after=ring.head, note=f"does not revert cleanly: {tree.reason}")
    else:
        commit = workspace.commit_tree(base=ring.head, tree=tree, message=f"HEAD without {layer.name}\n")
        found = contest(ring, commit, ring.head, name=name)
    return LeftOut(name=layer.name, title=layer.title, promise=layer.promises.get(OBJECTIVE), contest=found)
