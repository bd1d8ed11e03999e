import math
import random
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from expctl.domain.experiment.bucket_verdict import BucketVerdict
from expctl.domain.experiment.figures import effect_text, throughput_text, time_text
from expctl.domain.experiment.finding import EvidenceKind, Finding
from expctl.domain.experiment.history import History
from expctl.domain.experiment.machine_times import MachineState, SideTime, TimesOfSize
from expctl.domain.experiment.proposal import Kind, Prediction, Proposal, Verdict
from expctl.domain.experiment.record import (
    BenchmarkIdentity,
    ChangedCondition,
    Estimate,
    Origin,
    Record,
    Replication,
    Rule,
    Waiver,
)
from expctl.domain.history.baselines import Figure, baselines, lands
from expctl.domain.history.comparability import comparability_of
from expctl.domain.ledger.model import Ledger, ledger_of
from expctl.domain.ledger.record_summary import RecordSummary, given_baselines, summary_of
from expctl.domain.ledger.remarks import corrections, debts
from expctl.domain.ledger.rows import queue_items, rule_row, why_of
from expctl.domain.ledger.totals import sums_of
from expctl.domain.protocol.model import Benchmark, Build, NumberKind, Protocol, Size, Target, Toolchain
from expctl.domain.protocol.step import LimitedStep
from expctl.domain.queue.ordering import State, line_up
from expctl.domain.rules.matching import Level

PROTOCOL = Protocol(
    version=1,
    name="gemm",
    goal="a faster kernel.",
    scope=("kernel",),
    harness=("harness",),
    decides=("cpu", "sm_90"),
    targets={
        "cpu": Target(
            build=Build(toolchain=Toolchain.COMMAND, argv=("make",)),
            test=LimitedStep(argv=("test",), timeout_s=1),
            benchmark=Benchmark(argv=("bench",), timeout_s=1, sizes=(Size(name="n512", weight=1.0, flop=1000),)),
        )
    },
)
OBJECTIVE = Estimate(size="objective", effect_percent=2.0, low_percent=1.0, high_percent=3.0, sd_percent=0.5, rounds=10)


def estimate(baseline_ns: float, candidate_ns: float) -> Estimate:
    return replace(OBJECTIVE, size="n512", baseline_ns=baseline_ns, candidate_ns=candidate_ns, flop=1000)


def measured(id: str, verdict: Verdict, *, date: str = "", times: tuple[float, float] | None = (200.0, 100.0)) -> Record:
    return Record(
        id=id,
        title=f"title of {id}",
        kind=Kind.PERF,
        origin=Origin.MEASURED,
        target="cpu",
        verdict=verdict,
        reasons=("because",),
        base=f"base-{id}",
        candidate=f"candidate-{id}",
        date=date,
        estimates=(OBJECTIVE, estimate(*times)) if times else (),
    )


def imported(id: str, verdict: Verdict, kind: Kind = Kind.PERF, corrections: tuple[str, ...] = ()) -> Record:
    return Record(
        id=id,
        title=f"title of {id}",
        kind=kind,
        origin=Origin.IMPORTED,
        target="gfx1151",
        verdict=verdict,
        reasons=("by hand",),
        history=History(change="change", result=f"result of {id}", why="hand-kept why", corrections=corrections),
    )


def short(records: Iterable[Record]) -> list[RecordSummary]:
    return [summary_of(record) for record in records]


def proposal(id: str, *depends_on: str) -> Proposal:
    return Proposal(
        id=id,
        title=f"title of {id}",
        kind=Kind.PERF,
        hypothesis="it is faster",
        prediction=Prediction(verdict=Verdict.KEEP),
        depends_on=depends_on,
    )


def replication(target: str, verdict: Verdict, times: tuple[float, float]) -> Replication:
    return Replication(
        target=target, date="2026-03-09", verdict=verdict, reasons=("r",), estimates=(estimate(*times),), environment={}
    )


