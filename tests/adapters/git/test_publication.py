"""Moving the branch under a user who is at work, with a kill at every line."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from expctl.adapters.git.publication import Publication
from expctl.adapters.git.reader import locate
from expctl.adapters.git.workspace import GitWorkspace
from expctl.domain.errors import Busy, Refused
from tests.adapters.git.user_at_work import (
    EDITED,
    Moment,
    UserAtWork,
    at_each_line,
    copies,
    in_a_child,
    is_line,
    killed_at,
    moments_of,
    moments_of_publishing,
    sampled,
    settle_again,
)
from tests.refusals import refuses
from tests.user_repository import Repository


def test_branch_index_and_files_follow_and_the_users_work_stays(at_work: UserAtWork) -> None:
    assert at_work.publish()
    at_work.check(at_work.new)
    assert at_work.repository.git("log", "-1", "--format=%s").strip() == "P1"
    at_work.recover()
    at_work.check(at_work.new)


def test_the_users_next_commit_holds_only_the_users_change(at_work: UserAtWork) -> None:
    assert at_work.publish()
    at_work.repository.git("commit", "-q", "-m", "mine")
    assert at_work.repository.git("diff", "--name-only", at_work.new, "HEAD").split() == ["staged.txt"]


LOCAL_CHANGES: dict[str, Callable[[Repository], object]] = {
    "an edit": lambda repository: repository.write("src/kernel.txt", "mine\n"),
    "a staged edit": lambda repository: (repository.write("src/kernel.txt", "mine\n"), repository.git("add", "src/kernel.txt")),
    "an edit of what goes away": lambda repository: repository.write("src/other.txt", "mine\n"),
    "an untracked file": lambda repository: repository.write("src/deep/er/added.txt", "mine\n"),
    "a file where a folder comes": lambda repository: repository.write("src/deep", "mine\n"),
}


@pytest.mark.parametrize("name", LOCAL_CHANGES)
def test_a_local_change_in_the_way_is_refused_and_nothing_changes(at_work: UserAtWork, name: str) -> None:
    LOCAL_CHANGES[name](at_work.repository)
    files, status = at_work.repository.files(), at_work.repository.status()
    with refuses("local-change-in-the-way") as caught:
        at_work.publish()
    assert "nothing measured is lost" in caught.value.hint
    assert (at_work.repository.files(), at_work.repository.status()) == (files, status)
    assert at_work.repository.head() == at_work.old
    assert not (at_work.repository.root / ".git/index.lock").exists()


def test_a_branch_that_moved_is_left_alone(at_work: UserAtWork) -> None:
    at_work.repository.git("commit", "-q", "-m", "mine")
    moved, status = at_work.repository.head(), at_work.repository.status()
    assert not at_work.publish()
    assert at_work.repository.head() == moved
    assert at_work.repository.status() == status
    assert at_work.repository.files() == at_work.files
    assert not (at_work.repository.root / ".git/index.lock").exists()


def test_a_branch_that_is_not_checked_out_moves_without_touching_files(at_work: UserAtWork) -> None:
    at_work.repository.git("checkout", "-q", "-b", "side")
    assert at_work.publish()
    assert at_work.repository.git("rev-parse", "main", "side").split() == [at_work.new, at_work.old]
    assert at_work.repository.files() == at_work.files
    assert at_work.repository.status() == at_work.status


def test_a_branch_that_another_worktree_has_checked_out_takes_its_files_along(at_work: UserAtWork, tmp_path: Path) -> None:
    at_work.repository.git("checkout", "-q", "-b", "side")
    other = Repository(tmp_path / "other")
    at_work.repository.git("worktree", "add", "-q", str(other.root), "main")
    assert other.status() == ""
    try:
        at_work.publish()
    except Refused:
        assert other.head() == at_work.old
    assert other.status() == "", "the next commit over there would revert the experiment"


def test_a_short_lock_of_another_git_is_waited_out(at_work: UserAtWork) -> None:
    lock = at_work.repository.root / ".git/index.lock"
    lock.write_bytes(b"")
    with subprocess.Popen([sys.executable, "-c", "import os, sys, time; time.sleep(0.3); os.unlink(sys.argv[1])", str(lock)]):
        assert at_work.publish()
    at_work.check(at_work.new)


def test_the_lock_of_another_git_is_not_taken_for_a_dead_run_of_ours(at_work: UserAtWork) -> None:
    lock = at_work.repository.root / ".git/index.lock"
    lock.write_bytes(b"somebody else's")
    at_work.recover()
    assert lock.read_bytes() == b"somebody else's"
    assert at_work.repository.head() == at_work.old


def test_to_recover_where_nothing_died_changes_nothing(at_work: UserAtWork) -> None:
    at_work.recover()
    at_work.check(at_work.old)


# ------------------------------------------------------------------ kills


def test_a_kill_at_any_moment_of_publishing_harms_nothing(at_work: UserAtWork, tmp_path: Path, long: bool) -> None:
    fresh = copies(at_work, tmp_path)
    trials = 0
    for moment in sampled(moments_of_publishing(fresh, at_work.repository.root, every=long), long=long, one_in=3):
        trial = fresh()
        if killed_at(trial.publish, moment):
            trials += 1
            settle_again(trial)
    assert trials >= (100 if long else 10)


@pytest.mark.long
def test_a_kill_at_any_moment_of_recovering_harms_nothing(at_work: UserAtWork, tmp_path: Path, long: bool) -> None:
    fresh = copies(at_work, tmp_path)
    moments = moments_of_publishing(fresh, at_work.repository.root, every=True)
    for words in ("self._replace(change", "os.rename(file.name, out.name", "rename(self._lock"):
        died_at = next(each for each in moments if is_line(each, words))
        trial = fresh()
        assert killed_at(trial.publish, died_at)
        trials = 0
        for moment in moments_of(trial.recover, at_work.repository.root, every=long):
            trial = fresh()
            assert killed_at(trial.publish, died_at)
            if killed_at(trial.recover, moment):
                trials += 1
                settle_again(trial)
        assert trials >= 10


@pytest.mark.parametrize("how", [pytest.param("switch -q -c other", marks=pytest.mark.long), "switch -q --detach"])
def test_a_user_who_leaves_the_branch_at_any_moment_finds_index_and_files_as_head_has_them(
    at_work: UserAtWork, tmp_path: Path, how: str, long: bool
) -> None:
    fresh = copies(at_work, tmp_path)
    moments = moments_of_publishing(fresh, at_work.repository.root, every=long)
    for moment in sampled(moments, long=long, one_in=5):
        trial = fresh()

        def leave(now: Moment, moment: Moment = moment, trial: UserAtWork = trial) -> None:
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
def test_a_kill_while_git_writes_a_file_leaves_a_whole_file(at_work: UserAtWork, left: bytes) -> None:
    workspace = Dying(locate(at_work.repository.root))
    workspace.left = left
    died = in_a_child(lambda: Publication(workspace).publish(branch="main", old=at_work.old, new=at_work.new))
    assert died or at_work.repository.head() == at_work.new  # whole files are renamed: nothing to die in
    settle_again(at_work)


# ------------------------------------------------------------------ a user at work between a kill and the next run


def killed_at_line(at_work: UserAtWork, words: str) -> None:
    """A publication that died just before the line with these words."""
    found: list[Moment] = []

    def die(now: Moment) -> None:
        if is_line(now, words):
            found.append(now)
            os.kill(os.getpid(), signal.SIGKILL)

    assert in_a_child(lambda: at_each_line(at_work.publish, die)), words


MOVE, UPDATE, RENAME = "moved = self._move_branch(", "self._files.update(old, new)", "os.rename(self._lock, self._index)"


def next_run(at_work: UserAtWork) -> None:
    at_work.workspace().finish_publication()
    assert not (at_work.repository.root / ".git/index.lock").exists()
    assert list((at_work.repository.root / ".git/expctl").glob("publication*")) == []


def without_lock(at_work: UserAtWork, *words: str) -> None:
    """What git itself advises when it finds a lock: remove it, and go on."""
    (at_work.repository.root / ".git/index.lock").unlink()
    if words:
        at_work.repository.git(*words)


def test_a_commit_before_the_branch_moved_undoes_the_publication(at_work: UserAtWork) -> None:
    """The branch isn't the old one any more, and yet it hasn't the result."""
    killed_at_line(at_work, MOVE)
    without_lock(at_work, "commit", "-q", "-m", "mine")
    mine, files = at_work.repository.head(), at_work.repository.files()
    os.link(at_work.repository.root / ".git/expctl/publication.index", at_work.repository.root / ".git/index.lock")
    next_run(at_work)
    assert (at_work.repository.head(), at_work.repository.files()) == (mine, files)
    assert at_work.repository.git("diff", "--cached", "--name-only") == ""


def test_a_commit_that_is_being_made_when_the_lock_is_asked_for(at_work: UserAtWork) -> None:
    """It changes a file of the experiment: the publication is refused, and nothing stays locked."""
    root = at_work.repository.root
    editor = "import sys, time, pathlib; pathlib.Path('editing').touch(); time.sleep(0.5); open(sys.argv[1], 'w').write('mine')"
    environment = {**os.environ, "GIT_EDITOR": f'"{sys.executable}" -c "{editor}"'}
    at_work.repository.write("src/kernel.txt", "mine\n")
    with subprocess.Popen(["git", "commit", "-q", "-a"], cwd=root, env=environment) as commit:
        while not (root / "editing").exists():
            time.sleep(0.01)
        (root / "editing").unlink()
        with refuses("local-change-in-the-way"):
            at_work.publish()
    assert commit.returncode == 0
    next_run(at_work)
    assert at_work.repository.git("log", "-1", "--format=%s").strip() == "mine"
    assert at_work.repository.files()["src/kernel.txt"] == b"mine\n"


@pytest.mark.parametrize("line", [MOVE, UPDATE, "os.rename(file.name, out.name", RENAME])
def test_a_soft_reset_takes_the_files_along(at_work: UserAtWork, line: str) -> None:
    """It moves the branch back and needs no lock: index and files are then as before."""
    killed_at_line(at_work, line)
    at_work.repository.git("reset", "-q", "--soft", at_work.old)
    next_run(at_work)
    at_work.check(at_work.old)


@pytest.mark.parametrize("line", [UPDATE, "os.rename(file.name, out.name"])
def test_a_lock_that_was_removed_by_hand_is_taken_again(at_work: UserAtWork, line: str) -> None:
    killed_at_line(at_work, line)
    without_lock(at_work)
    next_run(at_work)
    at_work.check(at_work.new)


def test_a_lock_removed_under_a_living_run_is_named_and_the_next_run_goes_on(at_work: UserAtWork) -> None:
    lock = at_work.repository.root / ".git/index.lock"

    def remove(now: Moment) -> None:
        if is_line(now, UPDATE):
            lock.unlink()
            lock.write_bytes(b"another git's")

    with refuses("index-lock-removed", Busy):
        at_each_line(
            lambda: Publication(at_work.workspace(), lock_wait_s=0.1).publish(branch="main", old=at_work.old, new=at_work.new),
            remove,
        )
    assert lock.read_bytes() == b"another git's"
    lock.unlink()
    next_run(at_work)
    at_work.check(at_work.new)


@pytest.mark.parametrize("how", ["stage", "commit", "reset"])
def test_what_is_done_before_the_lock_is_taken_again_stays(at_work: UserAtWork, how: str) -> None:
    """The user stages an edit, commits a file, or goes back: the rest of the experiment still follows, or goes back, too."""
    killed_at_line(at_work, "os.rename(file.name, out.name")
    repository = at_work.repository
    (repository.root / ".git/index.lock").unlink()
    if how == "stage":
        repository.write("src/kernel.txt", "mine\n")
        repository.git("add", "src/kernel.txt")
        repository.write("src/kernel.txt", EDITED)
    elif how == "commit":
        repository.git("commit", "-q", "-m", "notes", "--", "notes.txt")
    else:
        repository.git("reset", "-q", "--soft", at_work.old)
    next_run(at_work)
    staged = repository.git("diff", "--cached", "--name-only", "HEAD").split()
    assert staged == (["src/kernel.txt", "staged.txt"] if how == "stage" else ["staged.txt"])
    kept = at_work.files if how == "reset" else at_work.wanted_files()
    assert repository.files() == kept


def test_what_is_done_after_the_last_step_is_not_undone(at_work: UserAtWork) -> None:
    """Killed when the index was in place but not all was tidied up; then the user takes parts of the experiment back."""
    killed_at_line(at_work, "atomic_write.flush(self._index.parent)")
    repository = at_work.repository
    repository.git("rm", "-q", "src/deep/er/added.txt")
    repository.git("checkout", "-q", at_work.old, "--", "src/kernel.txt")
    status = repository.status()
    next_run(at_work)
    assert repository.status() == status


def test_a_run_that_died_in_another_work_tree_is_finished_there(at_work: UserAtWork, tmp_path: Path) -> None:
    other = Repository(tmp_path / "other")
    at_work.repository.git("worktree", "add", "-q", "-b", "side", str(other.root), at_work.old)
    files = at_work.repository.files()

    def publish() -> None:
        Publication(GitWorkspace(locate(other.root))).publish(branch="side", old=at_work.old, new=at_work.new)

    def die(now: Moment) -> None:
        if is_line(now, "os.rename(file.name, out.name"):
            os.kill(os.getpid(), signal.SIGKILL)

    assert in_a_child(lambda: at_each_line(publish, die))
    next_run(at_work)
    assert (at_work.repository.files(), at_work.repository.status()) == (files, at_work.status)
    assert (other.head(), other.status()) == (at_work.new, "")
    assert other.files()["src/kernel.txt"] == EDITED


def test_the_end_of_a_rebase_does_not_take_a_record_back(at_work: UserAtWork) -> None:
    repository = at_work.repository
    repository.git("stash", "push", "-q", "-u")
    repository.git("switch", "-q", "-c", "side")
    repository.write("notes.txt", "theirs\n")
    repository.commit("theirs")
    repository.git("switch", "-q", "main")
    repository.write("notes.txt", "ours\n")
    old = repository.commit("ours")
    tree = repository.git("rev-parse", "HEAD^{tree}").strip()
    new = repository.git("commit-tree", tree, "-p", old, "-m", "P1").strip()
    with pytest.raises(AssertionError):
        repository.git("rebase", "side")
    with refuses("rebase-under-way"):
        Publication(at_work.workspace()).publish(branch="main", old=old, new=new)
    repository.git("rebase", "--abort")
    assert repository.head() == old
    assert Publication(at_work.workspace()).publish(branch="main", old=old, new=new)


def test_a_user_who_comes_back_to_the_branch_meanwhile_has_to_wait(at_work: UserAtWork) -> None:
    at_work.repository.git("switch", "-q", "-c", "side")
    refused = []

    def come_back(now: Moment) -> None:
        if is_line(now, MOVE):
            with pytest.raises(AssertionError):
                at_work.repository.git("switch", "-q", "main")
            refused.append(now)

    at_each_line(at_work.publish, come_back)
    assert refused
    at_work.check(at_work.old)
    assert at_work.repository.git("rev-parse", "main").strip() == at_work.new


def test_a_switch_that_was_under_way_when_the_branch_moved(at_work: UserAtWork) -> None:
    """`git switch -c` has read HEAD before and writes it after the files have followed: they go back."""

    def switch(now: Moment) -> None:
        if is_line(now, "if not self._head_contains(new):"):
            at_work.repository.git("update-ref", "refs/heads/other", at_work.old)
            at_work.repository.git("symbolic-ref", "HEAD", "refs/heads/other")

    at_each_line(at_work.publish, switch)
    at_work.check(at_work.old)


def test_a_dead_git_of_a_publication_elsewhere_leaves_no_lock(at_work: UserAtWork) -> None:
    at_work.repository.git("switch", "-q", "-c", "side")
    killed_at_line(at_work, MOVE)
    lock = at_work.repository.root / ".git/refs/heads/main.lock"
    lock.write_bytes(b"")
    next_run(at_work)
    assert not lock.exists()


@pytest.mark.parametrize("how", ["set --no-cone notes.txt", "set --cone other", "set --cone --sparse-index other"])
def test_a_sparse_work_tree(repository: Repository, how: str) -> None:
    repository.write("other/file.txt", "other\n")
    old = repository.commit("before")
    repository.write("src/kernel.txt", EDITED)
    repository.write("experiments/P1/record.json", "{}\n")
    new = repository.commit("P1")
    repository.git("reset", "-q", "--hard", old)
    repository.git("sparse-checkout", *how.split())
    assert repository.status() == ""
    assert Publication(GitWorkspace(locate(repository.root))).publish(branch="main", old=old, new=new)
    assert (repository.head(), repository.status()) == (new, "")
    repository.git("sparse-checkout", "disable")
    assert (repository.files()["src/kernel.txt"], repository.status()) == (EDITED, "")


def test_a_file_that_git_is_told_to_skip_follows(at_work: UserAtWork) -> None:
    at_work.repository.git("update-index", "--skip-worktree", "src/kernel.txt")
    assert at_work.publish()
    assert at_work.repository.files()["src/kernel.txt"] == EDITED


def test_a_filter_that_fails_costs_nothing(at_work: UserAtWork) -> None:
    """What can't be staged is known before the branch moves."""
    at_work.repository.git("config", "filter.broken.smudge", "false")
    at_work.repository.git("config", "filter.broken.required", "true")
    (at_work.repository.root / ".git/info").mkdir(exist_ok=True)
    (at_work.repository.root / ".git/info/attributes").write_text("src/kernel.txt filter=broken\n")
    with pytest.raises((Refused, RuntimeError)):
        at_work.publish()
    (at_work.repository.root / ".git/info/attributes").unlink()
    at_work.check(at_work.old)


