"""What the schedule of a fleet gives to a device, and the names under which it does. Pure."""

from msgspec import Struct

CONFIRMS = "+"


def confirmation_of(experiment: str) -> str:
    """Return the name under which an experiment is confirmed; no experiment has such an id."""
    return experiment + CONFIRMS


def experiment_of(name: str) -> str:
    """Return the experiment that a name stands for, be it confirmed or judged."""
    return name.removesuffix(CONFIRMS)


class Assignment(Struct, frozen=True, kw_only=True):
    """One experiment for one device. `attempt` counts from 1 for each experiment; `again`: it was a KEEP beside another kernel.
    `resumes`: the same attempt was begun on this device before. `confirms`: the device whose KEEP it confirms, "" if it
    is no confirmation.
    """

    id: str
    attempt: int
    device: str
    again: bool = False
    resumes: bool = False
    confirms: str = ""
