"""Planted defects: expctl with one safeguard removed, inside one runner. Each class of faults must catch one of them."""

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from expctl.adapters import journal
from expctl.adapters.child import contained_process
from expctl.adapters.git import command, object_server, plumbing, work_tree
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
from expctl.launcher import capabilities, containment, running

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


def instead(owner: object, name: str, other: object) -> None:
    """Put something else in the place of a safeguard. Raises AttributeError if there is none of this name."""
    getattr(owner, name)
    setattr(owner, name, other)


def _nothing(*_: object, **__: object) -> None:
    return None


def _no(*_: object) -> bool:
    return False


def _undo(publication: Publication, *_: object, **__: object) -> None:
    publication._release()


# ------------------------------------------------------------------ recovery and publication


@defect("publications are not recovered")
def _() -> None:
    instead(GitWorkspace, "finish_publication", _nothing)


@defect("published records are not looked for")
def _() -> None:
    instead(recovery, "_close_published", _nothing)


@defect("check-outs stay")
def _() -> None:
    instead(GitWorkspace, "remove_check_outs", _nothing)


@defect("no intent is written")
def _() -> None:
    append = journal.FileJournal.append

    def without_intent(self: journal.FileJournal, experiment: str, event: Any) -> None:
        if not isinstance(event, Publishing):
            append(self, experiment, event)

    instead(journal.FileJournal, "append", without_intent)


@defect("a publication is always undone")
def _() -> None:
    instead(Publication, "recover", _undo)


@defect("locks of ours are not known")
def _() -> None:
    instead(Publication, "_lock_is_ours", _no)


@defect("files follow before the branch")
def _() -> None:
    move, complete = Publication._move_branch, Publication._complete

    def follow_first(self: Publication, branch: str, old: str, new: str) -> bool:
        self._merge(old, new)
        self._files.stage(old, new)
        lock = self._lock.read_bytes()
        complete(self, branch, old, new)
        self._lock.write_bytes(lock)
        return move(self, branch, old, new)

    instead(Publication, "_move_branch", follow_first)
    instead(Publication, "_complete", _undo)


@defect("the branch is not compared")
def _() -> None:
    def force(self: Publication, branch: str, old: str, new: str) -> bool:  # noqa: ARG001
        return self._ws.call(["update-ref", f"refs/heads/{branch}", new])[0] == 0

    instead(Publication, "_move_branch", force)


@defect("the branch that is checked out is not looked at")
def _() -> None:
    instead(plumbing.GitPlumbing, "branch", lambda _: "main")
    instead(Publication, "_head_contains", lambda *_: True)


@defect("objects that vanish are bugs")
def _() -> None:
    plumbing.LOST = re.compile("(?!)")
    instead(plumbing, "gave_up", lambda *words: RuntimeError(*words))


@defect("local changes are not looked at")
def _() -> None:
    instead(GitWorkspace, "dirty", lambda *_: ())
    instead(WorkTreeFiles, "_state", lambda *_: work_tree._State.OLD)


# ------------------------------------------------------------------ what is refused


@defect("a detached head is not looked at")
def _() -> None:
    instead(preflight, "check_branch", lambda workspace: workspace.branch())


@defect("an unfinished operation is not looked at")
def _() -> None:
    instead(GitWorkspace, "unfinished_operation", lambda _: "")


@defect("a patch that fails is taken for none")
def _() -> None:
    tree_of = GitWorkspace.candidate_tree

    def forgiving(self: GitWorkspace, base: str, patch: bytes) -> str | Failed:
        made = tree_of(self, base, patch)
        return self.must(["rev-parse", f"{base}^{{tree}}"]) if isinstance(made, Failed) else made

    instead(GitWorkspace, "candidate_tree", forgiving)
    instead(repository_contents, "no_diff", lambda _: "")
    instead(preflight, "tree_faults", lambda *_: [])