def test_the_rights_of_the_index_stay(at_work: UserAtWork) -> None:
    index = at_work.repository.root / ".git/index"
    index.chmod(0o660)
    assert at_work.publish()
    assert index.stat().st_mode & 0o777 == 0o660


def test_without_an_index(at_work: UserAtWork) -> None:
    (at_work.repository.root / ".git/index").unlink()
    with refuses("index-unfit") as caught:
        at_work.publish()
    assert caught.value.hint.startswith("`git read-tree HEAD`: it makes a new index")
    assert at_work.repository.head() == at_work.old


def test_a_sparse_work_tree_is_still_sparse_after_a_kill(repository: Repository) -> None:
    repository.write("other/file.txt", "other\n")
    old = repository.commit("before")
    repository.write("src/kernel.txt", EDITED)
    new = repository.commit("P1")
    repository.git("reset", "-q", "--hard", old)
    repository.git("sparse-checkout", "set", "--cone", "other")
    at_work = UserAtWork(repository=repository, old=old, new=new, status="", files=repository.files(), stash="")
    killed_at_line(at_work, UPDATE)
    next_run(at_work)
    assert (repository.head(), repository.status(), repository.files()) == (new, "", at_work.files)


def test_an_edit_that_git_only_sees_by_its_contents_is_still_seen(at_work: UserAtWork) -> None:
    """Of the same size, and as old as the index: the copy of the index must not look newer."""
    repository, index = at_work.repository, at_work.repository.root / ".git/index"
    repository.git("config", "core.trustctime", "false")
    file, ns = repository.write("same.txt", "AAAA\n"), 1_700_000_000 * 10**9
    os.utime(file, ns=(ns, ns))
    repository.git("add", "same.txt")
    file.write_text("BBBB\n")
    for each in (file, index):
        os.utime(each, ns=(ns, ns))
    assert "AM same.txt" in repository.git("--no-optional-locks", "status", "--porcelain=v1")
    assert at_work.publish()
    assert "AM same.txt" in repository.status()


