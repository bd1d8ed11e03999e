"""What becomes of a round when foreign work is seen beside its launches."""

from collections.abc import Callable
from pathlib import Path

import pytest

from expctl.adapters.steps.rounds import LAUNCHES_MOST
from expctl.adapters.steps.runner import StepRunner
from expctl.domain.errors import Busy
from expctl.domain.protocol.model import Benchmark, Environment, Size, Style
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.samples import Sample, Side, round_effects
from tests.fakes.machine import FakeWatch
from tests.fakes.run import FakeProgress

WORKER = """
import json, os, sys
def say(**line): os.write(int(os.environ["EXPCTL_RESULT_FD"]), json.dumps(line).encode() + b"\\n")
for line in sys.stdin:
    request = json.loads(line)
    if request["do"] == "begin":
        open(sys.argv[1] + ".begun", "a").write("x")
        say(event="ready")
    elif request["do"] == "time":
        FAILS
        say(event="sample", size=request["size"], ns=[1000] * request["iterations"])
    else:
        break
say(event="end", ok=True)
"""
SIZES = (Size(name="a", weight=0.5), Size(name="b", weight=0.5))
NCU = ("ncu matches ncu",)
Measure = Callable[..., tuple[Sample, ...] | Failed]


@pytest.fixture
def watch() -> FakeWatch:
    return FakeWatch()


@pytest.fixture
def measure(tmp_path: Path, watch: FakeWatch) -> Measure:
    notes = Environment(writable=(str(tmp_path),))
    runner = StepRunner(environment=notes, scratch=tmp_path / "scratch", mark="m", experiment="P1", watch=watch)

    def measures(style: Style, fails: str = "pass") -> tuple[Sample, ...] | Failed:
        argv = ("{python}", "-c", WORKER.replace("FAILS", fails), "{artifact}")
        benchmark = Benchmark(argv=argv, timeout_s=20, sizes=SIZES, style=style, iterations=2, quads=2)
        artifacts = {side: (tmp_path / side.value,) for side in Side}
        return runner.measure(benchmark, cwd=tmp_path, artifacts=artifacts, round=7, progress=FakeProgress())

    return measures


def test_a_disturbed_launch_is_followed_by_another_in_its_place(measure: Measure, watch: FakeWatch) -> None:
    watch.taints = [(), NCU, NCU]
    samples = measure(Style.LAUNCH)
    assert isinstance(samples, tuple)
    by_launch = {sample.launch: (sample.side, sample.taints) for sample in samples}
    assert len(samples) == 12
    assert [taints for _, taints in by_launch.values()] == [(), NCU, NCU, (), (), ()]
    order = {"A": Side.BASELINE, "B": Side.CANDIDATE}
    assert [side for side, taints in by_launch.values() if not taints] == [order[letter] for letter in samples[0].order]
    assert by_launch[1][0] is by_launch[2][0] is by_launch[3][0]
    assert round_effects(samples)[0].effect == {"a": 0.0, "b": 0.0}
    assert watch.cleared == 6, "the gate is asked before every launch"


@pytest.mark.parametrize(("style", "core"), [(Style.LAUNCH, False), (Style.FINE, True)])
def test_the_watch_looks_while_workers_begin_and_while_they_are_timed(
    measure: Measure, watch: FakeWatch, style: Style, core: bool
) -> None:
    assert isinstance(measure(style), tuple)
    timed = [side for side, is_timed, _ in watch.looked if is_timed]
    begun = [side for side, is_timed, _ in watch.looked if not is_timed]
    assert (len(timed), len(begun)) == ((4, 4) if style is Style.LAUNCH else (1, 2))
    assert {pinned is not None for _, _, pinned in watch.looked} == {core}


def test_both_workers_of_a_fine_round_are_disturbed_together(measure: Measure, watch: FakeWatch) -> None:
    watch.taints = [NCU]
    samples = measure(Style.FINE)
    assert isinstance(samples, tuple)
    assert {sample.taints for sample in samples} == {NCU}
    assert round_effects(samples) == ()


def test_a_machine_that_does_not_stay_quiet_is_busy(measure: Measure, watch: FakeWatch) -> None:
    watch.taints = [NCU] * LAUNCHES_MOST
    with pytest.raises(Busy) as caught:
        measure(Style.LAUNCH)
    assert caught.value.found == "ncu matches ncu"


@pytest.mark.parametrize("style", list(Style))
def test_nothing_is_started_on_a_busy_machine(measure: Measure, watch: FakeWatch, tmp_path: Path, style: Style) -> None:
    watch.busy = True
    with pytest.raises(Busy):
        measure(style)
    assert not list(tmp_path.glob("*.begun"))


ONCE = "flag = os.path.dirname(sys.argv[1]) + '/died'\n        if not os.path.exists(flag): open(flag, 'w'); os._exit(9)"