@defect("patches pass as text")
def _() -> None:
    tree_of = GitWorkspace.candidate_tree

    def as_text(self: GitWorkspace, base: str, patch: bytes) -> str | Failed:
        lines = (line.strip() for line in patch.decode("ascii", errors="replace").splitlines())
        wrapped = (line[at : at + 60] for line in lines for at in range(0, max(1, len(line)), 60))
        return tree_of(self, base, "".join(f"{line}\n" for line in wrapped).encode())

    instead(GitWorkspace, "candidate_tree", as_text)


# ------------------------------------------------------------------ locks, signals, errors


@defect("no lock of the repository")
def _() -> None:
    instead(repository_lock, "fcntl", type("fcntl", (), {"flock": _nothing, "LOCK_EX": 0, "LOCK_NB": 0}))


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

    instead(git_publication, "uninterrupted", held)
    instead(Publication, "publish", blindly)


@defect("INT ends the process and says that all is well")
def _() -> None:
    instead(signals.Interruption, "_handle", lambda self, number, frame: os._exit(0))  # noqa: ARG005


@defect("errors of the machine are bugs")
def _() -> None:
    instead(builder, "is_trouble", _no)
    instead(runner, "is_trouble", _no)
    instead(os_errors, "explained", _nothing)
    instead(preconditions, "explained", _nothing)
    for module in (plumbing, command):
        instead(module, "git_trouble", lambda *_: None)


@defect("git's status is not looked at")
def _() -> None:
    for module in (plumbing, command):
        instead(module, "git_trouble", lambda *_: None)
    must = plumbing.GitPlumbing.must

    def trusting(self: plumbing.GitPlumbing, arguments: Any, **options: Any) -> str:
        try:
            return must(self, arguments, **options)
        except (RuntimeError, MachineTrouble):
            return ""

    instead(plumbing.GitPlumbing, "must", trusting)
    instead(git_workspace.GitWorkspace, "must", trusting)
    ask = object_server.ObjectServer.ask
    nothing = object_server.Answer("", b"", b"")
    instead(object_server.ObjectServer, "ask", lambda self, names: ask(self, names) or [nothing for _ in names])


@defect("a killed step blames the candidate")
def _() -> None:
    def blaming(*, reason: str, blames_candidate: bool) -> MeasureFailed:  # noqa: ARG001
        return MeasureFailed(reason=reason, blames_candidate=True)

    instead(perform, "MeasureFailed", blaming)


@defect("a profiler has all the time")
def _() -> None:
    instead(contained_process.Child, "lines", _endless(contained_process.Child.lines))


def _endless(lines: Any) -> Any:
    return lambda self, deadline_s: lines(self, deadline_s + 3600)


@defect("orphans stay")
def _() -> None:
    found = capabilities.detect_capabilities
    instead(containment, "detect_capabilities", lambda: replace(found(), own_processes=False))  # which ends them by itself
    instead(containment, "make_group", _nothing)
    instead(running, "_end_orphans", lambda *_: ())
    instead(contained_process, "end_survivors", _nothing)


# ------------------------------------------------------------------ what is written


@defect("half a line stays in the journal")
def _() -> None:
    instead(journal, "_heal", _nothing)


@defect("a short write is taken for a whole one")
def _() -> None:
    def careless(source: Path, target: Path) -> None:
        descriptor = os.open(target, os.O_RDWR | os.O_CREAT, 0o644)
        os.ftruncate(descriptor, os.write(descriptor, source.read_bytes()))
        os.close(descriptor)

    instead(Publication, "_copy_durably", staticmethod(careless))


@defect("nothing is flushed")
def _() -> None:
    instead(os, "fsync", _nothing)
    instead(
        command, "SETTINGS", tuple("core.fsync=none" if each.startswith("core.fsync=") else each for each in command.SETTINGS)
    )


@defect("checksums are not looked at")
def _() -> None:
    import json

    instead(journal, "_checked", lambda text, *_: json.loads(text.decode(errors="replace")))


@defect("durations by the time of day")
def _() -> None:
    instead(SystemClock, "monotonic_s", lambda _: time.time())