# ------------------------------------------------------------------ baselines


def test_the_shapes_of_a_tuning_are_no_baseline_of_the_kpi_but_it_lands() -> None:
    bucket = BucketVerdict(file="DEFAULT.json", bucket="any", shapes=("1x8x8",), verdict=Verdict.KEEP)
    tuning = replace(measured("P2", Verdict.KEEP), date="2026-12-01", buckets=(bucket,))
    (standing,) = baselines([measured("P1", Verdict.KEEP), tuning])
    assert (standing.shown_by, standing.later) == ("P1", ("P2",))
    assert baselines([tuning]) == ()


def test_a_keep_gives_the_figures_of_its_candidate() -> None:
    (standing,) = baselines([measured("P1", Verdict.KEEP)])
    assert (standing.commit, standing.since, standing.shown_by) == ("candidate-P1", "P1", "P1")
    assert standing.figures == (Figure(size="n512", ns=100.0, flop=1000),)


def test_anything_else_gives_the_figures_of_its_baseline_and_names_who_made_it() -> None:
    records = [
        measured("P1", Verdict.KEEP, date="2026-03-01"),
        measured("P2", Verdict.REJECT, date="2026-03-02", times=(110.0, 300.0)),
    ]
    (standing,) = baselines(records)
    assert (standing.commit, standing.since, standing.shown_by) == ("base-P2", "P1", "P2")
    assert standing.figures[0].ns == 110.0


def test_the_first_reject_shows_the_code_that_expctl_found() -> None:
    (standing,) = baselines([measured("P1", Verdict.REJECT)])
    assert standing.since == ""


def test_the_date_decides_what_is_newest_not_the_id() -> None:
    (standing,) = baselines([measured("P9", Verdict.KEEP, date="2026-03-01"), measured("P3", Verdict.KEEP, date="2026-03-02")])
    assert standing.shown_by == "P3"


def test_an_analysis_keeps_and_lands_nothing() -> None:
    record = replace(measured("P1", Verdict.KEEP), kind=Kind.ANALYSIS)
    assert not lands(record)
    assert baselines([record])[0].figures[0].ns == 200.0


def test_invalid_untimed_and_counted_records_are_no_baseline() -> None:
    assert baselines([measured("P1", Verdict.INVALID)]) == ()
    assert baselines([measured("P1", Verdict.NO_OP, times=None)]) == ()
    assert baselines([replace(measured("P1", Verdict.KEEP), number_kind=NumberKind.EXACT_COUNT)]) == ()


def side(ns: float) -> SideTime:
    return SideTime(ns=ns, low_ns=ns - 1, high_ns=ns + 1)


def test_a_figure_is_that_of_the_state_with_the_most_rounds() -> None:
    fast = MachineState(baseline=side(190.0), candidate=side(95.0), rounds=5)
    slow = MachineState(baseline=side(250.0), candidate=side(125.0), rounds=9)
    for verdict, ns in ((Verdict.KEEP, 125.0), (Verdict.REJECT, 250.0)):
        both = replace(measured("P1", verdict), times=(TimesOfSize(size="n512", states=(fast, slow)),))
        (figure,) = baselines([both])[0].figures
        assert figure == Figure(size="n512", ns=ns, flop=1000, low_ns=ns - 1, high_ns=ns + 1, state=1, states=2)
        assert baselines([replace(both, times=(TimesOfSize(size="n1", states=(fast,)),))])[0].figures[0].states == 1
    again = replace(replication("gfx", Verdict.REJECT, (9.0, 8.0)), times=(TimesOfSize(size="n512", states=(fast,)),))
    cpu, gfx = baselines([replace(measured("P1", Verdict.REJECT), replications=(again,))])
    assert (cpu.figures[0].low_ns, gfx.figures[0].ns, gfx.figures[0].states) == (0.0, 190.0, 1)


