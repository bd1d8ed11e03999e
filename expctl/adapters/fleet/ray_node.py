"""Start and watch this machine's part of Ray: the head's services, or a worker's. The only file beside ray_engine.py and
ray_worker.py that knows Ray, and the only one that uses what Ray doesn't promise to keep: the command `ray start` can't bind to
the loopback address on Linux, and leaves its processes behind when it is killed.
"""

import hashlib
import json
import os
import platform
import resource
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import convert, to_builtins

from expctl.adapters.fleet.devices import versions_here
from expctl.adapters.fleet.meeting import Meeting
from expctl.domain.errors import Busy, Refused
from expctl.domain.fleet.device import DEVICE, Device, Versions, mismatch
from expctl.files import atomic_write

FOLDER = "EXPCTL_FLEET_FOLDER"
NAMESPACE, VERSIONS = b"expctl", b"versions"
WORKER, ALIVE = "expctl-worker", 0  # the label of a worker's node, and the state of one that Ray takes for alive
STORE_BYTES = 80_000_000  # the least that Ray accepts; packs and samples are small
OPEN_FILES = 65536
SOCKET_LENGTH = 107  # the most that the kernel takes
SOCKET = "/r/session_2026-01-01_00-00-00_000000_4194304/sockets/plasma_store"  # the longest below Ray's folder
AGAIN_S = 2.0
CONNECT_S = 5.0
# Ray ends a node that has not heard of the head for so long, and the worker then waits for a new head.
ALONE_S = 10
SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "token",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # take 127.0.0.1 at its word, here and on Linux
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_gcs_rpc_server_reconnect_timeout_s": str(ALONE_S),
    "RAY_DEDUP_LOGS": "0",
} | {
    f"RAY_EXPERIMENTAL_NOSET_{name}": "1"
    for name in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ONEAPI_DEVICE_SELECTOR")
}


def prepare(token: str) -> None:
    """Set what Ray reads from the environment, before it is imported, and allow as many open files as the system lets us."""
    os.environ.update(SETTINGS)
    os.environ["RAY_AUTH_TOKEN"] = token
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, OPEN_FILES)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def silence() -> None:
    """Keep Ray from printing what it thinks of a node that has died, with a trace of its stack: the head says that itself."""
    from ray._private import worker

    worker._worker_logs_enabled = False  # no argument of ray.init does it


def check_installed() -> None:
    """Raise Refused if Ray isn't installed. It isn't loaded for that."""
    from importlib.util import find_spec

    if find_spec("ray") is None:
        raise Refused(
            "a fleet runs on Ray, which is not installed",
            code="ray-not-installed",
            expected="the extra fleet on every machine",
            found=f"no package ray for {sys.executable}",
            hint="pip install 'expctl[fleet]'",
        )


def head_node(meeting: Meeting, folder: Path) -> Any:
    """Start the head's services. They end with this process, however it ends."""
    prepare(meeting.token)
    node = _node(meeting, folder, head=True, resources={})
    kv = _store(meeting)
    kv.internal_kv_put(VERSIONS, json.dumps(to_builtins(versions_here("ray"))).encode(), True, NAMESPACE)
    return node


def worker_node(meeting: Meeting, folder: Path, device: Device, own_host: str) -> Any:
    """Start a worker's part. Raises Refused if it isn't let in, its versions are others, or its device is there already; Busy
    while there is no head.
    """
    prepare(meeting.token)
    os.environ[FOLDER] = str(folder)
    check_reachable(meeting)
    _check_versions(meeting)
    mark = hashlib.sha256(f"{platform.node()}:{folder}".encode()).hexdigest()[:16]
    check_device(_store(meeting).get_all_node_info(timeout=CONNECT_S).values(), device, mark)
    return _node(meeting, folder, head=False, resources=device.resources(), host=own_host, labels={WORKER: mark})


def check_device(nodes: Iterable[Any], device: Device, mark: str) -> None:
    """Raise Refused if a worker other than the one with this `mark` offers the device: it would be measured on twice at once.
    `nodes` are those of the fleet, as Ray has them; an earlier life of the same worker may still be among them.
    """
    name = f"{DEVICE}{device.uuid}"
    if any(node.state == ALIVE and name in node.resources_total and node.labels.get(WORKER) != mark for node in nodes):
        raise Refused(
            "another worker offers this device already",
            code="fleet-device-taken",
            expected="one worker for each device",
            found=f"a second one with {device.uuid}",
            hint="end the other one (Ctrl-C); a machine that was cloned: remove the files device-* in its worker's folder",
        )


def alive(node: Any) -> bool:
    """Are all processes of a node alive?"""
    return not node.dead_processes()


def end(node: Any) -> None:
    """End the processes of a node."""
    node.kill_all_processes(check_alive=False, allow_graceful=True, wait=True)


def _stop(number: int, frame: object) -> None:  # noqa: ARG001  the signature of a handler
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt


