"""Nothing of a worker runs while the other side is timed, whatever it has prepared to wake it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from expctl.adapters.steps.runner import StepRunner
from expctl.domain.protocol.model import Environment, Style
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.samples import Side
from expctl.launcher import containment
from expctl.launcher.capabilities import detect_capabilities
from tests.adapters.steps.test_runner import BENCHMARK, CHECKED, OK, SAY, WORKER
from tests.fakes.run import FakeProgress

pytestmark = pytest.mark.alone

COMMON = """
import ctypes, threading
is_hostile = sys.argv[1].endswith("candidate")
libc = ctypes.CDLL(None)
def work(file, until=lambda: False):
    while not until(): time.sleep(0.001); os.write(file, b"%r\\n" % time.monotonic())
def wake_every_5_ms():
    signal.signal(signal.SIGCONT, lambda *_: None)
    event = (ctypes.c_int * 16)(0, 0, signal.SIGCONT)  # struct sigevent, SIGEV_SIGNAL
    timer, period = ctypes.c_void_p(), (ctypes.c_long * 4)(0, 5_000_000, 0, 5_000_000)
    assert not libc.timer_create(1, event, ctypes.byref(timer))
    assert not libc.timer_settime(timer, 0, period, None)
marks = os.open(MARKS, os.O_CREAT | os.O_WRONLY | os.O_APPEND) if is_hostile else -1
"""
OWN = "os.setsid(); os.closerange(0, marks); os.closerange(marks + 1, 99)"
PROGRAMS = {
    "a thread, woken by a timer": """
if is_hostile:
    threading.Thread(target=work, args=(marks,), daemon=True).start()
    wake_every_5_ms()
""",
    "a child with a session and a timer of its own": f"""
if is_hostile and os.fork() == 0:
    parent = os.getppid()
    {OWN}
    wake_every_5_ms()
    work(marks, lambda: os.getppid() != parent)
    os._exit(0)
""",
}


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[StepRunner]:
    notes = Environment(writable=(str(tmp_path),))
    made = StepRunner(environment=notes, scratch=tmp_path / "scratch", mark="m", experiment="P1")
    yield made
    made.close()


def marks_in_turns_of_the_other(runner: StepRunner, folder: Path, before: str) -> tuple[str, int, int]:
    """Return how the round failed, or "", how often the candidate did something, and how often while the other was asked."""
    note = f"open({str(folder / 'turns')!r}, 'a').write(f'{{time.monotonic()}}\\n')"
    turn = f"if not is_hostile: {note}; time.sleep(0.03); {note}"
    common = COMMON.replace("MARKS", repr(str(folder / "marks")))
    program = SAY + common + before + WORKER.replace("TIME", turn).replace("END", OK).replace("CHECK", CHECKED)
    benchmark = replace(BENCHMARK, argv=("{python}", "-c", program, "{artifact}"), style=Style.FINE)
    artifacts = {side: (folder / side.value,) for side in Side}
    found = runner.measure(benchmark, cwd=folder, artifacts=artifacts, round=0, progress=FakeProgress())
    marks = [float(line) for line in (folder / "marks").read_text().split()]
    times = [float(line) for line in (folder / "turns").read_text().split()] if (folder / "turns").exists() else []
    turns = list(zip(times[::2], times[1::2], strict=False))
    inside = sum(begin < mark < end for mark in marks for begin, end in turns)
    return found.reason if isinstance(found, Failed) else "", len(marks), inside


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_wakes_what_a_control_group_holds(runner: StepRunner, tmp_path: Path, name: str) -> None:
    if not detect_capabilities().groups:
        pytest.skip("no control groups here")
    failed, marks, inside = marks_in_turns_of_the_other(runner, tmp_path, PROGRAMS[name])
    assert (failed, inside) == ("", 0)
    assert marks > 5


@pytest.mark.parametrize("name", PROGRAMS)
def test_without_one_what_was_woken_is_refused(
    runner: StepRunner, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(containment, "make_group", lambda _: None)
    failed, _, _ = marks_in_turns_of_the_other(runner, tmp_path, PROGRAMS[name])
    assert failed.startswith("the worker of the candidate ")
    assert "while the other side was timed" in failed or "did not stand still" in failed
