"""A proposal that can't be read. Other proposals run regardless."""

from __future__ import annotations

from msgspec import Struct

from expctl.domain.errors import Refused
from expctl.domain.experiment.proposal import Kind, Prediction, Proposal, Verdict


class Unreadable(Struct, frozen=True, kw_only=True):
    """A proposal whose files can't be read: its id, the `problems`, and the file (`where`) of the first one."""

    id: str
    where: str
    problems: tuple[str, ...]

    @property
    def why(self) -> str:
        """The file and its problems in one line."""
        return f"{self.where}: {'; '.join(self.problems)}"

    def refusal(self) -> Refused:
        """Return the refusal for a command that needs the proposal."""
        return Refused(
            f"{self.id} is malformed",
            code="proposal-malformed",
            expected="a proposal that can be read",
            found="\n".join(self.problems),
            where=self.where,
            hint=f"edit {self.where} and commit it; or expctl withdraw {self.id} --why WHY",
        )

    def stand_in(self) -> Proposal:
        """Return a placeholder for the queue: a proposal with nothing but the id."""
        return Proposal(
            id=self.id,
            title="(can't be read)",
            kind=Kind.PERF,
            hypothesis="(can't be read)",
            prediction=Prediction(verdict=Verdict.INCONCLUSIVE),
        )
