"""Build two commits and measure one against the other, in a search and a confirmation like those of a run."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from expctl.domain.errors import Interrupted
from expctl.domain.experiment.record import Artifact
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.samples import Sample, Session, Side
from expctl.domain.verdict.sequential_test import Decision, MeasureMore
from expctl.flow.measuring.burn_in import burn_in
from expctl.flow.measuring.control import show_control
from expctl.flow.measuring.measure_round import measure_round
from expctl.flow.measuring.setup import Setup

Judge = Callable[[Sequence[Sample]], Decision | MeasureMore]
"""Returns the verdict of the samples so far, or how many rounds to measure next."""


def build_sides(setup: Setup, commits: Mapping[Side, str]) -> dict[Side, tuple[Artifact, tuple[Path, ...]]] | Failed:
    """Build the commit of each side for the target of `setup`; return artifacts with their layouts' files, or why one fails."""
    built = {}
    for side, commit in commits.items():
        setup.context.progress.working("build", f"{setup.name}, {commit[:10]}")
        made = setup.build(commit, setup.check_out(commit, side))
        if isinstance(made, Failed):
            return Failed(reason=f"{commit[:10]} does not build for {setup.name}: {made.reason}")
        built[side] = made
    return built


def measure_sessions(
    setup: Setup, artifacts: Mapping[Side, Sequence[Path]], judge: Judge, name: str
) -> tuple[tuple[Sample, ...], Decision] | Failed:
    """Measure rounds of search, then of confirmation, until `judge` decides; return the samples and the decision.

    The machine is unlocked between the sessions. `name` labels the progress output. Failed if the benchmark fails. Raises Busy
    if the machine can't be locked, ControlFailed if the control isn't seen as expected, Interrupted if a stop was requested.
    """
    show_control(setup, then="nothing was compared")
    samples: list[Sample] = []
    for session in Session:
        failed = _session(setup, session, samples, artifacts, judge, name)
        if failed is not None:
            return failed
    decision = judge(samples)
    if not isinstance(decision, Decision):
        raise TypeError("a comparison ended before its decision")
    return tuple(samples), decision


def _session(
    setup: Setup,
    session: Session,
    samples: list[Sample],
    artifacts: Mapping[Side, Sequence[Path]],
    judge: Judge,
    name: str,
) -> Failed | None:
    answer = judge(samples)
    if isinstance(answer, Decision) or answer.session is not session:
        return None
    context = setup.context
    if session is Session.CONFIRM:
        context.workspace.remove_check_outs()  # so that they are made anew, as a run does
    cwd = setup.check_out(setup.head, Side.BASELINE)
    context.progress.working("gate", "waiting for a quiet machine")
    with setup.tools.gate.measuring(setup.target):
        if session is Session.CONFIRM:
            burn_in(context, setup.tools, setup.benchmark, cwd=cwd, artifact=artifacts[Side.BASELINE][0])
        try:
            while not isinstance(answer, Decision) and answer.session is session:
                number = samples[-1].round + 1 if samples else 0
                found = measure_round(context, setup.tools, setup.benchmark, cwd=cwd, artifacts=artifacts, number=number)
                if isinstance(found, Failed):
                    return replace(found, reason=f"benchmark: {found.reason}")
                samples += (replace(each, session=session) for each in found)
                context.progress.advance(f"{name} {session}", number + 1, number + answer.rounds_left)
                answer = judge(samples)
                if context.stop_requested() and not isinstance(answer, Decision):
                    raise Interrupted(
                        f"stopped after round {number + 1} of a comparison; nothing of it is kept, the same command starts over"
                    )
        finally:
            setup.tools.steps.close()
    return None
