"""Profile a concluded experiment: build its two sides again and say what differs between them. Decides and records nothing."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from expctl.domain.errors import Refused
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.history.build_differences import build_changes, fact_changes
from expctl.domain.run.step_result import Failed, Unavailable
from expctl.domain.text import one_line
from expctl.domain.verdict.samples import Side
from expctl.flow.measuring.profile_step import profile_side
from expctl.flow.measuring.setup import CHECK_OUT, Setup

if TYPE_CHECKING:
    from pathlib import Path

    from expctl.domain.experiment.record import Artifact, Record
    from expctl.domain.run.events import Profiled
    from expctl.ports.context import Context

HARNESS = "h"
"""The check-out with HEAD's harness, which looks at both sides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetProfile:
    """How the sides of an experiment differ on one target: in the figures of their builds, and of the profile step. `why` is
    what profiles of GPUs tell of the difference; `failed` why something isn't known.
    """

    target: str
    builds: tuple[str, ...]
    profile: tuple[str, ...]
    why: str = ""
    failed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfiledExperiment:
    """A concluded experiment, explained by its builds and profiles."""

    id: str
    title: str
    verdict: Verdict
    reasons: tuple[str, ...]
    base: str
    targets: tuple[TargetProfile, ...]


def profile_experiment(context: Context, experiment: str, *, target: str = "") -> ProfiledExperiment:
    """Build and profile both sides of a concluded experiment with HEAD's harness, on `target` ("": all that HEAD's protocol has
    and that can be built here). The caller holds the lock for measuring, and removes the check-outs.

    Raises Refused if it has no record, was imported, its patch or base is gone, or the target doesn't exist.
    """
    head = context.workspace.head()
    record = _record(context, head, experiment)
    protocol = context.library.protocol(head)
    if target and target not in protocol.targets:
        raise Refused(
            f"{target} is no target of protocol.yaml",
            code="profile-unknown-target",
            expected=", ".join(protocol.targets),
            found=target,
            where="protocol.yaml",
            hint=f"expctl profile {experiment} takes all",
        )
    candidate = _candidate(context, head, record)
    sides = {Side.BASELINE: record.base, Side.CANDIDATE: candidate}
    found = []
    for name in [target] if target else protocol.targets:
        setup = Setup(context=context, protocol=protocol, tools=context.tools_for(protocol, experiment), head=head, name=name)
        available = setup.tools.toolchains.availability(name, setup.target)
        if isinstance(available, Unavailable):
            if target:
                found.append(TargetProfile(target=name, builds=(), profile=(), failed=available.reason))
            continue
        found.append(_compared(setup, sides))
    return ProfiledExperiment(
        id=record.id,
        title=record.title,
        verdict=record.verdict,
        reasons=record.reasons,
        base=record.base,
        targets=tuple(found),
    )


def _record(context: Context, head: str, experiment: str) -> Record:
    record = context.library.record(head, experiment)
    if record is None or not record.base or not context.workspace.is_commit(record.base):
        found = "no record" if record is None else "an imported record" if not record.base else f"no commit {record.base[:10]}"
        raise Refused(
            f"{experiment} can't be profiled",
            code="experiment-not-profilable",
            expected="an experiment that expctl measured on a commit of this repository",
            found=found,
            where=f"experiments/{experiment}",
            hint=f"expctl run {experiment}" if record is None else f"expctl show {experiment}",
        )
    return record


def _candidate(context: Context, head: str, record: Record) -> str:
    """Return the commit that was measured; made anew from the patch where git has thrown it away."""
    workspace = context.workspace
    if record.candidate and workspace.is_commit(record.candidate):
        return record.candidate
    tree = workspace.rebased_tree(record.base, context.library.queued(head, record.id).patch, origin="")
    if isinstance(tree, Failed):
        raise Refused(
            f"the change of {record.id} can't be made again",
            code="experiment-not-remade",
            expected=f"a change.patch that applies to {record.base[:10]}",
            found=one_line(tree.reason, 300),
            where=f"experiments/{record.id}/change.patch",
        )
    return workspace.commit_tree(base=record.base, tree=tree, message="To be profiled\n")


def _compared(setup: Setup, sides: dict[Side, str]) -> TargetProfile:
    workspace = setup.context.workspace
    built: dict[Side, tuple[Artifact, Path]] = {}
    trees: dict[Side, Path] = {}
    for side, commit in sides.items():
        setup.context.progress.working("build", f"{side}, {setup.name}")
        trees[side] = workspace.check_out(commit, CHECK_OUT[side])
        made = setup.build(commit, trees[side])
        if isinstance(made, Failed):
            failed = f"the {side} does not build: {one_line(made.reason, 400)}"
            return TargetProfile(target=setup.name, builds=(), profile=(), failed=failed)
        built[side] = (made[0], made[1][0])
    builds = build_changes({side.value: {setup.name: made} for side, (made, _) in built.items()}, timed=setup.name)
    step = setup.target.profile
    if step is None or built[Side.BASELINE][0].code == built[Side.CANDIDATE][0].code:
        return TargetProfile(target=setup.name, builds=builds or ("the same machine code",), profile=())
    cwd = workspace.check_out(setup.head, HARNESS, sealed=setup.protocol.harness)
    seen: dict[Side, Profiled] = {}
    with setup.tools.gate.measuring(setup.target) if setup.target.uses_gpu else nullcontext():
        for side, (_, path) in built.items():
            setup.context.progress.working("profile", f"{side}, {setup.name}")
            seen[side] = profile_side(
                setup.tools,
                setup.context.progress,
                step,
                side=side,
                target=setup.name,
                arch=setup.target.build.arch,
                cwd=cwd,
                tree=trees[side],
                artifact=path,
            )
    failed = "; ".join(f"profile of the {side}: {each.failure}" for side, each in seen.items() if each.failure)
    changes = fact_changes(seen[Side.BASELINE].facts, seen[Side.CANDIDATE].facts)
    return TargetProfile(
        target=setup.name, builds=builds, profile=changes, why=seen[Side.CANDIDATE].why, failed=one_line(failed, 400)
    )