def test_a_run_that_died_in_a_work_tree_that_is_gone(at_work: UserAtWork, tmp_path: Path) -> None:
    other = tmp_path / "other"
    at_work.repository.git("worktree", "add", "-q", "-b", "side", str(other), at_work.old)

    def die(now: Moment) -> None:
        if is_line(now, UPDATE):
            os.kill(os.getpid(), signal.SIGKILL)

    publication = Publication(GitWorkspace(locate(other)))
    assert in_a_child(lambda: at_each_line(lambda: publication.publish(branch="side", old=at_work.old, new=at_work.new), die))
    shutil.rmtree(other)
    other.mkdir()
    next_run(at_work)
    at_work.check(at_work.old)
    assert not (at_work.repository.root / ".git/worktrees/other/index.lock").exists()


def test_a_run_that_died_beside_a_separate_git_folder(at_work: UserAtWork, tmp_path: Path) -> None:
    """git lists that folder instead of the work tree; the run is finished from a linked one all the same."""
    repository, other = at_work.repository, Repository(tmp_path / "other")
    repository.git("init", "-q", f"--separate-git-dir={tmp_path / 'kept'}")
    repository.git("worktree", "add", "-q", "-b", "side", str(other.root), at_work.old)
    killed_at_line(at_work, UPDATE)
    GitWorkspace(locate(other.root)).finish_publication()
    assert (repository.head(), repository.status()) == (at_work.new, at_work.status)
    assert not (tmp_path / "kept/index.lock").exists()


