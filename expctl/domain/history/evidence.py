"""Judge a history as a stranger does: is every kept change the one that was measured, and was every change measured? Pure."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from expctl.domain.experiment.record import Record

SHORT = 10


class Commit(Struct, frozen=True, kw_only=True):
    """One commit: its parents, its tree, and what it has at each path of the scope (object ids, "" for nothing)."""

    parents: tuple[str, ...]
    tree: str
    scope: tuple[str, ...]


class Kept(Struct, frozen=True, kw_only=True):
    """A record that says KEEP, the commit that brought it on top of what was measured ("": none), the paths that this commit
    changes besides, and those that the candidate changes.
    """

    record: Record
    brought_by: str
    beside: tuple[str, ...]
    changes: tuple[str, ...]


class Fault(Struct, frozen=True, kw_only=True):
    """What doesn't hold: the experiment or commit (`where`), and a sentence."""

    where: str
    what: str


class Verified(Struct, frozen=True, kw_only=True):
    """The result of `expctl verify`: the commit `head` that was looked at, and that from which on changes had to be measured
    (`since`); the numbers of records, of KEEPs, of verdicts that were decided again, of commits since, and of record commits
    that are signed; and all faults.
    """

    head: str
    since: str
    records: int
    keeps: int
    replayed: int
    commits: int
    signed: int
    faults: tuple[Fault, ...]

    def sentence(self) -> str:
        """Return the result in one line."""
        if self.faults:
            return f"NOT verified: {len(self.faults)} {'faults' if len(self.faults) > 1 else 'fault'} in {self.head[:SHORT]}"
        if not self.records:
            return f"nothing to verify: {self.head[:SHORT]} has no record that was measured"
        return (
            f"verified {self.head[:SHORT]}: {self.records} records, {self.replayed} verdicts decided again as recorded, "
            f"{self.keeps} KEEPs whose trees are the measured ones, no other change of the scope in {self.commits} commits "
            f"since {self.since[:SHORT]}, {self.signed} record commits signed"
        )


def tree_faults(kept: Iterable[Kept], commits: Mapping[str, Commit], scope: Sequence[str]) -> list[Fault]:
    """Return each KEEP whose commit isn't in the history, isn't what was measured, or came without its record."""
    found = []
    for each in kept:
        record, here = each.record, commits.get(each.record.candidate)
        if here is None:
            found.append(Fault(where=record.id, what=f"its commit {record.candidate[:SHORT]} is not in the history"))
            continue
        if here.tree != record.tree and (record.tree or not record.buckets):  # a tuning names its commit alone
            what = f"its commit has the tree {here.tree[:SHORT]}, {record.tree[:SHORT]} was measured"
            found.append(Fault(where=record.id, what=what))
        if here.parents != (record.base,):
            what = f"its commit doesn't stand on {record.base[:SHORT]}, beside which it was measured"
            found.append(Fault(where=record.id, what=what))
        outside = [path for path in each.changes if not _is_within(path, scope)]
        if outside:
            found.append(Fault(where=record.id, what=f"its commit changes {outside[0]}, which is outside the scope"))
        if not each.brought_by:
            found.append(Fault(where=record.id, what="its record was not committed on top of what was measured"))
        elif each.beside:
            found.append(Fault(where=record.id, what=f"the commit of its record changes {each.beside[0]} too"))
    return found


def unmeasured(commits: Mapping[str, Commit], kept: Iterable[str], head: str, since: str) -> list[Fault]:
    """Return each commit after `since` by which the scope of `head` came about without being a KEEP, and each KEEP that a merge
    has left out. As git does, this follows of a merge the parent that has the same scope; one that has neither's is a change.
    """
    known, before = frozenset(kept), ancestors(commits, since)
    found, waiting, walked = [], [head], set[str]()
    while waiting:
        name = waiting.pop()
        if name in walked or name in before:
            continue
        walked.add(name)
        here = commits[name]
        same = next((parent for parent in here.parents if commits[parent].scope == here.scope), None)
        if same is None and name not in known and (here.parents or any(here.scope)):
            found.append(Fault(where=name[:SHORT], what="it changes the scope and was not measured"))
        waiting += here.parents if same is None else (same,)
    seen = {commits[name].scope for name in walked}
    for name in commits:
        if name in known and name not in walked | before and commits[name].scope not in seen:
            found.append(Fault(where=name[:SHORT], what="it was kept, and a merge has left it out"))
    return found


def ancestors(commits: Mapping[str, Commit], name: str) -> frozenset[str]:
    """Return a commit and all its ancestors."""
    found, waiting = set(), [name]
    while waiting:
        here = waiting.pop()
        if here not in found and here in commits:
            found.add(here)
            waiting += commits[here].parents
    return frozenset(found)


def _is_within(path: str, scope: Sequence[str]) -> bool:
    return any(path == each.rstrip("/") or path.startswith(f"{each.rstrip('/')}/") for each in scope)
