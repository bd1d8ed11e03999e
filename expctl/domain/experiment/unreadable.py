"""A proposal whose files can't be read. Other proposals run nevertheless."""

from msgspec import Struct

from expctl.domain.errors import Refused
from expctl.domain.experiment.proposal import Kind, Prediction, Proposal, Verdict


class Unreadable(Struct, frozen=True, kw_only=True):
    """A proposal whose files can't be read: its id, the problems found, and the file with the first one (`where`). `is_newer`:
    a newer expctl wrote one of them.
    """

    id: str
    where: str
    problems: tuple[str, ...]
    is_newer: bool = False

    @property
    def why(self) -> str:
        """Return the file and its problems in one line."""
        return f"{self.where}: {'; '.join(self.problems)}"

    def refusal(self) -> Refused:
        """Return the error for a command that needs this proposal."""
        return Refused(
            f"{self.id} is malformed",
            code="proposal-malformed",
            expected="a proposal without errors in its files",
            found="\n".join(self.problems),
            where=self.where,
            hint=f"edit {self.where} and commit it; or expctl withdraw {self.id} --why WHY",
        )

    def stand_in(self) -> Proposal:
        """Return a placeholder proposal with nothing but the id, so that the queue can list it."""
        return Proposal(
            id=self.id,
            title="(can't be read)",
            kind=Kind.PERF,
            hypothesis="(can't be read)",
            prediction=Prediction(verdict=Verdict.INCONCLUSIVE),
        )
