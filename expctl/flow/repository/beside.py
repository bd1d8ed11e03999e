"""The branch on which a campaign (`run --all`) goes on beside the user's branch: its name, and whether it was merged yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from expctl.ports.repository import Branches


def beside(branch: str) -> str:
    """Return the name of the branch on which the campaign of `branch` goes on when it can't go on there."""
    return f"expctl/{branch}"


def bring_home(branch: str) -> str:
    """Return the command by which the user's branch gets what a campaign on `branch` has found; local changes stay."""
    return f"git merge --autostash {branch}"


def unmerged(git: Branches) -> str:
    """Return the branch of the campaign beside the present branch, if it has commits that this one lacks; "" if not."""
    name = beside(git.branch())
    return name if git.lacks(name) else ""
