"""A user at work on `main`, a publication that moves it, and every moment at which one may disturb the other."""

import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from expctl.adapters.git import atomic_exchange, publication, work_tree
from expctl.adapters.git.publication import Publication
from expctl.adapters.git.reader import locate
from expctl.adapters.git.workspace import GitWorkspace
from tests.user_repository import KERNEL, Repository

SOURCES = (publication.__file__, work_tree.__file__, atomic_exchange.__file__)
EDITED = KERNEL.replace(b"three", b"3")


@dataclass(frozen=True, slots=True)
class UserAtWork:
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


def user_at_work_of(repository: Repository) -> UserAtWork:
    """With staged, modified, untracked, ignored and stashed work that the publication doesn't touch."""
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
    return UserAtWork(
        repository=repository,
        old=old,
        new=new,
        status=repository.status(),
        files=repository.files(),
        stash=repository.git("stash", "list", "-p"),
    )


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


_OF_PUBLISHING: dict[tuple[bool, str], list[Moment]] = {}


def moments_of_publishing(fresh: Callable[[], UserAtWork], root: Path, *, every: bool, way: str = "") -> list[Moment]:
    """What an undisturbed publication leaves behind; computed once, because dates are fixed and every call would be equal."""
    if (every, way) not in _OF_PUBLISHING:
        _OF_PUBLISHING[every, way] = moments_of(lambda: fresh().publish(), root, every=every)
    return _OF_PUBLISHING[every, way]


def sampled(moments: Sequence[Moment], *of: object, long: bool, one_in: int = 9) -> Sequence[Moment]:
    """All of them, or one in nine; which ones depends on what they are for."""
    return moments if long else moments[len(repr(of)) % one_in :: one_in]


def disk(root: Path) -> dict[str, tuple[int, ...]]:
    """Everything below `root`, git's own folder too: another file, or the same written anew, is another answer."""
    found: dict[str, tuple[int, ...]] = {}
    folders = [str(root)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                stat = os.lstat(entry.path)
                found[entry.path] = (stat.st_ino, stat.st_mode, stat.st_nlink, stat.st_size, stat.st_mtime_ns)
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
    return found


def copies(at_work: UserAtWork, tmp_path: Path) -> Callable[[], UserAtWork]:
    """Fresh copies of the at_work, always at the same path, so that git's stat cache of the copy is as good."""
    pristine = tmp_path / "pristine"
    shutil.copytree(at_work.repository.root, pristine, symlinks=True)

    def fresh() -> UserAtWork:
        shutil.rmtree(at_work.repository.root)
        shutil.copytree(pristine, at_work.repository.root, symlinks=True)
        return at_work

    return fresh


def settle_again(at_work: UserAtWork) -> None:
    """What the next run does: recover, and publish again unless the branch has moved."""
    at_work.recover()
    assert at_work.repository.head() in (at_work.old, at_work.new)
    at_work.check(at_work.repository.head())
    if at_work.repository.head() == at_work.old:
        assert at_work.publish()
    at_work.check(at_work.new)


def is_line(moment: Moment, words: str) -> bool:
    """Does the line have these words?"""
    return words in _lines(moment.source)[moment.line - 1]


@cache
def _lines(source: str) -> list[str]:
    return Path(source).read_text().splitlines()


def facts(file: Path) -> tuple[str, str]:
    """What is there: the kind, and the contents."""
    if file.is_symlink():
        return "link", os.readlink(file)
    return ("file", file.read_text()) if file.is_file() else ("folder" if file.is_dir() else "nothing", "")
