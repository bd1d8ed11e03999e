"""The wall clock and the monotonic clock."""

import time
from datetime import UTC, datetime


class SystemClock:
    """Reads this machine's clocks."""

    def date(self) -> str:
        """Return the present time in UTC, to the second, e.g. `2026-02-18T09:30:00Z`."""
        return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def monotonic_s(self) -> float:
        """Return seconds of a clock that never goes back, from an arbitrary origin."""
        return time.monotonic()
