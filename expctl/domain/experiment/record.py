"""record.json, typed: the truth about a concluded experiment. Written by expctl only."""

from collections.abc import Mapping
from enum import StrEnum

from expctl.domain.experiment.noise import Calibrated
from expctl.domain.experiment.proposal import Kind, Mode, Prediction, Probe, Verdict
from expctl.domain.protocol.model import NumberKind
from expctl.domain.values import dataclass, field

OBJECTIVE = "objective"  # the size of the weighted mean over all sizes
SCHEMA = 3  # 2: with the procedure of the verdict; 3: rules know a change at four levels


class Origin(StrEnum):
    """Where the figures come from: this tool's own samples, or somebody's hand-kept ledger."""

    MEASURED = "measured"
    IMPORTED = "imported"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One figure with its kind, for example VGPRs of a kernel or instructions of a run."""

    name: str
    value: float
    unit: str = ""
    kind: NumberKind = NumberKind.STATIC


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """What a build made. `sha256` is of the file; `code` of its code sections alone (debug sections don't count)."""

    sha256: str
    code: str
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The effect at one size, or of the weighted objective (`size` = "objective"), in percent of throughput.

    `low` and `high` are the two-sided 95 % interval; the medians are of single iterations, 0 for the objective.
    """

    size: str
    effect_percent: float
    low_percent: float
    high_percent: float
    sd_percent: float
    rounds: int
    baseline_ns: float = 0.0
    candidate_ns: float = 0.0
    flop: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """How samples became the verdict: version of the critical values, looks taken, rounds of each session.

    `rescued_by` is the size that passed in place of the objective; `simplify_used_percent` what earlier simplifications of
    the epoch had cost; `calibrated` what was known of the machine's noise; `words` in which the reasons are given (plan.py). A
    record that was measured and has no procedure was decided by an older rule.
    """

    boundaries: str
    mode: Mode
    looks: tuple[int, ...]
    search_rounds: int
    confirm_rounds: int = 0
    rescued_by: str = ""
    simplify_used_percent: float = 0.0
    calibrated: Calibrated | None = None
    words: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """What the test step found."""

    ok: bool
    cases: int
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedCondition:
    """A condition of a rule that no longer holds: what it was when the experiment failed, what it is now, and who says so."""

    condition: str
    was: str
    now: str
    evidence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A do-not-repeat rule: by what a repeat is known, and the conditions under which it failed (domain/rules/conditions.py).

    `change`, `settings`, `region` and `shapes` are those of change_identity.py; `code` is the machine code at home; `judged`
    is the target on which it failed (the record's own where none is named). `lapsed` are changes that were verified once and
    for all; everything else is looked at anew whenever somebody asks.
    """

    text: str
    patch_id: str = ""
    change: str = ""
    code: str = ""
    judged: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    forbids: tuple[str, ...] = ()
    conditions: Mapping[str, str] = field(default_factory=dict)
    region: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    shapes: Mapping[str, str] = field(default_factory=dict)
    probe: Probe | None = None
    lapsed: tuple[ChangedCondition, ...] = ()
    reopened_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """A rule that matched and let the experiment pass: for a `reason` that its author wrote, or one that expctl verified."""

    rule: str
    level: str
    reason: str
    written: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The words of an imported row, kept beside the record: ours, with the figures as given."""

    change: str
    result: str
    why: str
    corrections: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkIdentity:
    """What judged: `harness` is a hash of the harness' files, `kpi` and `build` say what is timed and how it is built, as
    text that is equal when they are (see domain/history/benchmark_identity.py). Records from before it have none.
    """

    harness: str
    kpi: str
    build: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Everything that a reviewer needs six months later. `explanation` is what the profiles say made the difference."""

    schema: int = 1
    id: str
    title: str
    kind: Kind
    origin: Origin
    target: str
    verdict: Verdict
    reasons: tuple[str, ...]
    hypothesis: str = ""
    prediction: Prediction | None = None
    base: str = ""
    candidate: str = ""
    tree: str = ""
    protocol: str = ""
    patch_id: str = ""
    content: str = ""
    date: str = ""
    attempts: int = 1
    artifacts: Mapping[str, Mapping[str, Artifact]] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    test: Test | None = None
    guard_tests: Mapping[str, Test] = field(default_factory=dict)
    number_kind: NumberKind = NumberKind.WALL_TIME
    estimates: tuple[Estimate, ...] = ()
    profile: tuple[str, ...] = ()
    explanation: str = ""
    notes: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    rule: Rule | None = None
    waivers: tuple[Waiver, ...] = ()
    history: History | None = None
    replications: tuple["Replication", ...] = ()
    procedure: Procedure | None = None
    samples_sha256: str = ""
    yardstick: BenchmarkIdentity | None = None

    @property
    def left_open(self) -> bool:
        """Undecided without a sample: on its target the patch changed no code."""
        return self.verdict is Verdict.INCONCLUSIVE and self.origin is Origin.MEASURED and not self.estimates


@dataclass(frozen=True, slots=True, kw_only=True)
class Replication:
    """The same two commits measured again, as evidence. It never moves the branch."""

    target: str
    date: str
    verdict: Verdict
    reasons: tuple[str, ...]
    estimates: tuple[Estimate, ...]
    environment: Mapping[str, str]
    procedure: Procedure | None = None
    samples_sha256: str = ""
    yardstick: BenchmarkIdentity | None = None


class EvidenceKind(StrEnum):
    """What a finding rests on: samples of expctl, a hand-kept ledger, the world outside, or what a compiler says."""

    MEASURED = "measured"
    IMPORTED = "imported"
    EXTERNAL = "external"
    STATIC = "static"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something learned that outlives the experiment that showed it.

    `since` is a date, or the experiment of those days. `evidence` are experiments, commits or addresses. What superseded
    or contradicts it is another finding, or evidence of the same sorts; a finding that has either no longer stands.
    """

    text: str
    since: str
    kind: EvidenceKind
    evidence: tuple[str, ...] = ()
    superseded_by: str = ""
    contradicted_by: str = ""
    id: str = ""

    @property
    def stands(self) -> bool:
        """Nothing newer replaced or contradicts it."""
        return not (self.superseded_by or self.contradicted_by)


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingsFile:
    """experiments/findings.yaml, typed. The order is the editor's: what matters most comes first."""

    findings: tuple[Finding, ...] = ()