@pytest.mark.parametrize("style", list(Style))
def test_a_worker_that_dies_beside_foreign_work_is_tried_again(measure: Measure, watch: FakeWatch, style: Style) -> None:
    watch.taints = [NCU]
    assert isinstance(measure(style, ONCE), tuple)
    assert watch.taints == []
    assert isinstance(measure(style, "os._exit(9)"), Failed)


DOUBTFUL = """count = sys.argv[1] + '.doubtful'
        if (done := len(open(count).read()) if os.path.exists(count) else 0) < {times}:
            open(count, 'a').write('x'); say(event='end', ok=False, reason='clocks differ', repeat={repeat}); sys.exit(1)"""


def doubtful(*, baseline: int = 0, candidate: int | str = 0, repeat: bool = True) -> str:
    """Return what a worker does that says `clocks differ` so often, on each side."""
    times = f"({baseline} if sys.argv[1].endswith('baseline') else {candidate})"
    return DOUBTFUL.format(times=times, repeat=repeat)


AFTER_THE_BASELINE = "(99 if os.path.exists(os.path.dirname(sys.argv[1]) + '/baseline.doubtful') else 0)"


@pytest.mark.parametrize("style", list(Style))
def test_a_failure_that_a_disturbed_machine_can_cause_counts_the_fifth_time(measure: Measure, style: Style) -> None:
    assert isinstance(measure(style, doubtful(candidate=4)), tuple)


@pytest.mark.parametrize("style", list(Style))
def test_the_fifth_such_failure_blames_the_candidate(measure: Measure, style: Style) -> None:
    assert measure(style, doubtful(candidate=99)) == Failed(reason="candidate: clocks differ", repeat=True)


@pytest.mark.parametrize("style", list(Style))
def test_a_machine_that_disturbs_both_sides_gets_more_tries(measure: Measure, style: Style) -> None:
    assert isinstance(measure(style, doubtful(baseline=1, candidate=AFTER_THE_BASELINE.replace("99", "8"))), tuple)


@pytest.mark.parametrize("style", list(Style))
def test_the_candidate_is_not_blamed_where_the_baseline_has_failed_so_too(measure: Measure, style: Style) -> None:
    failed = measure(style, doubtful(baseline=1, candidate=AFTER_THE_BASELINE))
    assert failed == Failed(reason="baseline: clocks differ", fault=True, repeat=True)


def test_another_failure_blames_the_candidate_at_once(measure: Measure) -> None:
    assert measure(Style.FINE, doubtful(candidate=1, repeat=False)) == Failed(reason="candidate: clocks differ")


READY_TOGETHER = """
import json, os, sys, time
from pathlib import Path
def say(**line): os.write(int(os.environ["EXPCTL_RESULT_FD"]), json.dumps(line).encode() + b"\\n")
folder, me = Path(sys.argv[1]).parent, os.urandom(4).hex()  # both sides may have the same pid, in namespaces
for line in sys.stdin:
    request = json.loads(line)
    if request["do"] == "begin":
        (folder / f"begun-{me}").touch()
        while len(list(folder.glob("begun-*"))) < 4: time.sleep(0.01)   # none is ready before all have begun
        say(event="ready")
    elif request["do"] == "time":
        with (folder / "timed").open("a") as log: log.write(f"{me} {request['iterations']}\\n")
        say(event="sample", size=request["size"], ns=[1000] * request["iterations"])
    else:
        (folder / f"ended-{me}").touch()
        while len(list(folder.glob("ended-*"))) < 4: time.sleep(0.01)   # nor ends one before all are asked to
        break
say(event="end", ok=True)
"""


def test_workers_are_made_ready_and_checked_together_and_timed_in_turn(tmp_path: Path, watch: FakeWatch) -> None:
    notes = Environment(writable=(str(tmp_path),))
    runner = StepRunner(environment=notes, scratch=tmp_path / "scratch", mark="m", experiment="P1", watch=watch)
    argv = ("{python}", "-c", READY_TOGETHER, "{artifact}")
    benchmark = Benchmark(argv=argv, timeout_s=20, sizes=SIZES[:1], iterations=3, together=True)
    artifacts = {side: (tmp_path / side.value,) for side in Side}
    samples = runner.measure(benchmark, cwd=tmp_path, artifacts=artifacts, round=7, progress=FakeProgress())
    assert isinstance(samples, tuple)
    assert "".join("AB"[sample.side is Side.CANDIDATE] for sample in samples) in ("ABBA", "BAAB")
    timed = (tmp_path / "timed").read_text().split()
    assert timed[1::2] == ["3"] * 8
    assert [timed[0::4], len(set(timed[0::4]))] == [timed[2::4], 4]