class Unsure(GitWorkspace):
    """git fails when it is asked whether HEAD has come along, and its files don't say it (a branch may be packed)."""

    def is_at(self, commit: str) -> bool:  # noqa: ARG002
        return False

    def call(
        self, arguments: Sequence[str], *, stdin: bytes | None = None, env: Mapping[str, str] | None = None
    ) -> tuple[int, bytes, str]:
        if arguments[0] == "merge-base":
            return 128, b"", "fatal: it broke"
        return super().call(arguments, stdin=stdin, env=env)


def test_a_git_that_cannot_tell_whether_head_came_along_leaves_it_to_the_next_run(at_work: UserAtWork) -> None:
    with pytest.raises(Refused, match="git"):
        Publication(Unsure(locate(at_work.repository.root))).publish(branch="main", old=at_work.old, new=at_work.new)
    next_run(at_work)
    at_work.check(at_work.new)


@pytest.mark.parametrize("line", ["self._merge(old, new)", MOVE])
def test_a_result_that_git_collects_as_garbage_leaves_nothing(at_work: UserAtWork, line: str) -> None:
    """Nothing names it before the branch does; a user's gc may come in between."""
    at_work.repository.git("reflog", "expire", "--expire=now", "--all")

    def collect(now: Moment) -> None:
        if is_line(now, line):
            at_work.repository.git("gc", "-q", "--prune=now")

    moved = []
    with contextlib.suppress(Refused) if line == MOVE else refuses("git-object-missing"):
        at_each_line(lambda: moved.append(at_work.publish()), collect)
    assert moved in ([], [False])
    assert not (at_work.repository.root / ".git/index.lock").exists()
    next_run(at_work)
    assert (at_work.repository.head(), at_work.repository.files(), at_work.repository.status()) == (
        at_work.old,
        at_work.files,
        at_work.status,
    )


