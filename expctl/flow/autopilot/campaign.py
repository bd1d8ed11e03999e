"""Where `run --all` lands what it keeps: on the user's branch, or on one beside it once a file of the user is in the way."""

from dataclasses import dataclass

from expctl.domain.errors import Refused
from expctl.domain.run.step_result import Failed
from expctl.domain.text import one_line
from expctl.flow.autopilot.preconditions import check_preconditions, check_same_branch
from expctl.flow.repository.beside import beside, bring_home
from expctl.flow.repository.campaign import follow, seen_from
from expctl.flow.repository.preflight import check_branch
from expctl.ports.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class WentBeside:
    """The campaign goes on on `branch`, beside the one that is checked out; `why` says why."""

    branch: str
    why: str


class Campaign:
    """The branch of a `run --all`. `context` sees the repository from there; `branch` was checked out when it began."""

    def __init__(self, home: Context) -> None:
        self._home = home
        self.branch = home.workspace.branch()
        self.context = seen_from(home, self.branch)
        self._not_followed = ""

    @property
    def is_beside(self) -> bool:
        """Is the campaign on another branch than the user's?"""
        return self.context.workspace.branch() != self.branch

    def is_in_the_way(self, refusal: Refused) -> bool:
        """Is `refusal` about a file of the user that a publication would have to change, so that another branch helps?"""
        return refusal.code == "local-change-in-the-way" and not self.is_beside

    def leave(self, refusal: Refused) -> WentBeside:
        """Go on beside the user's branch, because of `refusal`."""
        return self.go_to(beside(self.branch), f"{refusal.message}: {refusal.found}, {refusal.where}")

    def go_to(self, branch: str, why: str) -> WentBeside:
        """Go on on `branch`, which is made if there is none. Raises Refused if it is checked out, or git can't make it."""
        workspace = self._home.workspace
        if branch == self.branch:
            raise Refused(
                f"{branch} is checked out",
                code="campaign-branch-checked-out",
                expected="--branch with the name of another branch, which needn't exist",
                found=branch,
                where=str(workspace.root),
                hint=f"expctl run --all, which runs on {branch}; or --branch {beside(branch)}",
            )
        workspace.start_branch(branch, workspace.head())
        self.context = seen_from(self._home, branch)
        return WentBeside(branch=branch, why=why)

    def follow(self) -> bool:
        """Take over what was committed on the user's branch; return whether there was something. Say so once if it can't be."""
        found = follow(self.context, self.branch) if self.is_beside and self.branch else False
        why = found.reason if isinstance(found, Failed) else ""
        if why and why != self._not_followed:
            words = f"{one_line(why, 200)}: it goes on without what is new on {self.branch}"
            self.context.progress.step("beside", words)
        self._not_followed = why
        return found is True

    def check(self, target: str) -> None:
        """Raise Refused if no experiment can run on `target` ("": the first available)."""
        if not self.is_beside:
            check_branch(self._home.workspace)
            check_same_branch(self._home, self.branch)
        check_preconditions(self.context, target)

    def bring_home(self) -> str:
        """Take over what is new, and return the command by which the user gets what was found beside; "" if nothing was."""
        if not self.is_beside:
            return ""
        self.follow()
        workspace = self.context.workspace
        is_home = workspace.is_ancestor(workspace.head(), self._home.workspace.head())
        return "" if is_home else bring_home(workspace.branch())
