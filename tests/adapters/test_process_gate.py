"""Real processes before the gate."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from expctl.adapters.process_gate import ProcessGate

from expctl.adapters.child import MARK
from expctl.adapters.holder import read_holder
from expctl.domain.errors import Busy, ExitStatus, Refused

PATTERN = f"unit_benchmark_{os.getpid()}*"  # of this very test run
SLEEP = "import time\ntime.sleep(60)\n"


def gate(mark: str = "m") -> ProcessGate:
    return ProcessGate(patterns=("ncu_of_nobody", PATTERN), mark=mark, device="machine")


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A benchmark of somebody else: it sleeps."""
    path = tmp_path / f"unit_benchmark_{os.getpid()}.py"
    path.write_text(SLEEP)
    return path


@contextmanager
def running(*argv: object, **environment: str) -> Iterator[int]:
    """Start a process and wait until its command line is there; end it afterwards."""
    process = subprocess.Popen([str(word) for word in argv], env={**os.environ, **environment})
    try:
        deadline = time.monotonic() + 5
        while b"".join(Path(f"/proc/{process.pid}/cmdline").read_bytes().split(b"\0")).decode() != "".join(map(str, argv)):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        yield process.pid
    finally:
        process.kill()
        process.wait()


def blockers() -> list[int]:
    return [each.pid for each in gate().foreign()]


def test_a_script_that_an_interpreter_runs_blocks(script: Path) -> None:
    with running(sys.executable, script) as pid:
        (foreign,) = gate().foreign()
        assert (foreign.pid, foreign.name, foreign.pattern) == (pid, script.name, PATTERN)
    assert blockers() == []


OPTIONS = {
    "unbuffered": ("-u",),
    "isolated": ("-I", "-B"),
    "with a warning filter": ("-W", "ignore"),
    "with a setting": ("-X", "utf8"),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options_of_the_interpreter_do_not_hide_the_script(script: Path, name: str) -> None:
    with running(sys.executable, *OPTIONS[name], script) as pid:
        assert blockers() == [pid]


def test_an_executable_of_that_name_blocks(tmp_path: Path) -> None:
    program = tmp_path / f"unit_benchmark_{os.getpid()}_gemm"
    program.symlink_to("/bin/sleep")
    with running(program, "60") as pid:
        assert blockers() == [pid]


def test_somebody_who_edits_or_reads_the_script_does_not_block(script: Path, tmp_path: Path) -> None:
    editor = tmp_path / "vim"
    editor.symlink_to("/usr/bin/tail")
    with running(editor, "-f", script):
        assert blockers() == []


def test_a_script_that_has_the_name_as_an_argument_does_not_block(script: Path, tmp_path: Path) -> None:
    linter = tmp_path / "lint.py"
    linter.write_text(SLEEP)
    with running(sys.executable, linter, script):
        assert blockers() == []


def test_our_own_children_do_not_block_and_those_of_another_repository_do(script: Path) -> None:
    with running(sys.executable, script, **{MARK: "m"}) as pid:
        assert blockers() == []
        assert [each.pid for each in gate("another").foreign()] == [pid]


def test_a_quiet_machine_is_had_after_the_quiet_time() -> None:
    assert 0.15 <= gate().wait_until_quiet(wait_s=5, quiet_s=0.15) < 3


def test_a_machine_that_stays_noisy_is_busy_naming_who(script: Path) -> None:
    with running(sys.executable, script) as pid, pytest.raises(Busy) as caught:
        gate().wait_until_quiet(wait_s=0.2, quiet_s=0)
    assert f"(pid {pid}, matches {PATTERN})" in caught.value.found
    assert str(script) not in caught.value.found, "an argv can hold a secret"
    assert caught.value.status is ExitStatus.BUSY


def test_the_gate_waits_for_a_process_that_ends(script: Path) -> None:
    script.write_text("import time\ntime.sleep(0.5)\n")
    with subprocess.Popen([sys.executable, str(script)]):
        time.sleep(0.1)
        assert gate().wait_until_quiet(wait_s=10, quiet_s=0) > 0.1


# ------------------------------------------------------------------ the machine's lock

HOLDER = """
import sys, time
from expctl.adapters.process_gate import ProcessGate
with ProcessGate(patterns=(), mark="m", device="machine").measuring(wait_s=1, quiet_s=0):
    print("held", flush=True)
    time.sleep(60)
"""


@contextmanager
def other_holder() -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen([sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


def test_one_measures_at_a_time_and_the_other_is_named() -> None:
    with other_holder() as other:
        assert f"pid {other.pid}" in gate().measured_by()
        with pytest.raises(Busy, match="another expctl is measuring") as caught, gate().measuring(wait_s=0.2, quiet_s=0):
            pytest.fail("both measure")
        assert f"pid {other.pid}" in caught.value.found


def test_a_killed_holder_frees_the_machine() -> None:
    with other_holder() as other:
        other.kill()
        other.wait()
        assert gate().measured_by() == ""
        with gate().measuring(wait_s=1, quiet_s=0) as waited_s:
            assert waited_s < 1
            assert f"pid {os.getpid()}" in gate().measured_by()
    assert gate().measured_by() == ""


def test_the_lock_is_free_again_and_nobody_is_shown_after_an_error() -> None:
    with pytest.raises(KeyError), gate().measuring(wait_s=1, quiet_s=0):
        raise KeyError
    assert gate().measured_by() == ""
    with gate().measuring(wait_s=0, quiet_s=0):
        assert "step measuring" in gate().measured_by()


def test_every_user_may_open_the_lock_and_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    lock = tmp_path / "locks/expctl.machine.lock"
    with gate().measuring(wait_s=1, quiet_s=0):
        assert lock.stat().st_mode & 0o777 == 0o666
        assert read_holder(lock) is not None
    lock.unlink()
    victim = tmp_path / "victim"
    victim.write_text("precious")
    lock.symlink_to(victim)
    with pytest.raises(Refused, match="lock cannot be opened"), gate().measuring(wait_s=1, quiet_s=0):
        pytest.fail("followed a link")
    assert victim.read_text() == "precious"


def test_a_child_does_not_inherit_the_lock() -> None:
    with gate().measuring(wait_s=1, quiet_s=0):
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], close_fds=False)
    try:
        with gate().measuring(wait_s=0.2, quiet_s=0) as waited_s:
            assert waited_s < 1
    finally:
        child.kill()
        child.wait()
