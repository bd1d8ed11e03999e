"""What a user sees on a terminal: a gate that talks and hears Ctrl-C, one live line, nothing that wraps."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.e2e.foreign import EXPCTL, FASTER, SLOWER, Foreign, wait_until
from tests.e2e.terminal.screen import Terminal

pytestmark = pytest.mark.alone

LOADED = "gate:\n  others_percent: 20\n"
AT_ONCE_S = 3.0
"""An end that waits for nothing, beside a busy process on every core; the shortest wait here has 4.5 s left."""


def on_terminal(repository: Foreign, *words: str, columns: int = 80) -> Terminal:
    environment = {**repository.environment, "COLUMNS": ""}
    return Terminal([str(EXPCTL), *words], cwd=repository.root, environment=environment, columns=columns)


@contextmanager
def busy_machine() -> Iterator[None]:
    """A process on every core that never rests."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in os.sched_getaffinity(0)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def never_quiet(repository: Foreign) -> None:
    repository.edit_protocol("gate:\n", LOADED)


def test_a_wait_names_the_busy_and_one_ctrl_c_ends_it(repository: Foreign) -> None:
    never_quiet(repository)
    repository.queue("P1", FASTER)
    with busy_machine(), on_terminal(repository, "run", "P1", "--wait", "60") as terminal:
        line = terminal.until(lambda line: "waiting" in line and " %" in line, "the wait", at_most_s=20)
        assert "of 60 s for a quiet machine: " in line
        assert "python" in line
        pressed_s = time.monotonic()
        terminal.press_ctrl_c()
        assert terminal.end() == 130
        assert time.monotonic() - pressed_s < AT_ONCE_S
        assert "Interrupted: stopped while waiting for a quiet machine" in terminal.text()
        assert "waiting" not in "".join(line for line in terminal.screen.lines if "Interrupted" not in line), "wiped"
        assert terminal.screen.wrapped == []


def test_ctrl_c_ends_the_wait_of_the_whole_queue(repository: Foreign) -> None:
    never_quiet(repository)
    repository.queue("P1", FASTER)
    with busy_machine(), on_terminal(repository, "run", "--all", "--wait", "2") as terminal:
        terminal.until(lambda line: "waiting" in line, "the wait", at_most_s=20)
        terminal.until(lambda line: "waiting" not in line, "the end of patience: it rests before the next try", at_most_s=20)
        time.sleep(0.5)
        pressed_s = time.monotonic()
        terminal.press_ctrl_c()
        assert terminal.end() == 130
        assert time.monotonic() - pressed_s < AT_ONCE_S


def test_ctrl_c_ends_the_wait_of_the_gate(repository: Foreign) -> None:
    never_quiet(repository)
    with busy_machine(), on_terminal(repository, "gate", "--wait", "60") as terminal:
        terminal.until(lambda line: "waiting" in line, "the wait", at_most_s=20)
        pressed_s = time.monotonic()
        terminal.press_ctrl_c()
        assert terminal.end() == 130
        assert time.monotonic() - pressed_s < AT_ONCE_S
        assert terminal.screen.wrapped == []


def test_status_gate_and_run_agree_on_a_busy_machine(repository: Foreign) -> None:
    never_quiet(repository)
    repository.queue("P1", FASTER)
    with busy_machine():
        status, gate = repository.concluded("status"), repository.expctl("gate", "--wait", "0")
        run = repository.expctl("run", "P1", "--wait", "0.5")
    assert (gate.status, run.status) == (75, 75)
    for said in (status.out, gate.out, run.err):
        assert "others use the CPU" in said
    assert "busiest" in gate.out
    assert re.search(r"busiest: .*python", run.err), run.err
    for said in (gate.out, run.err):
        assert "gate.others_percent" in said
        assert "expctl calibrate" in said


def test_a_machine_that_becomes_quiet_ends_the_wait(repository: Foreign) -> None:
    stranger = f"benchmark_of_{os.getpid()}"
    repository.edit_protocol("benchmark_of_nobody*", stranger)
    shutil.copy("/bin/sleep", repository.home / stranger)
    with subprocess.Popen([repository.home / stranger, "60"]) as other:
        with on_terminal(repository, "gate", "--wait", "60") as terminal:
            assert f"(pid {other.pid}" in terminal.until(lambda line: "waiting" in line, "the wait", at_most_s=20)
            other.kill()
            other.wait()
            assert terminal.end() == 0
        assert "quiet for here" in terminal.text()


@pytest.mark.parametrize("columns", [80, 160])
def test_a_run_shows_round_estimate_and_time_left_and_nothing_wraps(repository: Foreign, columns: int) -> None:
    repository.queue("P1", SLOWER)
    repository.queue("P2", FASTER)
    with on_terminal(repository, "run", "P1", "P2", columns=columns) as terminal:
        assert terminal.end() == 0
    lines = [line for _, line in terminal.seen]
    assert any(line.startswith("  search     round ") and "of at most 10  " in line and "  about " in line for line in lines)
    assert any(line.startswith("  confirm    round ") and "%" in line for line in lines)
    assert not any("[#" in line for line in lines), "no bar hides the line that matters"
    assert terminal.screen.wrapped == []
    assert max(map(len, terminal.screen.lines)) <= columns
    text = terminal.text()
    assert "REJECT" in text
    assert "KEEP" in text
    assert "round " not in "".join(line for line in terminal.screen.lines if " of at most " in line), "wiped"


def test_no_colour_where_none_is_wanted(repository: Foreign) -> None:
    repository.environment["NO_COLOR"] = "1"
    repository.queue("P1", SLOWER)
    with on_terminal(repository, "run", "P1") as terminal:
        assert terminal.end() == 0
    assert b"\x1b[" in terminal.raw
    assert {part[:1] for part in terminal.raw.split(b"\x1b[")[1:]} == {b"K"}


def test_an_edit_of_the_protocol_that_is_not_committed_is_pointed_out(repository: Foreign) -> None:
    repository.queue("P1", SLOWER)
    text = (repository.root / "protocol.yaml").read_text()
    repository.write("protocol.yaml", text.replace("wait_s: 1", "wait_s: 7"))
    for words in (["status"], ["gate"]):
        assert "protocol.yaml has edits that are not committed" in repository.concluded(*words).out
    said = repository.concluded("run", "P1").out
    assert "protocol.yaml: edits that are not committed; this run uses what is in " in said


def test_a_resumed_run_says_that_it_keeps_its_older_gate(repository: Foreign) -> None:
    repository.queue("P1", FASTER)  # a KEEP: its rounds go on for a while
    runner = repository.start("run", "P1")
    try:
        wait_until(lambda: "Measured" in repository.journal("P1"), "the first round")
    finally:
        runner.kill()
        runner.wait()
    repository.edit_protocol("wait_s: 1", "wait_s: 600")
    said = repository.concluded("run", "P1").out
    assert "this run keeps the gate of its base " in said
    assert "wait_s 1 (HEAD: 600)" in said
