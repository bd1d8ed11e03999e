"""Fakes of the ports, from this one file. They keep what they were told, so that a test can look."""

import dataclasses
import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from expctl.adapters.codec.record_codec import (
    profile_bytes,
    profile_of,
    record_bytes,
    record_of,
    samples_bytes,
    ticket_bytes,
    typed_json,
)
from expctl.adapters.records.findings_file import findings_of
from expctl.adapters.records.proposal_file import proposal_of
from expctl.domain.errors import Busy, Refused
from expctl.domain.experiment.proposal import Kind, Prediction, Probe, Proposal, Verdict
from expctl.domain.experiment.proposal_files import Draft, Queued
from expctl.domain.experiment.queue_ticket import QueuedTicket, Ticket, content_of
from expctl.domain.experiment.record import Artifact, BenchmarkIdentity, ChangedCondition, Fact, Finding, Record
from expctl.domain.experiment.unreadable import Unreadable
from expctl.domain.history.benchmark_identity import benchmark_identity_of
from expctl.domain.history.comparability import Comparability, comparability_of
from expctl.domain.ledger.model import Ledger
from expctl.domain.ledger.record_summary import RecordSummary, summary_of
from expctl.domain.ledger.status_totals import StatusTotals
from expctl.domain.ledger.totals import LedgerTotals, sums_of
from expctl.domain.machine.interference import Foreign
from expctl.domain.patch.changed_file import ChangedFile
from expctl.domain.patch.identity import ChangeIdentity
from expctl.domain.protocol.model import Benchmark, Build, Environment, Protocol, Size, Target, Toolchain
from expctl.domain.protocol.proposer import Proposer, Refusal
from expctl.domain.protocol.step import Step
from expctl.domain.queue.dependency_answer import Profile
from expctl.domain.rules.conditions import conditions_of
from expctl.domain.rules.current_facts import ProbeAnswer
from expctl.domain.rules.matching import Candidate, changed_codes, keys_for, keys_of
from expctl.domain.rules.open_conditions import RuleConditions
from expctl.domain.run.events import Event
from expctl.domain.run.step_result import Available, Failed, TestReport, Unavailable
from expctl.domain.verdict.calibration import Calibration
from expctl.domain.verdict.samples import Sample, Side
from expctl.ports.context import Context, Tools
from expctl.ports.measuring import Uncalibrated

Files = dict[str, bytes]


class Crash(BaseException):
    """The process is gone: nothing above may catch this."""


@dataclass
class FakeProgress:
    """Remembers the lines that a person would see."""

    lines: list[str] = field(default_factory=list)

    def title(self, experiment: str, title: str, *, base: str, target: str, protocol: str) -> None:
        self.lines.append(f"{experiment} {title} {base} {target} {protocol}")

    def working(self, name: str, text: str) -> None:
        self.lines.append(f"{name}... {text}")

    def step(self, name: str, text: str, duration_s: float = 0.0) -> None:
        self.lines.append(f"{name} {text} {duration_s}")

    def advance(self, name: str, done: int, total: int) -> None:
        self.lines.append(f"{name} {done}/{total}")


@dataclass
class FakeClock:
    """Time passes by one second at every look."""

    now_s: float = 0.0

    def date(self) -> str:
        return f"2026-03-01T00:00:{int(self.monotonic_s()) % 60:02}Z"

    def monotonic_s(self) -> float:
        self.now_s += 1.0
        return self.now_s


@dataclass(frozen=True)
class Commit:
    """One commit of the fake repository."""

    parent: str
    files: Files
    message: str


