"""The two sides of an experiment. Separate from samples.py, because many users of records never load samples."""

from enum import StrEnum


class Side(StrEnum):
    """Which of the two builds ran."""

    BASELINE = "baseline"
    CANDIDATE = "candidate"
