"""What the flow needs of the world. Adapters say how; tests pass fakes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING
from typing import Protocol as Port

from expctl.domain.values import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from expctl.domain.calibration import Calibration
    from expctl.domain.change_identity import ChangeIdentity
    from expctl.domain.digest import Digest
    from expctl.domain.events import Event
    from expctl.domain.experiment import Probe, Proposal, Verdict
    from expctl.domain.hold import Hold
    from expctl.domain.ledger_rows import DrawnPiece, Piece
    from expctl.domain.malformed import Malformed
    from expctl.domain.measurement import Sample, Side
    from expctl.domain.proposer import Proposer, Refusal
    from expctl.domain.protocol import Benchmark, Environment, Protocol, Step, Target
    from expctl.domain.protocol import Build as BuildSpec
    from expctl.domain.record import Artifact, Fact, Finding, Record
    from expctl.domain.result import Profile
    from expctl.domain.rules import Candidate
    from expctl.domain.stock import Stock
    from expctl.domain.sums import Sums
    from expctl.domain.sweep import Combination
    from expctl.domain.ticket import Filing, Ticket


@dataclass(frozen=True, slots=True, kw_only=True)
class Available:
    """The target can be built (and run, when it has steps) here. `versions` goes into the record."""

    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unavailable:
    """Why it cannot, and what to install."""

    reason: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A step that did not do its work. `fault`: the harness or machine, not the build under test; `died`: it ended unsaid.

    `killed`: by SIGKILL, which no build earns by itself.
    """

    reason: str
    fault: bool = False
    died: bool = False
    killed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TestReport:
    """A test that passed."""

    cases: int
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreign:
    """Something that blocks or disturbs measuring, as one sensor of the gate saw it.

    `what` is a taint, so it holds no figure and no pid; figures stand in `detail`. `who` is the name of a process and its
    user (never argv: tokens leak); `since` is a time of day in UTC. `pid` is 0 where nobody is to blame.
    """

    sensor: str
    what: str
    detail: str = ""
    pid: int = 0
    who: str = ""
    since: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """An experiment on disk: its typed proposal, its patch, the hash of both, and the ticket that binds the id to that hash.

    Without a ticket somebody committed it by hand.
    """

    proposal: Proposal
    patch: bytes
    content: str
    ticket: Ticket | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a proposer made: experiment.yaml, typed and as it was written, and the patch. Nothing of it is committed yet."""

    proposal: Proposal
    text: bytes
    patch: bytes


class Workspace(Port):
    """The git repository. Every change is by plumbing, published by compare-and-swap."""

    root: Path
    state: Path

    def branch(self) -> str: ...
    def head(self) -> str: ...
    def branch_head(self, branch: str) -> str: ...
    def parent(self, commit: str) -> str: ...
    def protocol_identity(self, commit: str, paths: Sequence[str]) -> str: ...
    def source_identity(self, commit: str) -> str: ...
    def list_files(self, commit: str, folder: str) -> dict[str, str]: ...
    def root_modes(self, commit: str) -> dict[str, str]: ...
    def dirty(self, paths: Sequence[str]) -> tuple[str, ...]: ...
    def unfinished_operation(self) -> str: ...
    def candidate_tree(self, base: str, patch: bytes) -> str | Failed: ...
    def read_file(self, commit: str, path: str) -> bytes | None: ...
    def difference(self, old: str, new: str) -> bytes: ...
    def rebased_tree(self, base: str, patch: bytes, *, origin: str) -> str | Failed: ...
    def changed_files(self, base: str, tree: str) -> tuple[ChangedFile, ...]: ...
    def patch_identity(self, patch: bytes) -> str: ...
    def pin(self, *, base: str, tree: str, message: str, ref: str) -> str: ...
    def commit_tree(self, *, base: str, tree: str, message: str) -> str: ...
    def reverted_tree(self, head: str, commit: str, paths: Sequence[str]) -> str | Failed: ...
    def commits_touching(self, old: str, new: str, paths: Sequence[str]) -> tuple[str, ...]: ...
    def commit_files(self, *, parent: str, files: Mapping[str, bytes], message: str, date: str) -> str: ...
    def publish(self, *, branch: str, old: str, new: str) -> bool: ...
    def finish_publication(self) -> None: ...
    def is_commit(self, name: str) -> bool: ...
    def is_ancestor(self, old: str, new: str) -> bool: ...
    def differs(self, old: str, new: str, paths: Sequence[str]) -> bool: ...
    def capture(self, paths: Sequence[str]) -> bytes: ...
    def restore(self, paths: Sequence[str], *, tree: str) -> None: ...
    def apply(self, patch: bytes) -> None: ...
    def check_out(self, commit: str, name: str, *, sealed: Sequence[str] = ()) -> Path: ...
    def remove_check_outs(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """One entry of the difference between two trees. `mode` is git's new mode, 000000 for a deletion."""

    path: str
    mode: str
    size: int


