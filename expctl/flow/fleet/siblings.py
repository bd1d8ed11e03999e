"""Which devices may share a campaign: those whose figures belong to one epoch. Nothing is compared between two devices."""

from expctl.domain.history.comparability import Comparability, changes
from expctl.ports.fleet import Offered


class Siblings:
    """The devices of one campaign. The first that offers a target sets it, and the conditions that the others must share."""

    def __init__(self, target: str) -> None:
        self.target = target
        self._conditions: Comparability | None = None

    def weigh(self, offered: Offered) -> str:
        """Return "" if the device is one of them, else why it is left out."""
        conditions = Comparability(parts=offered.conditions)
        if self._conditions is None:
            self.target, self._conditions = offered.target, conditions
        if offered.target != self.target:
            return f", left out: this campaign times {self.target}"
        found = changes(self._conditions, conditions)
        return f", left out: another epoch than its siblings ({'; '.join(map(str, found))})" if found else ""
