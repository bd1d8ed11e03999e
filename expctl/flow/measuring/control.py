"""Show the measuring path a known slower and a known faster stand-in of the kernel before its verdicts count.

docs/HARNESS.md, "The control". A harness that exchanges the roles of the two builds passes every test of correctness.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from expctl.domain.errors import Busy, ControlFailed, Interrupted
from expctl.domain.experiment.control_result import ControlResult, StandInEffect, control_text
from expctl.domain.experiment.proposal import Mode
from expctl.domain.protocol.model import Control
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.control import FACTOR, Seen, Sight, control_identity, judge_control, known_effect
from expctl.domain.verdict.judge import too_many
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample, Side
from expctl.domain.verdict.sequential_test import MeasureMore
from expctl.domain.verdict.statistics import percent
from expctl.flow.measuring.comparability import environment
from expctl.flow.measuring.measure_round import measure_round
from expctl.flow.measuring.setup import Setup

Artifacts = Mapping[Side, Sequence[Path]]
AGAIN = "then run the same command again"


def slowed_commit(setup: Setup) -> str | Failed:
    """Return a commit of HEAD with the control patch, which makes the kernel slower by a known share; Failed if it doesn't fit.

    The commit has no ref. Lines that moved since the patch was made are found by a three-way merge.
    """
    workspace, control = setup.context.workspace, setup.benchmark.control
    if control is None:
        return Failed(reason=f"protocol.yaml names no control for {setup.name}")
    patch = workspace.read_file(setup.head, control.patch)
    if patch is None:
        return Failed(reason=f"there is no such file in commit {setup.head[:10]}")
    tree = workspace.candidate_tree(setup.head, patch)
    if isinstance(tree, Failed):
        merged = workspace.rebased_tree(setup.head, patch, origin="")
        tree = tree if isinstance(merged, Failed) else merged
    if isinstance(tree, Failed):
        return tree
    return workspace.commit_tree(base=setup.head, tree=tree, message="HEAD, slower by a known share\n")


def check_control(setup: Setup, *, then: str) -> None:
    """Raise ControlFailed, before anything is built, if a control will be shown and its patch doesn't fit HEAD. `then` as for
    `show_control`.
    """
    control = setup.benchmark.control
    if control is not None and _shown_today(setup, control) is None:
        _slowed(setup, control, then)


def what_remains(experiment: str, *, is_new: bool) -> str:
    """Return what becomes of an experiment whose control fails, in words."""
    kept = f"{experiment} stays queued" if is_new else f"the record of {experiment} stays as it is"
    return f"nothing was decided, {kept}"


def show_control(setup: Setup, *, then: str) -> ControlResult | None:
    """Measure the target's stand-in in both roles, and return what was seen; today's result is reused. None without a control.

    Raises ControlFailed if sign or size is wrong or can't be told (`then`: what became of the command, in words), Busy or
    Interrupted.
    """
    control, context = setup.benchmark.control, setup.context
    if control is None:
        return None
    known = _shown_today(setup, control)
    if known is not None:
        return known
    identity, date = _identity(setup, control), context.clock.date()
    started = context.clock.monotonic_s()
    artifacts = _builds(setup, control, then)
    context.progress.working("gate", "waiting for a quiet machine")
    with setup.tools.gate.measuring(setup.target):
        seen = {role: _effect(setup, control, artifacts, role, then) for role in (Side.CANDIDATE, Side.BASELINE)}
    passed = ControlResult(
        date=date, slower_percent=control.slower_percent, slower=seen[Side.CANDIDATE], faster=seen[Side.BASELINE]
    )
    lost = context.controls.write(identity, passed)
    again = f"; shown again by the next run, because it can't be kept: {lost}" if lost else ""
    took_s = round(context.clock.monotonic_s() - started, 3)
    context.progress.step("control", f"{control_text(passed)}{again}", took_s)
    return passed


def _shown_today(setup: Setup, control: Control) -> ControlResult | None:
    known = setup.context.controls.read(_identity(setup, control))
    return known if known is not None and known.date[:10] == setup.context.clock.date()[:10] else None


def _identity(setup: Setup, control: Control) -> str:
    context = setup.context
    return control_identity(
        setup.name,
        control,
        context.workspace.read_file(setup.head, control.patch) or b"",
        context.library.benchmark_identity(setup.head, setup.protocol, setup.name),
        environment(context, setup.tools, setup.name, setup.target),
    )


def _slowed(setup: Setup, control: Control, then: str) -> str:
    slowed = slowed_commit(setup)
    if isinstance(slowed, Failed):
        raise ControlFailed(
            f"the control patch of {setup.name} does not apply",
            code="control-patch-does-not-apply",
            expected=f"a unified diff against {setup.head[:10]}",
            found=slowed.reason,
            where=control.patch,
            hint=f"make the patch again on this kernel and commit it, {AGAIN}; {then}",
        )
    return slowed


def _builds(setup: Setup, control: Control, then: str) -> dict[str, tuple[Path, ...]]:
    """Build HEAD and HEAD with the control patch; return the files of their layouts as `head` and `slower`."""
    slowed, found = _slowed(setup, control, then), {}
    for name, commit, side in (("head", setup.head, Side.BASELINE), ("slower", slowed, Side.CANDIDATE)):
        setup.context.progress.working("control", f"builds {name}")
        made = setup.build(commit, setup.check_out(commit, side))
        if isinstance(made, Failed):
            raise ControlFailed(
                f"the control of {setup.name} can't be built",
                code="control-does-not-build",
                expected="a build of HEAD, and one of HEAD with the control patch",
                found=f"{name}: {made.reason}",
                where=control.patch,
                hint=f"correct the patch and commit it, {AGAIN}; {then}",
            )
        found[name] = made[1]
    return found


def _effect(setup: Setup, control: Control, builds: Mapping[str, tuple[Path, ...]], role: Side, then: str) -> StandInEffect:
    """Measure the slower stand-in in the place of `role`; return its effect if it is about the known one."""
    other = Side.BASELINE if role is Side.CANDIDATE else Side.CANDIDATE
    known = known_effect(control, role)
    try:
        seen = _seen(setup, {role: builds["slower"], other: builds["head"]}, known, control, then)
    finally:
        setup.tools.steps.close()
    if seen.sight is Sight.RIGHT:
        return seen.effect
    ends = sorted((percent(known / FACTOR), percent(known * FACTOR)), key=abs)
    what = "slower" if role is Side.CANDIDATE else "faster"
    raise ControlFailed(
        f"the measuring path fails its control on {setup.name}: the {what} stand-in isn't seen as {what}",
        code="control-failed",
        expected=f"about {percent(known):+.1f} % (from {ends[0]:+.1f} to {ends[1]:+.1f} % would do)",
        found=f"{seen.name} {seen.effect.text()} after {seen.effect.rounds} rounds: {seen.sight}",
        where=f"{' '.join(setup.benchmark.argv)}; stand-in {control.patch}",
        hint=f"correct harness or patch and commit it, {AGAIN}; on a noisy machine, first see expctl gate; {then}",
    )


def _seen(setup: Setup, artifacts: Artifacts, known: float, control: Control, then: str) -> Seen:
    """Measure rounds until the stand-in is seen for sure, right or wrong, or the looks are spent."""
    context, cwd = setup.context, setup.check_out(setup.head, Side.BASELINE)
    plan = Plan.of(setup.benchmark, setup.protocol.keep, Mode.GAIN)
    samples: list[Sample] = []
    number = tainted = 0
    while isinstance(answer := judge_control(samples, plan, known), MeasureMore):
        if number and context.stop_requested():
            raise Interrupted(f"stopped after round {number} of the control; the same command shows it from the start")
        found = measure_round(context, setup.tools, setup.benchmark, cwd=cwd, artifacts=artifacts, number=number)
        if isinstance(found, Failed):
            raise ControlFailed(
                f"the benchmark of {setup.name} failed in round {number + 1} of its control",
                code="control-not-measured",
                expected="a benchmark script that can measure HEAD and HEAD with the control patch",
                found=found.reason,
                where=control.patch,
                hint=f"correct script or patch and commit it, {AGAIN}; {then}",
            )
        samples += found
        number += 1
        tainted += any(each.taints for each in found)
        if too_many(tainted, number):
            raise Busy(
                "other processes disturb the machine too often to show the control",
                code="control-not-quiet",
                expected="at least three of four rounds without foreign work",
                found=f"{tainted} of {number} rounds were disturbed",
                hint="let those processes finish, then run the same command again; `expctl gate` shows them",
            )
        context.progress.advance("control round", number, number + answer.rounds_left - 1)
    return answer
