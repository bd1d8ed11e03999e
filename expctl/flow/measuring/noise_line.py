"""Describe in one line how small an effect a run can detect on this machine."""

import math
from datetime import datetime

from expctl.domain.experiment.noise import Calibrated
from expctl.domain.experiment.record import OBJECTIVE
from expctl.domain.protocol.calibration_rounds import ROUNDS
from expctl.domain.verdict.calibration import mde

UNITS_S = ((86400, "day"), (3600, "hour"), (60, "minute"))


def noise_line(calibrated: Calibrated | None, *, now: str, round_s: float) -> str:
    """Return a line on the smallest effect that a run can detect, from the stored calibration. `now` is an ISO date. Without a
    calibration, the line says how long one would take; `round_s` is the duration of a round in seconds.
    """
    if calibrated is None:
        took = math.ceil(ROUNDS * round_s)
        return f"not calibrated here: expctl calibrate measures the noise of this machine (about {took} s)"
    sd = calibrated.noise[OBJECTIVE].sd_percent
    of = "" if calibrated.rounds >= ROUNDS else f" from {calibrated.rounds} rounds only"
    return (
        f"calibrated {age(calibrated.date, now)}{of}: sd of a round {sd:.2f} %, "
        f"detects {mde(sd, 10):.2f} % in 10 rounds, {mde(sd, 36):.2f} % in 36"
    )


def age(then: str, now: str) -> str:
    """Return the time between two ISO dates in the largest full unit, e.g. `2 days ago`; `on THEN` if one is malformed."""
    try:
        passed_s = (datetime.fromisoformat(now) - datetime.fromisoformat(then)).total_seconds()
    except (ValueError, TypeError):
        return f"on {then}"
    for length_s, unit in UNITS_S:
        count = int(passed_s // length_s)
        if count >= 1:
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"
