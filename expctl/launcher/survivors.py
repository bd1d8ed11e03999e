"""Find and kill processes that a run left behind, by their control groups and a mark in their environment."""

import contextlib
import os
import signal
import time

from expctl.domain.errors import Busy
from expctl.launcher.control_group import groups_of, kill_group, pids_in, remove_abandoned, remove_group
from expctl.launcher.launch import MARK
from expctl.launcher.process import Identity, ancestors_of, await_end, carries, identity_of, name_of, pids, state_of
from expctl.launcher.running import KILL_WAIT_S, undead

PASSES_MAX = 5


def end_survivors(mark: str, *, kill_wait_s: float = KILL_WAIT_S) -> int:
    """Kill every process that an earlier run in a repository left behind, and return their number.

    `mark` identifies the repository. This process and its ancestors are spared. Raises Busy if a process still runs
    `kill_wait_s` seconds after SIGKILL, because it would disturb every measurement.
    """
    ended: set[Identity] = set()
    for _ in range(PASSES_MAX):  # repeated for processes that were forked meanwhile
        found = _marked(mark)
        ended |= found
        for each in found:
            each.send(signal.SIGKILL)
        groups = tuple(groups_of(mark))
        for folder in groups:
            kill_group(folder)
        left = await_end({*found, *undead()}, kill_wait_s)
        for folder in groups:
            remove_group(folder, 0 if left else kill_wait_s)
        _reap(kill_wait_s)
        if left:
            raise _busy(left)
        if not found:
            break
    remove_abandoned()
    return len(ended)


def _marked(mark: str) -> set[Identity]:
    entry, own = f"{MARK}={mark}".encode(), ancestors_of(os.getpid())
    marked = {pid for pid in pids() if pid not in own and carries(pid, entry)}
    grouped = {pid for folder in groups_of(mark) for pid in pids_in(folder)}
    return {found for pid in (marked | grouped) - own if (found := identity_of(pid)) is not None}


def _reap(wait_s: float) -> None:
    deadline = time.monotonic() + wait_s
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0] and time.monotonic() < deadline:
            pass


def _busy(left: tuple[Identity, ...]) -> Busy:
    shown = ", ".join(f"{name_of(each.pid)} (pid {each.pid}, state {state_of(each.pid)})" for each in left)
    return Busy(
        "a process of an earlier run can't be killed",
        code="survivor-cannot-be-killed",
        expected="no process of an earlier run beside a measurement",
        found=shown,
        hint="in state D it waits for a device or file system: repair that or reboot; then run the same command again",
    )
