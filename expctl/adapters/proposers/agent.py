"""A scratch check-out for a coding agent, and the proposal that it leaves there.

The check-out is a copy with a git repository of its own, so that nothing which the agent commits or breaks there touches the
user's. Of its files only those are read that protocol.yaml watches: an edit of the harness is seen, and refused.
"""

import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from expctl.adapters.codec.strict_yaml import BYTES_MAX
from expctl.adapters.git.command import run_git
from expctl.adapters.proposers.left_files import read_left
from expctl.adapters.records.proposal_file import proposal_of
from expctl.domain.brief.task import WORDS_FILE, Task
from expctl.domain.errors import Refused
from expctl.domain.experiment.proposal_files import Draft
from expctl.files import atomic_write

TREE, BEFORE, AFTER = "tree", "a", "b"
FILE_BYTES_MAX, FILES_MAX = 4_000_000, 5_000
PATCH_ARGUMENTS = ("diff", "--no-index", "--no-prefix", "--binary", "--no-color", "--no-ext-diff", "--no-textconv")
_USER = ("-c", "user.name=expctl", "-c", "user.email=expctl@localhost", "-c", "commit.gpgsign=false")


def scratch_check_out(scratch: Path, cwd: Path) -> Path:
    """Copy the check-out `cwd` into the folder `scratch`, with a git repository of its own; return the copy's path."""
    tree = scratch / TREE
    shutil.copytree(cwd, tree, symlinks=True, ignore=lambda folder, _: [".git"] if Path(folder) == cwd else [])
    run_git(tree, ["init", "-q", "-b", "scratch"])
    run_git(tree, ["add", "-A", "-f"])
    run_git(tree, [*_USER, "commit", "-q", "--no-verify", "-m", "the baseline"])
    return tree


def draft_in(scratch: Path, cwd: Path, task: Task) -> Draft | None:
    """Return what an agent left: its edits below the paths that `task` watches, against the check-out `cwd`, with the words of
    proposal.yaml. None if it left neither.

    Raises Refused if one of them is missing, or can't be read.
    """
    patch = _patch(scratch, cwd, task.watched)
    words = scratch / WORDS_FILE
    if not patch and not os.path.lexists(words):
        return None
    if not patch or not os.path.lexists(words):
        raise Refused(
            "the agent left a change without words" if patch else "the agent left words without a change",
            code="agent-left-half",
            expected=f"edits below {', '.join(task.scope)} in the check-out, and {WORDS_FILE} in the scratch folder",
            found=f"{len(patch)} bytes of changes, no {WORDS_FILE}" if patch else f"{WORDS_FILE}, and no edit",
            where=WORDS_FILE,
            hint=f"leave both; the task says which keys {WORDS_FILE} has",
        )
    said = read_left(words, BYTES_MAX)
    text = said if any(line.startswith(b"id:") for line in said.splitlines()) else f"id: {task.next_id}\n".encode() + said
    try:
        proposal = proposal_of(text, f"experiments/{task.next_id}")
    except Refused as refusal:
        refusal.hint = f"write {WORDS_FILE} without these faults"
        raise
    return Draft(proposal=proposal, text=text, patch=patch)


def _patch(scratch: Path, cwd: Path, watched: Sequence[str]) -> bytes:
    for name, root in ((BEFORE, cwd), (AFTER, scratch / TREE)):
        atomic_write.remove_tree(scratch / name)
        (scratch / name).mkdir()
        for path in _files(root, watched):
            copy = scratch / name / path.relative_to(root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            _copy(path, copy)
    return run_git(scratch, [*PATCH_ARGUMENTS, BEFORE, AFTER], accepted=(0, 1)).stdout


def _files(root: Path, watched: Sequence[str]) -> Iterator[Path]:
    number = 0
    for name in watched:
        top = root / name
        if os.path.lexists(top) and top.parent.resolve() != root.resolve() / Path(name).parent:
            raise _unfit(f"a folder above {name} is a link", name)
        if not top.is_symlink() and top.is_dir():
            for folder, folders, names in os.walk(top):
                links = [each for each in folders if (Path(folder) / each).is_symlink()]
                for each in (*names, *links):
                    number += 1
                    if number > FILES_MAX:
                        raise _unfit(f"more than {FILES_MAX} files below {name}", name)
                    yield Path(folder) / each
        elif os.path.lexists(top):
            yield top


def _copy(path: Path, copy: Path) -> None:
    facts = os.lstat(path)
    if stat.S_ISLNK(facts.st_mode):
        copy.symlink_to(os.readlink(path))
    elif not stat.S_ISREG(facts.st_mode):
        raise _unfit(f"{path.name} is neither a file nor a link", path.name)
    elif facts.st_size > FILE_BYTES_MAX:
        raise _unfit(f"{path.name} has {facts.st_size} bytes, expected at most {FILE_BYTES_MAX}", path.name)
    else:
        copy.write_bytes(path.read_bytes())
        copy.chmod(0o755 if facts.st_mode & stat.S_IXUSR else 0o644)


def _unfit(found: str, where: str) -> Refused:
    return Refused(
        "the agent left what is no change of a kernel",
        code="agent-left-no-change",
        expected="edits of plain files",
        found=found,
        where=where,
        hint="leave build products and links out of the scope",
    )
