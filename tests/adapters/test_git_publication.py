"""Moving the branch under a user who is at work, with a kill at every line."""

import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from user_repository import KERNEL, Repository

from expctl.adapters import git_publication
from expctl.adapters.git_publication import Publication
from expctl.adapters.git_reader import locate
from expctl.adapters.git_workspace import GitWorkspace
from expctl.domain.errors import Refused

EDITED = KERNEL.replace(b"three", b"3")


@dataclass(frozen=True, slots=True)
class Desk:
    """A user at work on `main`, and the two commits of a publication."""

    repository: Repository
    old: str
    new: str
    status: str
    files: Mapping[str, bytes]
    stash: str

    def workspace(self) -> GitWorkspace:
        return GitWorkspace(locate(self.repository.root))

    def publish(self) -> bool:
        return Publication(self.workspace()).publish(branch="main", old=self.old, new=self.new)

    def recover(self) -> None:
        Publication(self.workspace()).recover(branch="main", old=self.old, new=self.new)

    def wanted_files(self) -> dict[str, bytes]:
        """What is on the disk after the publication: the experiment's files as in `new`, the user's as before."""
        kept = {path: contents for path, contents in self.files.items() if path != "src/other.txt"}
        return {**kept, "src/kernel.txt": EDITED, "src/deep/er/added.txt": b"added\n", "experiments/P1/record.json": b"{}\n"}

    def check(self, head: str) -> None:
        """Everything that holds after any trial."""
        assert self.repository.head() == head
        assert self.repository.status() == self.status
        assert self.repository.files() == (self.wanted_files() if head == self.new else self.files)
        assert self.repository.git("stash", "list", "-p") == self.stash
        assert not (self.repository.root / ".git/index.lock").exists()
        assert not (self.repository.root / ".git/expctl/publication.index").exists()
        self.repository.git("fsck", "--strict", "--no-dangling")


@pytest.fixture
def desk(repository: Repository) -> Desk:
    old = repository.head()
    repository.write("src/kernel.txt", EDITED)
    repository.write("src/deep/er/added.txt", "added\n")
    repository.write("experiments/P1/record.json", "{}\n")
    (repository.root / "src/other.txt").unlink()
    new = repository.commit("P1")
    repository.git("reset", "-q", "--hard", old)
    repository.write("notes.txt", "stashed\n")
    repository.git("stash")
    repository.write("notes.txt", "unstaged\n")
    repository.write("staged.txt", "staged\n")
    repository.git("add", "staged.txt")
    repository.write("staged.txt", "staged, then edited\n")
    repository.write("src/untracked.txt", "untracked\n")
    repository.write("src/ignored.o", "ignored\n")
    return Desk(
        repository=repository,
        old=old,
        new=new,
        status=repository.status(),
        files=repository.files(),
        stash=repository.git("stash", "list", "-p"),
    )


def test_branch_index_and_files_follow_and_the_users_work_stays(desk: Desk) -> None:
    assert desk.publish()
    desk.check(desk.new)
    assert desk.repository.git("log", "-1", "--format=%s").strip() == "P1"
    desk.recover()
    desk.check(desk.new)


def test_the_users_next_commit_holds_only_the_users_change(desk: Desk) -> None:
    assert desk.publish()
    desk.repository.git("commit", "-q", "-m", "mine")
    assert desk.repository.git("diff", "--name-only", desk.new, "HEAD").split() == ["staged.txt"]


LOCAL_CHANGES: dict[str, Callable[[Repository], object]] = {
    "an edit": lambda repository: repository.write("src/kernel.txt", "mine\n"),
    "a staged edit": lambda repository: (repository.write("src/kernel.txt", "mine\n"), repository.git("add", "src/kernel.txt")),
    "an edit of what goes away": lambda repository: repository.write("src/other.txt", "mine\n"),
    "an untracked file": lambda repository: repository.write("src/deep/er/added.txt", "mine\n"),
    "a file where a folder comes": lambda repository: repository.write("src/deep", "mine\n"),
}


