"""What a record says beside its figures: notes for whoever reads them, flags for whoever should look again."""

from expctl.domain.experiment import free_change
from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.domain.experiment.record import Artifact, Estimate
from expctl.domain.patch.unified_diff import parse_diff
from expctl.domain.protocol.model import Target
from expctl.domain.run.events import Noted
from expctl.domain.run.state_machine import Run, wrong_results
from expctl.domain.verdict.configs import config_notes
from expctl.domain.verdict.interference import taint_notes
from expctl.domain.verdict.judge import tail_flags
from expctl.domain.verdict.samples import Side
from expctl.domain.verdict.sequential_test import Decision
from expctl.flow.run.open_run import OpenRun

LARGE_PERCENT = 20.0


def notes_of(opened: OpenRun, run: Run) -> tuple[str, ...]:
    """Return what a reader of the record must know beside its figures."""
    idle = [
        f"{failure.target} guards nothing: its baseline does not build: {failure.reason}"
        for target in opened.begun.guards
        if (failure := run.build_failure(Side.BASELINE, target)) is not None
    ]
    origin = opened.queued.ticket.base if opened.queued.ticket else ""
    moved = origin and opened.context.workspace.differs(origin, opened.begun.base, opened.protocol.scope)
    options = opened.protocol.options.file if opened.protocol.options is not None else ""
    alone = {each.path for each in parse_diff(opened.queued.patch)} == {options}
    merged = f"re-based: proposed on {origin[:7]}, measured as its three-way merge with {opened.begun.base[:7]}"
    return (
        *opened.begun.absent,
        *(noted.text for noted in run.all(Noted)),
        *idle,
        *([merged] if moved else []),
        *([f"options alone: no code changed, only {options}"] if alone else []),
        *(f"wrong results, as an analysis may have: {each}" for each in wrong_results(run)),
        *taint_notes(run.samples()),
        *config_notes(run.samples()),
    )


def flags_of(opened: OpenRun, run: Run, decision: Decision, estimates: tuple[Estimate, ...]) -> tuple[str, ...]:
    """Return what asks for another look at a decided run."""
    flags = []
    if decision.verdict is Verdict.KEEP and not estimates:
        flags += [free_change.debt(opened.id, target) for target in run.unbuilt()]
    if decision.verdict is Verdict.KEEP and run.kind is not Kind.ANALYSIS:
        for home, target in _standing_in(opened):
            artifacts = [run.artifact(side, target) for side in Side]
            if all(artifacts) and len({artifact.code for artifact in artifacts if artifact}) > 1:
                flags.append(f"unmeasured at home: the {home} code changed; expctl run {opened.id} --target {home} settles it")
    large = [each.size for each in estimates if abs(each.effect_percent) > LARGE_PERCENT]
    if large:
        flags.append(f"large effect ({', '.join(large)}): look twice")
    flags += tail_flags(decision, run.samples())
    removed = opened.removed_synchronisation
    if removed:
        flags.append(f"takes away or moves {', '.join(removed)}: tested with more launches and more orders of the waves")
    return tuple(flags)


def _standing_in(opened: OpenRun) -> list[tuple[str, str]]:
    """Return (hardware target, target that only compiles for it) pairs, without the hardware target that this run times."""
    targets: list[tuple[str, Target]] = list(opened.protocol.targets.items())
    return [(each.stands_for, name) for name, each in targets if each.stands_for and each.stands_for != opened.begun.target]


def home_code(opened: OpenRun, artifacts: dict[str, dict[str, Artifact]]) -> str:
    """Return the hash of the candidate's code for a hardware target that this run doesn't time; "" if unbuilt or unchanged."""
    for _, target in _standing_in(opened):
        codes = [artifacts[side.value][target].code for side in Side if target in artifacts[side.value]]
        if len(set(codes)) == len(Side):
            return codes[1]
    return ""
