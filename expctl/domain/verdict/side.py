"""The two builds that an experiment compares. In a file of its own, so that readers of records needn't import samples.py."""

from enum import StrEnum


class Side(StrEnum):
    """Which of the two compared builds: the unpatched baseline or the candidate with the patch."""

    BASELINE = "baseline"
    CANDIDATE = "candidate"