class Toolchains(Port):
    """Builds of every kind."""

    def availability(self, name: str, target: Target) -> Available | Unavailable: ...
    def build(self, name: str, target: Target, *, tree: Path, sources: str) -> Artifact | Failed: ...
    def path(self, target: Target, artifact: Artifact) -> Path | None: ...


class Steps(Port):
    """The harness scripts, run as contained children in a worktree of the baseline."""

    def test(self, step: Step, *, cwd: Path, artifact: Path, progress: Progress) -> TestReport | Failed: ...
    def measure(
        self, benchmark: Benchmark, *, cwd: Path, artifacts: Mapping[Side, Path], round: int, progress: Progress
    ) -> tuple[Sample, ...] | Failed: ...
    def close(self) -> None: ...
    def profile(
        self, step: Step, *, cwd: Path, tree: Path, artifact: Path, out: Path, progress: Progress
    ) -> tuple[Fact, ...] | Failed: ...


class Profiles(Port):
    """What profilers write in the profile step, side by side until the candidate's is read."""

    def fresh(self, target: str, side: Side) -> Path: ...
    def unreadable(self, target: str, side: Side, number: int) -> str: ...
    def drop(self, target: str, side: Side, number: int) -> None: ...
    def facts(self, target: str, side: Side, arch: str) -> tuple[Fact, ...]: ...
    def why(self, target: str, arch: str) -> str: ...
    def forget(self, target: str) -> None: ...


class Gate(Port):
    """A quiet machine: its lock, shared for work and exclusive for measuring, and a look for foreign work."""

    def wait_until_quiet(self, target: Target) -> float: ...
    def working(self) -> AbstractContextManager[None]: ...
    def measuring(self, target: Target) -> AbstractContextManager[float]: ...


class Locks(Port):
    """The lock of the repository, held for a whole run."""

    def repository(self, *, experiment: str) -> AbstractContextManager[Holder]: ...


class Holder(Port):
    """The held lock; it shows others what the holder is doing."""

    def show(self, step: str) -> None: ...


class Journal(Port):
    """Events of unfinished runs, append-only and fsynced."""

    def read(self, experiment: str) -> tuple[Event, ...]: ...
    def append(self, experiment: str, event: Event) -> None: ...
    def forget(self, experiment: str) -> None: ...
    def unfinished(self) -> tuple[str, ...]: ...


class Library(Port):
    """Protocol, proposals, findings and records as they stand in a commit."""

    def protocol(self, commit: str) -> Protocol: ...
    def identity(self, commit: str, paths: Sequence[str]) -> str: ...
    def queued(self, commit: str, experiment: str) -> Queued: ...
    def experiments(self, commit: str) -> Mapping[str, Verdict | None]: ...
    def waiting(self, commit: str) -> tuple[str, ...]: ...
    def stock(self, commit: str) -> Stock: ...
    def digests(self, commit: str, *, drawn: bool = False) -> tuple[Digest, ...]: ...
    def some_proposals(self, commit: str, ids: Iterable[str]) -> tuple[Proposal, ...]: ...
    def malformed(self, commit: str, ids: Iterable[str]) -> tuple[Malformed, ...]: ...
    def record(self, commit: str, experiment: str) -> Record | None: ...
    def records(self, commit: str) -> tuple[Record, ...]: ...
    def some_records(self, commit: str, ids: Iterable[str]) -> Mapping[str, Record]: ...
    def findings(self, commit: str) -> tuple[Finding, ...]: ...
    def filings(self, commit: str, experiments: Iterable[str]) -> Mapping[str, Filing]: ...
    def profiles(self, commit: str, experiments: Iterable[str]) -> Mapping[str, Profile]: ...
    def findings_text(self, commit: str) -> bytes: ...