def test_states_are_told_in_the_reasons_and_in_the_notes() -> None:
    fast = MachineState(baseline=side(2.05e6), candidate=side(2e6), rounds=14, effect_percent=1.2)
    slow = replace(fast, baseline=side(2.75e6), rounds=9, low_percent=0.9, high_percent=1.3, effect_percent=1.1)
    one = replace(measured("P1", Verdict.KEEP), times=(TimesOfSize(size="n1", states=(fast,)),))
    assert (summary_of(one).notes, why_of(one)) == ((), "because")
    two = replace(one, times=(*one.times, TimesOfSize(size="n512", states=(fast, slow), mixed_rounds=3)))
    assert why_of(two) == "because; 2 states of the machine"
    assert summary_of(two).notes == (
        "two states of the machine at n512: 2.050 ms in 14 rounds (effect +1.20 %), "
        "2.750 ms in 9 (effect +1.10 % [+0.90, +1.30]); 3 rounds mixed",
    )


def test_a_replication_gives_a_baseline_on_its_own_target() -> None:
    record = replace(measured("P1", Verdict.KEEP), replications=(replication("gfx1151", Verdict.KEEP, (50.0, 40.0)),))
    cpu, gfx = baselines([record])
    assert (cpu.target, gfx.target) == ("cpu", "gfx1151")
    assert (gfx.commit, gfx.figures[0].ns) == ("candidate-P1", 40.0)


def test_a_target_that_was_left_behind_says_what_landed_since() -> None:
    old = replace(measured("P1", Verdict.KEEP, date="2026-03-01"), target="sm_90")
    new = measured("P2", Verdict.KEEP, date="2026-03-02")
    cpu, sm_90 = baselines([new, old])
    assert (cpu.later, sm_90.later) == ((), ("P2",))


def test_a_late_replication_of_old_code_does_not_replace_newer_code() -> None:
    old = replace(measured("P1", Verdict.KEEP, date="2026-03-01"), replications=(replication("cpu", Verdict.KEEP, (1.0, 1.0)),))
    (standing,) = baselines([old, measured("P2", Verdict.KEEP, date="2026-03-02")])
    assert standing.shown_by == "P2"


def test_the_last_imported_keep_that_is_code_stands_until_its_target_is_measured() -> None:
    history = [
        imported("P0", Verdict.KEEP),
        imported("P9", Verdict.KEEP),
        imported("P10", Verdict.REJECT),
        imported("P11", Verdict.KEEP, Kind.ANALYSIS),
        imported("P12", Verdict.KEEP, Kind.INFRA),
    ]
    assert [(given.id, given.given) for given in given_baselines(short(history))] == [("P9", "result of P9")]
    assert given_baselines(short([*history, replace(measured("P15", Verdict.REJECT), target="gfx1151")])) == ()


# ------------------------------------------------------------------ rows, rules, queue


def test_rows_are_in_the_order_of_numbers() -> None:
    records = [measured(name, Verdict.REJECT) for name in ("P10", "P6-A", "P2", "P6", "P8b", "P8")]
    assert [row.id for row in sums_of(short(records)).rows] == ["P2", "P6", "P6-A", "P8", "P8b", "P10"]


def test_the_ten_newest_verdicts_are_shown_apart_from_the_others_and_no_row_twice() -> None:
    records = [measured(f"P{n}", Verdict.REJECT, date=f"2026-03-{30 - n:02}") for n in range(1, 14)]
    ledger = ledger_of(PROTOCOL, (), [*records, imported("P0", Verdict.KEEP)], ())
    assert [row.id for row in ledger.latest] == [f"P{n}" for n in range(1, 11)]
    assert [row.id for row in ledger.earlier] == ["P11", "P12", "P13"]
    assert [row.id for row in ledger.imported] == ["P0"]


