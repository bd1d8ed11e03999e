"""What head and workers say to each other, as JSON: a job in one direction, what is heard of it in the other."""

import json
from typing import Any, get_args

from msgspec import Struct, structs

from expctl.adapters.codec.decode import Problems, decode, encode
from expctl.adapters.journal import EVENTS
from expctl.domain.errors import Refused
from expctl.domain.run.events import Event
from expctl.ports.fleet import Heard, Job, Told


class Numbered(Struct, frozen=True, kw_only=True):
    """A `Told` without its event, which is decoded by its own kind."""

    device: str
    id: str
    attempt: int
    number: int


HEARD: dict[str, Any] = {kind.__name__: kind for kind in get_args(Heard)}


def job_bytes(job: Job) -> bytes:
    """Return a job as one line."""
    raw = encode(structs.replace(job, events=())) | {"events": [_tagged(event) for event in job.events]}
    return json.dumps(raw).encode() + b"\n"


def job_of(line: bytes) -> Job:
    """Return the job of a line. Raises Refused if it isn't one."""
    raw = json.loads(line)
    events = tuple(_event(each) for each in raw.pop("events"))
    job: Job = _decoded(raw, Job)
    return structs.replace(job, events=events)


def heard_bytes(heard: Struct) -> bytes:
    """Return what a worker says as one line."""
    data = encode(heard)
    if isinstance(heard, Told):
        data |= {"event": _tagged(heard.event)}
    return json.dumps({"type": type(heard).__name__, "data": data}).encode() + b"\n"


def heard_of(line: bytes) -> Any:
    """Return what a worker has said in a line. Raises Refused if it isn't such a line."""
    raw = json.loads(line)
    kind, data = HEARD.get(raw["type"]), raw["data"]
    if kind is Told:
        event = _event(data.pop("event"))
        return Told(**structs.asdict(_decoded(data, Numbered)), event=event)
    return _decoded(data, kind)


def _tagged(event: Event) -> dict[str, Any]:
    return {"type": type(event).__name__, "data": encode(event)}


def _event(raw: dict[str, Any]) -> Event:
    event: Event = _decoded(raw["data"], EVENTS.get(raw["type"]))
    return event


def _decoded(raw: object, kind: Any) -> Any:
    problems = Problems()
    value = decode(raw, kind, problems) if kind is not None else None
    if value is None:
        raise Refused(
            "head and worker don't understand each other",
            code="fleet-another-version",
            expected="the same version of expctl on all machines of a fleet",
            found="; ".join(problems.found[:3]) or "a word that this one doesn't know",
            hint="pip install the same expctl there, and expctl fleet join again",
        )
    return value
