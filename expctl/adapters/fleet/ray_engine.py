"""The engine of a fleet on Ray: an actor for each device, found by the resources that its worker offers."""

import contextlib
import os
import time
from dataclasses import dataclass
from typing import Any

from expctl.adapters.fleet.meeting import Meeting
from expctl.adapters.fleet.ray_node import check_reachable, prepare, silence
from expctl.adapters.fleet.wire import heard_of, job_bytes
from expctl.domain.errors import Busy
from expctl.domain.fleet.device import DEVICE, Device
from expctl.domain.text import one_line
from expctl.ports.fleet import Heard, Job, Lost, Present

LOOK_S = 2.0
NAME_MAX = 40
NODE = "ray.io/node-id"  # the label by which a device's jobs stay on its machine
OWN = ("node:", "memory", "object_store_memory", "accelerator_type:", DEVICE)


@dataclass(slots=True)
class _Actor:
    node: str
    device: Device
    handle: Any
    name: str = ""


class RayEngine:
    """Connects to the fleet that meets at `meeting`. Only one may be made in a process. Raises Busy if it can't connect."""

    def __init__(self, meeting: Meeting) -> None:
        check_reachable(meeting)
        prepare(meeting.token)
        import ray

        from expctl.adapters.fleet.ray_worker import DeviceWorker

        self._ray = ray
        self._made = ray.remote(num_cpus=0, num_gpus=0, max_restarts=0)(DeviceWorker)
        self._actors: dict[str, _Actor] = {}
        self._waits: dict[Any, str] = {}
        self._looked_s = 0.0
        os.environ.setdefault("RAY_IGNORE_UNHANDLED_ERRORS", "1")
        silence()
        try:
            ray.init(address=meeting.address, namespace="expctl", log_to_driver=False, configure_logging=False)
        except Exception as error:  # Ray has no class for all of them
            raise Busy(
                "the fleet can't be reached",
                code="fleet-unreachable",
                expected=f"expctl fleet up at {meeting.address}",
                found=str(error).splitlines()[0] if str(error) else type(error).__name__,
                hint="begin it in another terminal of this machine, then type the same again",
            ) from error

    def start(self, device: str, job: Job, pack: bytes) -> None:
        """Begin a job; what it says comes back line by line."""
        actor = self._actors[device]
        stream = actor.handle.do.options(num_returns="streaming").remote(job_bytes(job), pack)
        self._waits[stream] = device

    def heard(self, timeout_s: float) -> tuple[Heard, ...]:
        """Wait at most `timeout_s` seconds, and return what has been said since."""
        found: list[Heard] = []
        if time.monotonic() - self._looked_s >= LOOK_S:
            self._looked_s = time.monotonic()
            found += self._look()
        if not self._waits:
            time.sleep(timeout_s)
            return tuple(found)
        waits = list(self._waits)
        ready, _ = self._ray.wait(waits, num_returns=1, timeout=timeout_s, fetch_local=False)
        if ready:
            ready, _ = self._ray.wait(waits, num_returns=len(waits), timeout=0, fetch_local=False)
        for each in ready:
            found += self._listen(each)
        return tuple(found)

    def devices(self) -> list[Device]:
        """Return the devices that are there now."""
        return [device for _, device in self._here().values()]

    def close(self) -> None:
        """Leave the fleet; its workers stay."""
        self._ray.shutdown()

    def _look(self) -> list[Heard]:
        """Find devices that are new or gone."""
        here = self._here()
        found: list[Heard] = []
        for uuid, actor in tuple(self._actors.items()):
            if here.get(uuid, ("",))[0] != actor.node:
                found += self._drop(uuid, "its machine has left the fleet")
        for uuid, (node_id, device) in here.items():
            if uuid not in self._actors:
                handle = self._made.options(resources=device.resources(), label_selector={NODE: node_id}).remote()
                self._actors[uuid] = _Actor(node=node_id, device=device, handle=handle)
                self._waits[handle.name.remote()] = uuid
        return found

    def _here(self) -> dict[str, tuple[str, Device]]:
        """Return the machine and the device by the device's id. Of two machines that offer one, that which has a job of it."""
        here: dict[str, tuple[str, Device]] = {}
        for node in self._ray.nodes():
            if node["Alive"]:
                offered = node["Resources"]
                kind = next((name for name in offered if not name.startswith(OWN)), "")
                for name in offered:
                    if name.startswith(DEVICE):
                        uuid = name.removeprefix(DEVICE)
                        owner = self._actors.get(uuid)
                        if uuid in here and owner is not None and owner.node == here[uuid][0]:
                            continue
                        here[uuid] = (node["NodeID"], Device(uuid=uuid, kind=kind))
        return here

    def _listen(self, ready: Any) -> list[Heard]:
        uuid = self._waits.get(ready)
        if uuid is None:  # what came just before it has told that its device is gone
            return []
        is_stream = not isinstance(ready, self._ray.ObjectRef)
        try:
            if is_stream:
                return [heard_of(self._ray.get(next(ready)))]
            actor = self._actors[uuid]
            actor.name = one_line(self._ray.get(ready), NAME_MAX)
        except StopIteration:
            del self._waits[ready]
            return []
        except self._ray.exceptions.RayError as error:
            return self._drop(uuid, f"its process has ended ({type(error).__name__})")
        del self._waits[ready]
        return [Present(device=uuid, found=actor.device, worker=actor.name)]

    def _drop(self, uuid: str, why: str) -> list[Heard]:
        actor = self._actors.pop(uuid, None)
        for each in [each for each, device in self._waits.items() if device == uuid]:
            del self._waits[each]
        if actor is None:
            return []
        with contextlib.suppress(self._ray.exceptions.RayError):  # it may be dead
            self._ray.kill(actor.handle)
        return [Lost(device=uuid, why=why)] if actor.name else []
