"""Perform the actions of a run: pin, build, test, measure and profile."""

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from msgspec.structs import replace

from expctl.domain.experiment.control_result import ControlResult
from expctl.domain.experiment.record import Artifact
from expctl.domain.history.build_differences import SOURCE_UNCHANGED
from expctl.domain.machine.burn_in import BurnIn
from expctl.domain.protocol.step import LimitedStep, MetricLimits
from expctl.domain.run.actions import Build, Measure, Pin, Profile, Test
from expctl.domain.run.costs import costs_of
from expctl.domain.run.events import BuildFailed, Built, Event, Measured, MeasureFailed, Pinned, Profiled, Tested
from expctl.domain.run.state_machine import Run, wrong_results
from expctl.domain.run.step_result import Failed, TestReport
from expctl.domain.verdict.outlook import Costs, outlook_of
from expctl.domain.verdict.samples import Session, Side
from expctl.flow.measuring.burn_in import burn_in
from expctl.flow.measuring.control import show_control, what_remains
from expctl.flow.measuring.engagement import with_engagement
from expctl.flow.measuring.measure_round import measure_round
from expctl.flow.measuring.noise_line import noise_line
from expctl.flow.measuring.profile_step import profile_side
from expctl.flow.measuring.setup import CHECK_OUT, Setup
from expctl.flow.repository import preflight
from expctl.flow.repository.commit_messages import candidate_message
from expctl.flow.run.open_run import OpenRun


