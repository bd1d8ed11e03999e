"""Compare the clock rate during a launch with that of earlier launches of the session.

Each side has a history of its own: a candidate that draws more power may run at a lower clock, which is a result, not noise.
"""

import statistics

LAUNCHES_LEAST = 4


class ClockHistory:
    """The median clock rate (MHz) of each earlier launch (timed process), by side (baseline or candidate)."""

    def __init__(self, slow_percent: float) -> None:
        self._slow_percent = slow_percent
        self._medians: dict[str, list[float]] = {}

    def judge(self, side: str, clocks_mhz: list[float]) -> str:
        """Compare the median of a launch's `clocks_mhz` with the median of the earlier launches of `side`.

        Returns a complaint if it is more than `slow_percent` % lower. Otherwise, and while there are fewer than 4 earlier
        launches, it adds the launch to the history and returns "".
        """
        if not clocks_mhz or not self._slow_percent:
            return ""
        now, before = statistics.median(clocks_mhz), self._medians.setdefault(side, [])
        usual = statistics.median(before) if len(before) >= LAUNCHES_LEAST else 0.0
        if now < usual * (1 - self._slow_percent / 100):
            return f"{now:.0f} MHz where the session's median is {usual:.0f}"
        before.append(now)
        return ""
