"""Compare the clock of a launch with those of earlier launches in the session.

Each side has a history of its own: a candidate that draws more power may run at a lower clock, which is a result, not noise.
"""

import statistics

LAUNCHES_LEAST = 4


class ClockHistory:
    """Median clocks (MHz) during earlier launches (timed processes), by side (baseline or candidate)."""

    def __init__(self, slow_percent: float) -> None:
        self._slow_percent = slow_percent
        self._medians: dict[str, list[float]] = {}

    def judge(self, side: str, clocks_mhz: list[float]) -> str:
        """Return a complaint if a launch's median clock is over `slow_percent` % below the median of earlier ones of `side`.

        Otherwise add it to the history and return ""; so also while `side` has fewer than 4 launches there.
        """
        if not clocks_mhz or not self._slow_percent:
            return ""
        now, before = statistics.median(clocks_mhz), self._medians.setdefault(side, [])
        usual = statistics.median(before) if len(before) >= LAUNCHES_LEAST else 0.0
        if now < usual * (1 - self._slow_percent / 100):
            return f"{now:.0f} MHz where the session's median is {usual:.0f}"
        before.append(now)
        return ""