@dataclass
class FakeWorkspace:
    """A repository in memory: commits by content, one branch checked out. A patch is JSON: path -> new text or null."""

    commits: dict[str, Commit] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    checked_out: str = "main"
    root: Path = Path("/fake")
    state: Path = Path("/fake/.git/expctl")
    local_changes: tuple[str, ...] = ()
    operation: str = ""
    check_outs: set[str] = field(default_factory=set)
    sealed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    publications: int = 0
    removals: int = 0
    move_before_publishing: list[str] = field(default_factory=list)

    def add(self, parent: str, files: Files, message: str) -> str:
        """Make a commit; the same contents give the same id."""
        listing = sorted((path, text.decode("latin1")) for path, text in files.items())
        name = hashlib.sha256(json.dumps([parent, message, listing]).encode()).hexdigest()[:12]
        self.commits[name] = Commit(parent, dict(files), message)
        return name

    def branch(self) -> str:
        return self.checked_out

    def head(self) -> str:
        return self.refs[f"refs/heads/{self.checked_out}"]

    def branch_head(self, branch: str) -> str:
        return self.refs[f"refs/heads/{branch}"]

    def list_files(self, commit: str, folder: str) -> dict[str, str]:
        files = self.commits[commit].files
        return {path: path for path in files if path == folder or path.startswith(f"{folder.rstrip('/')}/")}

    def root_modes(self, commit: str) -> dict[str, str]:
        return {path.split("/")[0]: "040000" if "/" in path else "100644" for path in self.commits[commit].files}

    def parent(self, commit: str) -> str:
        return self.commits[commit].parent

    def protocol_identity(self, commit: str, paths: Sequence[str]) -> str:
        files = self.commits[commit].files
        kept = {path: text.decode() for path, text in files.items() if path.startswith(tuple(paths))}
        return f"protocol of {sorted(kept.items())}"

    def source_identity(self, commit: str) -> str:
        kept = {p: t.decode() for p, t in self.commits[commit].files.items() if not p.startswith(("experiments", "ledger"))}
        return hashlib.sha256(json.dumps(sorted(kept.items())).encode()).hexdigest()

    def dirty(self, paths: Sequence[str]) -> tuple[str, ...]:
        return tuple(path for path in self.local_changes if path.startswith(tuple(paths)))

    def unfinished_operation(self) -> str:
        return self.operation

    def candidate_tree(self, base: str, patch: bytes) -> str | Failed:
        try:
            changes = json.loads(patch)
        except ValueError:
            return Failed(reason="No valid patches in input")
        files = dict(self.commits[base].files)
        for path, text in changes.items():
            if text is None:
                files.pop(path)
            elif text.startswith("was:"):
                _, old, new = text.split(":")
                if files.get(path) != old.encode():
                    return Failed(reason=f"patch failed: {path}:1")
                files[path] = new.encode()
            else:
                files[path] = text.encode()
        return self.add("", files, "tree")

    def read_file(self, commit: str, path: str) -> bytes | None:
        return self.commits[commit].files.get(path)

    def difference(self, old: str, new: str) -> bytes:
        changed = {file.path: self.commits[new].files[file.path].decode() for file in self.changed_files(old, new)}
        return json.dumps(changed).encode()

    def rebased_tree(self, base: str, patch: bytes, *, origin: str) -> str | Failed:
        """`was:OLD:NEW` merges where the file is OLD still; whatever else is written over."""
        assert not origin or origin in self.commits
        return self.candidate_tree(base, patch)

    def changed_files(self, base: str, tree: str) -> tuple[ChangedFile, ...]:
        old, new = self.commits[base].files, self.commits[tree].files
        return tuple(
            ChangedFile(path=path, mode="100644" if path in new else "000000", size=len(new.get(path, b"")))
            for path in sorted({*old, *new})
            if old.get(path) != new.get(path)
        )

    def patch_identity(self, patch: bytes) -> str:
        return hashlib.sha256(patch).hexdigest()[:8]

    def pin(self, *, base: str, tree: str, message: str, ref: str) -> str:
        self.refs[ref] = self.add(base, self.commits[tree].files, message)
        return self.refs[ref]

    def commit_tree(self, *, base: str, tree: str, message: str) -> str:
        return self.add(base, self.commits[tree].files, message)

    def reverted_tree(self, head: str, commit: str, paths: Sequence[str]) -> str | Failed:
        """Only what nothing has changed since reverts."""
        files, parent = dict(self.commits[head].files), self.commits[self.commits[commit].parent].files
        for file in self.changed_files(self.commits[commit].parent, commit):
            if file.path.startswith(tuple(paths)):
                if files.get(file.path) != self.commits[commit].files.get(file.path):
                    return Failed(reason=f"conflict in {file.path}")
                files[file.path] = parent[file.path]
        return self.add("", files, "tree")

    def commits_touching(self, old: str, new: str, paths: Sequence[str]) -> tuple[str, ...]:
        found = []
        while new != old:
            found += [new] if self.differs(self.commits[new].parent, new, paths) else []
            new = self.commits[new].parent
        return tuple(reversed(found))

    def commit_files(self, *, parent: str, files: Mapping[str, bytes], message: str, date: str) -> str:
        return self.add(parent, {**self.commits[parent].files, **files}, f"{message}{date}")

    def publish(self, *, branch: str, old: str, new: str) -> bool:
        self.publications += 1
        if self.publications > 20:
            raise AssertionError("the flow publishes for ever")
        if self.move_before_publishing:
            self.refs[f"refs/heads/{branch}"] = self.move_before_publishing.pop()
        if self.refs[f"refs/heads/{branch}"] != old:
            return False
        self.refs[f"refs/heads/{branch}"] = new
        return True

    def finish_publication(self) -> None:
        """Nothing is ever half done here; adapters/test_git_publication.py is about that."""

    def is_commit(self, name: str) -> bool:
        return name in self.commits

    def is_ancestor(self, old: str, new: str) -> bool:
        commit = self.refs.get(new, new)
        while commit and commit != old:
            commit = self.commits[commit].parent
        return commit == old

    def differs(self, old: str, new: str, paths: Sequence[str]) -> bool:
        return any(file.path.startswith(tuple(paths)) for file in self.changed_files(old, new))

    def capture(self, paths: Sequence[str]) -> bytes:
        return json.dumps(dict.fromkeys(self.dirty(paths), "captured")).encode()

    def restore(self, paths: Sequence[str], *, tree: str) -> None:
        assert tree in self.commits
        self.local_changes = tuple(path for path in self.local_changes if path not in paths)

    def apply(self, patch: bytes) -> None:
        self.local_changes = (*self.local_changes, *json.loads(patch))

    def check_out(self, commit: str, name: str, *, sealed: Sequence[str] = ()) -> Path:
        assert commit in self.commits
        self.check_outs.add(name)
        self.sealed[name] = tuple(sealed)
        return self.root / name / commit

    def remove_check_outs(self) -> None:
        self.removals += 1
        self.check_outs.clear()

    def edit(self, files: Mapping[str, bytes | None], message: str = "by the user") -> str:
        """The user commits on the branch that is checked out."""
        changed = {**self.commits[self.head()].files, **files}
        commit = self.add(self.head(), {path: text for path, text in changed.items() if text is not None}, message)
        self.refs[f"refs/heads/{self.checked_out}"] = commit
        return commit


