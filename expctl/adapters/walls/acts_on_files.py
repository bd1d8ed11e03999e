"""Forbidden acts on files outside the scratch folder, on settings of the machine, and against the limits of a child."""

import ctypes
import fcntl
import os
import resource
import stat
import struct
from pathlib import Path

from expctl.adapters.walls.act import (
    CALLS,
    CUT,
    LANDLOCK,
    LANDLOCK_CPU,
    LAUNCHER,
    LIMITS,
    PROCESSES,
    RIGHTS,
    SPACES,
    SPACES_CPU,
    Absent,
    Victims,
    act,
    call,
    refused,
)
from expctl.launcher.system_calls import FORBIDDEN

TOO_BIG = 2 << 30
NAME_TO_HANDLE, AT_CWD, HANDLE_BYTES = (303, 264), -100, 128
CONTROL_GROUPS = ("/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/cpu/cgroup.procs")
SETTING = "/proc/sys/kernel/core_pattern"


@act("overwrites a file", LANDLOCK, SPACES)
def _overwrite(on: Victims) -> None:
    Path(on.file).write_text("x")


@act("appends to a file", LANDLOCK, SPACES)
def _append(on: Victims) -> None:
    with open(on.file, "a") as file:
        file.write("x")


@act("cuts a file off", CUT, SPACES)
def _cut(on: Victims) -> None:
    os.truncate(on.file, 0)


@act("removes a file", LANDLOCK, SPACES)
def _remove(on: Victims) -> None:
    os.unlink(on.file)


@act("renames a file", LANDLOCK, SPACES)
def _rename(on: Victims) -> None:
    os.rename(on.file, on.file + "2")


@act("moves a file into its scratch folder", LANDLOCK, SPACES)
def _move(on: Victims) -> None:
    os.rename(on.file, os.path.join(on.scratch, "moved"))


@act("makes a file", LANDLOCK, SPACES)
def _make(on: Victims) -> None:
    Path(on.folder, "new").touch()


@act("makes a folder", LANDLOCK, SPACES)
def _make_folder(on: Victims) -> None:
    os.mkdir(os.path.join(on.folder, "new"))


@act("removes a folder", LANDLOCK, SPACES)
def _remove_folder(on: Victims) -> None:
    os.rmdir(os.path.join(on.folder, "empty"))


@act("makes a symbolic link", LANDLOCK, SPACES)
def _make_link(on: Victims) -> None:
    os.symlink("/etc/passwd", os.path.join(on.folder, "new"))


@act("makes a named pipe", LANDLOCK, SPACES)
def _make_pipe(on: Victims) -> None:
    os.mkfifo(os.path.join(on.folder, "new"))


@act("writes through a symbolic link in its scratch folder", LANDLOCK, SPACES)
def _through_link(on: Victims) -> None:
    link = os.path.join(on.scratch, "symbolic")
    os.symlink(on.file, link)
    Path(link).write_text("x")


@act("writes through a hard link in its scratch folder", LANDLOCK, SPACES)
def _through_hard_link(on: Victims) -> None:
    link = os.path.join(on.scratch, "hard")
    os.link(on.file, link)
    Path(link).write_text("x")


@act("opens a file by its handle, through its scratch folder", RIGHTS, CALLS)
def _by_handle(on: Victims) -> None:
    handle, mount = ctypes.create_string_buffer(struct.pack("Ii", HANDLE_BYTES, 0) + bytes(HANDLE_BYTES)), ctypes.c_int()
    call("name_to_handle_at", NAME_TO_HANDLE, AT_CWD, on.file.encode(), handle, ctypes.byref(mount), 0)
    scratch = os.open(on.scratch, os.O_RDONLY)
    os.write(call("open_by_handle_at", FORBIDDEN["open_by_handle_at"], scratch, handle, os.O_WRONLY), b"x")


@act("writes by way of the runner's root folder", PROCESSES, LANDLOCK, SPACES, RIGHTS)
def _through_root(on: Victims) -> None:
    Path(f"/proc/{on.runner}/root{on.file}").write_text("x")


