"""Moving the branch under a user who is at work, with a kill at every line."""

import contextlib
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
from typing import Any, NamedTuple

import pytest
from user_repository import KERNEL, Repository

from expctl.adapters import git_files, git_publication, spots
from expctl.adapters.git_publication import Publication
from expctl.adapters.git_reader import locate
from expctl.adapters.git_workspace import GitWorkspace
from expctl.domain.errors import Refused

SOURCES = (git_publication.__file__, git_files.__file__, spots.__file__)
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
        Publication(self.workspace()).recover(old=self.old, new=self.new)

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


class Moment(NamedTuple):
    """Just before a line of one of SOURCES runs for the (`seen_before` + 1)-th time."""

    source: str
    line: int
    seen_before: int = 0


def at_each_line(act: Callable[[], object], look: Callable[[Moment], None]) -> None:
    """Run `act`; `look` is called before each of the lines of SOURCES."""
    seen: Counter[tuple[str, int]] = Counter()

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        source = frame.f_code.co_filename
        if source not in SOURCES:
            return None
        if event == "line":
            look(Moment(source, frame.f_lineno, seen[source, frame.f_lineno]))
            seen[source, frame.f_lineno] += 1
        return trace

    outer = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(outer)


def killed_at(act: Callable[[], object], moment: Moment, first: Callable[[], object] = lambda: None) -> bool:
    """Run `act` in a forked process that is killed at the moment, after it has done `first`. Returns whether it got there."""

    def die(now: Moment) -> None:
        if now == moment:
            first()
            os.kill(os.getpid(), signal.SIGKILL)

    return in_a_child(lambda: at_each_line(act, die))


def in_a_child(act: Callable[[], object]) -> bool:
    """Run `act` in a forked process. Did a signal end it?"""
    child = os.fork()
    if child == 0:
        try:
            act()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def moments_of(
    act: Callable[[], object], root: Path, *, every: bool, disturb: Callable[[Moment], None] = lambda _: None
) -> list[Moment]:
    """Where to disturb `act` is worth a trial, in order; `disturb` is called at each of them already now.

    Unless `every` is asked for, lines that find the disk as the line before them did are left out: the dead leave nothing but
    the disk.
    """
    found: list[Moment] = []
    before: object = None

    def look(moment: Moment) -> None:
        nonlocal before
        now = disk(root)
        if (every and moment.seen_before < 2) or now != before:
            found.append(moment)
        disturb(moment)
        before = now

    at_each_line(act, look)
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


def is_line(moment: Moment, words: str) -> bool:
    """Does the line have these words?"""
    return words in Path(moment.source).read_text().splitlines()[moment.line - 1]


# ------------------------------------------------------------------ a user at work meanwhile

MEANWHILE: dict[str, tuple[str, Callable[[Path], object]]] = {
    "an edit": ("src/kernel.txt", lambda file: file.write_text("mine\n")),
    "an edit by rename": ("src/kernel.txt", lambda file: _written_beside(file).rename(file)),
    "an edit of what goes away": ("src/other.txt", lambda file: file.write_text("mine\n")),
    "a removal": ("src/kernel.txt", lambda file: file.unlink()),
    "a link": ("src/kernel.txt", lambda file: _written_beside(file).unlink() or file.unlink() or file.symlink_to("notes.txt")),
    "a new file": ("experiments/P1/record.json", lambda file: _folder_of(file).write_text("mine\n")),
    "a file for a folder": ("src/deep/er", lambda file: None if file.exists() else _folder_of(file).write_text("mine\n")),
}


def _written_beside(file: Path) -> Path:
    beside = file.with_name("beside")
    beside.write_text("mine\n")
    return beside