@dataclass
class FakeLibrary:
    """Proposals and protocol are given, records are read from the commits of the workspace."""

    workspace: FakeWorkspace
    given_protocol: Protocol
    queue: dict[str, tuple[Proposal, bytes]] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)

    def protocol(self, commit: str) -> Protocol:
        assert commit in self.workspace.commits
        return self.given_protocol

    def identity(self, commit: str, paths: Sequence[str]) -> str:
        return self.workspace.protocol_identity(commit, paths)

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

    def ledger_totals(self, commit: str) -> LedgerTotals:
        return sums_of(self.digests(commit))

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

    def findings(self, commit: str) -> tuple[Finding, ...]:
        return findings_of(self.findings_text(commit), where="findings.yaml")

    def findings_text(self, commit: str) -> bytes:
        return self.workspace.commits[commit].files.get("experiments/findings.yaml", b"")


@dataclass
class FakeCircumstances:
    """Nothing has changed, but for what is said here. A file that isn't named has every item."""

    versions: dict[str, str] = field(default_factory=dict)
    judges: frozenset[str] = frozenset({"cpu"})
    other_epochs: dict[str, tuple[ChangedCondition, ...]] = field(default_factory=dict)
    keys: dict[str, frozenset[str]] = field(default_factory=dict)
    shapes: dict[str, str] = field(default_factory=dict)
    passing: dict[Probe, str] = field(default_factory=dict)
    probed: list[Probe] = field(default_factory=list)
    standing: tuple[str, ...] = ()
    own: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def architectures(self) -> frozenset[str]:
        return self.judges

    def version(self, tool: str) -> str:
        return self.versions.get(tool, "")

    def epoch_changes(self, experiment: str) -> tuple[ChangedCondition, ...]:
        return self.other_epochs.get(experiment, ())

    def item_keys(self, path: str) -> frozenset[str]:
        return self.keys.get(path, frozenset())

    def shape(self, path: str) -> str:
        return self.shapes.get(path, "")

    def probe(self, probe: Probe) -> ProbeAnswer:
        self.probed.append(probe)
        return ProbeAnswer(passes=probe in self.passing, said=self.passing.get(probe, "fails"))

    def standing_lines(self) -> tuple[str, ...]:
        return self.standing

    def own_lines(self, experiment: str) -> tuple[str, ...] | None:
        return self.own.get(experiment)