def test_kept_changes_of_the_last_epoch_multiply_in_the_order_in_which_they_landed() -> None:
    def keep(name: str, date: str, effect: tuple[float, float, float], cc: str = "2") -> Record:
        percent, low, high = effect
        whole = replace(OBJECTIVE, effect_percent=percent, low_percent=low, high_percent=high)
        record = measured(name, Verdict.KEEP, date=date)
        return replace(record, estimates=(whole, record.estimates[1]), environment={"cc": cc})

    old = keep("P1", "2026-03-01", (50.0, 49.0, 51.0), cc="1")
    first = keep("P3", "2026-03-02", (10.0, 9.0, 11.0))
    second = keep("P2", "2026-03-03", (10.0, 9.0, 11.0))
    rejected = replace(keep("P4", "2026-03-04", (10.0, 9.0, 11.0)), verdict=Verdict.REJECT)
    elsewhere = replace(keep("P5", "2026-03-05", (7.0, 6.0, 8.0)), target="sm_90")
    audit = Finding(text="Audit of cpu, epoch 2: measured", since="", kind=EvidenceKind.MEASURED)
    ledger = ledger_of(PROTOCOL, (), [second, rejected, old, elsewhere, first], (audit,))
    cpu, sm_90 = ledger.targets
    assert cpu.path is not None
    assert sm_90.path is not None
    assert (cpu.path.epoch, [step.id for step in cpu.path.steps], cpu.audits) == (2, ["P3", "P2"], ("F1",))
    total, low, high = cpu.path.steps[-1].total
    assert total == pytest.approx(21.0)
    below, above = math.sqrt(2) * math.log(1.10 / 1.09), math.sqrt(2) * math.log(1.11 / 1.10)
    assert (low, high) == pytest.approx((100 * (1.21 * math.exp(-below) - 1), 100 * (1.21 * math.exp(above) - 1)))
    assert [step.id for step in sm_90.path.steps] == ["P5"]


NEW, OLD = (BenchmarkIdentity(harness=name, kpi="n512 (1)", build="make") for name in ("new", "old"))


@pytest.mark.parametrize("harness", ["next", "new"])
def test_the_path_is_that_of_the_epoch_in_which_the_baseline_stands(harness: str) -> None:
    """P1 is of an old harness, P2 landed under a new one, then P1 was measured again under the old one, on a new machine."""
    late = replace(
        replication("cpu", Verdict.REJECT, (9.0, 9.0)), date="2026-03-09", yardstick=OLD, environment={"cpu": "another"}
    )
    first = replace(measured("P1", Verdict.REJECT, date="2026-03-01"), yardstick=OLD, environment={"cpu": "one"})
    landed = replace(measured("P2", Verdict.KEEP, date="2026-03-02"), yardstick=NEW, environment={"cpu": "another"})
    asked = comparability_of(protocol="", yardstick=replace(NEW, harness=harness), environment={})
    records = (replace(first, replications=(late,)), landed)
    cpu, _ = ledger_of(PROTOCOL, (), records, (), {"cpu": asked}).targets
    assert cpu.baseline is not None
    assert (cpu.baseline.since, cpu.epoch) == ("P2", 2)
    assert cpu.path is not None
    assert [step.id for step in cpu.path.steps] == ["P2"]
    changed = [] if harness == "new" else ["harness new -> next"]
    assert [str(each) for each in cpu.next_epoch] == changed


def test_a_baseline_that_a_replication_shows_stands_in_the_epoch_of_the_replication() -> None:
    old = replace(measured("P1", Verdict.KEEP, date="2026-03-01"), yardstick=OLD)
    other = replace(measured("P2", Verdict.KEEP, date="2026-03-02"), yardstick=NEW)
    again = replace(replication("cpu", Verdict.KEEP, (9.0, 9.0)), yardstick=OLD)
    asked = comparability_of(protocol="", yardstick=replace(NEW, harness="next"), environment={})
    (cpu, _) = ledger_of(PROTOCOL, (), (old, replace(other, replications=(again,))), (), {"cpu": asked}).targets
    assert cpu.epoch == 1


