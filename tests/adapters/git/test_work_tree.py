"""Files that follow a branch while the user is at work on them: nothing of theirs is lost, and nothing elsewhere is touched."""

import contextlib
import errno
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from expctl.adapters.git import atomic_exchange, work_tree
from expctl.adapters.git.atomic_exchange import DirEntry
from expctl.adapters.git.publication import Publication
from expctl.adapters.git.reader import locate
from expctl.adapters.git.workspace import GitWorkspace
from expctl.domain.errors import Refused
from expctl.launcher.kernel import renameat2
from tests.adapters.git.user_at_work import (
    EDITED,
    Moment,
    UserAtWork,
    at_each_line,
    copies,
    disk,
    facts,
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


@pytest.mark.parametrize("killed", [False, True], ids=["goes on", "killed then"])
@pytest.mark.parametrize("name", MEANWHILE)
def test_what_the_user_does_at_any_moment_stays(
    at_work: UserAtWork, tmp_path: Path, name: str, killed: bool, long: bool
) -> None:
    """Done at any moment of a publication, it is there afterwards, or the publication refused."""
    fresh = copies(at_work, tmp_path)
    path, act = MEANWHILE[name]
    trials = 0
    for moment in sampled(moments_of_publishing(fresh, at_work.repository.root, every=long), name, killed, long=long):
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
    assert trials >= (100 if long else 4)


def exchange_of(at_work: UserAtWork, path: str) -> Moment:
    """Just before a publication takes that file: the last exchange that still finds the old one."""
    file, found = at_work.repository.root / path, list[Moment]()
    old = facts(file)

    def look(now: Moment) -> None:
        if is_line(now, EXCHANGES[path]) and facts(file) == old:
            found.append(now)

    at_each_line(at_work.publish, look)
    return found[-1]


def before_the_exchange(at_work: UserAtWork, tmp_path: Path) -> tuple[UserAtWork, Moment, Path]:
    """A at_work on which nothing has happened yet, and when a publication there will take which file."""
    fresh = copies(at_work, tmp_path)
    exchange = exchange_of(fresh(), "src/kernel.txt")
    return fresh(), exchange, at_work.repository.root / "src/kernel.txt"


EXCHANGES = {"src/kernel.txt": "renameat2(new, file, RENAME_EXCHANGE)", "src/other.txt": "os.rename(file.name, out.name"}


@pytest.mark.parametrize("path", ["src/kernel.txt", pytest.param("src/other.txt", marks=pytest.mark.long)])
def test_an_edit_just_before_the_exchange_survives_a_kill_at_any_moment_after_it(
    at_work: UserAtWork, tmp_path: Path, path: str, long: bool
) -> None:
    fresh = copies(at_work, tmp_path)
    exchange = exchange_of(fresh(), path)

    order: list[Moment] = []

    def edit(now: Moment) -> None:
        order.append(now)
        if now == exchange:
            at_work.repository.write(path, "mine\n")

    def killed(moment: Moment) -> Path:
        def disturb(now: Moment) -> None:
            edit(now)
            if now == moment:
                os.kill(os.getpid(), signal.SIGKILL)

        trial = fresh()
        assert in_a_child(lambda: at_each_line(trial.publish, disturb))
        return at_work.repository.root / path

    moments = moments_of(fresh().publish, at_work.repository.root, every=long, disturb=edit)
    later = set(order[order.index(exchange) + 1 :])
    lost_sight_of = 0
    for moment in filter(later.__contains__, moments):
        file = killed(moment)
        lost_sight_of += facts(file) != ("file", "mine\n")
        at_work.recover()
        assert facts(file) == ("file", "mine\n"), moment
        assert facts(file.with_name(f"{file.name}.edit1"))[0] == "nothing"

        file = killed(moment)
        first = facts(file)
        file.write_text("mine again\n")  # whether or not the first edit is to be seen
        at_work.recover()
        assert facts(file) == ("file", "mine again\n"), moment
        if first != ("file", "mine\n"):
            assert facts(file.with_name(f"{file.name}.edit1")) == ("file", "mine\n"), moment
    assert lost_sight_of, "no kill came between the exchange and the look at what came out"


# ------------------------------------------------------------------ where files can't be exchanged

PLAIN_EXCHANGE, PLAIN_CALL = atomic_exchange.exchange, renameat2


def _cannot_exchange(*_: object) -> None:
    raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))