@dataclass
class FakeRulebook:
    """Rules of the records in the fake repository. A change is known by its text, without a comment after #."""

    library: "FakeLibrary"
    now: FakeCircumstances = field(default_factory=FakeCircumstances)

    def identity(self, commit: str, patch: bytes) -> ChangeIdentity:
        assert commit in self.library.workspace.commits
        if not patch:
            return ChangeIdentity()
        changes = {path: text.split("#")[0].strip() for path, text in json.loads(patch).items() if text is not None}
        return ChangeIdentity(
            patch_id=self.library.workspace.patch_identity(patch),
            change=hashlib.sha256(json.dumps(changes).encode()).hexdigest(),
            added=tuple(changes.values()),
        )

    def candidates(self, commit: str, candidate: Candidate) -> tuple[Record, ...]:
        wanted = {*keys_for(candidate)}
        ruled = [(record, record.rule) for record in self.ruled(commit) if record.rule is not None]
        return tuple(r for r, rule in ruled if rule.forbids or wanted & {*keys_of(rule, changed_codes(r).values())})

    def ruled(self, commit: str) -> tuple[Record, ...]:
        return tuple(record for record in self.library.records(commit) if record.rule or record.waivers)

    def holds(self, commit: str) -> dict[str, RuleConditions]:
        return {each.id: conditions_of(each) for each in self.ruled(commit) if each.rule is not None}

    def circumstances(self, commit: str, architectures: frozenset[str] | None = None) -> FakeCircumstances:
        assert commit in self.library.workspace.commits
        return self.now if architectures is None else dataclasses.replace(self.now, judges=architectures)


@dataclass
class FakeJournal:
    """Events in memory. Dies around the `crash_at`-th append (from 1), after or before it took effect; `before_append` may
    raise."""

    events: dict[str, tuple[Event, ...]] = field(default_factory=dict)
    appends: int = 0
    crash_at: int = 0
    crash_before: bool = False
    before_append: Callable[[int], None] = lambda _number: None

    def read(self, experiment: str) -> tuple[Event, ...]:
        return self.events.get(experiment, ())

    def append(self, experiment: str, event: Event) -> None:
        self.appends += 1
        self.before_append(self.appends)
        if self.appends == self.crash_at and self.crash_before:
            raise Crash
        self.events[experiment] = (*self.read(experiment), event)
        if self.appends == self.crash_at:
            raise Crash

    def forget(self, experiment: str) -> None:
        self.events.pop(experiment, None)

    def unfinished(self) -> tuple[str, ...]:
        return tuple(sorted(self.events))


@dataclass
class FakeHolder:
    """The steps that were shown."""

    steps: list[str] = field(default_factory=list)

    def show(self, step: str) -> None:
        self.steps.append(step)


@dataclass
class FakeLocks:
    """One lock; `take_taints` says that somebody else has it."""

    holder: FakeHolder = field(default_factory=FakeHolder)
    taken: bool = False
    held: bool = False
    busy_times: int = 0

    @contextmanager
    def repository(self, *, experiment: str) -> Iterator[FakeHolder]:
        assert experiment
        if self.busy_times:
            self.busy_times -= 1
            raise Busy("another expctl is running in this repository", code="repository-in-use")
        if self.taken or self.held:
            raise Busy("another expctl is running in this repository", code="repository-in-use")
        self.held = True
        try:
            yield self.holder
        finally:
            self.held = False


