"""The process that does one job of a worker: it reads the job from standard input, and says there what comes of it."""

import hashlib
import os
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from expctl.adapters.fleet.packs import unpack
from expctl.adapters.fleet.wire import heard_bytes, job_of
from expctl.domain.errors import Interrupted, MachineTrouble, Refused
from expctl.domain.machine.os_errors import explained
from expctl.domain.run.events import Event
from expctl.ports.fleet import Beat, Job, Stumbled, Told
from expctl.ports.repository import Journal

BEAT_S = 2.0


class ToldJournal:
    """A journal of which every new line is said too, once it is on the disk."""

    def __init__(self, journal: Journal, job: Job, say: Callable[[Struct], None]) -> None:
        self._journal, self._job, self._say = journal, job, say

    def read(self, experiment: str) -> tuple[Event, ...]:
        """Return the events of an experiment."""
        return self._journal.read(experiment)

    def append(self, experiment: str, event: Event) -> None:
        """Append an event, and say it."""
        self._journal.append(experiment, event)
        number = len(self._journal.read(experiment)) - 1
        job = self._job
        self._say(Told(device=job.device, id=job.id, attempt=job.attempt, number=number, event=event))

    def extend(self, experiment: str, events: Sequence[Event]) -> None:
        """Append events that the head knows already."""
        self._journal.extend(experiment, events)

    def forget(self, experiment: str) -> None:
        """Delete the journal of an experiment."""
        self._journal.forget(experiment)

    def unfinished(self) -> tuple[str, ...]:
        """Return the ids of the experiments with a journal."""
        return self._journal.unfinished()


class Beating:
    """Progress that says now and then that this process is alive. What `progress` prints goes to the worker's log."""

    def __init__(self, progress: Any, beat: Callable[[], None]) -> None:
        self._progress, self._beat, self._beaten_s = progress, beat, 0.0

    def __getattr__(self, name: str) -> Any:
        now = time.monotonic()
        if now - self._beaten_s >= BEAT_S:
            self._beaten_s = now
            self._beat()
        return getattr(self._progress, name)


def work(folder: Path, pack: Path, do: Callable[[Job, Callable[[Struct], None]], Struct]) -> None:
    """Do the job that stands on standard input, in the worker's folder `folder`, with the objects in the file `pack`. `do` does
    it in the clone, which is the working folder then, and returns the last thing to say.
    """
    out = os.dup(1)
    os.dup2(2, 1)  # nothing else may speak there
    job = job_of(sys.stdin.buffer.readline())

    def say(heard: Struct) -> None:
        line = memoryview(heard_bytes(heard))
        while line:
            line = line[os.write(out, line) :]

    say(Beat(device=job.device))
    say(_done(folder, pack, job, say, do))


def _done(
    folder: Path, pack: Path, job: Job, say: Callable[[Struct], None], do: Callable[[Job, Callable[[Struct], None]], Struct]
) -> Struct:
    try:
        clone = folder / f"clone-{job.repository}"
        _check_whole(job, pack)
        unpack(clone, pack, commit=job.base, branch=job.branch)
        os.chdir(clone)
        return do(job, say)
    except Refused as refusal:
        return _stumbled(job, refusal)
    except Interrupted as stop:
        return Stumbled(device=job.device, id=job.id, attempt=job.attempt, kind="Interrupted", message=str(stop))
    except OSError as error:
        trouble = explained(error)
        if trouble is not None:
            return _stumbled(job, trouble)
        return _bug(job)
    except Exception:  # noqa: BLE001  the boundary: the head is told of every error
        return _bug(job)


def _check_whole(job: Job, pack: Path) -> None:
    found = hashlib.sha256(pack.read_bytes()).hexdigest()
    if found != job.pack:
        raise MachineTrouble(
            "what the head has sent did not arrive whole",
            code="fleet-pack-damaged",
            expected=f"objects of git with the hash {job.pack[:12]}",
            found=found[:12],
            where=str(pack),
            hint="the head sends it again; if this comes back, look at the disk and the network of this machine",
        )


def _stumbled(job: Job, refusal: Refused) -> Stumbled:
    return Stumbled(
        device=job.device,
        id=job.id,
        attempt=job.attempt,
        kind=type(refusal).__name__,
        message=refusal.message,
        code=refusal.code,
        expected=refusal.expected,
        found=refusal.found,
        where=refusal.where,
        hint=refusal.hint,
    )


def _bug(job: Job) -> Stumbled:
    traceback.print_exc()
    last = traceback.format_exc().strip().splitlines()[-1]
    return Stumbled(device=job.device, id=job.id, attempt=job.attempt, kind="bug", message="a bug of expctl", found=last)