def test_a_replication_in_the_epoch_of_its_target_is_a_gain_there() -> None:
    again = replace(replication("sm_90", Verdict.KEEP, (50.0, 40.0)), estimates=(replace(OBJECTIVE, effect_percent=4.0),))
    cpu, sm_90 = ledger_of(PROTOCOL, (), [replace(measured("P1", Verdict.KEEP), replications=(again,))], ()).targets
    assert cpu.path is not None
    assert sm_90.path is not None
    assert (cpu.path.steps[0].effect[0], sm_90.path.steps[0].effect[0]) == (2.0, 4.0)
    assert sm_90.audits == ()


def test_a_measured_row_has_its_effect_and_its_reasons() -> None:
    row = summary_of(measured("P1", Verdict.KEEP)).row
    assert (row.effect_percent, row.low_percent, row.high_percent) == (2.0, 1.0, 3.0)
    assert (row.why, row.given, row.imported) == ("because", "", False)


def test_figures_that_stand_in_the_column_of_the_effect_are_not_told_again() -> None:
    record = replace(measured("P1", Verdict.KEEP), reasons=("objective +8.61 % [+7.90, +9.32]: gain beyond noise",))
    assert why_of(record) == "gain beyond noise"


def test_an_imported_row_has_the_words_of_its_history() -> None:
    row = summary_of(imported("P1", Verdict.KEEP, corrections=("wrong",))).row
    assert (row.effect_percent, row.why, row.given, row.imported) == (None, "hand-kept why", "result of P1", True)


def test_a_correction_that_several_rows_share_is_said_once() -> None:
    records = [
        imported("P1", Verdict.KEEP, corrections=("raced",)),
        imported("P2", Verdict.KEEP, corrections=("raced", "noise")),
    ]
    assert [(fix.text, fix.ids) for fix in corrections(short(records))] == [("raced", ("P1", "P2")), ("noise", ("P2",))]


def test_rules_sort_their_conditions_and_say_whether_expctl_can_match_them() -> None:
    words = replace(imported("P2", Verdict.REJECT), rule=Rule(text="t", conditions={"b": "2", "a": "1"}))
    patch = replace(measured("P1", Verdict.REJECT), rule=Rule(text="u", patch_id="abc", reopened_by="a new compiler"))
    first, second = rule_row(patch), rule_row(words)
    assert first is not None
    assert second is not None
    assert (first.known_by, first.opens, first.why) == ((Level.PATCH, Level.MEANING), "a new compiler", "+2.00 % on cpu")
    assert (second.known_by, second.conditions, second.why) == ((), (("a", "1"), ("b", "2")), "result of P2")
    assert [(ban.id, ban.known) for ban in ledger_of(PROTOCOL, (), [words, patch], ()).held] == [("P1", True), ("P2", False)]


def test_what_failed_before_it_was_timed_is_named_by_its_step() -> None:
    untimed = replace(measured("P1", Verdict.REJECT, times=None), rule=Rule(text="title of P1: x"))
    for reason, why in (
        ("test: C[0,0] is 0; nothing was timed", "test failed"),
        ("does not build for cpu: x", "does not build for cpu"),
    ):
        row = rule_row(replace(untimed, reasons=(reason,)))
        assert row is not None
        assert (row.why, row.tried) == (why, "title of P1")


