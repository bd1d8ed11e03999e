"""The clocks of a session's launches: is this launch slower than they usually are?

Each side has a history of its own: a candidate that draws more power may well run at a lower clock, and that is a finding.
"""

import statistics

LAUNCHES_LEAST = 4


class ClockHistory:
    """Medians of launches, by whose launch it was. A launch that is slow is not taken in."""

    def __init__(self, slow_percent: float) -> None:
        self._slow_percent = slow_percent
        self._medians: dict[str, list[float]] = {}

    def judge(self, side: str, clocks_mhz: list[float]) -> str:
        """How far below the session's median it was, in words; empty when it wasn't, or when too little is known."""
        if not clocks_mhz or not self._slow_percent:
            return ""
        now, before = statistics.median(clocks_mhz), self._medians.setdefault(side, [])
        usual = statistics.median(before) if len(before) >= LAUNCHES_LEAST else 0.0
        if now < usual * (1 - self._slow_percent / 100):
            return f"{now:.0f} MHz where the session's median is {usual:.0f}"
        before.append(now)
        return ""