@pytest.mark.parametrize("name", LOCAL_CHANGES)
def test_a_local_change_in_the_way_is_refused_and_nothing_changes(desk: Desk, name: str) -> None:
    LOCAL_CHANGES[name](desk.repository)
    files, status = desk.repository.files(), desk.repository.status()
    with pytest.raises(Refused, match="a local change is in the way") as caught:
        desk.publish()
    assert "nothing measured is lost" in caught.value.hint
    assert (desk.repository.files(), desk.repository.status()) == (files, status)
    assert desk.repository.head() == desk.old
    assert not (desk.repository.root / ".git/index.lock").exists()


def test_a_branch_that_moved_is_left_alone(desk: Desk) -> None:
    desk.repository.git("commit", "-q", "-m", "mine")
    moved, status = desk.repository.head(), desk.repository.status()
    assert not desk.publish()
    assert desk.repository.head() == moved
    assert desk.repository.status() == status
    assert desk.repository.files() == desk.files
    assert not (desk.repository.root / ".git/index.lock").exists()


def test_a_branch_that_is_not_checked_out_moves_without_touching_files(desk: Desk) -> None:
    desk.repository.git("checkout", "-q", "-b", "side")
    assert desk.publish()
    assert desk.repository.git("rev-parse", "main", "side").split() == [desk.new, desk.old]
    assert desk.repository.files() == desk.files
    assert desk.repository.status() == desk.status


def test_a_branch_that_another_worktree_has_checked_out_takes_its_files_along(desk: Desk, tmp_path: Path) -> None:
    desk.repository.git("checkout", "-q", "-b", "side")
    other = Repository(tmp_path / "other")
    desk.repository.git("worktree", "add", "-q", str(other.root), "main")
    assert other.status() == ""
    try:
        desk.publish()
    except Refused:
        assert other.head() == desk.old
    assert other.status() == "", "the next commit over there would revert the experiment"


def test_a_short_lock_of_another_git_is_waited_out(desk: Desk) -> None:
    lock = desk.repository.root / ".git/index.lock"
    lock.write_bytes(b"")
    with subprocess.Popen([sys.executable, "-c", "import os, sys, time; time.sleep(0.3); os.unlink(sys.argv[1])", str(lock)]):
        assert desk.publish()
    desk.check(desk.new)


def test_the_lock_of_another_git_is_not_taken_for_a_dead_run_of_ours(desk: Desk) -> None:
    lock = desk.repository.root / ".git/index.lock"
    lock.write_bytes(b"somebody else's")
    desk.recover()
    assert lock.read_bytes() == b"somebody else's"
    assert desk.repository.head() == desk.old


def test_to_recover_where_nothing_died_changes_nothing(desk: Desk) -> None:
    desk.recover()
    desk.check(desk.old)


# ------------------------------------------------------------------ kills


def killed_at(act: Callable[[], object], line: int, seen_before: int = 0) -> bool:
    """Run `act` in a forked process that is killed before it runs `line` of git_publication.py for the
    (`seen_before` + 1)-th time. Returns whether it got there.
    """
    child = os.fork()
    if child == 0:
        left = seen_before

        def trace(frame: FrameType, event: str, _argument: Any) -> Any:
            nonlocal left
            if frame.f_code.co_filename != git_publication.__file__:
                return None
            if event == "line" and frame.f_lineno == line:
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                left -= 1
            return trace

        sys.settrace(trace)
        try:
            act()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def moments_of(act: Callable[[], object], root: Path, *, every: bool) -> list[tuple[int, int]]:
    """Where a kill of `act` is worth a trial: (line of git_publication.py, how often it ran before), in order.

    Unless `every` is asked for, lines that find the disk as the line before them did are left out: the dead leave nothing but
    the disk.
    """
    seen: Counter[int] = Counter()
    found: list[tuple[int, int]] = []
    before: object = None

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal before
        if frame.f_code.co_filename != git_publication.__file__:
            return None
        if event == "line":
            now = disk(root)
            if (every and seen[frame.f_lineno] < 2) or now != before:
                found.append((frame.f_lineno, seen[frame.f_lineno]))
            before = now
            seen[frame.f_lineno] += 1
        return trace

    outer = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(outer)
    return found