def test_a_rule_says_what_has_changed_and_a_row_whom_it_was_let_pass_by() -> None:
    lapse = ChangedCondition(condition="races", was="unknown", now="none")
    closed = replace(measured("P1", Verdict.REJECT), rule=Rule(text="t", lapsed=(lapse,), region={"a.h": ("1",)}))
    waivers = (
        Waiver(rule="P1", level="patch", reason="a new tile", written=True),
        Waiver(rule="P1", level="patch", reason="cc: 1 -> 2", written=False),
    )
    passed = replace(measured("P2", Verdict.KEEP), waivers=waivers)
    ledger = ledger_of(PROTOCOL, (), [passed, closed], ())
    row = rule_row(closed)
    assert row is not None
    assert (row.lapses, row.conditions, row.opens) == ((lapse,), (("touched", "a.h"),), "another epoch or a.h")
    assert why_of(passed) == (
        "the rule of P1 (patch) let it pass for the written reason: a new tile; the rule of P1 (patch) let it pass because:"
        " cc: 1 -> 2; because"
    )
    assert (ledger.held, ledger.reopened) == ((), ("P1",))


def test_what_may_run_again_is_not_among_what_must_be_refused() -> None:
    lapse = ChangedCondition(condition="races", was="unknown", now="none")
    rules = (Rule(text="t", lapsed=(lapse,)), Rule(text="t"), Rule(text="t", patch_id="abc"))
    records = [replace(imported(f"P{n}", Verdict.REJECT), rule=rule) for n, rule in enumerate(rules, 1)]
    ledger = ledger_of(PROTOCOL, (), records, ())
    assert ledger.reopened == ("P1",)
    assert [(ban.id, ban.known) for ban in ledger.held] == [("P2", False), ("P3", True)]


def test_a_rule_that_ends_with_its_epoch_is_said_to_open_where_the_next_run_begins_one() -> None:
    stick = BenchmarkIdentity(harness="h", kpi="n7 (1)", build="make")
    ends = replace(measured("P1", Verdict.REJECT), yardstick=stick, rule=Rule(text="t", patch_id="abc"))
    untimed = measured("P2", Verdict.REJECT, times=None)
    stays = replace(untimed, yardstick=stick, rule=Rule(text="t", patch_id="def"))
    asked = comparability_of(protocol="", yardstick=replace(stick, kpi="n512 (1)"), environment={})
    ledger = ledger_of(PROTOCOL, (), [ends, stays], (), {"cpu": asked})
    assert [bool(target.next_epoch) for target in ledger.targets] == [True, False]
    assert ledger.ending == ("P1",)
    assert [ban.id for ban in ledger.held] == ["P1", "P2"]


def test_a_rule_says_when_its_evidence_is_weak() -> None:
    for wrong, why in (((), "+0.15 %"), (("inside the noise",), "weak: +0.15 %")):
        history = History(change="c", result="+0.15 %", why="w", corrections=wrong)
        row = rule_row(replace(imported("P1", Verdict.REJECT), history=history, rule=Rule(text="t")))
        assert row is not None
        assert row.why == why


def test_ids_that_nothing_is_called_are_named() -> None:
    found = ledger_of(PROTOCOL, [proposal("P9")], [measured(name, Verdict.NO_OP) for name in ("P1", "P3", "P3-A", "P6")], ())
    assert found.unused == ("P2", "P4 to P5", "P7 to P8")
    assert ledger_of(PROTOCOL, (), (), ()).unused == ()


def test_only_flags_that_name_the_debt_are_debts() -> None:
    record = replace(measured("P1", Verdict.KEEP), flags=("unmeasured at home: gfx1151", "large effect"))
    assert [debt.flag for debt in debts(short([record]))] == ["unmeasured at home: gfx1151"]
    assert why_of(record) == "because; large effect"
    free = replace(record, flags=("not compared on gfx1151, which could not be built",))
    assert [debt.is_uncompared for debt in debts(short([record, free]))] == [False, True]


def test_the_queue_is_every_proposal_without_a_record() -> None:
    proposals = [proposal("P12"), proposal("P3", "P1", "P12"), proposal("P1")]
    items = queue_items(line_up(proposals, [measured("P1", Verdict.REJECT)], {}, {}))
    assert [(item.id, item.state) for item in items] == [("P12", State.READY), ("P3", State.SKIPPED)]
    assert items[1].depends_on == (("P1", "P1 ended in REJECT"), ("P12", "P12 has not run yet"))


