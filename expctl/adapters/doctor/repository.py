"""Checks of `expctl doctor` on the machine's lock, and on what expctl keeps below the git folder. They change nothing.

That is: journals, refs, work trees, locks, and a publication that a killed run left.
"""

import os
import shlex
import time
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from expctl.adapters.git.reader import GitReader
from expctl.adapters.journal import FileJournal
from expctl.adapters.machine.device_lock import MachineLock
from expctl.adapters.machine.lock_holder import read_holder
from expctl.adapters.records.calibrations import state_folder
from expctl.domain.checkup import Finding, note, ok, wrong
from expctl.domain.errors import Refused
from expctl.domain.tuning.events import TuneEvent, TuningBegun
from expctl.domain.tuning.name import TUNE
from expctl.files import cache_folder, checked_json

LOCKS = ("index.lock", "HEAD.lock", "packed-refs.lock", "config.lock", "shallow.lock")
FOLDERS = ("journal", TUNE, "scratch", "artifacts", "checkouts", "profiles", "gate")
JSON_CACHES = ("probes", "hot_loops")
CACHES = ("answers", "compiled", "sources")
"""Below the folder `meanings`: caches whose files begin with a hash."""
CLEAR = "expctl doctor --clear"


class StateCheckup:
    """Finds what killed runs left below the git folder. `known` are the ids of all experiments that have a proposal or a
    record, `rests_on` identifies what a tuning of today rests on ("": not known).
    """

    def __init__(self, git: GitReader, known: frozenset[str], rests_on: str = "") -> None:
        self._git, self._known, self._rests_on = git, known, rests_on
        self._state, self._git_dir = git.place.state, git.place.git_dir
        holder = read_holder(self._state / "lock")
        self._runner = holder if holder is not None and holder.alive() else None

    def findings(self) -> Iterator[Finding]:
        """Yield the findings about journals, refs, work trees and locks: for each kind its troubles, or one `ok`."""
        yield from self._kinds()
        yield from self._damaged()
        for part, look in (
            ("journal", self._journals),
            ("tunings", self._tunings),
            ("refs", self._refs),
            ("worktrees", self._worktrees),
            ("locks", self._locks),
        ):
            seen = list(look())
            yield from seen or [ok(part, "nothing is left of an earlier run")]

    def _kinds(self) -> Iterator[Finding]:
        for path in (self._state, *(self._state / name for name in FOLDERS)):
            if path.exists() and not path.is_dir():
                yield wrong("state", f"{_shown(path)} must be a folder", f"mv {_typed(path)} {_typed(path)}.aside")
        lock = self._state / "lock"
        if lock.exists() and not lock.is_file():
            yield wrong("state", f"{_shown(lock)} must be a plain file", f"mv {_typed(lock)} {_typed(lock)}.aside")

    def _damaged(self) -> Iterator[Finding]:
        """Name files whose contents are not what was written. All but the intents are read as if they were missing."""
        kept = state_folder()
        files = [*self._state.glob("*.json"), *self._state.glob("publication.step")]
        files += [file for name in JSON_CACHES for file in (self._state / name).glob("*.json")]
        files += (kept / "expctl").rglob("*.json") if kept is not None else ()
        for file in sorted(files):
            try:
                checked_json.read(file)
            except checked_json.Damaged as damage:
                is_intent = file.name.startswith(("publication", "captured"))
                what = f"{_shown(file)} is damaged: {damage}" + ("" if is_intent else "; until then it counts as missing")
                yield wrong("state", what, CLEAR if is_intent else f"rm {_typed(file)}")
            except OSError:
                continue
        kept_by_hash = (self._state / "meanings" / name for name in CACHES)
        for file in sorted(file for folder in kept_by_hash for file in folder.glob(f"*{cache_folder.ENDING}")):
            if file.is_file() and cache_folder.sound(file) is None:
                yield wrong("state", f"{_shown(file)} is damaged; until then it counts as missing", f"rm {_typed(file)}")

    def _journals(self) -> Iterator[Finding]:
        journal = FileJournal(self._state / "journal", heals=False)
        for experiment in journal.unfinished():
            file = self._state / "journal" / f"{experiment}.jsonl"
            try:
                events = journal.read(experiment)
            except Refused as refusal:
                if refusal.code == "journal-of-another-version":
                    yield wrong("journal", f"{_shown(file)}: {refusal.message}: {refusal.found}", refusal.hint)
                    continue
                aside = f"mv {_typed(file)} {_typed(file.with_suffix('.damaged'))}"
                yield wrong("journal", f"{_shown(file)}: {refusal.found}", f"{aside} && expctl run {experiment}")
                continue
            if self._runner is not None:
                yield note("journal", f"{self._runner.experiment} runs now (pid {self._runner.pid})")
            elif experiment not in self._known:
                what = f"{experiment} is unfinished, but this branch has no proposal of that id"
                where = shlex.quote(f"experiments/{experiment}")
                yield wrong("journal", what, f"bring it back (git log --all -- {where}), or give it up: rm {_typed(file)}")
            else:
                last = type(events[-1]).__name__.lower() if events else "its first line is half-written"
                yield note("journal", f"{experiment} is unfinished ({last}); expctl run {experiment} goes on from there")

    def _tunings(self) -> Iterator[Finding]:
        kinds = {kind.__name__: kind for kind in get_args(TuneEvent)}
        journal = FileJournal(self._state / TUNE, heals=False, kinds=kinds)
        for key in journal.unfinished():
            file = self._state / TUNE / f"{key}.jsonl"
            drop = f"rm {_typed(file)}"
            try:
                events = journal.read(key)
            except Refused as refusal:
                yield wrong("tunings", f"{_shown(file)}: {refusal.message}: {refusal.found}", drop)
                continue
            begun = next((each for each in events if isinstance(each, TuningBegun)), None)
            if self._runner is not None and self._runner.experiment == TUNE:
                yield note("tunings", f"a tuning runs now (pid {self._runner.pid})")
            elif begun is None:
                yield note("tunings", f"a tuning that an older expctl began is unfinished; {drop} gives it up")
            elif self._rests_on not in ("", begun.rests_on):
                began = f"a tuning that began at {begun.base[:10]} is unfinished"
                what = "tables, kernel, harness or protocol are others now: it goes on only on a branch at that commit"
                yield wrong("tunings", f"{began}, and {what}", drop)
            else:
                yield note("tunings", f"a tuning is unfinished; {drop} gives it up, or it goes on with {begun.command}")

    def _refs(self) -> Iterator[Finding]:
        folder = self._state.parent / "refs" / "expctl"
        for file in sorted(path for path in folder.glob("*") if path.suffix != ".lock"):
            name = f"refs/expctl/{file.name}"
            drop = f"git update-ref -d {shlex.quote(name)}"
            if not self._git.names_commit(name):
                yield wrong("refs", f"{name} names no commit", f"rm {_typed(file)}")
            elif file.name not in self._known and not (self._state / "journal" / f"{file.name}.jsonl").exists():
                yield wrong("refs", f"{name} is expctl's, but this branch has no proposal or record of that id", drop)

    def _worktrees(self) -> Iterator[Finding]:
        if self._runner is not None:
            return
        left = [*(self._state / "checkouts").glob("*"), *(self._state.parent / "worktrees").glob("expctl-*")]
        for path in sorted(path for path in left if not self._is_of_a_try(path)):
            yield wrong("worktrees", f"{_shown(path)} is left of a run that was killed", CLEAR)

    def _is_of_a_try(self, path: Path) -> bool:
        """Is git's folder `path` about a work tree of an `expctl try` that is alive?"""
        trying, mark = self._git.place.trying, path / "gitdir"
        holder = read_holder(trying / "lock")
        is_its = mark.is_file() and mark.read_text(errors="replace").startswith(f"{trying}/")
        return is_its and holder is not None and holder.alive()

    def _locks(self) -> Iterator[Finding]:
        try:
            MachineLock().look()
        except Refused as refusal:
            yield wrong("locks", f"{refusal.message}: {refusal.where}: {refusal.found}", refusal.hint)
        if self._runner is not None:
            return
        if (self._state / "publication.json").exists():
            yield wrong("locks", "a killed run was publishing its result: this completes or undoes it", CLEAR)
        if (self._state / "edits").exists():
            count, edits = len(list((self._state / "edits").iterdir())), self._state / "edits"
            what = f"{_shown(edits)} holds {count} files that you edited while expctl published, and whose folder was gone"
            yield wrong("worktrees", what, f"look at them, then rm -r {_typed(edits)}")
        refs = self._state.parent / "refs"
        for lock in (*(self._git_dir / name for name in LOCKS), *sorted(refs.rglob("*.lock"))):
            if lock.exists():
                age_s = max(0.0, time.time() - lock.lstat().st_mtime)
                ours = (self._state / "publication.json").exists() or "refs/expctl" in str(lock)
                mend = CLEAR if ours else f"let the git that made it end; if none runs: rm {_typed(lock)}"
                yield wrong("locks", f"{_shown(lock)} is {age_s:.0f} s old, and git commands fail until it is gone", mend)


def _shown(path: Path) -> str:
    return os.path.relpath(path)


def _typed(path: Path) -> str:
    return shlex.quote(_shown(path))