def disk(root: Path) -> dict[str, tuple[int, ...]]:
    """Everything below `root`, git's own folder too: another file, or the same written anew, is another answer."""
    stats = {str(path): path.lstat() for path in root.rglob("*")}
    return {path: (stat.st_ino, stat.st_mode, stat.st_nlink, stat.st_size, stat.st_mtime_ns) for path, stat in stats.items()}


def copies(desk: Desk, tmp_path: Path) -> Callable[[], Desk]:
    """Fresh copies of the desk, always at the same path, so that git's stat cache of the copy is as good."""
    pristine = tmp_path / "pristine"
    shutil.copytree(desk.repository.root, pristine, symlinks=True)

    def fresh() -> Desk:
        shutil.rmtree(desk.repository.root)
        shutil.copytree(pristine, desk.repository.root, symlinks=True)
        return desk

    return fresh


def settle_again(desk: Desk) -> None:
    """What the next run does: recover, and publish again unless the branch has moved."""
    desk.recover()
    assert desk.repository.head() in (desk.old, desk.new)
    desk.check(desk.repository.head())
    if desk.repository.head() == desk.old:
        assert desk.publish()
    desk.check(desk.new)


def test_a_kill_at_any_moment_of_publishing_harms_nothing(desk: Desk, tmp_path: Path, long: bool) -> None:
    fresh = copies(desk, tmp_path)
    trials = 0
    for line, seen_before in moments_of(lambda: fresh().publish(), desk.repository.root, every=long):
        trial = fresh()
        if killed_at(trial.publish, line, seen_before):
            trials += 1
            settle_again(trial)
    assert trials >= (65 if long else 20)


def test_a_kill_at_any_moment_of_recovering_harms_nothing(desk: Desk, tmp_path: Path, long: bool) -> None:
    fresh = copies(desk, tmp_path)
    lines = [line for line, _ in moments_of(lambda: fresh().publish(), desk.repository.root, every=True)]
    source = Path(git_publication.__file__).read_text().splitlines()
    half_done = next(line for line in lines if "rename(self._lock" in source[line - 1])
    first_write = next(line for line in lines if "self._write(path" in source[line - 1])
    for died_at in (first_write, half_done):
        trial = fresh()
        assert killed_at(trial.publish, died_at)
        trials = 0
        for line, seen_before in moments_of(trial.recover, desk.repository.root, every=long):
            trial = fresh()
            assert killed_at(trial.publish, died_at)
            if killed_at(trial.recover, line, seen_before):
                trials += 1
                settle_again(trial)
        assert trials >= 10


class Dying(GitWorkspace):
    """Git is killed together with us while it writes a file of the user's tree in place."""

    left = b""

    def call(
        self, arguments: Sequence[str], *, stdin: bytes | None = None, env: Mapping[str, str] | None = None
    ) -> tuple[int, bytes, str]:
        in_place = not any(word.startswith(("--prefix", "--temp")) for word in arguments)
        if arguments[0] == "checkout-index" and in_place and arguments[-1] == "src/kernel.txt":
            file = self.root / arguments[-1]
            file.unlink()
            if self.left:
                file.write_bytes(self.left)
            os.kill(os.getpid(), signal.SIGKILL)
        return super().call(arguments, stdin=stdin, env=env)


@pytest.mark.parametrize("left", [b"", EDITED[:20]], ids=["removed", "half written"])
def test_a_kill_while_git_writes_a_file_leaves_a_whole_file(desk: Desk, left: bytes) -> None:
    workspace = Dying(locate(desk.repository.root))
    workspace.left = left
    child = os.fork()
    if child == 0:
        try:
            Publication(workspace).publish(branch="main", old=desk.old, new=desk.new)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or desk.repository.head() == desk.new  # whole files are renamed: nothing to die in
    settle_again(desk)