def _node(
    meeting: Meeting,
    folder: Path,
    *,
    head: bool,
    resources: dict[str, float],
    host: str = "",
    labels: dict[str, str] | None = None,
) -> Any:
    from ray._private.node import Node
    from ray._private.parameter import RayParams

    there, _, port = meeting.address.rpartition(":")
    place: dict[str, Any] = {"gcs_server_port": int(port)} if head else {"gcs_address": meeting.address}
    parameters = RayParams(
        node_ip_address=there if head else host,
        num_cpus=0,  # nothing of Ray's own is scheduled; no worker is started in advance
        num_gpus=0,
        resources=resources,
        labels=labels,
        object_store_memory=STORE_BYTES,
        memory=STORE_BYTES,
        temp_dir=str(emptied(folder)),
        include_dashboard=False,
        no_monitor=True,
        include_log_monitor=False,
        **place,
    )
    parameters.update_if_absent()
    try:
        node = Node(parameters, head=head, shutdown_at_exit=True, spawn_reaper=True)
        signal.signal(signal.SIGTERM, _stop)  # Ray's own handler would leave some of its processes behind
        return node
    except Exception as error:  # Ray raises bare exceptions here
        raise Busy(
            "Ray does not start",
            code="ray-does-not-start",
            expected="its processes to run",
            found=str(error).splitlines()[0] if str(error) else type(error).__name__,
            where=str(_short(folder)),
            hint="look at the logs there, then type the same again",
        ) from error


def _short(folder: Path, below: Path | None = None) -> Path:
    """Return where Ray keeps its sockets and its logs, a folder of this user alone: below TMPDIR (tests: `below`), or in /tmp
    if the paths of the sockets would be too long there.
    """
    name = f"expctl-ray-{os.getuid()}-{hashlib.sha256(str(folder).encode()).hexdigest()[:8]}"
    made = (below or Path(tempfile.gettempdir())) / name
    return made if len(f"{made}{SOCKET}") <= SOCKET_LENGTH else Path("/tmp") / name  # noqa: S108  TMPDIR itself may be there


def emptied(folder: Path, below: Path | None = None) -> Path:
    """Make that folder anew, without what earlier nodes have left, and return one in it: Ray opens its own to everybody. Raises
    Refused if somebody else has made it.
    """
    made = _short(folder, below)
    if made.is_symlink() or (made.exists() and made.stat().st_uid != os.getuid()):
        raise Refused(
            "the folder for Ray's sockets is somebody else's",
            code="fleet-folder-taken",
            expected="a folder of yours, or none",
            found="one of another user, or a link",
            where=str(made),
            hint="TMPDIR=ANOTHER expctl fleet ..., with a short path",
        )
    atomic_write.remove_tree(made)
    made.mkdir(mode=0o700)
    (made / "r").mkdir()
    return made / "r"


def _store(meeting: Meeting) -> Any:
    from ray._raylet import GcsClient

    return GcsClient(address=meeting.address)


def check_reachable(meeting: Meeting) -> None:
    """Raise Busy if nothing listens where the fleet meets. Ray itself would end the process, after a while."""
    host, _, port = meeting.address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_S).close()
    except (OSError, ValueError) as error:
        raise Busy(
            "no head answers there",
            code="fleet-head-absent",
            expected=f"expctl fleet up at {meeting.address}",
            found=str(error),
            hint="begin it there; expctl fleet join waits for it",
        ) from error


def _check_versions(meeting: Meeting) -> None:
    from ray.exceptions import AuthenticationError, RpcError

    try:
        said = _store(meeting).internal_kv_get(VERSIONS, NAMESPACE)
    except AuthenticationError as error:
        raise Refused(
            "the head does not let this worker in",
            code="fleet-wrong-token",
            expected="the secret of that fleet: the file that expctl fleet up has named",
            found="another one",
            where=meeting.address,
            hint="copy that file to this machine, then expctl fleet join ADDRESS --token-file FILE",
        ) from error
    except RpcError as error:
        raise Busy("the head does not answer", code="fleet-head-silent", found=str(error), where=meeting.address) from error
    if said is None:
        raise Busy("the head is not ready yet", code="fleet-head-not-ready", where=meeting.address)
    differs = mismatch(convert(json.loads(said), Versions), versions_here("ray"))
    if differs:
        raise Refused(
            "this worker runs other versions than the head",
            code="fleet-versions-differ",
            expected="the same Python (3.x), Ray and expctl on all machines of a fleet",
            found=differs,
            where=meeting.address,
            hint="install the head's versions here, then expctl fleet join again",
        )


def join(
    meeting: Callable[[], Meeting], folder: Path, device: Device, host: str, *, told: Callable[[str], None]
) -> Iterator[Any]:
    """Be a worker until the caller ends it: start its part, yield the node while that lives, and start anew when it or the head
    has died. Raises Refused if the head doesn't let it in.
    """
    said = ""
    while True:
        try:
            node = worker_node(meeting(), folder, device, host)
        except Busy as busy:
            if busy.message != said:
                told(f"waits: {busy.message} ({busy.found or busy.where})")
            said = busy.message
            yield None
            time.sleep(AGAIN_S)
            continue
        told(f"joined {meeting().address} with {device.uuid} ({device.kind})")
        said = ""
        try:
            while alive(node):
                yield node
                time.sleep(AGAIN_S / 4)
        finally:
            end(node)
        told("its part of Ray has ended; it starts anew")
