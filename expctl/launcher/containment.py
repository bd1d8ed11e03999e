"""Confine a child process between fork and exec.

`Containment.enter` runs in the child as `preexec_fn`. That is safe here: everything but system calls was done in the parent
before, so it takes no lock that another thread might hold during the fork. A wrapper program would take ten times as long
(docs/WALLS.md).
"""

import contextlib
import os
import resource
import threading
from collections.abc import Hashable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from expctl.launcher import devices
from expctl.launcher.capabilities import detect_capabilities
from expctl.launcher.control_group import make_group
from expctl.launcher.kernel import prctl
from expctl.launcher.landlock import PR_SET_NO_NEW_PRIVS, Ruleset
from expctl.launcher.launch import Launch
from expctl.launcher.namespaces import PROCESSES, SHARED_MEMORY, Entry, WritableMounts
from expctl.launcher.own_processes import OUTSIDE, end_with
from expctl.launcher.privileges import keep_few
from expctl.launcher.process import children_of
from expctl.launcher.system_calls import Filter, call_filter

FILE_BYTES_MAX = 1 << 30
NOT_CONFINED = 126

MOUNTS_MAX = 8
_mounts: dict[Hashable, WritableMounts] = {}
_choosing = threading.Lock()
"""Held until those that a thread has chosen have a user: another one may close what nobody uses."""


class Containment:
    """The confinement of one child process, prepared in the parent. The child calls `enter`. The parent calls `release` once
    the child runs or could not be started.
    """

    def __init__(self, launch: Launch) -> None:
        self._launch, self._runner, self._gpu = launch, os.getpid(), devices.has_gpu()
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        self._file_bytes = FILE_BYTES_MAX if hard == resource.RLIM_INFINITY else min(hard, FILE_BYTES_MAX)
        self._mounts: WritableMounts | None = None
        self._ruleset: Ruleset | None = None
        self._calls: Filter | None = None
        if launch.limits is not None:
            here, folders = detect_capabilities(), (*launch.watched, *launch.limits.shared)
            with _choosing:
                self._mounts = _mounts_for(here.entry, folders, processes=here.own_processes, gpu=self._gpu)
                self._mounts.users += 1
            if here.landlock:
                shared_memory = (SHARED_MEMORY,) if here.entry is Entry.NONE and self._gpu else ()
                writable = (*folders, *devices.plain_devices(), *devices.gpus(), *shared_memory)
                self._ruleset = Ruleset(writable=writable, tcp=launch.limits.counters or here.entry is not Entry.NONE)
            if here.filters_calls:
                self._calls = call_filter(counters=launch.limits.counters, gpu=self._gpu)
        self.group = make_group(launch.mark)

    def enter(self) -> None:
        """Confine the calling process, which is the child before exec. If that fails, the error is written to its standard
        error and the process exits with status 126.
        """
        try:
            starts_inside = self._mounts is not None and self._mounts.starts_inside
            end_with(OUTSIDE if starts_inside else self._runner)
            if self.group is not None:
                with contextlib.suppress(OSError):
                    self.group.join()
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (self._file_bytes, self._file_bytes))
            if self._launch.core is not None:
                os.sched_setaffinity(0, {self._launch.core})
            if self._mounts is not None and self._launch.limits is not None:
                self._confine(self._mounts, counters=self._launch.limits.counters)
        except OSError as error:
            os.write(2, f"expctl: this child could not be confined: {error}\n".encode())
            os._exit(NOT_CONFINED)

    def starting(self) -> AbstractContextManager[None]:
        """Return a context in which the parent starts the child. Raises OSError."""
        return self._mounts.starting() if self._mounts is not None else contextlib.nullcontext()

    @property
    def has_own_processes(self) -> bool:
        """Return whether the launch has a pid namespace, whose first process adopts its orphans."""
        return self._mounts is not None and self._mounts.has_own_processes

    def orphans(self) -> tuple[int, ...]:
        """Return the pids of what the launch left behind in its pid namespace."""
        first = self._mounts.first if self._mounts is not None else None
        return children_of(first) if first is not None else ()

    def ended(self) -> None:
        """Tell that the launch has ended, or could not be started."""
        if self._mounts is not None:
            self._mounts.users -= 1

    def release(self) -> None:
        """Close the descriptors that were opened in the parent for the child."""
        if self._ruleset is not None:
            self._ruleset.close()
            self._ruleset = None
        if self.group is not None:
            self.group.close()

    def _confine(self, mounts: WritableMounts, *, counters: bool) -> None:
        mounts.enter()
        if mounts.entry is not Entry.NONE:
            os.chdir(self._launch.cwd)
        keep_few(counters=counters)
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        self._enter_ruleset(mounts)
        if self._calls is not None:
            self._calls.enter()

    def _enter_ruleset(self, mounts: WritableMounts) -> None:
        if self._ruleset is None:
            return
        if mounts.has_own_memory:
            self._ruleset.allow(SHARED_MEMORY)
        if self._gpu:  # root without mounts of its own could write the settings of the machine in /proc
            alone = mounts.entry is Entry.NONE and os.geteuid() == 0
            self._ruleset.allow(PROCESSES / "self" if alone else PROCESSES, contents=True)
        self._ruleset.enter()


def _mounts_for(entry: Entry, folders: Sequence[Path], *, processes: bool, gpu: bool) -> WritableMounts:
    """Return namespaces in which only `folders` are writable, reusing those of an earlier launch of this thread with the same
    folders. At most MOUNTS_MAX that no launch uses are kept. Raises OSError.
    """
    facts = ((str(folder), folder.stat().st_dev, folder.stat().st_ino) for folder in folders)
    key = (threading.get_native_id(), entry, processes, gpu, *facts)
    if key in _mounts and not _mounts[key].users and _mounts[key].has_own_processes and _mounts[key].first is None:
        _mounts.pop(key).close()  # something killed the process by which they live
    if key not in _mounts:
        unused = [name for name, mounts in _mounts.items() if not mounts.users]
        if len(_mounts) >= MOUNTS_MAX and unused:
            _mounts.pop(unused[0]).close()
        _mounts[key] = WritableMounts(entry, folders, processes=processes, gpu=gpu)
    return _mounts[key]