@dataclass
class FakeGate:
    """Quiet unless it is busy. `shares` counts builds and tests under the machine's lock, but for those of whoever held it."""

    busy: bool = False
    holds: int = 0
    shares: int = 0
    held: bool = False
    shared: bool = False

    def wait_until_quiet(self, target: Target) -> float:
        if self.busy:
            raise Busy("the machine is not quiet", code="machine-not-quiet", found=target.number_kind)
        return 0.5

    @contextmanager
    def working(self) -> Iterator[None]:
        assert not self.shared
        self.shares += not self.held
        self.shared = True
        try:
            yield
        finally:
            self.shared = False

    @contextmanager
    def measuring(self, target: Target) -> Iterator[float]:
        assert not self.held
        assert not self.shared, "an upgrade isn't atomic"
        self.wait_until_quiet(target)
        self.held = True
        self.holds += 1
        try:
            yield 0.0
        finally:
            self.held = False


@dataclass
class FakeToolchains:
    """A build's code is the text of the kernel; `refuses` maps a word in it to a compiler's error. What follows `//` is code
    of the guard alone."""

    workspace: FakeWorkspace
    absent: dict[str, Unavailable] = field(default_factory=dict)
    refuses: dict[tuple[str, str], str] = field(default_factory=dict)
    builds: list[tuple[str, str]] = field(default_factory=list)
    gate: FakeGate = field(default_factory=lambda: FakeGate(shared=True))

    def availability(self, name: str, target: Target) -> Available | Unavailable:
        assert target.build
        return self.absent.get(name) or Available(versions={"cc": "1.0"})

    def build(self, name: str, target: Target, *, tree: Path, sources: str) -> Artifact | Failed:
        assert target.build
        assert sources
        assert self.gate.shared
        text = self.workspace.commits[tree.name].files["src/kernel"].decode()
        self.builds.append((name, text))
        for (where, word), reason in self.refuses.items():
            if where == name and word in text:
                return Failed(reason=reason)
        code = text.split("#")[0].strip()
        code = code if name == "guard" else code.split("//")[0].strip()
        facts = (Fact(name="bytes", value=len(code)),) if name == "guard" else ()
        return Artifact(sha256=hashlib.sha256(text.encode()).hexdigest(), code=code, facts=facts)

    def path(self, target: Target, artifact: Artifact) -> Path:
        return Path(f"/artifacts/{artifact.code.replace(' ', '_')}/{target.build.artifact}")


@dataclass
class FakeSteps:
    """A kernel that says `slow N` takes N ns per iteration, otherwise 1000000. Verdicts of the test by word in its code."""

    fails_test: dict[str, Failed] = field(default_factory=dict)
    fails_measure: list[Failed | None] = field(default_factory=list)
    profile_answer: tuple[Fact, ...] | Failed = (Fact(name="instructions", value=10),)
    tested: list[str] = field(default_factory=list)
    measured: list[int] = field(default_factory=list)
    counter_answer: Failed | None = None
    profiled: list[str] = field(default_factory=list)
    passes: list[tuple[str, str]] = field(default_factory=list)
    taints: list[tuple[str, ...]] = field(default_factory=list)
    closed: int = 0
    gate: FakeGate = field(default_factory=lambda: FakeGate(held=True))

    def test(self, step: Step, *, cwd: Path, artifact: Path, progress: FakeProgress) -> TestReport | Failed:
        assert step.argv
        assert cwd
        assert self.gate.shared
        code = artifact.parent.name
        self.tested.append(code)
        progress.advance("test", 1, 0)
        return next(
            (failed for word, failed in self.fails_test.items() if word in code), TestReport(cases=3, summary="3 cases pass")
        )

    def measure(
        self, benchmark: Benchmark, *, cwd: Path, artifacts: Mapping[Side, Path], round: int, progress: FakeProgress
    ) -> tuple[Sample, ...] | Failed:
        assert cwd
        assert self.gate.held
        self.measured.append(round)
        taints = self.taints.pop(0) if self.taints else ()
        failed = self.fails_measure.pop(0) if self.fails_measure else None
        if failed is not None:
            return failed
        progress.advance("round", 1, 1)
        wobble = 100 * (round % 2)

        def sample(side: Side, launch: int, size: str) -> Sample:
            word = artifacts[side].parent.name
            ns = int(word.removeprefix("slow_")) if word.startswith("slow_") else 1_000_000
            times = (ns + wobble * launch, ns + wobble * launch)
            return Sample(
                round=round,
                launch=launch,
                side=side,
                size=size,
                style=benchmark.style,
                visit=1,
                ns=times,
                order="ABBA",
                taints=taints,
            )

        order = (Side.BASELINE, Side.CANDIDATE, Side.CANDIDATE, Side.BASELINE)
        return tuple(sample(side, launch, size.name) for launch, side in enumerate(order) for size in benchmark.sizes)

    def close(self) -> None:
        self.closed += 1

    def profile(
        self, step: Step, *, cwd: Path, tree: Path, artifact: Path, out: Path, progress: FakeProgress
    ) -> tuple[Fact, ...] | Failed:
        assert step.argv
        assert cwd.parent.name == "b"
        assert self.gate.held
        self.passes.append((out.name, " ".join(step.argv)))
        assert progress
        self.profiled.append(f"{tree.parent.name} {artifact.parent.name}")
        return self.counter_answer if self.counter_answer and out.name != "0" else self.profile_answer


