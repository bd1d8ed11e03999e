"""Read protocol, proposals, findings and records from a commit of the repository."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from expctl.adapters.codec.record_codec import blind_of, profile_of, record_in, record_of, rivals_of, samples_of, typed_json
from expctl.adapters.git.known_objects import keep_last
from expctl.adapters.git.objects import lost_object
from expctl.adapters.git.reader import EXPERIMENTS
from expctl.adapters.index import queries
from expctl.adapters.index.record_index import RecordIndex
from expctl.adapters.records.yaml_cache import YamlCache
from expctl.domain.errors import CommitNotHere, NewerFile, Refused
from expctl.domain.experiment.finding import Finding
from expctl.domain.experiment.ids import ID_PATTERN, check_id, id_order
from expctl.domain.experiment.proposal import Proposal, Verdict
from expctl.domain.experiment.queue_ticket import QueuedTicket, Ticket, content_of
from expctl.domain.patch.unified_diff import no_diff
from expctl.domain.protocol.inconsistencies import inconsistencies
from expctl.domain.protocol.model import Protocol

if TYPE_CHECKING:
    from expctl.adapters.git.reader import GitReader
    from expctl.domain.experiment.hot_loop import HotLoop
    from expctl.domain.experiment.proposal_files import Queued
    from expctl.domain.experiment.record import BenchmarkIdentity, Record
    from expctl.domain.experiment.rivals import Rivals
    from expctl.domain.experiment.unreadable import Unreadable
    from expctl.domain.history.blind import BlindSlot
    from expctl.domain.history.comparability import Comparability
    from expctl.domain.history.epochs import Epoch
    from expctl.domain.ledger.record_summary import RecordSummary
    from expctl.domain.ledger.status_totals import StatusTotals
    from expctl.domain.ledger.totals import LedgerTotals
    from expctl.domain.queue.dependency_answer import Profile
    from expctl.domain.verdict.samples import Sample

PROTOCOL = "protocol.yaml"
PROBE_FILE = re.compile(r"[\w./-]+\.(hip|cu|cpp|h)", re.ASCII)
FINDINGS = f"{EXPERIMENTS}/findings.yaml"
BLIND = f"{EXPERIMENTS}/blind.jsonl"
HOT_LOOPS = f"{EXPERIMENTS}/hot_loops.json"
RIVALS = f"{EXPERIMENTS}/rivals"
RIVALS_FILE = re.compile(rf"{RIVALS}/[^/]+-[0-9]+\.json")
RECORD = "record.json"
HARNESS_CODE = "code of the harness"
PROPOSAL = ("experiment.yaml", "change.patch", "queued.json")


class GitLibrary:
    """Reads protocol, records etc. as typed values from commits, never from the work tree, whose edits must not influence
    verdicts.

    Queries over many experiments use `index`; without one, an index in memory is built from all records. Modules that `status`
    doesn't need are imported inside functions.
    """

    def __init__(self, reader: GitReader, index: RecordIndex | None = None) -> None:
        self._git = reader
        self._index = index or RecordIndex(reader, None)
        self._kept = YamlCache(self._index)
        self._proposals: dict[tuple[str, bytes], Proposal] = {}  # by folder and bytes: a landing reads its own several times

    def protocol(self, commit: str) -> Protocol:
        """Read protocol.yaml of `commit`. Raises Refused if it is missing, or with every problem in it."""
        text = self._git.read_file(commit, PROTOCOL)
        if text is None and not self._git.names_commit(commit):
            raise CommitNotHere(
                "this clone doesn't have the commit",
                code="commit-not-here",
                expected="the whole history, as git fetch --unshallow brings it",
                found=f"no commit {commit[:10]}",
                where=str(self._git.place.root),
                hint="git fetch --unshallow in a shallow clone; else git fetch from one that has it",
            )
        if text is None:
            raise Refused(
                "this repository has no protocol",
                code="protocol-missing",
                expected=f"{PROTOCOL} in the top folder of the commit",
                found="no such file",
                where=f"{self._git.place.root} at {commit[:10]}",
                hint=f"git add {PROTOCOL} and commit, if you have one; expctl init writes one",
            )
        return self._kept.read({PROTOCOL: text}, Protocol, _protocol_of)[PROTOCOL]  # type: ignore[no-any-return]

    def read_ahead(self, commit: str, *, extends: bool = False) -> None:
        """Read protocol, findings, queue and newest records by one git process now, because most commands need them later.
        `extends`: a commit is to be made upon this one, so its folders are read as well.
        """
        waiting, shown = self._index.ask(commit, queries.trees_to_read_ahead)
        names = [f"{commit}:{path}" for path in (PROTOCOL, FINDINGS, BLIND, HOT_LOOPS)]
        names += [f"{tree}:{file}" for tree in waiting for file in (*PROPOSAL, RECORD)]
        names += [f"{commit}:", f"{commit}:{EXPERIMENTS}"] if extends else []
        self._git.read_ahead([*names, *(f"{tree}:{RECORD}" for tree in shown)])

    def identity(self, commit: str, paths: Sequence[str]) -> str:
        """Return one SHA-256 of the names, modes and contents of all files at or below `paths` in `commit`."""
        return self._git.files_identity(commit, paths)

    def benchmark_identity(self, commit: str, protocol: Protocol, target: str) -> BenchmarkIdentity:
        """Return hashes of what measures `target` on `commit`: the harness scripts, the sizes with their weights, the build."""
        from expctl.domain.history.benchmark_identity import benchmark_identity_of

        files, listing = self.identity(commit, protocol.harness), self._git.listing(commit, protocol.harness)
        code = self._kept.read({HARNESS_CODE: listing}, str, lambda _, found: self._harness_code(found))[HARNESS_CODE]
        return benchmark_identity_of(protocol, target, harness=files, code=code)

    def comparability(self, commit: str, protocol: Protocol, target: str, environment: Mapping[str, str]) -> Comparability:
        """Return all on which figures of `target` on `commit` depend; `environment` has the facts of machine and tools."""
        from expctl.domain.history.comparability import comparability_of

        return comparability_of(
            protocol=self.identity(commit, (PROTOCOL, *protocol.harness)),
            yardstick=self.benchmark_identity(commit, protocol, target),
            environment=environment,
        )

    def epoch_of(self, commit: str, experiment: str) -> Epoch | None:
        """Return the epoch (stretch of comparable figures) of an experiment in the history of `commit`; None if it has none."""
        from expctl.adapters.index.epochs import epoch_of

        return self._index.ask(commit, lambda index: epoch_of(index, experiment))

    def _harness_code(self, listing: bytes) -> str:
        from expctl.domain.history.harness_code import HarnessFile, harness_code

        entries = (line.split("\t", 1) for line in listing.decode(errors="surrogateescape").split("\0") if line)
        files = [(path, *head.split()) for head, path in entries]
        blobs = self._git.read_blobs(name for _, _, kind, name in files if kind == "blob")
        return harness_code(HarnessFile(path, mode, blobs.get(name, name.encode())) for path, mode, _, name in files)

    def queued(self, commit: str, experiment: str) -> Queued:
        """Read a proposal, its patch and its queue ticket. Raises Refused if a file is missing or malformed, or if change.patch
        is not a diff.
        """
        from expctl.adapters.records.proposal_file import proposal_of
        from expctl.domain.experiment.proposal_files import Queued

        folder = f"{EXPERIMENTS}/{check_id(experiment)}"
        names = {name: f"{commit}:{folder}/{name}" for name in PROPOSAL}
        self._git.read_ahead(names.values())  # and keep them: a run reads its own on several commits
        found = self._git.read_blobs(names.values())
        proposal_text, patch, ticket = (found.get(name) for name in names.values())
        if proposal_text is None or patch is None:
            missing = "experiment.yaml" if proposal_text is None else "change.patch"
            on_disk = (self._git.place.root / folder / missing).exists()
            raise Refused(
                f"{experiment} is not a committed proposal",
                code="proposal-missing",
                expected=f"{folder}/{missing} in the baseline commit",
                found="it is on disk but not committed" if on_disk else "no such file",
                where=f"{folder} at {commit[:10]}",
                hint=f"git add {folder} && git commit -m 'Propose {experiment}'"
                if on_disk
                else "expctl status lists what can be run; expctl new --help says how to propose",
            )
        if fault := no_diff(patch):
            raise Refused(
                f"{experiment} has no change to measure",
                code="proposal-has-no-patch",
                expected="a unified diff, in a plain file",
                found=fault,
                where=f"{folder}/change.patch at {commit[:10]}",
                hint=f"mend it and commit, or expctl withdraw {experiment} --why WHY",
            )
        key = (folder, proposal_text)
        if key not in self._proposals:
            keep_last(self._proposals, key, proposal_of(proposal_text, folder))
        return Queued(
            proposal=self._with_probe(commit, self._proposals[key], folder),
            patch=patch,
            content=content_of(proposal_text, patch),
            ticket=_ticket(ticket, folder),
        )

    def patches(self, commit: str, experiments: Iterable[str]) -> Mapping[str, bytes]:
        """Return id -> the bytes of change.patch, for those of `experiments` that have one."""
        return {name: patch for (name, _), patch in self._some(commit, experiments, "change.patch").items()}

    def experiments(self, commit: str) -> Mapping[str, Verdict | None]:
        """Return every experiment's id -> its verdict, None without a record."""
        return self._index.ask(commit, queries.experiments)

    def waiting(self, commit: str) -> tuple[str, ...]:
        """Return the ids of proposals to be run: without a verdict, or INVALID (the machine failed); in order of id."""
        return self._index.ask(commit, queries.waiting)

    def digests(self, commit: str) -> tuple[RecordSummary, ...]:
        """Return a summary of every record of `commit`, in order of id."""
        from expctl.adapters.index import rows

        return self._index.ask(commit, rows.summaries)

    def ledger_totals(self, commit: str, new: Mapping[str, bytes] = MappingProxyType({})) -> LedgerTotals:
        """Return the totals over all records that the ledger shows; `new` has the bytes of new records by experiment."""
        from expctl.adapters.index.ledger_queries import ledger_totals

        return self._index.suppose(commit, new, ledger_totals) if new else self._index.ask(commit, ledger_totals)

    def ledger_template(self, commit: str) -> str:
        """Return the text of the template of ledger.md that protocol.yaml names, or "". Raises Refused if it can't be read."""
        path = self.protocol(commit).ledger.template
        text = self._git.read_file(commit, path) if path else b""
        try:
            if text is not None:
                return text.decode()
            found = f"no such file at {commit[:10]}"
        except UnicodeDecodeError as error:
            found = f"not UTF-8, byte {error.start}"
        raise Refused(
            "the template of the ledger can't be read",
            code="ledger-template-unreadable",
            expected=f"{path} as a text file in the commit, as `ledger.template` in {PROTOCOL} says",
            found=found,
            where=f"{PROTOCOL}, line {_line_of(self._git.read_file(commit, PROTOCOL) or b'', 'template:')}",
            hint=f"git add {path} and commit it, or take `ledger.template` out of {PROTOCOL}",
        )

    def stock(self, commit: str) -> StatusTotals:
        """Return the totals over all records that the command `status` shows."""
        from expctl.adapters.index.status_queries import status_totals

        return self._index.ask(commit, status_totals)

    def some_proposals(self, commit: str, ids: Iterable[str]) -> tuple[Proposal, ...]:
        """Return the proposals of `ids`, in that order; an id without a readable proposal is left out."""
        found = self._some(commit, ids, "experiment.yaml")
        texts = {f"{EXPERIMENTS}/{name}": text for (name, _), text in found.items()}
        return tuple(self._kept.read(texts, Proposal, _proposal_if_sound).values())

    def malformed(self, commit: str, ids: Iterable[str]) -> tuple[Unreadable, ...]:
        """Return those of `ids` whose experiment.yaml or queued.json is malformed, with every problem in these files."""
        from expctl.adapters.records.proposal_file import proposal_of
        from expctl.domain.experiment.unreadable import Unreadable

        readers: Mapping[str, Callable[[bytes, str], object]] = {"experiment.yaml": proposal_of, "queued.json": _ticket}
        found: dict[str, Unreadable] = {}
        for (name, file), text in self._some(commit, ids, *readers).items():
            try:
                readers[file](text, f"{EXPERIMENTS}/{name}")
            except Refused as refusal:
                where, is_newer = f"{EXPERIMENTS}/{name}/{file}", isinstance(refusal, NewerFile)
                problems = (*["it was written by a newer expctl"] * is_newer, *refusal.found.splitlines())
                known = found.get(name, Unreadable(id=name, where=where, problems=()))
                found[name] = replace(known, problems=(*known.problems, *problems), is_newer=known.is_newer or is_newer)
        return tuple(found.values())

    def record(self, commit: str, experiment: str) -> Record | None:
        """Read the record of one experiment; None if it has not concluded. Raises Refused if it can't be read."""
        path = f"{EXPERIMENTS}/{check_id(experiment)}/record.json"
        text = self._git.read_file(commit, path)
        return None if text is None else record_of(text, where=path)

    def records(self, commit: str) -> tuple[Record, ...]:
        """Read every record, in order of id. Raises Refused for one that can't be read."""
        return tuple(record_in(folder, text) for folder, text in self._read_all(commit, "record.json"))

    def damaged(self, commit: str) -> tuple[Refused, ...]:
        """Return an error for each record that can't be read; none if all can."""
        found = []
        try:
            everything = self._read_all(commit, "record.json")
        except Refused as refusal:
            return (refusal,)
        for folder, text in everything:
            try:
                record_in(folder, text)
            except Refused as refusal:
                found.append(refusal)
        return tuple(found)

    def some_records(self, commit: str, ids: Iterable[str]) -> Mapping[str, Record]:
        """Return id -> record for those of `ids` that have one."""
        found = self._some(commit, ids, RECORD)
        return {name: record_of(text, where=f"{EXPERIMENTS}/{name}/record.json") for (name, _), text in found.items()}

    def findings(self, commit: str) -> tuple[Finding, ...]:
        """Return the findings in experiments/findings.yaml; none without the file. Raises Refused if it is malformed."""
        found = self._kept.read({FINDINGS: self.findings_text(commit)}, tuple[Finding, ...], _findings_of)
        return found[FINDINGS]  # type: ignore[no-any-return]

    def findings_text(self, commit: str) -> bytes:
        """Return the bytes of experiments/findings.yaml; empty without the file."""
        return self._git.read_file(commit, FINDINGS) or b""

    def blind_slots(self, commit: str) -> tuple[BlindSlot, ...]:
        """Return the blind slots in experiments/blind.jsonl, in order; () without the file. Raises Refused if it is damaged."""
        text = self.blind_text(commit)
        return blind_of(text, where=BLIND) if text else ()

    def blind_text(self, commit: str) -> bytes:
        """Return the bytes of experiments/blind.jsonl; empty without the file."""
        return self._git.read_file(commit, BLIND) or b""

    def rivals(self, commit: str) -> tuple[Rivals, ...]:
        """Return the newest file of experiments/rivals of each target. Raises Refused for one that is damaged."""
        listed = sorted(path for path in self._git.list_files(commit, f"{RIVALS}/") if RIVALS_FILE.fullmatch(path))
        newest = {path.rpartition("-")[0]: path for path in listed}
        return tuple(rivals_of(self.file(commit, path), where=path) for path in newest.values())

    def hot_loops(self, commit: str) -> tuple[HotLoop, ...]:
        """Return the hot loops in experiments/hot_loops.json; () without the file. Raises Refused if it is damaged."""
        from expctl.adapters.records.hot_loop_file import hot_loops_of

        text = self._git.read_file(commit, HOT_LOOPS)
        return hot_loops_of(text, where=HOT_LOOPS) if text is not None else ()

    def filings(self, commit: str, experiments: Iterable[str]) -> Mapping[str, QueuedTicket]:
        """Return id -> a proposal's queue ticket, and the hash of its present content with its patch, for `experiments`."""
        wanted = tuple(experiments)
        found = self._some(commit, wanted, *PROPOSAL)
        texts = {each: tuple(found.get((each, file)) for file in PROPOSAL) for each in wanted}
        return {each: _filing(text, patch, ticket, f"{EXPERIMENTS}/{each}") for each, (text, patch, ticket) in texts.items()}

    def profiles(self, commit: str, experiments: Iterable[str]) -> Mapping[str, Profile]:
        """Return id -> parsed profile.json for those of `experiments` that have one."""
        found = self._some(commit, experiments, "profile.json")
        return {name: profile_of(text, where=f"{EXPERIMENTS}/{name}/profile.json") for (name, _), text in found.items()}

    def texts(self, commit: str, paths: Iterable[str]) -> Mapping[str, str]:
        """Return path -> text of those files that `commit` has."""
        found = self._git.read_blobs(f"{commit}:{path}" for path in paths)
        return {name.partition(":")[2]: text.decode(errors="replace") for name, text in found.items()}

    def samples(self, commit: str, experiment: str, file: str = "samples.jsonl") -> bytes | None:
        """Return the bytes of samples.jsonl or, for a replication, of its samples file `file`; None if it isn't committed."""
        return self._git.read_file(commit, f"{EXPERIMENTS}/{check_id(experiment)}/{file}")

    def read_samples(self, commit: str, experiment: str) -> tuple[Sample, ...]:
        """Return the samples behind the verdict of an experiment; () if there are none. Raises Refused if they are damaged."""
        where = f"{EXPERIMENTS}/{check_id(experiment)}/samples.jsonl"
        return samples_of(self.samples(commit, experiment) or b"", where=where)

    def sampled(self, commit: str) -> frozenset[str]:
        """Return the ids of experiments that have a samples.jsonl."""
        paths = (PurePosixPath(path) for path in self._git.list_files(commit, f"{EXPERIMENTS}/"))
        return frozenset(
            path.parent.name
            for path in paths
            if path.name == "samples.jsonl" and len(path.parts) == 3 and ID_PATTERN.fullmatch(path.parent.name)
        )

    def file(self, commit: str, path: str) -> bytes:
        """Return the bytes of one file of `commit`; empty if there is none."""
        return self._git.read_file(commit, path) or b""

    def files_below(self, commit: str, folder: str) -> frozenset[str]:
        """Return the paths of all files below `folder` in `commit`."""
        return frozenset(self._git.list_files(commit, f"{folder}/"))

    def record_text(self, commit: str, experiment: str) -> bytes:
        """Return the bytes of the record of `experiment`; empty if there is none."""
        return self._git.read_file(commit, f"{EXPERIMENTS}/{check_id(experiment)}/record.json") or b""

    def _some(self, commit: str, ids: Iterable[str], *files: str) -> dict[tuple[str, str], bytes]:
        wanted = tuple(ids)
        if not wanted:
            return {}
        trees = self._index.ask(commit, lambda index: queries.trees(index, wanted))
        names = {f"{tree}:{file}": (name, file) for name, tree in trees.items() for file in files}
        return {names[name]: text for name, text in self._git.read_blobs(names).items()}

    def _read_all(self, commit: str, name: str) -> list[tuple[str, bytes]]:
        listing = self._git.list_files(commit, f"{EXPERIMENTS}/")
        wanted = {path: blob for path, blob in listing.items() if PurePosixPath(path).name == name and path.count("/") == 2}
        contents = self._git.read_blobs(wanted.values())
        if lost := [path for path, blob in wanted.items() if blob not in contents]:
            raise lost_object(lost[0], str(self._git.place.root))
        folders = sorted(
            ((str(PurePosixPath(path).parent), contents[blob]) for path, blob in wanted.items()),
            key=lambda item: id_order(PurePosixPath(item[0]).name),
        )
        return [(folder, text) for folder, text in folders if ID_PATTERN.fullmatch(PurePosixPath(folder).name)]

    def _with_probe(self, commit: str, proposal: Proposal, folder: str) -> Proposal:
        """Return `proposal` with the source code of its probe, where it has only the name of a file in `folder`. Raises Refused
        if there is no such file.
        """
        probe = proposal.probe
        if probe is None or not PROBE_FILE.fullmatch(probe.source.strip()):
            return proposal
        path = probe.source.strip()
        text = self._git.read_file(commit, path)
        if text is None:
            raise Refused(
                f"the source file of the probe of {proposal.id} is missing",
                code="probe-missing",
                expected=f"{path} in the baseline commit, or source code instead of a file's name",
                found="no such file",
                where=f"{folder}/experiment.yaml, probe.source",
                hint=f"git add {path} and commit it",
            )
        return replace(proposal, probe=replace(probe, source=text.decode(errors="replace")))


