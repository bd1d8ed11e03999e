"""Planted defects: expctl with one safeguard removed, inside one runner. Each class of faults must catch one of them."""

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from expctl.adapters import journal
from expctl.adapters.child import contained_process
from expctl.adapters.git import command, plumbing, work_tree
from expctl.adapters.git import publication as git_publication
from expctl.adapters.git import workspace as git_workspace
from expctl.adapters.git.publication import Publication
from expctl.adapters.git.work_tree import WorkTreeFiles
from expctl.adapters.git.workspace import GitWorkspace
from expctl.adapters.machine import repository_lock, signals
from expctl.adapters.machine.clock import SystemClock
from expctl.adapters.records import repository_contents
from expctl.adapters.steps import builder, runner
from expctl.domain.errors import MachineTrouble
from expctl.domain.machine import os_errors
from expctl.domain.run.events import MeasureFailed, Publishing
from expctl.domain.run.step_result import Failed
from expctl.flow.autopilot import preconditions
from expctl.flow.repository import preflight, recovery
from expctl.flow.run import perform
from expctl.launcher import containment, running

Defect = Callable[[], None]
DEFECTS: dict[str, Defect] = {}


def plant(name: str) -> None:
    """Remove one safeguard from this process."""
    DEFECTS[name]()


def defect(name: str) -> Callable[[Defect], Defect]:
    """Register under what is no longer done."""

    def register(remove: Defect) -> Defect:
        DEFECTS[name] = remove
        return remove

    return register


def _nothing(*_: object, **__: object) -> None:
    return None


def _no(*_: object) -> bool:
    return False


def _undo(publication: Publication, *_: object, **__: object) -> None:
    publication._release()


# ------------------------------------------------------------------ recovery and publication


@defect("publications are not recovered")
def _() -> None:
    GitWorkspace.finish_publication = _nothing  # type: ignore[method-assign]


@defect("published records are not looked for")
def _() -> None:
    recovery._close_published = _nothing  # type: ignore[assignment]


@defect("check-outs stay")
def _() -> None:
    GitWorkspace.remove_check_outs = _nothing  # type: ignore[method-assign]


@defect("no intent is written")
def _() -> None:
    append = journal.FileJournal.append

    def without_intent(self: journal.FileJournal, experiment: str, event: Any) -> None:
        if not isinstance(event, Publishing):
            append(self, experiment, event)

    journal.FileJournal.append = without_intent  # type: ignore[method-assign]


@defect("a publication is always undone")
def _() -> None:
    Publication.recover = _undo  # type: ignore[method-assign]


@defect("locks of ours are not known")
def _() -> None:
    Publication._lock_is_ours = _no  # type: ignore[method-assign]


@defect("files follow before the branch")
def _() -> None:
    move, complete = Publication._move_branch, Publication._complete

    def follow_first(self: Publication, branch: str, old: str, new: str) -> bool:
        self._merge(old, new)
        self._files.stage(old, new)
        lock = self._lock.read_bytes()
        complete(self, old, new)
        self._lock.write_bytes(lock)
        return move(self, branch, old, new)

    Publication._move_branch = follow_first  # type: ignore[method-assign]
    Publication._complete = _undo  # type: ignore[method-assign]


@defect("the branch is not compared")
def _() -> None:
    def force(self: Publication, branch: str, old: str, new: str) -> bool:  # noqa: ARG001
        return self._ws.call(["update-ref", f"refs/heads/{branch}", new])[0] == 0

    Publication._move_branch = force  # type: ignore[method-assign]


@defect("the branch that is checked out is not looked at")
def _() -> None:
    plumbing.GitPlumbing.branch = lambda _: "main"  # type: ignore[method-assign]
    Publication._head_contains = lambda *_: True  # type: ignore[method-assign]


@defect("objects that vanish are bugs")
def _() -> None:
    plumbing.LOST = re.compile("(?!)")
    plumbing.gave_up = lambda *words: RuntimeError(*words)  # type: ignore[assignment,return-value]


@defect("local changes are not looked at")
def _() -> None:
    GitWorkspace.dirty = lambda *_: ()  # type: ignore[method-assign]
    WorkTreeFiles._state = lambda *_: work_tree._State.OLD  # type: ignore[method-assign]


# ------------------------------------------------------------------ what is refused


@defect("a detached head is not looked at")
def _() -> None:
    preflight.check_branch = lambda workspace: workspace.branch()  # type: ignore[assignment]


@defect("an unfinished operation is not looked at")
def _() -> None:
    GitWorkspace.unfinished_operation = lambda _: ""  # type: ignore[method-assign]


