"""Compares times that are told with those seen from outside, and blames a build for work that its time leaves out."""

from __future__ import annotations

import statistics

from expctl.harness.report import BuildFailed

AGREEMENT = 0.01
MANY_REQUESTS = 6


class ClocksDiffer(BuildFailed):
    """The times of a build leave out what was seen from outside. A host that stops for a while makes one such launch."""

    repeat = True


class ClockCheck:
    """Collects the inside and outside times of one size's timed requests, and judges them together."""

    def __init__(self, allowance_ns: int) -> None:
        self._allowance_ns = allowance_ns
        self._requests: list[tuple[int, int, int]] = []

    def add(self, told_ns: int, outside_ns: int, batches: int) -> None:
        """Add one timed request: the ns that its launches took by their own clock and seen from outside, and their batches."""
        self._requests.append((told_ns, outside_ns, batches))

    def agree(self, told_ns: int, outside_ns: int, batches: int) -> bool:
        """Tell whether one request's times differ by no more than 1 % and the allowance. One whose times do may be timed again,
        and the last then counts: a disturbance of the host passes, and who hides work hides none in the request that counts.
        """
        return outside_ns - told_ns <= AGREEMENT * told_ns + batches * self._allowance_ns

    def check(self) -> None:
        """Raise ClocksDiffer when the outside times exceed the build's own by more, on average, than 1 % and the allowance.

        Afterwards nothing is collected. A request whose own time exceeds the outside time counts as no difference: another
        process ran in between. Of 6 or more requests the largest difference is left out: the operating system charges an
        interrupt to whichever process it meets, and one false time in many gains nothing.
        """
        if self._requests:
            each_hid = sorted(max(0, seen - said) for said, seen, _ in self._requests)
            hidden_ns = statistics.fmean(each_hid[:-1] if len(each_hid) >= MANY_REQUESTS else each_hid)
            said_ns, batches = (
                statistics.median(each) for each in (list(zip(*self._requests, strict=True))[i] for i in (0, 2))
            )
            allowed_ns = AGREEMENT * said_ns + batches * self._allowance_ns
            if hidden_ns > allowed_ns:
                said, hidden, allowed = (f"{each / 1e3:.0f} us" for each in (said_ns, hidden_ns, allowed_ns))
                raise ClocksDiffer(
                    f"by its own clock a timed request took {said}; {hidden} more were seen from outside, where 1 % and what "
                    f"asking takes make {allowed}"
                )
        self._requests.clear()
