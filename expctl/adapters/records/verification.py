"""Verify a clone of somebody else's repository from its git objects alone: verdicts, trees of KEEPs, history, signatures."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from expctl.adapters.git.evidence import GOOD, GitEvidence
from expctl.adapters.git.reader import GitReader
from expctl.adapters.records.replays import Replays
from expctl.adapters.records.repository_contents import GitLibrary
from expctl.domain.errors import Refused
from expctl.domain.experiment.record import Origin, Record
from expctl.domain.history.baselines import lands
from expctl.domain.history.evidence import Commit, Fault, Kept, Verified, ancestors, tree_faults, unmeasured

UNKNOWN = "is signed by somebody unknown"
SIGNED_WORDS = {"N": "is not signed", "B": "has a bad signature", "U": UNKNOWN, "E": UNKNOWN}


class Verification:
    """Looks at the commit `head` and all before it. `library` must read from git alone. Raises Refused for a clone that lacks
    history.
    """

    def __init__(self, git: GitReader, library: GitLibrary, head: str) -> None:
        self._library, self._head = library, head
        self._git, self._evidence = git, GitEvidence(git.place)

    def verified(self, *, since: str = "", signers: Path | None = None) -> Verified:
        """Return what holds and what doesn't. Changes of the scope must have been measured after the commit `since` ("": after
        the baseline of the first record). With `signers`, git's file of allowed signers, every record must be signed by one.
        """
        records = tuple(each for each in self._library.records(self._head) if each.origin is Origin.MEASURED)
        scope = self._scope(records)
        commits = self._evidence.commits(self._head, scope)
        start = self._start(commits, records, since)
        keeps = [self._kept(record, commits) for record in records if lands(record)]
        replays = Replays(self._library, self._head).all()
        changes = self._evidence.record_changes(self._head)
        made = dict.fromkeys(each.commit for each in changes if each.path.endswith("/record.json"))
        signatures = self._evidence.signatures(made, signers)
        damage = self._evidence.damage()
        faults = [Fault(where="git", what=f"git fsck: {damage}")] if damage else []
        faults += [
            Fault(where=each.id, what=f"its samples say something else: {each.text}") for each in replays if each.differs
        ]
        faults += tree_faults(keeps, commits, scope)
        earlier = ancestors(commits, start)
        faults += [
            Fault(where=each.commit[:10], what=f"it {'removes' if 'D' in each.how else 'changes'} {each.path} by hand")
            for each in changes
            if each.how.strip("A") and not each.by_expctl and each.commit not in earlier
        ]
        faults += unmeasured(commits, [each.record.candidate for each in keeps], self._head, start)
        faults += self._badly_signed(signatures) if signers is not None else ()
        return Verified(
            head=self._head,
            since=start,
            records=len(records),
            keeps=len(keeps),
            replayed=sum(bool(each.rule) and not each.differs for each in replays),
            commits=len(commits) - len(earlier),
            signed=sum(letter == GOOD if signers is not None else letter != "N" for letter in signatures.values()),
            faults=tuple(faults),
        )

    def _scope(self, records: Sequence[Record]) -> tuple[str, ...]:
        """Return what patches and tunings may touch now, or might when a record was measured."""
        protocols = [self._library.protocol(self._head)]
        for base in dict.fromkeys(record.base for record in records if record.base):
            protocols.append(self._library.protocol(base))
        found = [path for each in protocols for path in each.scope]
        tuned = [target.tune.tables for each in protocols for target in each.targets.values() if target.tune is not None]
        return tuple(dict.fromkeys((*found, *tuned)))

    def _start(self, commits: dict[str, Commit], records: Sequence[Record], since: str) -> str:
        if since:
            found = next((name for name in commits if name.startswith(since)), "")
            if not found:
                raise Refused(
                    "verify knows no such commit",
                    code="verify-unknown-commit",
                    expected="--since with a commit of HEAD's history, by the letters of its id",
                    found=since[:60],
                    hint="git log --oneline lists them",
                )
            return found
        bases = {record.base for record in records}
        return next((name for name in reversed(commits) if name in bases), self._head)

    def _kept(self, record: Record, commits: dict[str, Commit]) -> Kept:
        brought = self._evidence.brought_by(self._head, f"experiments/{record.id}/record.json", record.candidate)
        own = (f"experiments/{record.id}/", "ledger.md")
        changes = self._evidence.changed(record.candidate) if record.candidate in commits else ()
        beside = tuple(each for each in self._evidence.changed(brought) if not each.startswith(own)) if brought else ()
        return Kept(record=record, brought_by=brought, beside=beside, changes=changes)

    def _badly_signed(self, signatures: dict[str, str]) -> Iterator[Fault]:
        for commit, letter in signatures.items():
            if letter != GOOD:
                what = SIGNED_WORDS.get(letter, f"has a signature that git rates {letter}")
                yield Fault(where=commit[:10], what=f"this commit of a record {what}")
