"""Find out, once and by trying, what the Linux kernel offers here to confine a child process."""

import functools
import os
import shutil
import tempfile
from pathlib import Path

from msgspec import Struct

from expctl.launcher import devices, landlock
from expctl.launcher.control_group import home_of_groups
from expctl.launcher.namespaces import Entry, can_be_entered, entry_here
from expctl.launcher.system_calls import can_filter

SWITCH = "EXPCTL_UNCONFINED"
SIGNALS_SINCE, TRUNCATE_SINCE = 6, 3


class Capabilities(Struct, frozen=True, kw_only=True):
    """What the Linux kernel offers here to confine child processes. `landlock` is the version of Landlock (0: none), `entry`
    how namespaces can be made, `groups` whether control groups can, `filters_calls` whether system calls can be forbidden,
    `own_processes` whether a launch can have a pid namespace and a /proc of its own; `switched_off` tells that the user forbids
    confinement.
    """

    landlock: int
    entry: Entry
    groups: bool
    filters_calls: bool = False
    own_processes: bool = False
    switched_off: bool = False

    @property
    def confines_writes(self) -> bool:
        """Return whether child processes can be kept from writing outside their own folders."""
        return self.landlock > 0 or self.entry is not Entry.NONE

    def words(self) -> str:
        """Return the confinement in words, for a record, e.g. `landlock 7, own mounts, own network, own calls`."""
        if self.switched_off:
            return f"unconfined: switched off by {SWITCH}"
        if not self.confines_writes:
            return "unconfined: no Landlock, no namespaces"
        mounts = ["own mounts", "own network"] if self.entry is not Entry.NONE else []
        processes = ["own processes"] if self.own_processes and mounts else []
        calls = ["own calls"] if self.filters_calls else []
        return ", ".join([*([f"landlock {self.landlock}"] if self.landlock else []), *mounts, *processes, *calls])

    def gaps(self) -> tuple[str, ...]:
        """Return a sentence for each thing that can't be forbidden to child processes here, e.g. using the network."""
        if self.switched_off or not self.confines_writes:
            why = f"{SWITCH} is set" if self.switched_off else "this kernel has neither Landlock nor namespaces for us"
            return (f"unconfined: {why}, so that builds and launches can write wherever you can, and use the network",)
        found = []
        if self.entry is Entry.NONE:
            found.append("no namespaces: children reach the network (before Landlock 4, TCP too), change modes and times")
        if self.landlock < SIGNALS_SINCE:
            found.append(f"Landlock {self.landlock or 'is missing'}: children can send signals to processes of yours")
        if 0 < self.landlock < TRUNCATE_SINCE and self.entry is Entry.NONE:
            found.append(f"Landlock {self.landlock}: children can cut off files that they can't write")
        if self.entry is not Entry.NONE and not self.own_processes:
            found.append("no pid namespace: children see and number processes of yours")
        if not self.filters_calls:
            found.append("no filter of system calls: children can change limits, priority and cores of your other processes")
        return tuple(found)


def detect_capabilities() -> Capabilities:
    """Return what the Linux kernel offers here to confine child processes. If the environment variable EXPCTL_UNCONFINED is set
    (and not 0), the result is as if it offered no Landlock and no namespaces.
    """
    if os.environ.get(SWITCH, "") not in ("", "0"):
        return Capabilities(landlock=0, entry=Entry.NONE, groups=home_of_groups() is not None, switched_off=True)
    return _detected()


@functools.cache
def _detected() -> Capabilities:
    folder = Path(tempfile.mkdtemp(prefix="expctl-trial."))
    try:
        entry, processes = entry_here(folder)
        if processes and devices.has_gpu():  # whose /proc is another
            processes = can_be_entered(entry, folder, processes=True, gpu=True)
        return Capabilities(
            landlock=landlock.version(),
            entry=entry,
            groups=home_of_groups() is not None,
            filters_calls=can_filter(),
            own_processes=processes,
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
