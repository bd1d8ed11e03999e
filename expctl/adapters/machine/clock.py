"""The wall clock and the monotonic clock."""

import time
from datetime import UTC, datetime


class SystemClock:
    """Time of this machine."""

    def date(self) -> str:
        """Now, in UTC, to the second: 2026-02-18T09:30:00Z."""
        return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def monotonic_s(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()
