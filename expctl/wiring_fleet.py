"""Construct what a fleet needs. Ray is loaded by `expctl fleet` and `run --on fleet` alone."""

import contextlib
import json
import os
import platform
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from expctl import wiring

if TYPE_CHECKING:
    from msgspec import Struct

    from expctl.adapters.git.reader import Place
    from expctl.flow.fleet.head import FleetStep
    from expctl.ports.context import Context
    from expctl.ports.fleet import Engine, Job


def _folder(given: Path | None) -> Path:
    """Return where this machine keeps what it knows of its fleet. Raises Refused if the user has no home folder."""
    from expctl.adapters.records.calibrations import state_folder
    from expctl.domain.errors import Refused

    found = given.absolute() if given is not None else state_folder()
    if found is None:
        raise Refused(
            "there is no place for the files of a fleet",
            code="fleet-no-folder",
            expected="a home folder, or --folder DIR",
            found="neither",
            hint="expctl fleet up --folder DIR, and the same for join, status and down",
        )
    return found if given is not None else found / "expctl" / "fleet"


def up(given: Path | None, host: str, port: int, *, told: Callable[[str], None]) -> None:
    """Be the head of a fleet until Ctrl-C. Raises Refused if Ray isn't installed or the address can't be used."""
    from expctl.adapters.fleet import meeting as meetings
    from expctl.adapters.fleet import ray_node

    ray_node.check_installed()
    folder = _folder(given)
    with meetings.only_one_head(folder):
        meeting = meetings.begin_meeting(folder, host, port)
        node = ray_node.head_node(meeting, folder)
        file = meetings.meeting_file(folder)
        told(f"the fleet meets at {meeting.address}; its secret is in {file}")
        if meeting.address.startswith("127."):
            told("workers on this machine: expctl fleet join (others can't reach it: --address HOST)")
        else:
            told(f"workers elsewhere: copy that file, then expctl fleet join {meeting.address} --token-file FILE")
        told("experiments: expctl run --all --on fleet, in another terminal; Ctrl-C ends the fleet")
        try:
            while ray_node.alive(node):
                time.sleep(ray_node.AGAIN_S / 4)
        finally:
            ray_node.end(node)
    told("a process of Ray has ended, and the fleet with it: expctl fleet up begins it anew, its workers come back")


def join(
    given: Path | None,
    address: str,
    token_file: Path | None,
    *,
    name: str,
    own_address: str,
    gpu: str = "",
    told: Callable[[str], None],
) -> None:
    """Offer this machine's device, or its GPU `gpu`, to a fleet until Ctrl-C. Raises Refused if the head doesn't let it in."""
    from msgspec.structs import replace

    from expctl.adapters.fleet import devices, ray_node
    from expctl.adapters.fleet import meeting as meetings
    from expctl.files import atomic_write

    ray_node.check_installed()
    folder = _folder(given)
    own = folder / "workers" / (name or (f"gpu-{gpu}" if gpu else "worker"))
    own.mkdir(parents=True, exist_ok=True)
    with meetings.only_one(own):
        device, card, more = devices.device_here(own, gpu, variables=os.environ)
        shows = card.variables if card is not None and (gpu or more) else {}
        os.environ.update(shows)
        atomic_write.replace(own / "card", json.dumps(shows).encode())
        called = name or f"worker-{device.uuid[-4:]}"
        atomic_write.replace(own / "name", called.encode())
        atomic_write.replace(own / "pid", f"{os.getpid()} {platform.node()}".encode())
        if more:
            told(
                f"offers {device.uuid}; {more} more here: expctl fleet join --gpu INDEX in another terminal offers one of them"
            )
            told("workers of one machine measure by turns; with gate: {cards: own} in protocol.yaml at the same time")

        def meeting() -> meetings.Meeting:
            if token_file is None:
                return meetings.read_meeting(folder)
            return replace(meetings.read_meeting_file(token_file), address=address)

        host = own_address or meetings.own_host(meeting())
        for _ in ray_node.join(meeting, own, device, host, told=told):
            pass