# ------------------------------------------------------------------ the head and the whole


def test_an_empty_ledger_says_that_nothing_was_done() -> None:
    ledger = ledger_of(PROTOCOL, (), (), ())
    assert [(target.name, target.decided, target.baseline, target.path) for target in ledger.targets] == [
        ("cpu", False, None, None),
        ("sm_90", False, None, None),
    ]
    assert (ledger.counts.measured, ledger.counts.imported, ledger.coming, ledger.latest) == (0, 0, (), ())


def test_the_head_names_what_stands_what_is_closed_and_what_is_next() -> None:
    keep = replace(measured("P1", Verdict.KEEP), flags=("unmeasured at home: gfx1151",))
    reject = replace(measured("P2", Verdict.REJECT), target="sm_90", rule=Rule(text="t", reopened_by="a race-free baseline"))
    given = replace(imported("P0", Verdict.KEEP, corrections=("raced",)), target="gfx1151")
    protocol = replace(PROTOCOL, decides=("cpu", "sm_90", "gfx1151"))
    ledger = ledger_of(protocol, (proposal("P3"),), [keep, reject, given], ())
    cpu, sm_90, gfx1151 = ledger.targets
    assert cpu.baseline is not None
    assert (cpu.baseline.since, cpu.baseline.figures[0].ns) == ("P1", 100.0)
    assert (sm_90.decided, sm_90.path) == (True, None)
    assert gfx1151.given is not None
    assert (gfx1151.decided, gfx1151.baseline, gfx1151.given.id) == (False, None, "P0")
    assert ledger.counts.measured_verdicts == ((Verdict.KEEP, 1), (Verdict.REJECT, 1))
    assert [(ban.id, ban.opens) for ban in ledger.held] == [("P2", "a race-free baseline")]
    assert [debt.id for debt in ledger.debts] == ["P1"]
    assert [item.id for item in ledger.coming] == ["P3"]


def test_findings_keep_the_order_of_their_file() -> None:
    found = (Finding(text="b", since="", kind=EvidenceKind.MEASURED), Finding(text="a", since="", kind=EvidenceKind.EXTERNAL))
    assert [(each.id, each.text) for each in ledger_of(PROTOCOL, (), (), found).findings] == [("F1", "b"), ("F2", "a")]


@given(st.integers())
def test_the_order_of_records_and_proposals_does_not_matter(seed: int) -> None:
    records = [
        replace(measured("P2", Verdict.KEEP), rule=Rule(text="t")),
        measured("P1", Verdict.REJECT),
        imported("P0", Verdict.KEEP, corrections=("x",)),
        measured("P10", Verdict.INVALID),
    ]
    proposals = [proposal("P20"), proposal("P3"), proposal("P15")]
    expected = ledger_of(PROTOCOL, proposals, records, ())
    shuffle = random.Random(seed).shuffle
    shuffle(records)
    shuffle(proposals)
    found: Ledger = ledger_of(PROTOCOL, proposals, records, ())
    assert found == expected


# ------------------------------------------------------------------ figures as text


def test_times_take_the_largest_unit_they_reach() -> None:
    assert [time_text(ns) for ns in (999.0, 1000.0, 24_996_000.0, 2.5e9)] == ["999.0 ns", "1.000 us", "25.00 ms", "2.500 s"]


def test_throughput_is_empty_when_it_means_nothing() -> None:
    assert throughput_text(2 * 8192**3, 24_996_000) == "43.99 TFLOP/s"
    assert throughput_text(2 * 1024**3, 45_900_000) == "46.79 GFLOP/s"
    assert throughput_text(0, 5) == throughput_text(5, 0) == ""


def test_an_effect_has_its_interval_and_its_rounds() -> None:
    assert effect_text(OBJECTIVE) == "+2.00 % [+1.00, +3.00], 10 rounds"
