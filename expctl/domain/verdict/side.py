"""The two commits of an experiment. In a module of its own, for much looks at records and never at samples."""

from enum import StrEnum


class Side(StrEnum):
    """Which of the two builds ran."""

    BASELINE = "baseline"
    CANDIDATE = "candidate"