@dataclass
class FakeProfiles:
    """What profilers would have left: facts and a sentence for every target, and passes that are no profile."""

    answer: tuple[Fact, ...] = ()
    sentence: str = ""
    damaged: Mapping[int, str] = field(default_factory=dict)
    dropped: list[tuple[Side, int]] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)

    def fresh(self, target: str, side: Side) -> Path:
        return Path("/profiles", target, side)

    def unreadable(self, target: str, side: Side, number: int) -> str:
        assert target
        assert side
        return self.damaged.get(number, "")

    def drop(self, target: str, side: Side, number: int) -> None:
        assert target
        self.dropped.append((side, number))

    def facts(self, target: str, side: Side, arch: str) -> tuple[Fact, ...]:
        assert target
        assert arch == ""
        return () if (side, 0) in self.dropped else self.answer

    def why(self, target: str, arch: str) -> str:
        assert target
        assert arch == ""
        return "" if any(number == 0 for _, number in self.dropped) else self.sentence

    def forget(self, target: str) -> None:
        self.forgotten.append(target)


@dataclass
class FakeProc:
    """A /proc in a folder: processes with as much as the gate reads of them."""

    root: Path
    last: int = 0

    def add(
        self,
        pid: int,
        *argv: str,
        name: str = "",
        parent: int = 1,
        state: str = "S",
        mark: str = "",
        links: Sequence[str] = (),
        below: Sequence[int] = (),
        waited: tuple[int, int] = (0, 0),
    ) -> None:
        """A new process, or another program in its place. `waited` is its schedstat: ns that it ran, ns that it waited."""
        folder = self.root / str(pid)
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "fd").mkdir(parents=True)
        (folder / "cmdline").write_bytes(b"".join(word.encode() + b"\0" for word in argv))
        name = name or (argv[0].rpartition("/")[2] if argv else "kthread")[:15]
        fields = [state, str(parent), *(["0"] * 17), str(100 * pid), "0"]
        (folder / "stat").write_text(f"{pid} ({name}) {' '.join(fields)}\n")
        (folder / "environ").write_bytes(f"A=1\0EXPCTL_RUN={mark}\0".encode() if mark else b"A=1\0")
        for number, link in enumerate(links):
            (folder / "fd" / str(number)).symlink_to(link)
        task = folder / "task" / str(pid)
        task.mkdir(parents=True)
        (task / "children").write_text(" ".join(map(str, below)))
        (task / "schedstat").write_text(f"{waited[0]} {waited[1]} 7\n")
        self.last = max(self.last, pid)
        self.count(self.last)

    def count(self, last: int) -> None:
        """Say that `last` is the newest number."""
        (self.root / "loadavg").write_text(f"0.10 0.20 0.30 1/99 {last}\n")

    def remove(self, pid: int) -> None:
        """It is gone."""
        shutil.rmtree(self.root / str(pid))

    def ticks(self, *cores: tuple[int, int, int]) -> None:
        """/proc/stat: for each core the ticks that it was busy, idle, and kept by the host."""
        rows = [f"cpu{core} {busy} 0 0 {idle} 0 0 0 {stolen} 0 0" for core, (busy, idle, stolen) in enumerate(cores)]
        (self.root / "stat").write_text("\n".join(["cpu  1 2 3 4 5 6 7 8 0 0", *rows, "intr 1"]) + "\n")