class StepPerformer:
    """Performs the actions of one run. Holds the machine's exclusive lock from the first measurement to `release_machine`."""

    def __init__(self, opened: OpenRun) -> None:
        self._opened = opened
        self._context = opened.context
        self._machine = ExitStack()
        self._machine_is_held = False
        self._session: Session | None = None
        self._noise_was_reported = self._control_was_shown = False

    def __enter__(self) -> "StepPerformer":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release_machine()

    def release_machine(self) -> None:
        """End the benchmark processes and release the machine's lock."""
        self._opened.tools.steps.close()
        self._machine.close()
        self._machine_is_held = False

    def perform(self, action: Pin | Build | Test | Measure | Profile, run: Run) -> Event:
        """Perform one action; return the event that records its result. Raises Busy if the machine is locked or stays noisy."""
        match action:
            case Pin():
                return self._pin()
            case Build(side=side, target=target):
                return self._build(side, target, run)
            case Test(target=name):
                return self._test(name, run)
            case Measure():
                return self._measure(action, run)
            case Profile(side=side, target=name):
                return self._profile(side, name, run)

    def _pin(self) -> Pinned:
        opened, workspace = self._opened, self._context.workspace
        tree = preflight.check_patch(workspace, opened.protocol, opened.begun.base, opened.queued)
        message = candidate_message(opened.queued.proposal, opened.begun.target)
        ref = f"refs/expctl/{opened.id}"
        candidate = workspace.pin(base=opened.begun.base, tree=tree, message=message, ref=ref, author=opened.author)
        return Pinned(candidate=candidate, tree=tree, patch_id=workspace.patch_identity(opened.queued.patch))

    def _build(self, side: Side, name: str, run: Run) -> Built | BuildFailed:
        progress, clock = self._context.progress, self._context.clock
        progress.working("build", f"{name}, {side}")
        started = clock.monotonic_s()
        guards = side is Side.CANDIDATE and name != self._opened.begun.target
        like = run.artifact(Side.BASELINE, name) if guards else None

        def build() -> Artifact | Failed:
            tree, sources = self._check_out(side, run), self._context.workspace.source_identity(self._commit(side, run))
            with self._opened.tools.gate.working():
                target = self._opened.protocol.targets[name]
                return self._opened.tools.toolchains.build(name, target, tree=tree, sources=sources, like=like)

        made = build()
        if isinstance(made, Failed) and made.killed:  # one killed build says nothing about the patch
            made = build()
        duration_s = round(clock.monotonic_s() - started, 3)
        if isinstance(made, Failed):
            progress.step("build", f"{name}, {side}: failed: {made.reason}", duration_s)
            return BuildFailed(side=side, target=name, reason=made.reason)
        facts = ", ".join(f"{fact.name} {fact.value:.12g}" for fact in made.facts)
        facts = SOURCE_UNCHANGED if like is not None and made.has_source_of(like) else facts
        progress.step("build", f"{name}, {side}" + (f" ({facts})" if facts else ""), duration_s)
        return Built(side=side, target=name, artifact=made, duration_s=duration_s)

    def _test(self, name: str, run: Run) -> Tested:
        progress, clock = self._context.progress, self._context.clock
        progress.working("test", f"the candidate, {name}")
        started = clock.monotonic_s()
        report = self._engaged(self._test_result(name, run), name, run)
        duration_s = round(clock.monotonic_s() - started, 3)
        where = "" if name == self._opened.begun.target else f"{name}: "
        if isinstance(report, Failed):
            progress.step("test", f"fail   {where}{report.reason}", duration_s)
            return Tested(ok=False, fault=report.fault, cases=0, summary=report.reason, duration_s=duration_s, target=name)
        progress.step("test", f"{'pass' if report.cases else 'none':7}{where}{report.summary}", duration_s)
        return Tested(ok=True, fault=False, cases=report.cases, summary=report.summary, duration_s=duration_s, target=name)

    def _engaged(self, report: TestReport | Failed, name: str, run: Run) -> TestReport | Failed:
        """Return the report of a passed test of the timed target with the kernels that must run, or Failed if one doesn't."""
        opened, target = self._opened, self._opened.protocol.targets[name]
        if isinstance(report, Failed) or name != opened.begun.target or not target.engaged:
            return report
        cwd, tree, artifact = (
            self._check_out(Side.BASELINE, run),
            self._check_out(Side.CANDIDATE, run),
            self._artifact(Side.CANDIDATE, run),
        )
        with opened.tools.gate.working(target):
            progress = self._context.progress
            return with_engagement(opened.tools, progress, report, target, name=name, cwd=cwd, tree=tree, artifact=artifact)

    def _test_result(self, name: str, run: Run) -> TestReport | Failed:
        """Test the candidate. If it crashes, or fails on a target that is not timed, test the baseline too, to find whose fault
        it is.
        """
        step = self._opened.protocol.targets[name].test
        if step is None:
            raise TypeError(f"{name} has no test")
        if self._opened.removed_synchronisation:
            step = replace(step, argv=(*step.argv, *step.careful))

        def test(side: Side, step: LimitedStep = step) -> TestReport | Failed:
            cwd, artifact = self._check_out(Side.BASELINE, run), self._artifact(side, run, name)
            with self._opened.tools.gate.working(self._opened.protocol.targets[name]):
                return self._opened.tools.steps.test(step, cwd=cwd, artifact=artifact, progress=self._context.progress)

        report = test(Side.CANDIDATE)
        if isinstance(report, Failed) and report.killed:  # by a person or the kernel: one killed test says nothing
            report = test(Side.CANDIDATE)
        guards = name != self._opened.begun.target
        if isinstance(report, Failed) and (report.died or guards):
            control = test(Side.BASELINE)
            if guards and isinstance(control, Failed):
                return TestReport(cases=0, summary=f"guards nothing: the baseline fails it too: {control.reason}")
            # A dead test blames the candidate only if the baseline passes the same test now.
            report = replace(report, fault=isinstance(control, Failed)) if report.died else report
        limits = step.metrics.relative if step.metrics is not None else None
        if limits is not None and isinstance(report, TestReport):
            return _against(limits, report, test(Side.BASELINE, replace(step, metrics=None)))
        return report

    def _measure(self, action: Measure, run: Run) -> Measured | MeasureFailed:
        begins = self._open_session(action.session)
        control = self._show_control()
        self._hold_machine()
        burnt_in = self._burn_in(run) if begins else None
        samples = measure_round(
            self._context,
            self._opened.tools,
            self._opened.benchmark,
            cwd=self._check_out(Side.BASELINE, run),
            artifacts={side: self._layouts(side, run) for side in Side},
            number=action.round,
            forgives=bool(wrong_results(run)),
        )
        if isinstance(samples, Failed):
            self._context.progress.step("benchmark", f"failed: {samples.reason}")
            return MeasureFailed(reason=samples.reason, blames_candidate=not samples.fault)
        first = self._opened.tools.steps.take_first_runs()
        for each in first:
            self._context.progress.step("first run", str(each))
        self._report_noise(samples[0].round_ms / 1000)
        device = self._context.device or self._opened.begun.card
        samples = tuple(replace(each, session=action.session, device=device) for each in samples)
        self._context.progress.outlook(outlook_of((*run.samples(), *samples), run.plan, self._costs()))
        return Measured(round=action.round, samples=samples, control=control, burn_in=burnt_in, first_runs=first)

    def _costs(self) -> Costs:
        """Return what a confirmation and a KEEP would take besides their rounds, as far as that is known."""
        durations = self._context.durations
        return costs_of(self._opened.protocol, self._opened.begun, lambda target: durations.read(target, "profile"))

    def _show_control(self) -> ControlResult | None:
        """Before the first round of this process, show the measuring path its control; None later, or where there is none."""
        if self._control_was_shown:
            return None
        opened, begun = self._opened, self._opened.begun
        setup = Setup(context=self._context, protocol=opened.protocol, tools=opened.tools, head=begun.base, name=begun.target)
        is_new = opened.earlier is None and opened.undecided is None
        shown = show_control(setup, then=what_remains(begun.id, is_new=is_new))
        self._control_was_shown = True
        return shown

    def _report_noise(self, round_s: float) -> None:
        """Print the smallest effect that can be detected, after the first round only. `round_s` is its duration in seconds."""
        if not self._noise_was_reported:
            line = noise_line(self._opened.begun.calibrated, now=self._context.clock.date(), round_s=round_s)
            self._context.progress.step("noise", line)
        self._noise_was_reported = True

    def _profile(self, side: Side, name: str, run: Run) -> Profiled:
        step, progress, clock = self._opened.protocol.targets[name].profile, self._context.progress, self._context.clock
        if step is None:
            raise TypeError("a profile was asked for where the protocol has none")
        self._hold_machine()
        self._opened.tools.steps.close()
        progress.working("profile", f"{side}, {name}")
        started = clock.monotonic_s()
        seen = profile_side(
            self._opened.tools,
            progress,
            step,
            side=side,
            target=name,
            arch=self._opened.protocol.targets[name].build.arch,
            cwd=self._check_out(Side.BASELINE, run),
            tree=self._check_out(side, run),
            artifact=self._artifact(side, run, name),
        )
        duration_s = round(clock.monotonic_s() - started, 3)
        self._context.durations.write(name, "profile", duration_s * len(Side))
        if seen.failure or seen.remark:
            said = f"nothing: {seen.failure}" if seen.failure else seen.remark
            progress.step("profile", f"{name}, {side}: {said}", duration_s)
        return replace(seen, duration_s=duration_s)

    def _open_session(self, session: Session) -> bool:
        """Return whether a confirmation begins, or goes on in a new process. If so, remove work trees and release the machine's
        lock, so that it starts from fresh ones.
        """
        begins = session is Session.CONFIRM and self._session is not session
        if begins:
            said = "kept beside an older baseline: no search" if self._opened.begun.kept_by else "the search is over"
            self._context.progress.step("confirm", f"{said}; the same two commits in fresh check-outs")
            self.release_machine()
            self._context.workspace.remove_check_outs()
        self._session = session
        return begins

    def _burn_in(self, run: Run) -> BurnIn | None:
        opened, cwd, artifact = self._opened, self._check_out(Side.BASELINE, run), self._artifact(Side.BASELINE, run)
        return burn_in(self._context, opened.tools, opened.benchmark, cwd=cwd, artifact=artifact)

    def _hold_machine(self) -> None:
        if not self._machine_is_held:
            self._context.progress.working("gate", "waiting for a quiet machine")
            waited_s = self._machine.enter_context(self._opened.tools.gate.measuring(self._opened.target))
            self._context.progress.step("gate", f"quiet after {waited_s:.1f} s; lock held")
            self._machine_is_held = True

    def _commit(self, side: Side, run: Run) -> str:
        pinned = run.last(Pinned)
        if pinned is None:
            raise TypeError("nothing is pinned yet")
        return self._opened.begun.base if side is Side.BASELINE else pinned.candidate

    def _check_out(self, side: Side, run: Run) -> Path:
        return self._context.workspace.check_out(self._commit(side, run), CHECK_OUT[side], sealed=self._opened.protocol.harness)

    def _artifact(self, side: Side, run: Run, name: str = "") -> Path:
        return self._layouts(side, run, name)[0]

    def _layouts(self, side: Side, run: Run, name: str = "") -> tuple[Path, ...]:
        """Return the built files of all layouts of one side for the target `name` ("": the timed one), the plain build first.
        Files that are gone from the build cache are built again. Raises RuntimeError if that gives other bytes.
        """
        name = name or self._opened.begun.target
        target = self._opened.protocol.targets[name]
        artifact = run.artifact(side, name)
        if artifact is None:
            raise TypeError(f"{side} was not built for {name}")
        paths = self._opened.tools.toolchains.layouts(target, artifact)
        if paths is None:
            side = Side.BASELINE if artifact == run.artifact(Side.BASELINE, name) else side  # it was built there
            self._build(side, name, run)
            paths = self._opened.tools.toolchains.layouts(target, artifact)
        if paths is None:
            raise RuntimeError(f"{side}: building again for {name} does not give the artifact {artifact.sha256[:12]}")
        return paths


def _against(limits: MetricLimits, report: TestReport, control: TestReport | Failed) -> TestReport | Failed:
    """Hold the figures of the candidate's `report` against those of the same test of the baseline."""
    if isinstance(control, Failed):
        return Failed(reason=f"there is no baseline to hold figures against: {control.reason}", fault=True)
    if absent := "; ".join(limits.absent(control.seen)):
        return Failed(reason=f"there is no baseline to hold figures against: its test passed, but {absent}", fault=True)
    if worse := "; ".join(limits.worse(control.seen, report.seen)):
        return Failed(reason=f"the test passed, but {worse}")
    names = dict.fromkeys((*limits.may_rise, *limits.may_fall))
    held = ", ".join(f"{name} {max(control.seen[name]):.4g}" for name in names)
    return replace(report, summary=f"{report.summary} (baseline: worst {held})")