def _is_another_mount(new: DirEntry | None, file: DirEntry, out: DirEntry, *, exists: bool) -> None:
    if not out.name.startswith(".expctl-aside-"):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
    PLAIN_EXCHANGE(new, file, out, exists=exists)


@pytest.fixture(params=["no exchange", "another mount", "neither"])
def other_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A machine on which files are replaced in another way."""
    if request.param != "another mount":
        monkeypatch.setattr(atomic_exchange, "renameat2", _cannot_exchange)
        monkeypatch.setattr(work_tree, "renameat2", _cannot_exchange)
    if request.param != "no exchange":
        monkeypatch.setattr(work_tree, "exchange", _is_another_mount)
    return str(request.param)


@pytest.mark.parametrize("path", [pytest.param("src/kernel.txt", marks=pytest.mark.long), "src/other.txt"])
def test_edits_stay_and_kills_harm_nothing_there_either(
    at_work: UserAtWork, tmp_path: Path, long: bool, path: str, other_way: str
) -> None:
    fresh = copies(at_work, tmp_path)
    moments = moments_of_publishing(fresh, at_work.repository.root, every=long, way=other_way)
    assert len(moments) > 30
    for moment in sampled(moments, path, other_way, long=long, one_in=15):
        trial = fresh()
        if killed_at(trial.publish, moment):
            settle_again(trial)

        trial = fresh()

        def edit(now: Moment, moment: Moment = moment, trial: UserAtWork = trial) -> None:
            if now == moment:
                trial.repository.write(path, "mine\n")

        with contextlib.suppress(Refused):
            at_each_line(trial.publish, edit)
        file = trial.repository.root / path
        kept = [facts(each) for each in (file, file.with_name(f"{file.name}.edit1"))]
        assert ("file", "mine\n") in kept, (other_way, moment)
        assert [each.name for each in file.parent.iterdir() if each.name.startswith(".expctl-aside-")] == []


# ------------------------------------------------------------------ what else may happen to a file


@pytest.mark.parametrize("killed", [False, True], ids=["goes on", "killed then"])
@pytest.mark.parametrize("folder", ["src", "experiments", "src/deep"])
def test_a_folder_that_becomes_a_link_leads_no_repository(
    at_work: UserAtWork, tmp_path: Path, folder: str, killed: bool, long: bool
) -> None:
    """Whatever is behind it stays as it is."""
    fresh = copies(at_work, tmp_path)
    outside = tmp_path / "outside"
    for moment in sampled(moments_of_publishing(fresh, at_work.repository.root, every=long), folder, killed, long=long):
        trial = fresh()
        shutil.rmtree(outside, ignore_errors=True)
        shutil.copytree(trial.repository.root / "src", outside)
        before = disk(outside)
        place = trial.repository.root / folder

        def divert(place: Path = place) -> None:
            if place.exists():
                place.rename(place.with_name(f"{place.name}.moved"))
            place.symlink_to(outside)

        def act(now: Moment, moment: Moment = moment, divert: Callable[[], None] = divert) -> None:
            if now == moment:
                divert()

        with contextlib.suppress(Refused):
            if killed:
                killed_at(trial.publish, moment, divert)
            else:
                at_each_line(trial.publish, act)
            trial.recover()
        assert disk(outside) == before, moment


def test_a_right_that_the_user_gives_just_before_the_exchange_stays(at_work: UserAtWork, tmp_path: Path) -> None:
    trial, exchange, file = before_the_exchange(at_work, tmp_path)
    assert trial.repository.git("config", "core.fileMode").strip() == "true"
    at_each_line(trial.publish, lambda now: file.chmod(0o755) if now == exchange else None)
    assert os.access(file, os.X_OK)
    assert trial.repository.head() == trial.new


@pytest.mark.parametrize("closes", [False, True], ids=["later", "at once"])
def test_who_still_writes_keeps_the_file(at_work: UserAtWork, tmp_path: Path, closes: bool) -> None:
    """A program that opened it just before the exchange, and writes when it is done, or while we look."""
    trial, exchange, file = before_the_exchange(at_work, tmp_path)
    with contextlib.ExitStack() as stack:
        opened = []

        def write(now: Moment) -> None:
            if now == exchange:
                opened.append(stack.enter_context(open(file, "a")))
            if closes and opened and not opened[0].closed and is_line(now, "found = read_entry(entry)"):
                opened[0].write("mine\n")
                opened[0].close()

        at_each_line(trial.publish, write)
        if not closes:
            opened[0].write("mine\n")
    assert file.read_bytes().endswith(b"mine\n")


def test_a_file_that_is_open_to_write_refuses_the_publication(at_work: UserAtWork) -> None:
    """Its writer would write to the old file, whatever its name is by then."""
    with (
        open(at_work.repository.root / "src/kernel.txt", "a"),
        refuses("local-change-in-the-way") as caught,
    ):
        at_work.publish()
    assert (caught.value.found, caught.value.where[-15:]) == ("a program has the file open for writing", "/src/kernel.txt")
    at_work.check(at_work.old)


def test_a_file_system_that_gives_no_leases_has_no_writers(at_work: UserAtWork, monkeypatch: pytest.MonkeyPatch) -> None:
    """NFS says so with the same error as a file that somebody writes."""
    monkeypatch.setattr(atomic_exchange, "_lease_is_refused", lambda _: True)
    assert at_work.publish()
    at_work.check(at_work.new)


IN_THE_WAY = {
    "the file": ("src/made.o", "src/made.o"),
    "a file for its folder": ("src/made.o/deep", "src/made.o"),
    "a folder for the file": ("src/made.o", "src/made.o/deep"),
}


@pytest.mark.parametrize("case", IN_THE_WAY)
def test_what_is_ignored_and_in_the_way_is_a_local_change(repository: Repository, case: str) -> None:
    comes, lies = IN_THE_WAY[case]
    old = repository.head()
    repository.write(comes, "theirs\n")
    repository.git("add", "-f", comes)
    new = repository.commit("P1")
    repository.git("reset", "-q", "--hard", old)
    repository.write(lies, "mine\n")
    assert repository.status() == ""
    with refuses("local-change-in-the-way") as caught:
        Publication(GitWorkspace(locate(repository.root))).publish(branch="main", old=old, new=new)
    assert caught.value.where.endswith(comes)
    assert repository.files()[lies] == b"mine\n"
    assert (repository.head(), repository.status()) == (old, "")


CHANGES: dict[str, Callable[[Repository], object]] = {
    "rights": lambda repository: (repository.root / "src/kernel.txt").chmod(0o755),
    "a folder becomes a file": lambda repository: (
        shutil.rmtree(repository.root / "src/sub"),
        repository.write("src/sub", "file\n"),
    ),
    "a file becomes a folder": lambda repository: (
        (repository.root / "src/other.txt").unlink(),
        repository.write("src/other.txt/inner", "file\n"),
    ),
    "a link goes": lambda repository: (repository.root / "src/link").unlink(),
    "a link becomes a file": lambda repository: (
        (repository.root / "src/link").unlink(),
        repository.write("src/link", "file\n"),
    ),
    "a file becomes a link": lambda repository: (
        (repository.root / "src/other.txt").unlink(),
        (repository.root / "src/other.txt").symlink_to("kernel.txt"),
    ),
    "line ends": lambda repository: repository.write("src/crlf.txt", b"one\r\ntwo\r\nthree\r\n"),
}
SETTINGS = {
    "": (),
    "autocrlf": ("core.autocrlf", "true"),
    "input": ("core.autocrlf", "input"),
    "modes": ("core.fileMode", "false"),
}


# Every change, and every setting with what it says something about.
SHORT = {*((change, "") for change in CHANGES), ("line ends", "autocrlf"), ("line ends", "input"), ("rights", "modes")}
FOLLOWED = [
    pytest.param(change, setting, marks=() if (change, setting) in SHORT else pytest.mark.long)
    for change in CHANGES
    for setting in SETTINGS
]


@pytest.mark.parametrize(("change", "setting"), FOLLOWED)
def test_whatever_changes_the_tree_follows_there_and_back(repository: Repository, change: str, setting: str) -> None:
    repository.write("src/sub/inner", "inner\n")
    repository.write("src/crlf.txt", b"one\r\ntwo\r\n")
    (repository.root / "src/link").symlink_to("kernel.txt")
    old = repository.commit("before")
    CHANGES[change](repository)
    new = repository.commit("after")
    repository.git("reset", "-q", "--hard", old)
    if SETTINGS[setting]:
        repository.git("config", *SETTINGS[setting])
    for one, two in ((old, new), (new, old)):
        assert repository.status() == ""
        assert Publication(GitWorkspace(locate(repository.root))).publish(branch="main", old=one, new=two)
        assert (repository.head(), repository.status()) == (two, "")
        followed = repository.files()
        paths = repository.git("diff", "--name-only", one, two).split()
        repository.git("checkout-index", "-f", "-q", "--", *(path for path in paths if path in followed))
        assert repository.files() == followed, "git itself writes something else"
        assert repository.git("diff-index", "--cached", "HEAD") == ""


@pytest.mark.parametrize("way", ["exchange", "no exchange", "no exchange, no links"])
def test_a_folder_in_the_place_of_the_file(
    at_work: UserAtWork, tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    if way != "exchange":
        monkeypatch.setattr(atomic_exchange, "renameat2", _cannot_exchange)
        monkeypatch.setattr(work_tree, "renameat2", _cannot_exchange)
    trial, exchange, file = before_the_exchange(at_work, tmp_path)

    def replace(now: Moment) -> None:
        if now == exchange:
            file.unlink()
            trial.repository.write("src/kernel.txt/inner", "mine\n")
            if way.endswith("no links"):
                monkeypatch.setattr(os, "link", no_links)

    at_each_line(trial.publish, replace)
    kept = [file / "inner", file.with_name("kernel.txt.edit1") / "inner"]
    assert [each.read_text() for each in kept if each.exists()] == ["mine\n"]
    assert trial.repository.head() == trial.new
    assert not (trial.repository.root / ".git/index.lock").exists()


def test_an_edit_that_is_removed_while_it_is_handed_back(at_work: UserAtWork, tmp_path: Path) -> None:
    trial, exchange, file = before_the_exchange(at_work, tmp_path)

    def disturb(now: Moment) -> None:
        if now == exchange:
            file.write_text("mine\n")
        if is_line(now, "renameat2(entry, file, RENAME_EXCHANGE)") and file.exists():
            file.unlink()

    at_each_line(trial.publish, disturb)
    assert file.read_text() == "mine\n"


def test_a_long_name_has_room_for_what_is_added(repository: Repository) -> None:
    name = "é" * 127
    repository.write(f"src/{name}", "before\n")
    repository.write(f"src/{name[:3]}", "shorter\n")
    old = repository.commit("before")
    repository.write(f"src/{name}", "after\n")
    new = repository.commit("after")
    repository.git("reset", "-q", "--hard", old)
    at_work = UserAtWork(repository=repository, old=old, new=new, status="", files=repository.files(), stash="")
    file = repository.root / "src" / name

    def disturb(now: Moment) -> None:
        if is_line(now, EXCHANGES["src/kernel.txt"]) and file.read_text() == "before\n":
            file.write_text("mine\n")
        if is_line(now, "self._put_back(change, entry, file)"):
            file.write_text("mine again\n")

    at_each_line(at_work.publish, disturb)
    assert file.read_text() == "mine again\n"
    (edit,) = (each for each in file.parent.iterdir() if each.name.endswith(".edit1"))
    assert edit.read_text() == "mine\n"


@pytest.mark.parametrize("comes", ["src/deep", "src/sub"], ids=["a new file", "a folder becomes a file"])
def test_empty_folders_in_the_way_go_as_git_lets_them_go(repository: Repository, comes: str) -> None:
    repository.write("src/sub/inner", "inner\n")
    old = repository.commit("before")
    shutil.rmtree(repository.root / "src/sub")
    repository.write(comes, "comes\n")
    new = repository.commit("after")
    repository.git("reset", "-q", "--hard", old)
    (repository.root / comes / "empty/emptier").mkdir(parents=True)
    assert Publication(GitWorkspace(locate(repository.root))).publish(branch="main", old=old, new=new)
    assert (repository.status(), repository.files()[comes]) == ("", b"comes\n")


def test_attributes_that_come_with_the_files_hold_for_them(repository: Repository) -> None:
    repository.write(".gitattributes", "*.c text\n")
    repository.write("src/ends.txt", "one\n")
    old = repository.commit("before")
    repository.write(".gitattributes", "*.txt eol=crlf\n")
    repository.write("src/ends.txt", "one\ntwo\n")
    new = repository.commit("after")
    repository.git("reset", "-q", "--hard", old)
    assert Publication(GitWorkspace(locate(repository.root))).publish(branch="main", old=old, new=new)
    assert (repository.status(), repository.files()["src/ends.txt"]) == ("", b"one\r\ntwo\r\n")


def test_a_folder_that_cannot_be_written_refuses_the_publication(at_work: UserAtWork, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = at_work.repository.root / "src"
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != folder and access(path, mode))
    with refuses("local-change-in-the-way") as caught:
        at_work.publish()
    assert caught.value.found == "a folder that you may not write"
    at_work.check(at_work.old)


def test_an_edit_whose_folder_is_gone_is_kept_with_the_state(at_work: UserAtWork, tmp_path: Path) -> None:
    fresh = copies(at_work, tmp_path)
    exchange = exchange_of(fresh(), "src/kernel.txt")
    trial = fresh()
    root = trial.repository.root

    def disturb(now: Moment) -> None:
        if now == exchange:
            trial.repository.write("src/kernel.txt", "mine\n")
        if is_line(now, "self._finish_entry(change, each, file)") and facts(root / "src/kernel.txt")[1] == EDITED.decode():
            os.kill(os.getpid(), signal.SIGKILL)

    assert in_a_child(lambda: at_each_line(trial.publish, disturb))
    shutil.rmtree(root / "src")
    trial.recover()
    assert (root / ".git/expctl/edits/kernel.txt").read_text() == "mine\n"
    assert not (root / ".git/index.lock").exists()


def test_an_edit_that_a_dead_capture_left_aside_comes_back(at_work: UserAtWork, tmp_path: Path) -> None:
    """`restore`, which has no publication, dies with an edit of the last moment aside; the next run brings it back."""
    fresh = copies(at_work, tmp_path)

    def begun() -> tuple[GitWorkspace, str]:
        trial = fresh()
        trial.repository.write("src/kernel.txt", EDITED)
        workspace = trial.workspace()
        tree = workspace.candidate_tree(trial.old, workspace.capture(["src/kernel.txt"]))
        assert isinstance(tree, str)
        return workspace, tree

    def exchanged(now: Moment) -> bool:
        return is_line(now, "self._finish_change(change, aside)") and file.read_bytes() != EDITED

    file = at_work.repository.root / "src/kernel.txt"
    workspace, tree = begun()

    def disturb(now: Moment) -> None:
        if is_line(now, EXCHANGES["src/kernel.txt"]):
            file.write_text("mine\n")
        if exchanged(now) and facts(file) != ("file", "mine\n"):
            os.kill(os.getpid(), signal.SIGKILL)

    assert in_a_child(lambda: at_each_line(lambda: workspace.set_back(["src/kernel.txt"], tree=tree), disturb))
    assert facts(file) != ("file", "mine\n")
    at_work.workspace().finish_publication()
    assert facts(file) == ("file", "mine\n")
    assert not (at_work.repository.root / ".git/expctl/publication.aside").exists()