@dataclass
class FakeSensor:
    """Sees what the test tells it, and keeps what it is asked."""

    name: str = "fake"
    every_s: float = 0.0
    window_s: float = 0.0
    blocks: list[tuple[Foreign, ...]] = field(default_factory=list)
    sees: list[tuple[Foreign, ...]] = field(default_factory=list)
    judges: list[tuple[Foreign, ...]] = field(default_factory=list)
    missing: str = ""
    not_asked: str = ""
    launches: list[object] = field(default_factory=list)
    looks: int = 0
    sessions: int = 0
    during: Callable[[], object] = lambda: None

    def absent(self) -> str:
        return self.missing

    def says(self) -> str:
        return "all is well"

    def unused(self, target: Target | None) -> str:
        assert target is None or target.build
        return self.not_asked

    @contextmanager
    def session(self) -> Iterator[None]:
        self.sessions += 1
        yield
        self.sessions -= 1

    def blocking(self) -> tuple[Foreign, ...]:
        return self.blocks.pop(0) if self.blocks else ()

    def start(self, launch: object) -> None:
        self.launches.append(launch)

    def look(self, fresh: Sequence[int]) -> tuple[Foreign, ...]:
        assert len(set(fresh)) <= len(fresh)
        self.looks += 1
        self.during()
        return self.sees.pop(0) if self.sees else ()

    def stop(self) -> tuple[Foreign, ...]:
        return self.judges.pop(0) if self.judges else ()


@dataclass
class FakeWatch:
    """Taints launches in turn; `busy` makes it lose patience before the next."""

    taints: list[tuple[str, ...]] = field(default_factory=list)
    looked: list[tuple[str, bool, int | None]] = field(default_factory=list)
    cleared: int = 0
    busy: bool = False

    def clear(self) -> None:
        if self.busy:
            raise Busy("the machine is not quiet", code="machine-not-quiet")
        self.cleared += 1

    @contextmanager
    def watching(self, side: str, *, timed: bool = True, core: int | None = None) -> Iterator[None]:
        self.looked.append((side, timed, core))
        yield

    def take_taints(self) -> tuple[str, ...]:
        return self.taints.pop(0) if self.taints else ()


@dataclass
class FakeCalibrations:
    """Calibrations in memory, by target; `unusable` is why a file would not be used."""

    stored: dict[str, Calibration] = field(default_factory=dict)
    unusable: str = ""

    def read(self, target: str, benchmark: Benchmark) -> Calibration | Uncalibrated:
        assert benchmark.sizes
        return self.stored.get(target) or Uncalibrated(reason=self.unusable)

    def write(self, benchmark: Benchmark, calibration: Calibration) -> Path:
        assert benchmark.sizes
        self.stored[calibration.target] = calibration
        return Path("/state") / calibration.target


@dataclass
class FakeProposers:
    """Gives its answers in turn, raising those that are refusals, and keeps what it is asked with and told."""

    answers: list[Draft | Failed | Refused | None] = field(default_factory=list)
    briefs: list[object] = field(default_factory=list)
    told: list[Refusal | None] = field(default_factory=list)
    meanwhile: Callable[[], object] = lambda: None

    def ask(self, proposer: Proposer, brief: object, *, cwd: Path, environment: Environment) -> Draft | Failed | None:
        assert proposer.argv
        assert cwd
        assert environment == Environment()
        self.briefs.append(brief)
        self.meanwhile()
        answer = self.answers.pop(0)
        if isinstance(answer, Refused):
            raise answer
        return answer

    def tell(self, refusal: Refusal | None) -> None:
        self.told.append(refusal)


