"""With `gate: cards: own` two cards are measured on at the same time: real processes, real flock, devices that are files."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from expctl.adapters.machine.device_lock import MachineLock
from expctl.adapters.machine.gate import MachineGate
from expctl.adapters.machine.lock_holder import start_ticks
from expctl.adapters.machine.measuring_locks import MeasuringLocks
from expctl.adapters.machine.neighbours import Neighbours
from expctl.adapters.machine.own_cards import CUDA, OwnCards
from expctl.adapters.sensors.device_holders import DeviceHolders
from expctl.adapters.sensors.process_patterns import ProcessPatterns
from expctl.adapters.sensors.process_table import ProcessTable
from expctl.domain.errors import Busy
from expctl.domain.protocol.model import Build, Gate, NumberKind, Target, Toolchain
from tests.refusals import refuses

GPU = Target(build=Build(toolchain=Toolchain.NVCC), number_kind=NumberKind.DEVICE_TIME)
CPU = Target(build=Build(toolchain=Toolchain.COMMAND))
CARDS = ("GPU-a0", "GPU-b1")
PATTERN = f"card_benchmark_{os.getpid()}*"
# HOW CARD: `measure` a GPU, `test` one, measure a `cpu`, or `build`, as another run does it. With PROGRAM, a child of its own
# runs that meanwhile. It goes on at each line that it reads: gives the lock back, then ends.
OTHER = """
import subprocess, sys
from contextlib import ExitStack
from tests.adapters.machine.test_card_locks import CPU, GPU, gate
how, card, *program = sys.argv[1:]
made = gate(card, experiment="P9", sees=False)
target = CPU if how == "cpu" else None if how == "build" else GPU
with made.measuring(target) if how in ("measure", "cpu") else made.working(target):
    child = subprocess.Popen(program) if program else None
    print("held", flush=True)
    sys.stdin.readline()
print("free", flush=True)
sys.stdin.readline()
if child:
    child.kill()
"""


@pytest.fixture(autouse=True)
def _two_cards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "bin" / "nvidia-smi"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\n" + "".join(f"echo {card}\n" for card in CARDS))
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    (tmp_path / "dev").mkdir()
    for name in ("nvidia0", "nvidia1"):
        (tmp_path / "dev" / name).touch()


def gate(card: str, *, experiment: str = "P1", sees: bool = True, wait_s: float = 0.3) -> MachineGate:
    """A run's gate on one card ("": the protocol says `all`), with the sensors of processes, to which nobody is ours."""
    table, lock = ProcessTable(mark="m", me=1 << 22), MachineLock(experiment=experiment)
    neighbours = Neighbours(lock, table)
    sensors = (
        ProcessPatterns(table, (PATTERN,), strangers=neighbours.strangers),
        DeviceHolders(table, dev=Path(os.environ["EXPCTL_LOCK_DIR"]).parent / "dev", strangers=neighbours.strangers),
    )
    cards = OwnCards({CUDA: card}, Path("/nowhere")) if card else None
    locks = MeasuringLocks(lock, table, experiment=experiment, cards=cards, neighbours=neighbours)
    return MachineGate(Gate(wait_s=wait_s, quiet_s=0), lock=locks, table=table, sensors=sensors if sees else ())


