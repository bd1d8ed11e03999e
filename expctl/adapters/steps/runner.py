"""Run the harness scripts (docs/HARNESS.md) as contained children and convert their result lines into domain values."""

import contextlib
import hashlib
import json
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from expctl.adapters.child.arguments import child_environment, fill, shared_folders
from expctl.adapters.child.compiler_caches import cache_variables, cached_files
from expctl.adapters.child.contained_process import Child, ChildLimits, Gone, HeldOpen, Launch, TimedOut, Unkillable, log_tail
from expctl.adapters.child.interpreter import python_of
from expctl.adapters.child.result_channel import NONCE, Channel, Unexpected, UnknownContract, shown
from expctl.adapters.machine.interference_watch import Watch
from expctl.adapters.steps.options_file import OfSide, kept, with_arguments, with_variables
from expctl.adapters.steps.rounds import Rounds, last_core
from expctl.adapters.steps.tested import held_open, note_figures, test_end
from expctl.adapters.steps.worker import StepFailed
from expctl.domain.experiment.record import Fact
from expctl.domain.machine.burn_in import BurnIn
from expctl.domain.machine.first_run import FirstRun
from expctl.domain.machine.os_errors import is_trouble
from expctl.domain.protocol.model import Benchmark, Environment, NumberKind
from expctl.domain.protocol.step import LimitedStep, Step
from expctl.domain.run.step_result import Failed, TestReport
from expctl.domain.text import one_line
from expctl.domain.verdict.samples import Sample, Side
from expctl.files import atomic_write
from expctl.files.disk_space import check_space
from expctl.launcher.own_limits import changed_limits, meddling
from expctl.ports.measuring import Progress

KILLED = "died of SIGKILL"
PADDING = "EXPCTL_PADDING"
END_WAIT_S = 10.0  # from the last line of a script to its exit

T = TypeVar("T")


