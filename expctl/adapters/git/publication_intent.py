"""What a publication is about to do, on disk before it does it: by that the next command completes or undoes it."""

from pathlib import Path
from typing import Any, NamedTuple

from expctl.adapters.git.plumbing import GitPlumbing
from expctl.domain.errors import Refused
from expctl.files import checked_json

SCHEMA = 1
PUBLISHED = "expctl: publish"
"""The line in git's log of the branch when a publication moves it."""


class Intent(NamedTuple):
    """Bring `branch`, in the work tree that git calls `work_tree` and that was last seen at `root`, from `old` to `new`.
    `last_step`: everything is done but to put the new index into place.
    """

    work_tree: str
    root: str
    branch: str
    old: str
    new: str
    last_step: bool = False


def write_intent(file: Path, intent: Intent) -> None:
    """Write `intent`, so that it outlasts a loss of power, too. Raises OSError."""
    checked_json.write(file, {"schema": SCHEMA, **intent._asdict()})


def read_intent(file: Path) -> Intent:
    """Read an intent. Raises FileNotFoundError; Damaged for what nobody wrote, or another version of expctl."""
    found: Any = checked_json.read(file)
    try:
        if found.pop("schema") == SCHEMA:
            return Intent(**found)
    except (AttributeError, KeyError, TypeError):
        pass
    raise checked_json.Damaged(f"{file.name} is damaged or of another version")


def logged_intent(workspace: GitPlumbing, file: Path) -> Intent:
    """Return what git's log says instead of the damaged `file`: the last move of the branch that is checked out, if a
    publication made it, else HEAD as the commit that stays. Raises Refused where git keeps no such log.
    """
    branch, head = workspace.branch(), workspace.head()
    status, out, _ = workspace.call(["log", "-g", "-2", "--format=%H %gs", f"refs/heads/{branch}", "--"])
    lines = [line.partition(" ") for line in out.decode(errors="replace").splitlines()]
    if status or not lines or lines[0][0] != head:
        raise Refused(
            "what a killed command was publishing can't be told",
            code="publication-damaged",
            expected="a sound file, or a log of the branch in git (core.logAllRefUpdates)",
            found="neither",
            where=str(file),
            hint=f"git reset takes the index to HEAD and leaves your files; then rm {file}",
        )
    is_ours = lines[0][2] == PUBLISHED and len(lines) > 1
    return Intent(workspace.tree_name(), str(workspace.root), branch, lines[1][0] if is_ours else head, head)