def status(given: Path | None) -> list[str]:
    """Return a line for each device of the fleet that was begun on this machine."""
    from expctl.adapters.fleet.meeting import read_meeting
    from expctl.adapters.fleet.ray_engine import RayEngine
    from expctl.adapters.fleet.ray_node import check_installed

    check_installed()
    meeting = read_meeting(_folder(given))
    engine = RayEngine(meeting)
    found = engine.devices()
    engine.close()
    lines = [f"the fleet meets at {meeting.address}"]
    return [*lines, *(f"  {each.kind:<10} {each.uuid}" for each in found)] if found else [*lines, "  no device has joined"]


def down(given: Path | None) -> list[str]:
    """End the fleet that was begun on this machine, and what joined from here; return what was ended."""
    folder, said = _folder(given), []
    from expctl.adapters.fleet.meeting import read_meeting
    from expctl.domain.errors import Refused

    pids: list[tuple[str, int]] = []
    for file in sorted(folder.glob("workers/*/pid")):
        number, _, machine = file.read_text().partition(" ")
        if machine == platform.node():  # on a shared disk there are those of other machines too
            pids.append((f"worker {file.parent.name}", int(number)))
            file.unlink()
    with contextlib.suppress(Refused):
        pids.append(("head", read_meeting(folder).pid))
    for who, pid in pids:
        if _is_ours(pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
                said.append(f"ended: {who}, pid {pid}")
    return said or ["nothing of a fleet runs here"]


def _is_ours(pid: int) -> bool:
    """Is that process an `expctl fleet`? Its number may belong to another one by now."""
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        return b"fleet" in words and any(b"expctl" in word for word in words[:3])
    return False


def engine(given: Path | None = None) -> "Engine":
    """Return the engine of the fleet that was begun on this machine. Raises Refused without one, Busy if it doesn't answer."""
    from expctl.adapters.fleet.meeting import read_meeting
    from expctl.adapters.fleet.ray_engine import RayEngine
    from expctl.adapters.fleet.ray_node import check_installed

    check_installed()
    return RayEngine(read_meeting(_folder(given)))


def work_on_job(folder: Path, pack: Path) -> None:
    """Do one job of a fleet's worker, which stands on standard input, in the worker's folder `folder`. `pack` is a file of
    git's objects.
    """
    from msgspec.structs import replace

    from expctl.adapters.fleet.work import Beating, ToldJournal, work
    from expctl.domain.fleet.assignment import experiment_of
    from expctl.flow.fleet.on_worker import judge, offer
    from expctl.ports.fleet import Beat, Finished
    from expctl.views.console import ConsoleProgress

    card = folder / "card"
    shows = json.loads(card.read_bytes()) if card.exists() else {}

    def do(job: "Job", say: "Callable[[Struct], None]") -> "Struct":
        progress = Beating(ConsoleProgress(sys.stderr), lambda: say(Beat(device=job.device)))
        made = replace(wiring.context(wiring.here(), progress, shows=shows), device=job.device)
        if not job.id:
            return offer(made, job.target)
        made = replace(made, journal=ToldJournal(made.journal, job, say))
        judged = judge(made, experiment_of(job.id), job.target, job.events, again=job.again, kept_by=job.kept_by)
        return Finished(device=job.device, id=job.id, attempt=job.attempt, judged=judged)

    work(folder, pack, do)


def head_steps(
    place: "Place",
    made: "Context",
    engine: "Engine",
    *,
    target: str,
    silent_s: float,
    spent: "Callable[[int, int], str]",
    confirms: bool = False,
) -> "Iterator[FleetStep]":
    """Yield each result of the queue, run on a fleet. Raises Busy if another head of this repository is at work."""
    from typing import get_args

    from expctl.adapters.fleet.packs import GitPacks
    from expctl.adapters.journal import EVENTS, FileJournal
    from expctl.adapters.machine.repository_lock import RepositoryLock
    from expctl.domain.fleet.events import FleetEvent
    from expctl.flow.fleet.head import Head

    kinds = EVENTS | {kind.__name__: kind for kind in get_args(FleetEvent)}
    state = place.state / "fleet"
    state.mkdir(parents=True, exist_ok=True)
    with RepositoryLock(state).measuring(experiment="a fleet") as held:
        held.show("judging")
        head = Head(
            context=made,
            engine=engine,
            packs=GitPacks(place.root),
            journal=FileJournal(state / "attempts", kinds=kinds, flushes=False),
            repository=wiring.mark_of(place),
            editor=wiring.findings_editor(),
            target=target,
            silent_s=silent_s,
            spent=spent,
            confirms=confirms,
        )
        yield from head.steps()
