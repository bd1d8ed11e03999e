"""A proposal that can't be read. It stops nobody but itself."""

from __future__ import annotations

from msgspec import Struct

from expctl.domain.errors import Refused
from expctl.domain.experiment.proposal import Kind, Prediction, Proposal, Verdict


class Unreadable(Struct, frozen=True, kw_only=True):
    """The proposal `id`: `problems` in its files, of which `where` is the first that has some."""

    id: str
    where: str
    problems: tuple[str, ...]

    @property
    def why(self) -> str:
        """File and problems in one line."""
        return f"{self.where}: {'; '.join(self.problems)}"

    def refusal(self) -> Refused:
        """What is said to who wants it all the same."""
        return Refused(
            f"{self.id} is malformed",
            code="proposal-malformed",
            expected="a proposal that can be read",
            found="\n".join(self.problems),
            where=self.where,
            hint=f"edit {self.where} and commit it; or expctl withdraw {self.id} --why WHY",
        )

    def stand_in(self) -> Proposal:
        """What stands in the queue for it; nothing of it was read but its id."""
        return Proposal(
            id=self.id,
            title="(can't be read)",
            kind=Kind.PERF,
            hypothesis="(can't be read)",
            prediction=Prediction(verdict=Verdict.INCONCLUSIVE),
        )