def _folder_of(file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


def facts(file: Path) -> tuple[str, str]:
    """What is there: the kind, and the contents."""
    if file.is_symlink():
        return "link", os.readlink(file)
    return ("file", file.read_text()) if file.is_file() else ("folder" if file.is_dir() else "nothing", "")


@pytest.mark.parametrize("killed", [False, True], ids=["goes on", "killed then"])
@pytest.mark.parametrize("name", MEANWHILE)
def test_what_the_user_does_at_any_moment_stays(desk: Desk, tmp_path: Path, name: str, killed: bool, long: bool) -> None:
    """Done at any moment of a publication, it is there afterwards, or the publication refused."""
    fresh = copies(desk, tmp_path)
    path, act = MEANWHILE[name]
    trials = 0
    for moment in moments_of(lambda: fresh().publish(), desk.repository.root, every=long):
        trial = fresh()
        file = trial.repository.root / path
        done: list[tuple[str, str]] = []

        def do(now: Moment, moment: Moment = moment, file: Path = file, done: list[tuple[str, str]] = done) -> None:
            if now == moment:
                act(file)
                done.append(facts(file))

        with contextlib.suppress(Refused):
            if killed:
                killed_at(trial.publish, moment, lambda file=file: act(file))  # type: ignore[misc]
                done.append(facts(file))
                trial.recover()
            else:
                at_each_line(trial.publish, do)
        assert done == [facts(file)], moment
        assert not (trial.repository.root / ".git/index.lock").exists()
        assert not (trial.repository.root / ".git/expctl/publication.aside").exists()
        trials += 1
    assert trials >= (100 if long else 30)


def exchange_of(desk: Desk, path: str) -> Moment:
    """Just before a publication takes that file: the last exchange that still finds the old one."""
    file, found = desk.repository.root / path, list[Moment]()
    old = facts(file)

    def look(now: Moment) -> None:
        if is_line(now, EXCHANGES[path]) and facts(file) == old:
            found.append(now)

    at_each_line(desk.publish, look)
    return found[-1]


EXCHANGES = {"src/kernel.txt": "renameat2(new, file, RENAME_EXCHANGE)", "src/other.txt": "os.rename(file.name, out.name"}


@pytest.mark.parametrize("path", EXCHANGES)
def test_an_edit_just_before_the_exchange_survives_a_kill_at_any_moment_after_it(
    desk: Desk, tmp_path: Path, path: str, long: bool
) -> None:
    fresh = copies(desk, tmp_path)
    exchange = exchange_of(fresh(), path)

    order: list[Moment] = []

    def edit(now: Moment) -> None:
        order.append(now)
        if now == exchange:
            desk.repository.write(path, "mine\n")

    def killed(moment: Moment) -> Path:
        def disturb(now: Moment) -> None:
            edit(now)
            if now == moment:
                os.kill(os.getpid(), signal.SIGKILL)

        trial = fresh()
        assert in_a_child(lambda: at_each_line(trial.publish, disturb))
        return desk.repository.root / path

    moments = moments_of(fresh().publish, desk.repository.root, every=long, disturb=edit)
    later = set(order[order.index(exchange) + 1 :])
    lost_sight_of = 0
    for moment in filter(later.__contains__, moments):
        file = killed(moment)
        lost_sight_of += facts(file) != ("file", "mine\n")
        desk.recover()
        assert facts(file) == ("file", "mine\n"), moment
        assert facts(file.with_name(f"{file.name}.edit1"))[0] == "nothing"

        file = killed(moment)
        first = facts(file)
        file.write_text("mine again\n")  # whether or not the first edit is to be seen
        desk.recover()
        assert facts(file) == ("file", "mine again\n"), moment
        if first != ("file", "mine\n"):
            assert facts(file.with_name(f"{file.name}.edit1")) == ("file", "mine\n"), moment
    assert lost_sight_of, "no kill came between the exchange and the look at what came out"


@pytest.mark.parametrize("number", spots.NO_EXCHANGE)
def test_a_file_system_that_cannot_exchange_gets_files_by_rename(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(spots, "renameat2", refuse)
    assert desk.publish()
    desk.check(desk.new)


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