@contextmanager
def other(how: str, card: str, *program: str) -> Iterator["subprocess.Popen[str]"]:
    """Another run, which holds its locks."""
    argv = [sys.executable, "-c", OTHER, how, card, *program]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, process_group=0) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def release(process: "subprocess.Popen[str]") -> None:
    """Let another run give its locks back; its child lives on."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.stdout.readline() == "free\n"


@pytest.fixture
def benchmark(tmp_path: Path) -> tuple[str, ...]:
    """A program with the name of a benchmark that has the files of both cards open."""
    script = tmp_path / f"card_benchmark_{os.getpid()}.py"
    script.write_text("import sys, time\nopen_ = [open(path) for path in sys.argv[1:]]\ntime.sleep(60)\n")
    return (sys.executable, str(script), f"{tmp_path}/dev/nvidia0", f"{tmp_path}/dev/nvidia1")


@contextmanager
def stranger(benchmark: tuple[str, ...]) -> Iterator["subprocess.Popen[bytes]"]:
    """A running program that has the name of a benchmark, and whose family holds no lock of a card."""
    with subprocess.Popen(benchmark) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


# ------------------------------------------------------------------ who excludes whom

BESIDE = [
    ("measure", "1", "measure", "0"),
    ("test", "1", "measure", "0"),
    ("measure", "1", "test", "0"),
    ("test", "0", "test", "0"),
    ("build", "0", "measure", "0"),
    ("measure", "0", "build", "0"),
    ("build", "", "measure", "0"),
    ("measure", "0", "build", ""),
]
BUSY = [
    ("measure", "0", "measure", "GPU-a0", "another expctl is measuring on card GPU-a0"),
    ("measure", "0", "test", "0", "another expctl is measuring on card GPU-a0"),
    ("test", "0", "measure", "0", "another expctl builds or tests on card GPU-a0"),
    ("measure", "1", "cpu", "0", "another expctl is measuring on this machine"),
    ("measure", "1", "measure", "", "another expctl is measuring on this machine"),
    ("test", "1", "cpu", "", "another expctl builds or tests on this machine"),
    ("cpu", "0", "measure", "0", "another expctl is measuring on this machine"),
    ("cpu", "0", "test", "1", "another expctl is measuring on this machine"),
    ("measure", "", "measure", "0", "another expctl is measuring on this machine"),
    ("measure", "", "build", "0", "another expctl is measuring on this machine"),
]


def doing(how: str, card: str) -> AbstractContextManager[object]:
    made = gate(card)
    target = CPU if how == "cpu" else None if how == "build" else GPU
    return made.measuring(CPU if how == "cpu" else GPU) if how in ("measure", "cpu") else made.working(target)


@pytest.mark.parametrize(("theirs", "card", "ours", "own"), BESIDE)
def test_what_goes_on_at_the_same_time(theirs: str, card: str, ours: str, own: str) -> None:
    with other(theirs, card), doing(ours, own):
        pass


@pytest.mark.parametrize(("theirs", "card", "ours", "own", "message"), BUSY)
def test_what_waits_and_for_whom(theirs: str, card: str, ours: str, own: str, message: str) -> None:
    with other(theirs, card) as holder:
        with refuses("machine-in-use", Busy) as caught, doing(ours, own):
            pytest.fail("both hold it")
        assert (caught.value.message, f"pid {holder.pid}" in caught.value.found) == (message, True)
        release(holder)
        with doing(ours, own):
            pass


def test_a_cpu_waits_for_both_cards() -> None:
    with other("measure", "0") as one, other("measure", "1") as two:
        with refuses("machine-in-use", Busy) as caught, gate("0").measuring(CPU):
            pytest.fail("measured beside them")
        assert all(f"(pid {each.pid}, running P9, step measuring)" in caught.value.found for each in (one, two))
        release(one)
        with refuses("machine-in-use", Busy), gate("0").measuring(CPU):
            pytest.fail("measured beside one")
        release(two)
        with gate("0").measuring(CPU):
            pass


def test_a_killed_holder_frees_its_card() -> None:
    with other("measure", "0") as holder:
        holder.kill()
        holder.wait()
        with gate("0").measuring(GPU):
            pass


def test_who_measures_may_build_and_test_and_nobody_upgrades() -> None:
    made = gate("0")
    with made.measuring(GPU), made.working(), made.working(GPU):
        pass
    with made.working(GPU), pytest.raises(RuntimeError, match="released before"), made.measuring(GPU):
        pytest.fail("upgraded")
    with made.working(), pytest.raises(RuntimeError, match="released before"), made.measuring(CPU):
        pytest.fail("upgraded")


def test_more_than_one_visible_card_is_refused_before_anything_is_built() -> None:
    made = gate("0,1")
    for step in (lambda: made.check(GPU), lambda: made.measuring(GPU).__enter__(), lambda: made.working(GPU).__enter__()):
        with refuses("not-one-card"):
            step()
    assert [each.what[:20] for each in made.blocking(GPU)] == ["with gate.cards: own"]
    assert made.blocking(CPU) == made.beside(GPU) == ()
    with made.measuring(CPU), pytest.raises(Busy), gate("").working():
        pytest.fail("a CPU is measured alone")


# ------------------------------------------------------------------ who is foreign


def seen(made: MachineGate, during: Callable[[], object] = lambda: None) -> tuple[str, ...]:
    """What taints a launch of half a second."""
    made.watch.clear()
    with made.watch.watching("both"):
        during()
        time.sleep(0.5)
    return made.watch.take_taints()


def test_a_neighbours_child_is_not_foreign_and_a_strangers_is(benchmark: tuple[str, ...]) -> None:
    made = gate("0", wait_s=10)
    with other("measure", "1", *benchmark) as run, made.measuring(GPU):
        assert seen(made) == ()
        (beside,) = made.beside(GPU)
        assert (beside.what, beside.detail, beside.pid) == ("expctl is measuring on card GPU-b1", "P9, step measuring", run.pid)
        with ExitStack() as stack:
            taints = seen(made, lambda: stack.enter_context(stranger(benchmark)))
            assert f"card_benchmark_{os.getpid()}.py matches {PATTERN}" in taints
            wait_until(lambda: {each.sensor for each in made.blocking(GPU)} == {"process", "device"})
    assert made.beside(GPU) == ()


def test_a_neighbour_that_comes_during_a_launch_is_known_in_time(benchmark: tuple[str, ...]) -> None:
    made = gate("0", wait_s=10)
    with made.measuring(GPU), ExitStack() as stack:
        assert seen(made, lambda: stack.enter_context(other("measure", "1", *benchmark))) == ()


def test_one_that_goes_and_leaves_its_work_is_foreign(benchmark: tuple[str, ...]) -> None:
    made = gate("0", wait_s=10)
    with other("measure", "1", *benchmark) as run, made.measuring(GPU):
        assert seen(made) == ()
        assert f"card_benchmark_{os.getpid()}.py matches {PATTERN}" in seen(made, lambda: release(run))


@pytest.mark.parametrize(
    ("target", "own", "sensors"), [(CPU, "0", {"lock", "process"}), (GPU, "", {"lock", "process", "device"})]
)
def test_who_needs_the_whole_machine_has_no_neighbours(
    benchmark: tuple[str, ...], target: Target, own: str, sensors: set[str]
) -> None:
    made = gate(own)
    with other("test", "1", *benchmark):
        wait_until(lambda: {each.sensor for each in made.blocking(target)} == sensors)
    assert made.beside(target) == ()


def test_another_who_tests_on_the_same_card_blocks(benchmark: tuple[str, ...]) -> None:
    made = gate("0")
    with other("test", "0", *benchmark):
        wait_until(lambda: len(made.blocking(GPU)) >= 3)
        assert {each.what for each in made.blocking(GPU) if each.sensor == "lock"} == {"expctl builds or tests on card GPU-a0"}


def test_a_file_that_names_a_process_makes_it_no_neighbour(benchmark: tuple[str, ...], tmp_path: Path) -> None:
    """Everybody may write into the file: the kernel's list of locks counts."""
    made, file = gate("0"), tmp_path / "locks" / "expctl.card.GPU-b1.lock"
    with other("measure", "1"):
        facts = json.loads(file.read_text())
    with stranger(benchmark) as process:
        file.write_text(json.dumps(facts | {"pid": process.pid, "start_ticks": start_ticks(process.pid)}))
        assert [each.pid for each in MachineLock(card="GPU-b1").holders()] == [process.pid]
        wait_until(lambda: {each.sensor for each in made.blocking(GPU)} == {"process", "device"})


def test_each_card_has_a_core_of_its_own() -> None:
    cores = sorted(os.sched_getaffinity(0))
    for card, core in (("0", cores[-1]), ("1", cores[-2 % len(cores)])):
        made = gate(card)
        assert made.core() == cores[-1]
        with made.measuring(GPU):
            assert made.core() == core
        with made.measuring(CPU):
            assert made.core() == cores[-1]