class Drawings(Port):
    """Pieces of the ledger that were drawn before, by key."""

    def known(self) -> Mapping[str, DrawnPiece]: ...
    def keep(self, drawn: Mapping[str, DrawnPiece], *, among: Sequence[str]) -> None: ...


class LedgerShelf(Port):
    """What all records of a commit come to, without reading every one."""

    def sums(self) -> Sums: ...
    def pieces(self, sums: Sums) -> tuple[Piece, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeAnswer:
    """Did the snippet pass? `said` is the compiler with its first error, or why nobody could try (then it did not). `tried` is
    False where somebody could have, and nobody has.
    """

    passes: bool
    said: str
    tried: bool = True


class Circumstances(Port):
    """What the conditions of rules are held against, each looked up when it is asked for."""

    def architectures(self) -> frozenset[str]: ...
    def version(self, tool: str) -> str: ...
    def epoch(self) -> str: ...
    def item_keys(self, path: str) -> frozenset[str]: ...
    def shape(self, path: str) -> str: ...
    def probe(self, probe: Probe) -> ProbeAnswer: ...
    def standing_lines(self) -> tuple[str, ...]: ...
    def own_lines(self, experiment: str) -> tuple[str, ...] | None: ...


class Rulebook(Port):
    """The rules of a commit, found without reading every record."""

    def identity(self, commit: str, patch: bytes) -> ChangeIdentity: ...
    def candidates(self, commit: str, candidate: Candidate) -> tuple[Record, ...]: ...
    def ruled(self, commit: str) -> tuple[Record, ...]: ...
    def holds(self, commit: str) -> Mapping[str, Hold]: ...
    def circumstances(self, commit: str, architectures: frozenset[str] | None = None) -> Circumstances: ...


class FindingsPen(Port):
    """Writes findings.yaml without touching what it doesn't change."""

    def added(self, text: bytes, finding: Finding) -> bytes: ...
    def marked(self, text: bytes, finding: Finding) -> bytes: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncalibrated:
    """There is no calibration to use; `reason` says why when there is a file."""

    reason: str = ""


class Calibrations(Port):
    """The noise of this machine, by target and benchmark; kept outside every repository."""

    def read(self, target: str, benchmark: Benchmark) -> Calibration | Uncalibrated: ...
    def write(self, benchmark: Benchmark, calibration: Calibration) -> Path: ...


class Proposers(Port):
    """Commands that propose, and what they are told of their last proposals."""

    def ask(self, proposer: Proposer, brief: object, *, cwd: Path, environment: Environment) -> Draft | Failed | None: ...
    def tell(self, refusal: Refusal | None) -> None: ...


class Search(Port):
    """The order in which a sweep tries combinations. `tell` gives the score of the one asked last; None: it has none."""

    def ask(self) -> Combination | None: ...
    def tell(self, score: float | None) -> None: ...


class Progress(Port):
    """Where a person sees what is going on."""

    def title(self, experiment: str, title: str, *, base: str, target: str, protocol: str) -> None: ...
    def working(self, name: str, text: str) -> None: ...
    def step(self, name: str, text: str, duration_s: float = 0.0) -> None: ...
    def advance(self, name: str, done: int, total: int) -> None: ...


class Clock(Port):
    """Time of day for records, monotonic time for durations."""

    def date(self) -> str: ...
    def monotonic_s(self) -> float: ...


class Recipe(Port):
    """One toolchain: is it here, which commands build, and what is to be said of the result."""

    def availability(self, build: BuildSpec) -> Available | Unavailable: ...
    def commands(self, build: BuildSpec, *, out: Path) -> tuple[tuple[str, ...], ...]: ...
    def describe(self, artifact: Path) -> tuple[str, tuple[Fact, ...]]: ...
