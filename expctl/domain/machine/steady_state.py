"""When a device that is kept at work has come to a steady clock and temperature. Pure."""

import statistics
from collections.abc import Sequence

from expctl.domain.machine.burn_in import BurnIn, DeviceReading

PARTS = 5
"""Of the window: the median of each counts, because a card at its power limit moves its clock by a step all the time."""


def state_of(
    readings: Sequence[DeviceReading],
    *,
    since_s: float,
    now_s: float,
    window_s: float,
    clock_percent: float,
    temperature_c: float,
) -> BurnIn:
    """Return the state at `now_s` of the busiest device in `readings`, kept at work since `since_s` (monotonic seconds).

    It is steady if over the last `window_s` the medians of the window's fifths spread by at most `clock_percent` % of the
    clock, and by at most `temperature_c` C.
    """
    seconds, start_s = round(now_s - since_s, 1), now_s - window_s
    at_work = _of_busiest([each for each in readings if since_s <= each.at_s <= now_s])
    recent = [each for each in at_work if each.at_s > start_s]
    if not recent:
        return BurnIn(seconds=seconds, trouble=f"no sensor read them for {window_s:g} s")
    parts: dict[int, list[DeviceReading]] = {}
    for each in recent:
        parts.setdefault(min(PARTS - 1, int(PARTS * (each.at_s - start_s) / window_s)), []).append(each)
    clocks = [statistics.median(each.clock_mhz for each in part) for part in parts.values()]
    heats = [statistics.median(each.temperature_c for each in part) for part in parts.values()]
    known = len(parts) == PARTS and start_s >= since_s
    settled = max(clocks) - min(clocks) <= clock_percent / 100 * max(clocks) and max(heats) - min(heats) <= temperature_c
    return BurnIn(
        seconds=seconds,
        steady=known and settled,
        clock_mhz=statistics.median(each.clock_mhz for each in recent),
        temperature_c=statistics.median(each.temperature_c for each in recent),
    )


def _of_busiest(readings: Sequence[DeviceReading]) -> list[DeviceReading]:
    loads: dict[str, list[float]] = {}
    for each in readings:
        loads.setdefault(each.device, []).append(each.busy_percent)
    busiest = max(loads, key=lambda device: statistics.fmean(loads[device]), default="")
    return [each for each in readings if each.device == busiest]