def test_a_head_without_a_commit_has_not_come_along(at_work: UserAtWork) -> None:
    killed_at_line(at_work, UPDATE)
    at_work.repository.git("symbolic-ref", "HEAD", "refs/heads/unborn")
    next_run(at_work)
    at_work.repository.git("symbolic-ref", "HEAD", "refs/heads/main")
    assert at_work.repository.files() == at_work.files


@pytest.mark.parametrize("damage", [b"", b"[", b"\xff\xfe", b'{"schema": 1}'], ids=["empty", "torn", "no text", "a part"])
@pytest.mark.parametrize("line", [MOVE, UPDATE, "os.rename(file.name, out.name", RENAME])
def test_where_the_intent_is_damaged_the_log_of_the_branch_tells(at_work: UserAtWork, line: str, damage: bytes) -> None:
    killed_at_line(at_work, line)
    (at_work.repository.root / ".git/expctl/publication.json").write_bytes(damage)
    next_run(at_work)
    at_work.check(at_work.old if line == MOVE else at_work.new)
    assert not list((at_work.repository.root / ".git/expctl").glob("publication*"))


def test_a_digit_changed_in_the_intent_does_not_undo_what_was_published(at_work: UserAtWork) -> None:
    killed_at_line(at_work, UPDATE)
    file = at_work.repository.root / ".git/expctl/publication.json"
    text = file.read_text()
    file.write_text(text.replace(at_work.new[:4], f"{int(at_work.new[0], 16) ^ 1:x}{at_work.new[1:4]}"))
    assert file.read_text() != text
    next_run(at_work)
    at_work.check(at_work.new)


def test_without_intent_and_log_it_is_said_what_to_do(at_work: UserAtWork) -> None:
    at_work.repository.git("config", "core.logAllRefUpdates", "false")
    shutil.rmtree(at_work.repository.root / ".git/logs")
    killed_at_line(at_work, UPDATE)
    (at_work.repository.root / ".git/expctl/publication.json").write_bytes(b"{")
    with refuses("publication-damaged"):
        next_run(at_work)


@pytest.mark.parametrize("line", ["os.rename(file.name, out.name", RENAME])
def test_a_damaged_step_costs_no_edit(at_work: UserAtWork, line: str) -> None:
    killed_at_line(at_work, line)
    (at_work.repository.root / ".git/expctl/publication.step").write_bytes(b"{")
    next_run(at_work)
    assert at_work.repository.head() == at_work.new
    kept = at_work.repository.files()
    assert {path: kept[path] for path in at_work.wanted_files()} == at_work.wanted_files()
