"""Time every kernel and shape of a suite in one environment, each in 3 to 5 processes, on a quiet machine."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from expctl.domain.errors import Interrupted
from expctl.domain.layout import cut_middle
from expctl.domain.protocol.model import Build, NumberKind, Target, Toolchain
from expctl.domain.run.step_result import Failed
from expctl.domain.text import one_line
from expctl.ports.measuring import Clock, Gate, Progress, SuiteCommands
from expctl.screening.repetitions import ROWS_AVERAGED, ROWS_COUNTED, Timing, timing_of
from expctl.suite.call_times import TIMES, reported, traced
from expctl.suite.cases import SuiteCase
from expctl.suite.model import Suite, TimedOn
from expctl.suite.spread import Spread, spread_of

STEP = "suite"
NAME_WIDTH = 48  # of a kernel and shape in the lines of progress


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseTimes:
    """The repetitions of one kernel and shape, each a process; `failed` is the reason why there are no more, "" if none is
    missing. `moved` are the bytes of one call, None if unknown.
    """

    kernel: str
    shape: str
    moved: int | None
    repetitions: tuple[Spread, ...]
    failed: str = ""

    @property
    def timing(self) -> Timing | None:
        """Return the time by the rule of `expctl compare`; None without a repetition or if one failed."""
        return None if self.failed else timing_of([each.mean_us for each in self.repetitions])


def measure(
    suite: Suite,
    cases: Sequence[SuiteCase],
    *,
    commands: SuiteCommands,
    gate: Gate,
    folder: Path,
    progress: Progress,
    clock: Clock,
    stop_requested: Callable[[], bool] = lambda: False,
) -> Iterator[CaseTimes]:
    """Yield the times of each of `cases`. Profilers and benchmarks write into `folder`. Raises Busy where the machine doesn't
    get or stay quiet, and Interrupted once `stop_requested` says so.
    """
    kind = NumberKind.DEVICE_TIME if suite.timed_on is TimedOn.GPU else NumberKind.WALL_TIME
    target = Target(build=Build(toolchain=Toolchain.COMMAND), number_kind=kind)
    for number, case in enumerate(cases, 1):
        progress.working("gate", "waiting for a quiet machine")
        started_s = clock.monotonic_s()
        what = f"{number}/{len(cases)} {cut_middle(one_line(f'{case.kernel} {case.shape}'), NAME_WIDTH)}"
        found: list[Spread] = []
        failed = ""
        with gate.measuring(target):
            while not failed and not _is_enough(found):
                if stop_requested():
                    raise Interrupted("stopped between two repetitions; the kernels and shapes that were finished are written")
                progress.working(STEP, f"{what}, repetition {len(found) + 1}")
                one = _repetition(suite, case, commands, folder)
                if isinstance(one, Failed):
                    failed = one.reason
                else:
                    found.append(one)
        progress.step(STEP, what, round(clock.monotonic_s() - started_s, 3))
        yield CaseTimes(kernel=case.kernel, shape=case.shape, moved=case.moved, repetitions=tuple(found), failed=failed)


def _is_enough(found: Sequence[Spread]) -> bool:
    """Three repetitions; a fourth and a fifth while no two or three of them lie within 5 %."""
    if len(found) < ROWS_AVERAGED:
        return False
    timing = timing_of([each.mean_us for each in found])
    return len(found) == ROWS_COUNTED or (timing is not None and timing.time_us is not None)


def _repetition(suite: Suite, case: SuiteCase, commands: SuiteCommands, folder: Path) -> Spread | Failed:
    ran = commands.run(case.argv, out=folder, times=TIMES, timeout_s=suite.timeout_s)
    if ran is not None:
        return ran
    wanted = suite.warmups + suite.iterations
    times = traced(folder, case.traced, wanted if case.told else None) if suite.trace else reported(folder)
    if isinstance(times, Failed):
        return times
    if len(times) < wanted or (case.told and len(times) > wanted):
        exactly = "" if case.told else "at least "
        return Failed(
            reason=f"expected the times of {exactly}{suite.warmups} warm-ups and {suite.iterations} iterations, found "
            f"{len(times)} calls",
            fault=True,
        )
    return spread_of(times, suite.warmups)
