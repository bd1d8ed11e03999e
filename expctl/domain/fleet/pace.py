"""When the head of a fleet lands what is not kept: at once, or a moment later with what comes meanwhile. Pure: no clock."""

REST = 40.0
REST_MOST_S = 180.0
TOGETHER_MOST = 256


class Pace:
    """After a landing the head rests, `REST` times as long as that took and at most `REST_MOST_S`. What is judged meanwhile may
    wait, and lands together: so landing takes a fortieth of the head's time, however long the ledger is. Times are in seconds.
    """

    def __init__(self) -> None:
        self._until = 0.0

    def landed(self, began: float, ended: float) -> None:
        """A landing has ended."""
        self._until = ended + min(REST * (ended - began), REST_MOST_S)

    def rests(self, now: float) -> bool:
        """Does the head rest?"""
        return now < self._until
