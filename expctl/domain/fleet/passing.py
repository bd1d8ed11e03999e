"""Which trouble says nothing of a result that was to land: the result is kept for the next head. Pure."""

from expctl.domain.errors import Refused

PASSING = frozenset(
    {
        "branch-cannot-move",
        "branch-in-another-worktree",
        "branch-moved",
        "git-cannot-read",
        "git-not-installed",
        "git-object-lost",
        "git-object-missing",
        "index-lock-removed",
        "index-locked",
        "index-unfit",
        "own-files-not-committed",
        "publication-damaged",
        "rebase-under-way",
        "record-cannot-be-signed",
    }
)


def is_passing(refusal: Refused) -> bool:
    """Is it trouble of git, or of files that a user is changing?"""
    return refusal.code in PASSING