@defect("a patch that fails is taken for none")
def _() -> None:
    tree_of = GitWorkspace.candidate_tree

    def forgiving(self: GitWorkspace, base: str, patch: bytes) -> str | Failed:
        made = tree_of(self, base, patch)
        return self.must(["rev-parse", f"{base}^{{tree}}"]) if isinstance(made, Failed) else made

    GitWorkspace.candidate_tree = forgiving  # type: ignore[method-assign]
    repository_contents.no_diff = lambda _: ""
    preflight.tree_faults = lambda *_: []  # type: ignore[assignment]


@defect("patches pass as text")
def _() -> None:
    tree_of = GitWorkspace.candidate_tree

    def as_text(self: GitWorkspace, base: str, patch: bytes) -> str | Failed:
        lines = (line.strip() for line in patch.decode("ascii", errors="replace").splitlines())
        wrapped = (line[at : at + 60] for line in lines for at in range(0, max(1, len(line)), 60))
        return tree_of(self, base, "".join(f"{line}\n" for line in wrapped).encode())

    GitWorkspace.candidate_tree = as_text  # type: ignore[method-assign]


# ------------------------------------------------------------------ locks, signals, errors


@defect("no lock of the repository")
def _() -> None:
    repository_lock.fcntl = type("fcntl", (), {"flock": _nothing, "LOCK_EX": 0, "LOCK_NB": 0})  # type: ignore[assignment]


@defect("an abort tidies up as if the branch had not moved")
def _() -> None:
    @contextlib.contextmanager
    def held() -> Iterator[None]:
        yield

    publish = Publication.publish

    def blindly(self: Publication, *, branch: str, old: str, new: str) -> bool:
        try:
            return publish(self, branch=branch, old=old, new=new)
        except BaseException:
            self._release()
            raise

    git_publication.uninterrupted = held
    Publication.publish = blindly  # type: ignore[method-assign]


@defect("INT ends the process and says that all is well")
def _() -> None:
    signals.Interruption._handle = lambda self, number, frame: os._exit(0)  # type: ignore[method-assign]  # noqa: ARG005


@defect("errors of the machine are bugs")
def _() -> None:
    builder.is_trouble = runner.is_trouble = _no  # type: ignore[assignment]
    os_errors.explained = preconditions.explained = _nothing
    for module in (plumbing, command):
        module.git_trouble = lambda *_: None  # type: ignore[assignment]


@defect("git's status is not looked at")
def _() -> None:
    for module in (plumbing, command):
        module.git_trouble = lambda *_: None  # type: ignore[assignment]
    must = plumbing.GitPlumbing.must

    def trusting(self: plumbing.GitPlumbing, arguments: Any, **options: Any) -> str:
        try:
            return must(self, arguments, **options)
        except (RuntimeError, MachineTrouble):
            return ""

    plumbing.GitPlumbing.must = trusting  # type: ignore[method-assign]
    git_workspace.GitWorkspace.must = trusting  # type: ignore[method-assign]


@defect("a killed step blames the candidate")
def _() -> None:
    def blaming(*, reason: str, blames_candidate: bool) -> MeasureFailed:  # noqa: ARG001
        return MeasureFailed(reason=reason, blames_candidate=True)

    perform.MeasureFailed = blaming  # type: ignore[assignment,misc]


@defect("a profiler has all the time")
def _() -> None:
    contained_process.Child.lines = _endless(contained_process.Child.lines)  # type: ignore[method-assign]


def _endless(lines: Any) -> Any:
    return lambda self, deadline_s: lines(self, deadline_s + 3600)


@defect("orphans stay")
def _() -> None:
    containment.make_group = _nothing  # type: ignore[assignment]
    running._end_orphans = lambda *_: ()
    contained_process.end_survivors = _nothing  # type: ignore[assignment]


# ------------------------------------------------------------------ what is written


@defect("half a line stays in the journal")
def _() -> None:
    journal._heal = _nothing  # type: ignore[assignment]


@defect("a short write is taken for a whole one")
def _() -> None:
    def careless(source: Path, target: Path) -> None:
        descriptor = os.open(target, os.O_RDWR | os.O_CREAT, 0o644)
        os.ftruncate(descriptor, os.write(descriptor, source.read_bytes()))
        os.close(descriptor)

    Publication._copy_durably = staticmethod(careless)  # type: ignore[method-assign]


@defect("nothing is flushed")
def _() -> None:
    os.fsync = _nothing  # type: ignore[assignment]
    command.SETTINGS = tuple("core.fsync=none" if each.startswith("core.fsync=") else each for each in command.SETTINGS)


@defect("checksums are not looked at")
def _() -> None:
    import json

    journal._checked = lambda text, *_: json.loads(text.decode(errors="replace"))  # type: ignore[assignment]


@defect("durations by the time of day")
def _() -> None:
    SystemClock.monotonic_s = lambda _: time.time()  # type: ignore[method-assign]