def _line_of(text: bytes, words: str) -> int:
    lines = text.decode(errors="replace").splitlines()
    return next((number for number, line in enumerate(lines, start=1) if words in line), 1)


def _protocol_of(where: str, text: bytes) -> Protocol:
    from expctl.adapters.codec.strict_yaml import contradiction, load

    protocol = load(text, Protocol, where=where)
    faults = inconsistencies(protocol)
    if faults:
        raise contradiction(where, faults)
    return protocol


def _proposal_if_sound(folder: str, text: bytes) -> Proposal | None:
    from expctl.adapters.records.proposal_file import proposal_of

    with suppress(Refused):
        return proposal_of(text, folder)
    return None


def _findings_of(where: str, text: bytes) -> tuple[Finding, ...]:
    from expctl.adapters.records.findings_file import findings_of

    return findings_of(text, where=where)


def _ticket(text: bytes | None, folder: str) -> Ticket | None:
    return None if text is None else typed_json(text, Ticket, where=f"{folder}/queued.json")


def _filing(text: bytes | None, patch: bytes | None, ticket: bytes | None, folder: str) -> QueuedTicket:
    content, fault = content_of(text or b"", patch or b""), no_diff(patch)
    unfit = f"change.patch: {fault}" if fault else ""
    try:
        return QueuedTicket(ticket=_ticket(ticket, folder), content=content, unfit=unfit)
    except Refused:
        return QueuedTicket(ticket=None, content=content, unfit=unfit, damaged=True)
