"""A device of the fleet, the versions that a worker runs, and why one can't join. Pure."""

from msgspec import Struct

DEVICE = "device:"


class Device(Struct, frozen=True, kw_only=True):
    """The device that a worker offers: its id, which no other device has, and its class (`cpu`, `gfx1151`, `sm_90`)."""

    uuid: str
    kind: str

    def resources(self) -> dict[str, float]:
        """Return what an engine has to hold for one experiment: the device itself, and one of its class."""
        return {f"{DEVICE}{self.uuid}": 1.0, self.kind: 1.0}


class Versions(Struct, frozen=True, kw_only=True):
    """What has to be the same on head and worker: the version of Python (major and minor), of the engine, of expctl."""

    python: str
    engine: str
    expctl: str


def mismatch(head: Versions, worker: Versions) -> str:
    """Return in one sentence which versions of `worker` differ from those of `head`; "" if none does."""
    names = {"python": "Python", "engine": "Ray", "expctl": "expctl"}
    found = [
        f"{name} {getattr(worker, key)} here, {getattr(head, key)} at the head"
        for key, name in names.items()
        if getattr(worker, key) != getattr(head, key)
    ]
    return "; ".join(found)
