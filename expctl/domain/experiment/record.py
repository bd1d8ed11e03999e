"""The types of record.json, the result of a concluded experiment, and of findings.yaml. Only expctl writes records."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from msgspec import Meta, Struct, field

from expctl.domain.experiment.noise import Calibrated
from expctl.domain.experiment.proposal import Kind, Mode, Prediction, Probe, Verdict
from expctl.domain.protocol.model import NumberKind

OBJECTIVE = "objective"  # the size of the weighted mean over all sizes
Count = Annotated[int, Meta(ge=0)]
SCHEMA = 3  # 2: with the procedure of the verdict; 3: rules know a change at four levels


class Origin(StrEnum):
    """Origin of the figures: expctl's own samples, or a ledger kept by hand."""

    MEASURED = "measured"
    IMPORTED = "imported"


class Fact(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One figure of a build or profile and its kind, e.g. VGPRs of a kernel or instructions of a run."""

    name: str
    value: float
    unit: str = ""
    kind: NumberKind = NumberKind.STATIC


class Artifact(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file that a build made. `sha256` is of the file; `code` of its code sections alone, without debug sections."""

    sha256: str
    code: str
    facts: tuple[Fact, ...] = ()


class Estimate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The effect at one size, or of the weighted objective (`size` = "objective"), in percent of throughput.

    `low` and `high` are the two-sided 95 % interval; the medians (ns) are of single iterations, 0 for the objective.
    """

    size: str
    effect_percent: float
    low_percent: float
    high_percent: float
    sd_percent: float
    rounds: Count
    baseline_ns: float = 0.0
    candidate_ns: float = 0.0
    flop: Count = 0


class Procedure(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How samples decided a verdict: version (`boundaries`) of the critical values, looks taken, rounds of each session.

    `rescued_by` is the size that passed instead of the objective; `simplify_used_percent` the cost of earlier simplifications
    of the epoch; `calibrated` the known noise of the machine; `words` the version of the reasons' wording (verdict/plan.py). A
    measured record without a procedure was decided by an older one.
    """

    boundaries: str
    mode: Mode
    looks: tuple[int, ...]
    search_rounds: Count
    confirm_rounds: Count = 0
    rescued_by: str = ""
    simplify_used_percent: float = 0.0
    calibrated: Calibrated | None = None
    words: Count = 0


class Test(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Result of the test step."""

    ok: bool
    cases: Count
    summary: str


class ChangedCondition(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A condition of a rule that no longer holds: its value when the experiment failed, its value now, and the evidence."""

    condition: str
    was: str
    now: str
    evidence: str = ""


class Rule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A do-not-repeat rule: what identifies a repeat, and the conditions of the failure (domain/rules/conditions.py).

    `change`, `settings`, `region` and `shapes` are those of patch/identity.py; `code` is the machine code on the hardware
    target; `judged` is the target on which the experiment failed (empty: the record's own). `lapsed` are conditions that
    changed for good; changes of other conditions are looked up when needed. `worthwhile_percent` is the worthwhile gain that
    the protocol named then: a rule about a smaller effect ends with its epoch.
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
    worthwhile_percent: float = 0.5


class Waiver(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why an experiment ran although a `rule` matched it: a `reason` `written` by its author, or else verified by expctl."""

    rule: str
    level: str
    reason: str
    written: bool


class History(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The texts of one row of an imported, hand-written ledger; `result` has the figures."""

    change: str
    result: str
    why: str
    corrections: tuple[str, ...] = ()


class BenchmarkIdentity(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Identity of a benchmark: two figures with the same one are comparable as far as the repository determines it.

    `harness` is a hash of the harness' files, `harness_code` of their code (history/harness_code.py; older records have none).
    `kpi` and `build` are texts about what is timed and how it is built (history/benchmark_identity.py).
    """

    harness: str
    kpi: str
    build: str
    harness_code: str = ""


class Record(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The result of an experiment, with all that a later review needs. `explanation` comes from the profiles."""

    schema: Count = 1
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
    attempts: Count = 1
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
        """Is the experiment undecided without samples, because its code was unchanged on its target?"""
        return self.verdict is Verdict.INCONCLUSIVE and self.origin is Origin.MEASURED and not self.estimates


class Replication(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A repeated measurement of an experiment's two commits, as evidence. It never moves the branch."""

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
    """Evidence of a finding: samples of expctl, a ledger kept by hand, external sources, or the output of a compiler."""

    MEASURED = "measured"
    IMPORTED = "imported"
    EXTERNAL = "external"
    STATIC = "static"


class Finding(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A lesson that outlives its experiment.

    `since` is a date or an experiment. `evidence` are experiments, commits or addresses. `superseded_by` and `contradicted_by`
    are another finding, or evidence; a finding with either is no longer valid.
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
        """Is the finding neither superseded nor contradicted?"""
        return not (self.superseded_by or self.contradicted_by)


class FindingsFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The contents of experiments/findings.yaml, in the editor's order: the most important first."""

    findings: tuple[Finding, ...] = ()
