"""Moving the branch under a user who is at work, with a kill at every line."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from desk import EDITED, Desk, Moment, at_each_line, copies, in_a_child, is_line, killed_at, moments_of, settle_again
from user_repository import Repository

from expctl.adapters.git_publication import Publication
from expctl.adapters.git_reader import locate
from expctl.adapters.git_workspace import GitWorkspace
from expctl.domain.errors import Refused


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


def test_a_kill_at_any_moment_of_publishing_harms_nothing(desk: Desk, tmp_path: Path, long: bool) -> None:
    fresh = copies(desk, tmp_path)
    trials = 0
    for moment in moments_of(lambda: fresh().publish(), desk.repository.root, every=long):
        trial = fresh()
        if killed_at(trial.publish, moment):
            trials += 1
            settle_again(trial)
    assert trials >= (100 if long else 30)


def test_a_kill_at_any_moment_of_recovering_harms_nothing(desk: Desk, tmp_path: Path, long: bool) -> None:
    fresh = copies(desk, tmp_path)
    moments = moments_of(lambda: fresh().publish(), desk.repository.root, every=True)
    for words in ("self._take(change", "os.rename(file.name, out.name", "rename(self._lock"):
        died_at = next(each for each in moments if is_line(each, words))
        trial = fresh()
        assert killed_at(trial.publish, died_at)
        trials = 0
        for moment in moments_of(trial.recover, desk.repository.root, every=long):
            trial = fresh()
            assert killed_at(trial.publish, died_at)
            if killed_at(trial.recover, moment):
                trials += 1
                settle_again(trial)
        assert trials >= 10


@pytest.mark.parametrize("how", ["switch -q -c other", "switch -q --detach"])
def test_a_user_who_leaves_the_branch_at_any_moment_finds_index_and_files_as_head_has_them(
    desk: Desk, tmp_path: Path, how: str, long: bool
) -> None:
    fresh = copies(desk, tmp_path)
    for moment in moments_of(lambda: fresh().publish(), desk.repository.root, every=long):
        trial = fresh()

        def leave(now: Moment, moment: Moment = moment, trial: Desk = trial) -> None:
            if now == moment:
                trial.repository.git(*how.split())

        at_each_line(trial.publish, leave)
        trial.check(trial.repository.head())
        assert trial.repository.git("rev-parse", "main").strip() == trial.new

        trial = fresh()
        if killed_at(trial.publish, moment, lambda trial=trial: trial.repository.git(*how.split())):  # type: ignore[misc]
            trial.recover()
            trial.check(trial.repository.head())


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
    died = in_a_child(lambda: Publication(workspace).publish(branch="main", old=desk.old, new=desk.new))
    assert died or desk.repository.head() == desk.new  # whole files are renamed: nothing to die in
    settle_again(desk)