class StepRunner:
    """Runs tests, profiles and measurements of one run. Logs and folders go below `scratch`; children get EXPCTL_RUN=`mark`.

    `broken` returns the protected files of a check-out that were changed; if there are any, no child is started. Each build has
    a scratch folder of its own, empty at first, so that a candidate can't leave files for the baseline.
    """

    def __init__(
        self,
        *,
        environment: Environment,
        scratch: Path,
        mark: str,
        experiment: str,
        broken: Callable[[Path], Sequence[str]] = lambda _: (),
        watch: Watch | None = None,
        end_wait_s: float = END_WAIT_S,
        of_side: OfSide = with_variables,
        core: Callable[[], int] = last_core,
    ) -> None:
        self._environment, self._of_side = environment, of_side
        self._scratch = scratch
        self._mark = mark
        self._experiment = experiment
        self._broken = broken
        self._end_wait_s = end_wait_s
        self._rooms: set[Path] = set()
        self._rounds = Rounds(
            self._start, self._log("benchmark"), watch, lambda build: cached_files(self._room(build)), core=core
        )

    # ------------------------------------------------------------------ test and profile

    def test(self, step: LimitedStep, *, cwd: Path, artifact: Path, progress: Progress) -> TestReport | Failed:
        """Run the script of the test step on the build `artifact`. Return its report, or Failed with the reason."""
        return self._ended(lambda: self._test(step, cwd, artifact, progress))

    def _test(self, step: LimitedStep, cwd: Path, artifact: Path, progress: Progress) -> TestReport | Failed:
        cases = failed = 0
        seen: dict[str, list[float]] = {}
        log = self._fresh_log("test")
        try:
            started = self._start(step.argv, cwd, artifact, log, tick=progress.tick)
        except StepFailed as error:
            return error.failed
        channel = Channel()
        with started as child:
            with contextlib.suppress(Gone):  # a script that reads nothing may be gone already; its lines are not
                child.send(json.dumps({"do": "test", NONCE: channel.nonce}))
            child.close_input()
            try:
                for line in child.lines(time.monotonic() + step.timeout_s):
                    said = channel.parse(line)
                    if said.get("event") == "end":
                        report = test_end(said, cases, failed, seen, step.metrics)
                        try:
                            status = _ended(child, self._end_wait_s)
                        except TimedOut:
                            return Failed(reason=held_open(child, self._end_wait_s), died=True)
                        if isinstance(report, TestReport) and status:
                            return Failed(reason=f"the test said it passed and then {child.fate()}", died=True)
                        return report
                    if said.get("event") != "case":
                        raise Unexpected(shown(said))
                    cases += 1
                    failed += said.get("ok") is not True
                    note_figures(seen, said.get("facts"))
                    progress.advance("test", cases, 0)
                fate = child.fate()
                reason = f"the test {fate} after {cases} cases{log_tail(log)}"
                return Failed(reason=reason, died=True, killed=fate == KILLED)
            except TimedOut:
                return Failed(reason=f"the test did not end within {step.timeout_s:g} s ({cases} cases done)", died=True)
            except HeldOpen as held:
                return Failed(reason=f"the test {held}", died=True)
            except Gone as gone:
                return Failed(reason=f"the test sent {gone}", died=True)
            except UnknownContract as error:
                return Failed(reason=f"the test {error}", fault=True)
            except Unexpected as unexpected:
                return Failed(reason=f"the test said something that it was not asked: {unexpected}", died=True)

    def profile(
        self, step: Step, *, cwd: Path, tree: Path, artifact: Path, out: Path, progress: Progress
    ) -> tuple[Fact, ...] | Failed:
        """Run one pass of the profile step on the build `artifact` of the sources `tree`; a profiler writes below `out`.
        Returns the facts (named figures), or Failed, which has no influence on the verdict.
        """
        return self._ended(lambda: self._profile(step, cwd, tree, artifact, out, progress))

    def _profile(
        self, step: Step, cwd: Path, tree: Path, artifact: Path, out: Path, progress: Progress
    ) -> tuple[Fact, ...] | Failed:
        facts: list[Fact] = []
        log, channel = self._fresh_log("profile"), Channel()
        out.mkdir(parents=True, exist_ok=True)
        try:
            with self._start(step.argv, cwd, artifact, log, tree=tree, out=out, tick=progress.tick) as child:
                child.close_input()
                for line in child.lines(time.monotonic() + step.timeout_s):
                    said = channel.parse(line)
                    if said.get("event") == "fact":
                        facts.append(_fact(said))
                        progress.advance("profile", len(facts), 0)
                    if said.get("event") == "end" and not said.get("ok"):
                        return Failed(reason=one_line(str(said.get("reason", "no reason given"))), fault=True)
                status = child.wait(time.monotonic() + 10.0)
        except TimedOut:
            return Failed(reason=f"did not end within {step.timeout_s:g} s", fault=True)
        except StepFailed as error:
            return error.failed
        except (Gone, Unexpected, OSError) as error:
            return Failed(reason=f"{error}{log_tail(log)}", fault=True)
        if status:
            return Failed(reason=f"{child.fate()}{log_tail(log)}", fault=True)
        return tuple(facts)

    # ------------------------------------------------------------------ benchmark

    def measure(
        self,
        benchmark: Benchmark,
        *,
        cwd: Path,
        artifacts: Mapping[Side, Sequence[Path]],
        round: int,
        progress: Progress,
        forgives: bool = False,
    ) -> tuple[Sample, ...] | Failed:
        """Measure one round of the builds `artifacts`; return the samples of both sides at every size, or Failed. If
        `forgives`, results of the candidate may be wrong. Raises Busy if foreign work disturbs again and again.
        """
        return self._ended(
            lambda: self._rounds.measure(
                benchmark, cwd=cwd, artifacts=artifacts, round=round, progress=progress, forgives=forgives
            )
        )

    def burn_in(self, benchmark: Benchmark, *, cwd: Path, artifact: Path, progress: Progress) -> BurnIn:
        """Run the benchmark of the build `artifact` uncounted until the GPU is steady; return how that ended. Raises Busy."""
        found = self._ended(lambda: self._rounds.burn_in(benchmark, cwd=cwd, artifact=artifact, progress=progress))
        return BurnIn(seconds=0.0, trouble=found.reason) if isinstance(found, Failed) else found

    def take_first_runs(self) -> tuple[FirstRun, ...]:
        """Return what the first runs of builds with a cold cache cost, of those that were seen warm since the last call."""
        return self._rounds.cold_starts.take_first_runs()

    def close(self) -> None:
        """End the workers that were kept for the next round. One that can't be killed is reported by the next measurement."""
        with contextlib.suppress(Unkillable):
            self._rounds.close()

    # ------------------------------------------------------------------ starting

    def _start(
        self,
        argv: Sequence[str],
        cwd: Path,
        artifact: Path,
        log: Path,
        core: int | None = None,
        padding: int = 0,
        *,
        tree: Path | None = None,
        out: Path | None = None,
        tick: Callable[[], None] = lambda: None,
    ) -> Child:
        """Start a child in `cwd` that runs the build `artifact`.

        `core` is the only core it may run on; `padding` bytes are added to its environment. For a profiler, `tree` is the
        folder of the build's sources and `out` the folder for its output. `tick` is called while it is waited for. Raises
        StepFailed if it can't start or a protected file was changed.
        """
        if broken := self._broken(cwd):
            listed = ", ".join(one_line(name, 80) for name in broken[:3])
            raise StepFailed(Failed(reason=f"the harness was changed since it was checked out: {listed}", fault=True))
        room, options = self._room(artifact), kept(artifact.parent)
        given = self._of_side(self._environment, options)
        words = {"{python}": python_of(given), "{artifact}": str(artifact), "{out}": str(out or room)}
        words |= {"{id}": self._experiment}
        words |= {"{tree}": str(tree)} if tree is not None else {}
        own = (room,) if out is None else (room, out)
        environment = child_environment(given, room, self._mark)
        environment |= cache_variables(room)
        environment |= {PADDING: "x" * padding} if padding else {}
        try:
            return Child(
                Launch(
                    argv=fill(with_arguments(argv, options), words),
                    cwd=cwd,
                    environment=environment,
                    log=log,
                    core=core,
                    limits=ChildLimits(scratch=own, shared=shared_folders(given), counters=out is not None),
                ),
                on_look=tick,
            )
        except OSError as error:
            if is_trouble(error):
                raise
            raise StepFailed(Failed(reason=f"cannot start {argv[0]}: {error.strerror}", fault=True)) from error

    def _room(self, artifact: Path) -> Path:
        # The name has a fixed length. The first call removes the folders of other runs.
        if not self._rooms and self._scratch.is_dir():
            for old in self._scratch.iterdir():
                if old.is_dir() and not old.is_symlink():
                    atomic_write.remove_tree(old)
        room = self._scratch / hashlib.sha256(os.fsencode(artifact)).hexdigest()[:12]
        self._rooms.add(room)
        return room

    def _ended(self, act: Callable[[], T | Failed]) -> T | Failed:
        try:
            found = act()
        except Unkillable as error:
            return Failed(reason=f"a process of this step {error}", fault=True)
        except OSError:
            if not (changed := changed_limits()):
                raise
            return Failed(reason=meddling(changed))
        if changed := changed_limits():
            return Failed(reason=meddling(changed))
        if isinstance(found, Failed):
            check_space(self._scratch)
        return found

    def _fresh_log(self, step: str) -> Path:
        self._log(step).unlink(missing_ok=True)
        return self._log(step)

    def _log(self, step: str) -> Path:
        return self._scratch / f"{step}.log"


def _ended(child: Child, wait_s: float) -> int:
    for line in child.lines(time.monotonic() + wait_s):
        raise Unexpected(one_line(line, 60))
    return child.wait(time.monotonic() + wait_s)


def _fact(said: Mapping[str, Any]) -> Fact:
    value = said.get("value")
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise Gone(f"the profile named {str(said.get('name'))[:60]!r} without a number")
    kind = str(said.get("kind", ""))
    if kind not in {member.value for member in NumberKind}:
        raise Gone(f"the profile gave the number kind {kind[:20]!r}")
    return Fact(
        name=one_line(str(said.get("name", "")), 200),
        value=value,
        unit=one_line(str(said.get("unit", "")), 40),
        kind=NumberKind(kind),
    )
