"""The types of record.json, the result of an experiment, which only expctl writes."""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from expctl.domain.experiment.bucket_verdict import BucketVerdict
from expctl.domain.experiment.control_result import ControlResult
from expctl.domain.experiment.history import History
from expctl.domain.experiment.machine_times import Count, TimesOfSize
from expctl.domain.experiment.noise import Calibrated
from expctl.domain.experiment.proposal import Kind, Mode, Prediction, Probe, Verdict
from expctl.domain.machine.burn_in import BurnIn
from expctl.domain.machine.first_run import FirstRun
from expctl.domain.protocol.boundaries import VERSION
from expctl.domain.protocol.model import NumberKind

OBJECTIVE = "objective"  # the size of the weighted mean over all sizes
SCHEMA = 3  # 2: with the procedure of the verdict; 3: rules know a change at four levels


class Origin(StrEnum):
    """Origin of a record: measured by expctl, or imported from a ledger kept by hand."""

    MEASURED = "measured"
    IMPORTED = "imported"


class Fact(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A named figure of a build or profile, e.g. the number of VGPRs of a kernel or the instructions of a run."""

    name: str
    value: float
    unit: str = ""
    kind: NumberKind = NumberKind.STATIC


class Artifact(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file that a build made. `sha256` is its hash, `code` the hash of its code sections, without debug information.

    `image` is the hash of what is loaded besides the code, such as symbol names; empty if unknown (older records) or if `code`
    covers the whole file. `layouts` are the hashes of the builds that differ only in where the code lies, from layout 1 on; the
    file itself is layout 0. `source` is the hash of the preprocessed source and its command; empty if unknown, or if that
    source doesn't tell everything about the build.
    """

    sha256: str
    code: str
    facts: tuple[Fact, ...] = ()
    layouts: tuple[str, ...] = ()
    image: str = ""
    source: str = ""

    def has_source_of(self, other: "Artifact") -> bool:
        """Was it made of the same preprocessed source as `other`? False where one of them isn't known."""
        return bool(self.source) and self.source == other.source


class Times(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The times of single iterations of one side at one size: mean (ns), 90 % and 99 % quantile (divided by the median)."""

    mean_ns: float
    p90: float
    p99: float


class Estimate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The effect at one size, in percent of throughput (positive is faster); for the size `objective` the weighted mean of all.

    `low` and `high` bound the two-sided 95 % interval; `baseline_ns` and `candidate_ns` are median times of one iteration, 0
    for the objective. `baseline_times` and `candidate_times` say how single iterations scatter; older records have none.
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
    baseline_times: Times | None = None
    candidate_times: Times | None = None


class Procedure(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How samples decided a verdict: version of the critical values (`boundaries`), rounds measured in search and confirmation.

    `looks` are the numbers of rounds at which the search could stop. `rescued_by` is the size that gained instead of the
    objective. `simplify_used_percent` is the sum of the losses of earlier simplifications that are comparable. `calibrated` is
    the known noise of the machine, `words` the version of the wording of reasons. `extended`: `expctl run ID --extend` went on.
    `kept_by`: the name by whose gain the change was kept beside an older baseline; then there was no search. `contradicted`, if
    not empty, is why a second device, which the protocol asks for, did not confirm a gain.
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
    extended: bool = False
    kept_by: str = ""
    contradicted: str = ""


class Test(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The result of the candidate's test: whether it passed (`ok`), how many cases ran, and a summary."""

    ok: bool
    cases: Count
    summary: str


class ChangedCondition(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A condition of a do-not-repeat rule that has changed: its value at the failure, its value now, and the evidence."""

    condition: str
    was: str
    now: str
    evidence: str = ""


class Rule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A do-not-repeat rule, left by a rejected experiment: what identifies a repeat, and the conditions of the failure.

    Hashes: `change` of the normalised patch, `code` of the machine code on the hardware target, `region` of touched functions
    and `shapes` of the code without its constants, both by file. `settings` are new constants by name, `judged` is the target
    that failed ("": the record's own), `within` the function or loop where alone `forbids` holds, `lapsed` are the conditions
    that changed for good. With `refuses_near`, a change that is merely close needs a precondition in words too. If the measured
    loss may be smaller than `worthwhile_percent`, the rule ends when later figures are no longer comparable.
    """

    text: str
    patch_id: str = ""
    change: str = ""
    code: str = ""
    judged: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    forbids: tuple[str, ...] = ()
    within: str = ""
    refuses_near: bool = False
    conditions: Mapping[str, str] = field(default_factory=dict)
    region: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    shapes: Mapping[str, str] = field(default_factory=dict)
    probe: Probe | None = None
    lapsed: tuple[ChangedCondition, ...] = ()
    reopened_by: str = ""
    worthwhile_percent: float = 0.5


class Waiver(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why an experiment was run although a do-not-repeat `rule` matched it. `written` says that its author gave the `reason`;
    otherwise the reason is a condition of the rule that has changed.
    """

    rule: str
    level: str
    reason: str
    written: bool


class BenchmarkIdentity(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the figures of a target are measured with; figures with equal identities are comparable on one machine.

    `harness` is a hash of the harness files, `harness_code` a hash of their code without comments (empty in older records).
    `kpi` describes what is timed (sizes, weights, rounds), `build` how it is built; both are texts.
    """

    harness: str
    kpi: str
    build: str
    harness_code: str = ""


class Record(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The result of an experiment, with all that a later review needs. `explanation` is what profiles tell of the effect.

    `control` is what the measuring path has shown before the first round, `burn_ins` in which state of the GPU its confirmation
    began, and went on, `first_runs` what a cold cache of a compiler cost beside the samples. `times` are the absolute times by
    state of the machine. Of these, older records have none. A tuning has a verdict for each of `buckets`.
    """

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
    burn_ins: tuple[BurnIn, ...] = ()
    first_runs: tuple[FirstRun, ...] = ()
    samples_sha256: str = ""
    yardstick: BenchmarkIdentity | None = None
    control: ControlResult | None = None
    times: tuple[TimesOfSize, ...] = ()
    buckets: tuple[BucketVerdict, ...] = ()
    contests_sha256: str = ""
    drift: "Drift | None" = None

    @property
    def left_open(self) -> bool:
        """Whether the experiment was INCONCLUSIVE without any timing, because the code on its target didn't change."""
        return self.verdict is Verdict.INCONCLUSIVE and self.origin is Origin.MEASURED and not self.estimates

    @property
    def extendable(self) -> bool:
        """Whether more rounds may decide: it was measured, is INCONCLUSIVE by the present rule, and was not extended yet."""
        decided = self.procedure
        undecided = self.verdict is Verdict.INCONCLUSIVE and self.origin is Origin.MEASURED and bool(self.estimates)
        goes_on = decided is not None and not decided.extended and not decided.contradicted
        return undecided and decided is not None and goes_on and decided.boundaries == VERSION


class Replication(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A repeated measurement of an experiment's two commits, as further evidence. It never changes the branch."""

    target: str
    date: str
    verdict: Verdict
    reasons: tuple[str, ...]
    estimates: tuple[Estimate, ...]
    environment: Mapping[str, str]
    procedure: Procedure | None = None
    burn_ins: tuple[BurnIn, ...] = ()
    first_runs: tuple[FirstRun, ...] = ()
    samples_sha256: str = ""
    yardstick: BenchmarkIdentity | None = None
    control: ControlResult | None = None
    times: tuple[TimesOfSize, ...] = ()


class Drift(Replication, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A replication with each side's own best config, by side and size ("": the pinned one), from drift.jsonl."""

    configs: Mapping[str, Mapping[str, str]]
    explanation: str = ""