STEP = Step(argv=("run",), timeout_s=1)
PROTOCOL = Protocol(
    version=1,
    name="fake",
    scope=("src",),
    harness=("bench",),
    decides=("cpu", "other"),
    targets={
        "cpu": Target(
            build=Build(toolchain=Toolchain.COMMAND, argv=("make",)),
            test=STEP,
            benchmark=Benchmark(argv=("run",), timeout_s=1, sizes=(Size(name="n", weight=1.0, flop=1000),), rounds=6),
            profile=STEP,
        ),
        "other": Target(
            build=Build(toolchain=Toolchain.COMMAND, argv=("make",)),
            test=STEP,
            benchmark=Benchmark(argv=("run",), timeout_s=1, sizes=(Size(name="n", weight=1.0),), rounds=6),
        ),
        "guard": Target(build=Build(toolchain=Toolchain.COMMAND, argv=("make",)), stands_for="gfx1151"),
    },
)


def patch_to(text: str, path: str = "src/kernel") -> bytes:
    """A patch that gives `path` this text."""
    return json.dumps({path: text}).encode()


def proposal(id: str, **changes: object) -> Proposal:
    """A plain proposal."""
    plain = Proposal(
        id=id, title=f"title of {id}", kind=Kind.PERF, hypothesis="it is faster", prediction=Prediction(verdict=Verdict.KEEP)
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


def ledger_text(ledger: Ledger) -> str:
    """A ledger in one line per row."""
    return "\n".join(f"{row.id} {row.verdict}" for row in (*ledger.earlier, *ledger.latest, *ledger.imported))


@dataclass
class Stage:
    """A world of fakes, and the fakes by name. `queue` proposes an experiment whose patch rewrites the kernel."""

    workspace: FakeWorkspace = field(default_factory=FakeWorkspace)
    journal: FakeJournal = field(default_factory=FakeJournal)
    locks: FakeLocks = field(default_factory=FakeLocks)
    clock: FakeClock = field(default_factory=FakeClock)
    progress: FakeProgress = field(default_factory=FakeProgress)
    steps: FakeSteps = field(default_factory=FakeSteps)
    profiles: FakeProfiles = field(default_factory=FakeProfiles)
    gate: FakeGate = field(default_factory=FakeGate)
    calibrations: FakeCalibrations = field(default_factory=FakeCalibrations)
    circumstances: FakeCircumstances = field(default_factory=FakeCircumstances)
    stops_after: int = -1
    survivors_ended: int = 0

    def __post_init__(self) -> None:
        files = {"src/kernel": b"slow 1000000", "protocol.yaml": b"p", "bench/run": b"b", "notes": b"n"}
        first = self.workspace.add("", files, "first")
        self.workspace.refs["refs/heads/main"] = first
        self.library = FakeLibrary(self.workspace, PROTOCOL)
        self.toolchains = FakeToolchains(self.workspace, gate=self.gate)
        self.steps.gate = self.gate

    def queue(self, id: str, kernel: str, *, patch: bytes | None = None, **changes: object) -> None:
        """Queue an experiment."""
        self.library.queue[id] = (proposal(id, **changes), patch_to(kernel) if patch is None else patch)

    def kernel(self) -> str:
        """The kernel at the head of the branch."""
        return self.workspace.commits[self.workspace.head()].files["src/kernel"].decode()

    def context(self) -> Context:
        """The world; make a new one after a Crash, as a new process would."""
        self.locks.held = False
        self.gate.held = self.gate.shared = False
        return Context(
            workspace=self.workspace,
            library=self.library,
            rulebook=FakeRulebook(self.library, self.circumstances),
            journal=self.journal,
            locks=self.locks,
            clock=self.clock,
            progress=self.progress,
            calibrations=self.calibrations,
            machine={"machine": "fake"},
            tools_for=lambda _protocol, _experiment: Tools(
                toolchains=self.toolchains, steps=self.steps, profiles=self.profiles, gate=self.gate
            ),
            end_survivors=self._end_survivors,
            stop_requested=self._stop_requested,
            record_bytes=record_bytes,
            samples_bytes=samples_bytes,
            profile_bytes=profile_bytes,
            ticket_bytes=ticket_bytes,
            render=ledger_text,
        )

    def _end_survivors(self) -> int:
        self.survivors_ended += 1
        return 0

    def _stop_requested(self) -> bool:
        self.stops_after -= 1
        return self.stops_after == -1
