"""Where the machines of a fleet meet: the head's address, and the secret that lets a worker in."""

import contextlib
import fcntl
import json
import os
import secrets
import socket
from collections.abc import Iterator
from pathlib import Path

from msgspec import MsgspecError, Struct, convert, to_builtins

from expctl.domain.errors import Refused
from expctl.files import atomic_write

LOOPBACK = "127.0.0.1"


class Meeting(Struct, frozen=True, kw_only=True):
    """Where a fleet meets, and the secret that its members share. `pid` is the process of `fleet up` on the head's machine."""

    address: str
    token: str
    pid: int = 0


def meeting_file(folder: Path) -> Path:
    """Return the file by which `join` and `run` on the head's own machine know the fleet."""
    return folder / "head.json"


def read_meeting(folder: Path) -> Meeting:
    """Return where the fleet meets that was begun on this machine. Raises Refused if none was."""
    file = meeting_file(folder)
    if not file.exists():
        raise Refused(
            "no fleet was begun on this machine",
            code="no-fleet-here",
            expected="expctl fleet up, in another terminal of this machine",
            found=f"no {file}",
            hint="expctl fleet up; on another machine: expctl fleet join ADDRESS --token-file FILE",
        )
    return read_meeting_file(file)


def read_meeting_file(file: Path) -> Meeting:
    """Return where a fleet meets, from the file that `fleet up` has named. Raises Refused if it isn't one."""
    try:
        return convert(json.loads(file.read_bytes()), Meeting)
    except (ValueError, OSError, MsgspecError) as error:
        raise Refused(
            "that is not the file of a fleet",
            code="fleet-file-unreadable",
            expected="the file that expctl fleet up has named, as it is",
            found=str(error),
            where=str(file),
            hint="copy it again; on the head's machine, remove it and begin the fleet anew",
        ) from error


def own_host(meeting: Meeting) -> str:
    """Return this machine's address, by the way that leads to the head."""
    host, _, port = meeting.address.rpartition(":")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:  # sends nothing
        try:
            probe.connect((host, int(port)))
            return str(probe.getsockname()[0])
        except (OSError, ValueError):
            return LOOPBACK


def begin_meeting(folder: Path, host: str, port: int) -> Meeting:
    """Choose address and secret of a new fleet, or take those of the one before, so that its workers find this one. Writes them
    down, for this user alone.
    """
    host = _numeric(host)
    before: Meeting | None = None
    with contextlib.suppress(Refused):
        before = read_meeting(folder)
    if before is not None and port in (0, int(before.address.rpartition(":")[2])) and before.address.startswith(f"{host}:"):
        port = int(before.address.rpartition(":")[2])
    token = before.token if before is not None else secrets.token_hex(32)
    meeting = Meeting(address=f"{host}:{_free(host, port)}", token=token, pid=os.getpid())
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.umask(0o077)
    atomic_write.replace(meeting_file(folder), json.dumps(to_builtins(meeting)).encode())
    return meeting


def _numeric(host: str) -> str:
    """Return the numeric address of a host name, which is what Ray takes. Raises Refused for one that isn't known."""
    try:
        return socket.gethostbyname(host)
    except OSError as error:
        raise Refused(
            "that is no address of this machine",
            code="fleet-address-unknown",
            expected="a name or number by which workers reach this machine, such as 10.0.0.5",
            found=f"{host}: {error.strerror or error}",
            where="--address",
            hint="ip addr lists the addresses of this machine",
        ) from error


@contextlib.contextmanager
def only_one_head(folder: Path) -> Iterator[None]:
    """Hold a head's folder. Raises Refused if another head has it: that would lose its address and its sockets to this one."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    taken = Refused(
        "a fleet was begun on this machine already",
        code="fleet-is-up",
        expected="one expctl fleet up for each folder",
        found=f"one that holds {folder / 'lock'}",
        hint="expctl fleet down ends it; --folder DIR begins another beside it",
    )
    with _held(folder, taken):
        yield


@contextlib.contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Hold a worker's folder. Raises Refused if another worker has it: on a shared disk that may be one of another machine."""
    taken = Refused(
        "another worker has this name",
        code="fleet-name-taken",
        expected="a name of its own for each worker of a user",
        found=f"one that holds {folder / 'lock'}",
        hint="expctl fleet join ... --name ANOTHER",
    )
    with _held(folder, taken):
        yield


@contextlib.contextmanager
def _held(folder: Path, taken: Refused) -> Iterator[None]:
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise taken from error
    try:
        yield
    finally:
        os.close(descriptor)


def _free(host: str, port: int) -> int:
    """Return `port` if it is free at `host`, 0 meaning any. Raises Refused if it isn't."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise Refused(
                "the fleet can't listen there",
                code="fleet-port-taken",
                expected="an address of this machine, and a port that nothing else uses",
                found=f"{host}:{port}: {error.strerror}",
                hint="expctl fleet up --port ANOTHER; expctl fleet down ends one that runs here",
            ) from error
        return int(probe.getsockname()[1])
