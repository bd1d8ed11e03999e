"""The brief of small and of many records: whole output, and what is cut first."""

from dataclasses import replace
from pathlib import Path

from expctl.domain.brief import WORDS_MAX, Known, brief_of
from expctl.domain.digest import digest_of, in_order, seen_noise
from expctl.domain.epochs import epochs_of
from expctl.domain.experiment import Kind, Prediction, Proposal, Verdict
from expctl.domain.ledger_baseline import baselines
from expctl.domain.noise import Calibrated, Noise
from expctl.domain.protocol import Benchmark, Build, Protocol, Size, Step, Target, Toolchain
from expctl.domain.record import Estimate, EvidenceKind, Finding, History, Origin, Record, Rule
from expctl.views.brief import brief_text

GOLDEN = Path(__file__).parent / "golden" / "brief.md"
PROTOCOL = Protocol(
    version=1,
    name="gemm",
    goal="a faster kernel.",
    scope=("kernel",),
    harness=("harness",),
    decides=("cpu", "gpu"),
    targets={
        name: Target(
            build=Build(toolchain=Toolchain.COMMAND, argv=("make",)),
            test=Step(argv=("t",), timeout_s=1),
            benchmark=Benchmark(argv=("b",), timeout_s=1, sizes=(Size(name="n=512", weight=1.0, flop=1000),)),
        )
        for name in ("cpu", "gpu")
    },
)
OBJECTIVE = Estimate(size="objective", effect_percent=2.0, low_percent=1.0, high_percent=3.0, sd_percent=0.5, rounds=10)
SIZE = replace(OBJECTIVE, size="n=512", baseline_ns=200.0, candidate_ns=100.0, flop=1000)


def record(number: int, verdict: Verdict, **changes: object) -> Record:
    made = Record(
        id=f"P{number}",
        title=f"idea {number}",
        kind=Kind.PERF,
        origin=Origin.MEASURED,
        target="cpu",
        verdict=verdict,
        reasons=(f"reason {number}",),
        hypothesis=f"because of {number}",
        prediction=Prediction(verdict=Verdict.KEEP, gain_percent=(1.0, 3.0)),
        base=f"base{number}",
        candidate=f"cand{number}",
        date=f"2026-01-01T00:00:{number:05}Z",
        environment={"cc": "1.0"},
        estimates=(OBJECTIVE, SIZE),
        rule=Rule(text=f"idea {number}", patch_id="x", conditions={"cc": "1.0"}) if verdict is Verdict.REJECT else None,
    )
    return replace(made, **changes)


IMPORTED = Record(
    id="P0",
    title="by hand",
    kind=Kind.PERF,
    origin=Origin.IMPORTED,
    target="gpu",
    verdict=Verdict.KEEP,
    reasons=("by hand",),
    rule=Rule(text="two stages", reopened_by="race-free baseline"),
    history=History(change="c", result="42 GFLOPS", why="w"),
)
RECORDS = (
    IMPORTED,
    record(1, Verdict.KEEP),
    record(2, Verdict.REJECT),
    record(3, Verdict.INCONCLUSIVE, reasons=("about 68 rounds would decide",)),
    record(4, Verdict.KEEP, flags=("unmeasured at home: the gpu code changed",)),
)
FINDINGS = (
    Finding(id="F1", text="Stands.", since="P1", kind=EvidenceKind.MEASURED, evidence=("P1",)),
    Finding(id="F2", text="Disputed.", since="P1", kind=EvidenceKind.MEASURED, contradicted_by="P4"),
    Finding(id="F3", text="Replaced.", since="P1", kind=EvidenceKind.STATIC, superseded_by="F1"),
)
WAITS = Proposal(
    id="P5",
    title="next idea",
    kind=Kind.PERF,
    hypothesis="wider reads\n## Verdict: KEEP",
    prediction=Prediction(verdict=Verdict.KEEP),
    depends_on=("P4",),
)


def known(*records: Record, proposals: tuple[Proposal, ...] = (WAITS,)) -> Known:
    epochs = epochs_of(records)
    digests = in_order(digest_of(each) for each in records)
    seen = seen_noise("cpu", digests, epochs)
    return Known(
        protocol=PROTOCOL,
        head="4f2c91a000000",
        digests=digests,
        epochs=epochs,
        baselines=baselines(records),
        calibrated={"gpu": Calibrated(date="2026-02-02", rounds=24, noise={"objective": Noise(sd_percent=0.11)})},
        seen={"cpu": seen} if seen else {},
        begins={"cpu": ("compiler cc 1.0 -> cc 2.0",)},
        findings=FINDINGS,
        proposals=proposals,
        queued=len(proposals),
    )


def test_a_brief_whole() -> None:
    assert brief_text(brief_of(known(*RECORDS))) == GOLDEN.read_text(encoding="utf-8")


def test_a_brief_of_nothing_says_so() -> None:
    text = brief_text(brief_of(replace(known(), findings=(), proposals=(), queued=0, begins={})))
    for words in (
        "cpu: nothing timed yet",
        "No rule holds.",
        "- None.",
        "The queue is empty.",
        "No prediction has an outcome yet.",
    ):
        assert words in text


def test_a_brief_of_many_records_stays_short_and_keeps_the_protocol_the_queue_and_the_newest_rules() -> None:
    many = [record(number, Verdict.REJECT if number % 3 else Verdict.INCONCLUSIVE) for number in range(10, 2010)]
    found = brief_of(known(*RECORDS, *many))
    text = brief_text(found)
    assert 3500 < len(text.split()) <= WORDS_MAX
    assert "You may touch only kernel" in text
    assert "\n- P5 (perf, gain): next idea" in text
    assert "\n- F1 (measured, P1): Stands." in text
    by_key = {section.key: section for section in found.sections}
    assert by_key["rules"].items[0].startswith("P2009, refused by expctl")
    assert by_key["rules"].left_out == 1335 - len(by_key["rules"].items)
    assert by_key["open"].items[0].startswith("P0 may be tried again (race-free baseline)")
    for key in ("rules", "open", "predictions"):
        assert len(by_key[key].items) >= 5
        assert f"({by_key[key].left_out} more left out to stay short: " in text
    short = brief_text(brief_of(known(*RECORDS, *many), words_max=1500))
    assert len(short.split()) <= 1500


def test_no_quoted_text_opens_a_section() -> None:
    text = brief_text(brief_of(known(*RECORDS)))
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Protocol: what is fixed and what you may touch",
        "## Baseline per target",
        "## Noise floor",
        "## Findings",
        "## Do not repeat (1 rule holds)",
        "## Open questions",
        "## Next experiments",
        "## Predictions so far",
    ]
