"""What the control of the measuring path has shown, as a record keeps it."""

from msgspec import Struct


class StandInEffect(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The measured effect of a stand-in of known speed, in percent of throughput (positive: faster), with its interval."""

    effect_percent: float
    low_percent: float
    high_percent: float
    rounds: int

    def text(self) -> str:
        """Return the effect and its interval, e.g. `-4.70 % [-5.10, -4.20]`."""
        return f"{self.effect_percent:+.2f} % [{self.low_percent:+.2f}, {self.high_percent:+.2f}]"


class ControlResult(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """HEAD and a stand-in whose launches take `slower_percent` longer, measured in both roles on `date`, seen as expected.

    `slower` is the stand-in as candidate; `faster` has the roles exchanged, so that the candidate is known to be faster.
    """

    date: str
    slower_percent: float
    slower: StandInEffect
    faster: StandInEffect


def control_text(passed: ControlResult) -> str:
    """Return what a passed control has shown, in one line."""
    return (
        f"a kernel {passed.slower_percent:g} % slower seen as {passed.slower.text()}, in exchanged roles as "
        f"{passed.faster.text()}; {passed.slower.rounds + passed.faster.rounds} rounds"
    )
