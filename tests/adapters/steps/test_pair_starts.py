"""Two workers that start slowly are made ready at the same time, on cores of their own, and are timed on one."""

import os
from pathlib import Path
from textwrap import dedent

import pytest

from expctl.adapters.steps.worker_pool import core_beside
from expctl.domain.protocol.model import Style
from expctl.domain.verdict.samples import Side
from tests.adapters.steps.test_runner import CHECKED, OK, Measure, measure, runner

__all__ = ["measure", "runner"]

CORES = os.sched_getaffinity(0)
LAST = str([max(CORES)])
pytestmark = pytest.mark.skipif(len(CORES) < 2, reason="there is one core here")
Note = tuple[str, float, float]
"""The cores of all threads of a worker, when it began to do something, and when it ended."""


def noted(measure: Measure, folder: Path, respawn: int) -> tuple[dict[Side, Note], set[str]]:
    """Measure a round whose workers each take .4 s to be ready. Return a note of each side's start, and the cores in turns."""
    before = f"""
        import threading
        side, begun = os.path.basename(sys.argv[1]), time.monotonic()
        threading.Thread(target=lambda: time.sleep(60), daemon=True).start()
        def note(begun):
            cores = set().union(*(os.sched_getaffinity(int(task)) for task in os.listdir("/proc/self/task")))
            open({str(folder)!r} + "/" + side, "a").write(f"{{sorted(cores)}} {{begun}} {{time.monotonic()}}\\n")
        time.sleep(0.4); note(begun)
    """
    samples = measure(Style.FINE, "note(time.monotonic())", OK, f"pass; {CHECKED}", before=dedent(before), respawn=respawn)
    assert isinstance(samples, tuple), samples
    starts, turns = dict[Side, Note](), set[str]()
    for side in Side:
        rows = [line.rsplit(" ", 2) for line in (folder / side.value).read_text().splitlines()]
        starts[side] = (rows[0][0], float(rows[0][1]), float(rows[0][2]))
        turns |= {row[0] for row in rows[1:]}
    return starts, turns


def test_workers_of_several_rounds_are_made_ready_at_once_and_timed_on_one_core(measure: Measure, tmp_path: Path) -> None:
    starts, turns = noted(measure, tmp_path, respawn=2)
    beside = str([core_beside(max(CORES))])
    assert {cores for cores, _, _ in starts.values()} == {LAST, beside}
    assert max(begun for _, begun, _ in starts.values()) < min(ended for _, _, ended in starts.values())
    assert turns == {LAST}


def test_workers_of_one_round_are_made_ready_one_after_the_other(measure: Measure, tmp_path: Path) -> None:
    starts, turns = noted(measure, tmp_path, respawn=1)
    assert {cores for cores, _, _ in starts.values()} == turns == {LAST}
    assert max(begun for _, begun, _ in starts.values()) > min(ended for _, _, ended in starts.values())


def test_the_core_beside_is_of_the_same_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3, 8})
    for core, package in {0: 0, 1: 1, 2: 0, 3: 1, 8: 0}.items():
        place = tmp_path / f"cpu{core}" / "topology"
        place.mkdir(parents=True)
        (place / "physical_package_id").write_text(f"{package}\n")
    assert core_beside(3, tmp_path) == 1
    assert core_beside(8, tmp_path) == 2
    (tmp_path / "cpu1" / "topology" / "physical_package_id").write_text("2\n")
    assert core_beside(3, tmp_path) is None
