"""Which GPUs of a machine a measurement keeps to itself (docs/GATE.md, Several cards)."""

from enum import StrEnum


class Cards(StrEnum):
    """What a measurement on a GPU keeps to itself: all cards of the machine, or its own."""

    ALL = "all"
    OWN = "own"