@act("changes the mode of a file", SPACES)
def _change_mode(on: Victims) -> None:
    os.chmod(on.file, stat.S_IRWXU)


@act("changes the times of a file", SPACES)
def _change_times(on: Victims) -> None:
    os.utime(on.file, (1, 1))


@act("changes the group of a file", SPACES)
def _change_group(on: Victims) -> None:
    os.chown(on.file, -1, os.getegid())


@act("sets an extended attribute of a file", SPACES)
def _set_attribute(on: Victims) -> None:
    os.setxattr(on.file, "user.expctl", b"x")


@act("changes the harness", LANDLOCK, SPACES)
def _change_harness(on: Victims) -> None:
    Path(on.folder, "harness.py").write_text("x")


@act("shadows a module of the harness", LANDLOCK, SPACES)
def _shadow_module(on: Victims) -> None:
    Path(on.folder, "json.py").write_text("x")


@act("changes the protocol", LANDLOCK, SPACES)
def _change_protocol(on: Victims) -> None:
    Path(on.folder, "protocol.yaml").write_text("x")


@act("plants a hook of git", LANDLOCK, SPACES)
def _plant_hook(on: Victims) -> None:
    Path(on.folder, "post-commit").write_text("x")


@act("moves a branch", LANDLOCK, SPACES)
def _move_branch(on: Victims) -> None:
    Path(on.folder, "refs-heads-main").write_text("1" * 40)


@act("has whoever opens a file wait (a lease)", CALLS)
def _lease(on: Victims) -> None:
    fcntl.fcntl(os.open(on.file, os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_WRLCK)


@act("leaves a file in shared memory", LANDLOCK_CPU, SPACES, seen=True)
def _leave_in_memory(on: Victims) -> None:
    Path(on.shared).touch(exist_ok=False)


@act("opens a setting of the machine for writing", LANDLOCK, SPACES)
def _open_setting(_: Victims) -> None:
    os.close(os.open(SETTING, os.O_WRONLY))


@act("opens the kernel's log for writing", LANDLOCK, SPACES)
def _open_log(on: Victims) -> None:
    _open(on.log, os.O_WRONLY)


@act("opens a terminal of the user", SPACES)
def _open_terminal(on: Victims) -> None:
    _open(on.terminal, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)


@act("opens a device that takes commands", SPACES)
def _open_device(on: Victims) -> None:
    _open(on.device, os.O_RDONLY)


def _open(path: str, flags: int) -> None:
    if not path:
        raise Absent
    os.close(os.open(path, flags))


@act("opens the control group of others for writing", LANDLOCK, SPACES)
def _open_group(_: Victims) -> None:
    found = next((each for each in CONTROL_GROUPS if os.path.exists(each)), None)
    if found is None:
        raise Absent
    os.close(os.open(found, os.O_WRONLY))


@act("writes what /proc has of another process", PROCESSES, LANDLOCK_CPU, SPACES_CPU)
def _write_process(on: Victims) -> None:
    Path(f"/proc/{on.bystander}/oom_score_adj").write_text("900")


@act("makes a device", LANDLOCK, RIGHTS)
def _make_device(on: Victims) -> None:
    os.mknod(os.path.join(on.scratch, "disk"), 0o600 | stat.S_IFBLK, os.makedev(7, 0))


@act("writes a file of more than 1 GiB", LIMITS)
def _write_too_much(on: Victims) -> None:
    os.truncate(os.open(os.path.join(on.scratch, "big"), os.O_CREAT | os.O_WRONLY), TOO_BIG)


@act("raises its limits", LIMITS, RIGHTS)
def _raise_limits(_: Victims) -> None:
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (1, 1))
    except ValueError as error:  # so Python says that it isn't permitted
        raise refused(str(error)) from error


@act("finds descriptors that were left open", LAUNCHER)
def _find_descriptors(on: Victims) -> None:
    found = {int(name) for name in os.listdir("/proc/self/fd")}  # one of them was that of the list itself
    if not [each for each in found - {0, 1, 2, on.results} if os.path.exists(f"/proc/self/fd/{each}")]:
        raise refused("none")
