"""The brief of small and of many records: whole output, and what is cut first."""

from pathlib import Path

from msgspec.structs import replace

from expctl.domain.brief.compose import WORDS_MAX, Known, brief_of
from expctl.domain.brief.rules import rules_now
from expctl.domain.brief.text import brief_text
from expctl.domain.experiment.finding import EvidenceKind, Finding
from expctl.domain.experiment.history import History
from expctl.domain.experiment.noise import Calibrated, Noise
from expctl.domain.experiment.proposal import Kind, Prediction, Probe, Proposal, Verdict
from expctl.domain.experiment.record import ChangedCondition, Estimate, Origin, Record, Rule, Waiver
from expctl.domain.history.baselines import baselines
from expctl.domain.history.epochs import epochs_of
from expctl.domain.ledger.record_summary import in_order, seen_noise, summary_of
from expctl.domain.protocol.model import Benchmark, Build, Protocol, Size, Target, Toolchain
from expctl.domain.protocol.step import LimitedStep
from expctl.domain.rules.conditions import conditions_of
from expctl.domain.rules.current_facts import ProbeAnswer
from expctl.domain.rules.states import State, rule_states
from tests.fakes.rules import FakeCircumstances

NOW = FakeCircumstances(versions={"cc": "1.0"})
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
            test=LimitedStep(argv=("t",), timeout_s=1),
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
    digests = in_order(summary_of(each) for each in records)
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
        absent={"gpu": "no device /dev/kfd"},
        findings=FINDINGS,
        proposals=proposals,
        queued=len(proposals),
        rules=rules_now({each.id: conditions_of(each) for each in records if each.rule}, NOW),
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
    assert by_key["rules"].items[0].startswith("P0, refused by you: two stages; open again on: race-free baseline")
    assert by_key["rules"].items[1].startswith("P2009, refused by expctl")
    assert by_key["rules"].left_out == 1336 - len(by_key["rules"].items)
    assert by_key["open"].items[0] == "F2 is contradicted by P4: Disputed."
    for key in ("rules", "open", "predictions"):
        assert len(by_key[key].items) >= 5
        assert f"({by_key[key].left_out} more left out to stay short: " in text
    short = brief_text(brief_of(known(*RECORDS, *many), words_max=1500))
    assert len(short.split()) <= 1500


def test_no_quoted_text_opens_a_section() -> None:
    text = brief_text(brief_of(known(*RECORDS)))
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Protocol: what is fixed and what you may touch",
        "## How to propose: the next free id is P<N>",
        "## Hot loop",
        "## Baseline per target",
        "## Noise floor",
        "## Findings",
        "## Do not repeat (2 rules hold)",
        "## Open questions",
        "## Next experiments",
        "## Predictions so far",
    ]


def test_the_brief_counts_the_rules_that_rules_calls_active() -> None:
    probe = Probe(source="x")
    gone = ChangedCondition(condition="baseline free of races", was="unknown", now="yes")
    plain = Rule(text="t", patch_id="x", conditions={"cc": "1.0"})
    many = (
        record(10, Verdict.REJECT),
        record(11, Verdict.REJECT, rule=replace(plain, conditions={"cc": "0.9"})),
        record(12, Verdict.REJECT, rule=replace(plain, lapsed=(gone,))),
        record(13, Verdict.REJECT, rule=replace(plain, region={"a.h": ("1",)})),
        record(14, Verdict.REJECT, rule=replace(plain, probe=probe)),
        record(15, Verdict.KEEP, waivers=(Waiver(rule="P10", level="patch", reason="wider tiles", written=True),)),
        replace(IMPORTED, rule=replace(plain, conditions={"architecture": "gfx900"})),
    )
    states = {each.id: each.state for each in rule_states(many, NOW)}
    text = brief_text(brief_of(known(*many)))
    rules, after = text.split("## Do not repeat ")[1].split("## Open questions")
    assert [name for name in states if f"\n- {name}, refused by" in rules] == [
        name for name, state in states.items() if state is not State.REOPENED
    ]
    assert [name for name in states if f"\n- {name} may be tried again" in after] == ["P0", "P11", "P12"]
    assert rules.startswith("(2 rules hold, 1 of them waived once)")
    assert "; waived for P15 (KEEP): wider tiles" in rules
    assert "- P13 is without subject: the code that it was about is gone: t" in after
    assert "Not looked at" not in text


def test_a_probe_that_nobody_tried_is_said_not_to_have_been_looked_at() -> None:
    held = record(14, Verdict.REJECT, rule=Rule(text="t", probe=Probe(source="x")))

    class Untried(FakeCircumstances):
        def probe(self, probe: Probe) -> ProbeAnswer:
            self.probed.append(probe)
            return ProbeAnswer(passes=False, said="", tried=False)

    found = rules_now({"P14": conditions_of(held)}, Untried())
    text = brief_text(brief_of(replace(known(held), rules=found)))
    assert (found.opened, found.untried) == ({}, ("P14",))
    assert "- Not looked at here: the probes of P14; `expctl rules` tries them." in text
