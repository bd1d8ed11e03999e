"""The two builds that an experiment compares. Separate from samples.py, because many users of records load no samples."""

from enum import StrEnum


class Side(StrEnum):
    """Which of the two compared builds: the unpatched baseline or the candidate with the patch."""

    BASELINE = "baseline"
    CANDIDATE = "candidate"
