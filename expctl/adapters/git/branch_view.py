"""A repository as seen from one branch, whatever is checked out: what a campaign (`run --all`) works with."""

from collections.abc import Sequence

from expctl.adapters.git.workspace import GitWorkspace


class BranchView(GitWorkspace):
    """The repository of `home` from its branch `campaign`: local changes don't count, because they end no campaign."""

    def __init__(self, home: GitWorkspace, campaign: str) -> None:
        super().__init__(home.place, home.known, home.server)
        self.check_outs = home.check_outs
        self.campaign = campaign

    def branch(self) -> str:
        """Return the branch of the campaign."""
        return self.campaign

    def head(self) -> str:
        """Return the commit of the branch. Raises Refused if the branch is gone."""
        return self.branch_head(self.campaign)

    def dirty(self, paths: Sequence[str]) -> tuple[str, ...]:  # noqa: ARG002
        """Return nothing: a publication looks for itself whether a local change is in its way."""
        return ()

    def unfinished_operation(self) -> str:
        """Return nothing, as for `dirty`."""
        return ""
