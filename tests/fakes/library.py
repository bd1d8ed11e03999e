"""Protocol, proposals and records of a repository in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from expctl.adapters.codec.record_codec import blind_of, profile_of, record_of, rivals_of, samples_of, typed_json
from expctl.adapters.records.findings_file import findings_of
from expctl.adapters.records.hot_loop_file import hot_loops_of
from expctl.adapters.records.proposal_file import proposal_of
from expctl.domain.errors import Refused
from expctl.domain.experiment.finding import Finding
from expctl.domain.experiment.hot_loop import FILE as HOT_LOOPS
from expctl.domain.experiment.hot_loop import HotLoop
from expctl.domain.experiment.proposal import Proposal, Verdict
from expctl.domain.experiment.proposal_files import Queued
from expctl.domain.experiment.queue_ticket import QueuedTicket, Ticket, content_of
from expctl.domain.experiment.record import BenchmarkIdentity, Record
from expctl.domain.experiment.rivals import FOLDER, Rivals
from expctl.domain.experiment.unreadable import Unreadable
from expctl.domain.history.benchmark_identity import benchmark_identity_of
from expctl.domain.history.blind import BlindSlot
from expctl.domain.history.comparability import Comparability, comparability_of
from expctl.domain.ledger.record_summary import RecordSummary, summary_of
from expctl.domain.ledger.status_totals import StatusTotals
from expctl.domain.ledger.totals import LedgerTotals, sums_of
from expctl.domain.protocol.model import Protocol
from expctl.domain.queue.dependency_answer import Profile
from expctl.domain.verdict.samples import Sample
from tests.fakes.workspace import FakeWorkspace


@dataclass
class FakeLibrary:
    """Proposals and protocol are given, records are read from the commits of the workspace."""

    workspace: FakeWorkspace
    given_protocol: Protocol
    queue: dict[str, tuple[Proposal, bytes]] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)

    def read_ahead(self, commit: str, *, extends: bool = False) -> None:  # noqa: ARG002
        assert commit in self.workspace.commits

    def protocol(self, commit: str) -> Protocol:
        assert commit in self.workspace.commits
        return self.given_protocol

    def identity(self, commit: str, paths: Sequence[str]) -> str:
        return self.workspace.files_identity(commit, paths)

    def benchmark_identity(self, commit: str, protocol: Protocol, target: str) -> BenchmarkIdentity:
        files = self.identity(commit, protocol.harness)
        return benchmark_identity_of(protocol, target, harness=files, code=f"code of {files}")

    def comparability(self, commit: str, protocol: Protocol, target: str, environment: Mapping[str, str]) -> Comparability:
        return comparability_of(
            protocol=self.identity(commit, ("protocol.yaml", *protocol.harness)),
            yardstick=self.benchmark_identity(commit, protocol, target),
            environment=environment,
        )

    def queued(self, commit: str, experiment: str) -> Queued:
        assert commit in self.workspace.commits
        if experiment in self.unreadable:
            raise Refused(f"{experiment} is not a committed proposal", code="proposal-missing")
        proposal, patch = self._given(commit)[experiment]
        filing = self.filings(commit, [experiment])[experiment]
        return Queued(proposal=proposal, patch=patch, content=filing.content, ticket=filing.ticket)

    def patches(self, commit: str, experiments: Iterable[str]) -> Mapping[str, bytes]:
        given = self._given(commit)
        return {each: given[each][1] for each in experiments if each in given}

    def proposals(self, commit: str) -> tuple[Proposal, ...]:
        assert commit in self.workspace.commits
        return tuple(proposal for proposal, _ in self._given(commit).values())

    def _given(self, commit: str) -> dict[str, tuple[Proposal, bytes]]:
        """What a test queued, and what the flow committed."""
        files = self.workspace.commits[commit].files
        folders = [path.removesuffix("/experiment.yaml") for path in files if path.endswith("/experiment.yaml")]
        made = {
            each.split("/")[1]: (proposal_of(files[f"{each}/experiment.yaml"], each), files[f"{each}/change.patch"])
            for each in folders
        }
        return {**self.queue, **made}

    def some_proposals(self, commit: str, ids: Iterable[str]) -> tuple[Proposal, ...]:
        known = {each.id: each for each in self.proposals(commit)}
        return tuple(known[name] for name in ids if name in known)

    def malformed(self, commit: str, ids: Iterable[str]) -> tuple[Unreadable, ...]:  # noqa: ARG002
        return ()

    def experiments(self, commit: str) -> dict[str, Verdict | None]:
        waiting: dict[str, Verdict | None] = {each.id: None for each in self.proposals(commit)}
        return waiting | {each.id: each.verdict for each in self.records(commit)}

    def waiting(self, commit: str) -> tuple[str, ...]:
        return tuple(name for name, verdict in self.experiments(commit).items() if verdict in (None, Verdict.INVALID))

    def digests(self, commit: str) -> tuple[RecordSummary, ...]:
        return tuple(summary_of(record) for record in self.records(commit))

    def ledger_totals(self, commit: str, new: Mapping[str, bytes] = MappingProxyType({})) -> LedgerTotals:
        given = {name: summary_of(record_of(text, where=name)) for name, text in new.items()}
        return sums_of([*({each.id: each for each in self.digests(commit)} | given).values()])

    def ledger_template(self, commit: str) -> str:  # noqa: ARG002
        return ""

    def stock(self, commit: str) -> StatusTotals:  # noqa: ARG002
        raise AssertionError("no flow under test takes stock")

    def some_records(self, commit: str, ids: Iterable[str]) -> dict[str, Record]:
        wanted = set(ids)
        return {record.id: record for record in self.records(commit) if record.id in wanted}

    def record(self, commit: str, experiment: str) -> Record | None:
        return next((record for record in self.records(commit) if record.id == experiment), None)

    def records(self, commit: str) -> tuple[Record, ...]:
        files = self.workspace.commits[commit].files
        return tuple(record_of(files[path], where=path) for path in sorted(files) if path.endswith("/record.json"))

    def read_samples(self, commit: str, experiment: str) -> tuple[Sample, ...]:
        return samples_of(self.workspace.commits[commit].files[f"experiments/{experiment}/samples.jsonl"], where=experiment)

    def damaged(self, commit: str) -> tuple[Refused, ...]:  # noqa: ARG002
        return ()

    def filings(self, commit: str, experiments: Iterable[str]) -> dict[str, QueuedTicket]:
        files, found = self.workspace.commits[commit].files, {}
        for name in experiments:
            text = files.get(f"experiments/{name}/queued.json")
            ticket = typed_json(text, Ticket, where=name) if text else None
            written = files.get(f"experiments/{name}/experiment.yaml")
            patch = self._given(commit)[name][1]
            content = content_of(written, patch) if written else hashlib.sha256(patch).hexdigest()
            found[name] = QueuedTicket(ticket=ticket, content=content)
        return found

    def profiles(self, commit: str, experiments: Iterable[str]) -> dict[str, Profile]:
        files = self.workspace.commits[commit].files
        paths = {name: f"experiments/{name}/profile.json" for name in experiments}
        return {name: profile_of(files[path], where=path) for name, path in paths.items() if path in files}

    def texts(self, commit: str, paths: Iterable[str]) -> dict[str, str]:
        files = self.workspace.commits[commit].files
        return {path: files[path].decode() for path in paths if path in files}

    def findings(self, commit: str) -> tuple[Finding, ...]:
        return findings_of(self.findings_text(commit), where="findings.yaml")

    def blind_slots(self, commit: str) -> tuple[BlindSlot, ...]:
        return blind_of(self.blind_text(commit), where="blind.jsonl")

    def rivals(self, commit: str) -> tuple[Rivals, ...]:
        files = self.workspace.commits[commit].files
        return tuple(rivals_of(text, where=path) for path, text in sorted(files.items()) if path.startswith(f"{FOLDER}/"))

    def hot_loops(self, commit: str) -> tuple[HotLoop, ...]:
        text = self.workspace.commits[commit].files.get(HOT_LOOPS)
        return hot_loops_of(text, where=HOT_LOOPS) if text is not None else ()

    def blind_text(self, commit: str) -> bytes:
        return self.workspace.commits[commit].files.get("experiments/blind.jsonl", b"")

    def findings_text(self, commit: str) -> bytes:
        return self.workspace.commits[commit].files.get("experiments/findings.yaml", b"")
