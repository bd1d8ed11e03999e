"""One experiment through a world of fakes: every verdict, every crash, every refusal."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from expctl.adapters.codec.record_codec import record_bytes, samples_of, ticket_bytes
from expctl.domain.errors import Busy, Interrupted, Refused
from expctl.domain.experiment.free_change import is_free_keep
from expctl.domain.experiment.proposal import Kind, Mode, Verdict
from expctl.domain.experiment.queue_ticket import Ticket
from expctl.domain.experiment.record import Fact, Record
from expctl.domain.history.epochs import epochs_of
from expctl.domain.ledger.kept_gains import Landed, kept_gains
from expctl.domain.ledger.record_summary import summary_of
from expctl.domain.ledger.rows import why_of
from expctl.domain.machine.burn_in import BurnIn
from expctl.domain.protocol.model import BurnInRule, FreeSimplify, KeepRule, NumberKind
from expctl.domain.protocol.step import Step
from expctl.domain.run.events import Measured
from expctl.domain.run.step_result import Failed, Unavailable
from expctl.domain.verdict.samples import Session, Side
from expctl.flow.run.experiment import Outcome, run_experiment
from tests.fakes.run import Crash
from tests.fakes.stage import BENCHMARK, PROTOCOL, Stage, patch_to
from tests.refusals import refuses

NCU = ("ncu matches ncu",)


def staged(kernel: str, **changes: Any) -> Stage:
    stage = Stage()
    stage.queue("P1", kernel, **changes)
    return stage


def run(stage: Stage, id: str = "P1", **options: object) -> Outcome:
    return run_experiment(stage.context(), id, **options)  # type: ignore[arg-type]


def fails_test(stage: Stage, **failed: object) -> None:
    stage.steps.fails_test["bad"] = Failed(reason="C[3] is 1", **failed)  # type: ignore[arg-type]


def baseline_does_not_build(stage: Stage) -> None:
    stage.toolchains.refuses["cpu", "slow"] = "no compiler"


def guard_refuses(stage: Stage) -> None:
    stage.toolchains.refuses["guard", "900000"] = "asm"


def three_tainted(stage: Stage) -> None:
    stage.steps.taints = [NCU] * 3


def nothing_special(_: Stage) -> None:
    """An ordinary run."""


ENDINGS: dict[str, tuple[str, Callable[[Stage], None], Verdict, str]] = {
    "faster": ("slow 900000", nothing_special, Verdict.KEEP, "gain beyond noise"),
    "slower": ("slow 1100000", nothing_special, Verdict.REJECT, "n regresses"),
    "hardly slower": ("slow 1000001", nothing_special, Verdict.REJECT, "the candidate is slower"),
    "the same code": ("slow 1000000 # comment", nothing_special, Verdict.NO_OP, "the same code sections"),
    "wrong": ("bad", fails_test, Verdict.REJECT, "test: C[3] is 1; nothing was timed"),
    "harness fault": ("bad", lambda s: fails_test(s, fault=True), Verdict.INVALID, "test: C[3] is 1"),
    "died alone": ("bad", lambda s: fails_test(s, died=True), Verdict.REJECT, "test: C[3] is 1"),
    "does not build": (
        "slow 900000",
        lambda s: s.toolchains.refuses.update({("cpu", "900000"): "syntax"}),
        Verdict.REJECT,
        "does not build for cpu: syntax",
    ),
    "no baseline": ("slow 900000", baseline_does_not_build, Verdict.INVALID, "the baseline does not build for cpu"),
    "guard refuses": ("slow 900000", guard_refuses, Verdict.REJECT, "does not build for guard: asm"),
    "timed wrong": (
        "slow 900000",
        lambda s: s.steps.fails_measure.extend([None, Failed(reason="wrong output")]),
        Verdict.REJECT,
        "benchmark: wrong output",
    ),
    "benchmark fault": (
        "slow 900000",
        lambda s: s.steps.fails_measure.append(Failed(reason="no device", fault=True)),
        Verdict.INVALID,
        "benchmark: no device",
    ),
    "sick machine": ("slow 900000", three_tainted, Verdict.INVALID, "unstable: 3 rounds were tainted (ncu matches ncu)"),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_a_run_ends_in_its_verdict_and_only_a_keep_moves_the_kernel(name: str) -> None:
    kernel, prepare, verdict, words = ENDINGS[name]
    stage = staged(kernel)
    prepare(stage)
    before = stage.workspace.head()
    outcome = run(stage)
    assert (outcome.record.verdict, words in outcome.record.reasons[0]) == (verdict, True), outcome.record.reasons
    assert stage.kernel() == (kernel if verdict is Verdict.KEEP else "slow 1000000")
    assert (outcome.head_before, outcome.head_after, outcome.measured) == (before, stage.workspace.head(), True)
    commit = stage.workspace.commits[outcome.head_after]
    assert commit.parent == (outcome.record.candidate if verdict is Verdict.KEEP else before)
    changed = {each.path for each in stage.workspace.changed_files(commit.parent, outcome.head_after)}
    assert {"experiments/P1/record.json", "ledger.md"} <= changed
    assert changed <= {f"experiments/P1/{file}" for file in ("record.json", "samples.jsonl", "profile.json")} | {"ledger.md"}
    assert commit.files["ledger.md"] == f"P1 {verdict}".encode()
    assert stage.journal.unfinished() == ()
    assert stage.workspace.check_outs == set()
    assert (stage.locks.held, stage.gate.held) == (False, False)


def test_a_candidate_that_dies_is_acquitted_when_the_baseline_dies_too() -> None:
    stage = staged("bad")
    stage.steps.fails_test = {"bad": Failed(reason="died", died=True), "slow": Failed(reason="died", died=True)}
    assert run(stage).record.verdict is Verdict.INVALID
    assert stage.steps.tested == ["bad", "slow_1000000"]


def test_a_keep_has_everything_in_its_record() -> None:
    stage = staged("slow 900000")
    base = stage.workspace.head()
    record = run(stage).record
    assert record.base == base
    assert stage.workspace.commits[record.candidate].parent == base
    assert stage.workspace.refs["refs/expctl/P1"] == record.candidate
    assert [each.size for each in record.estimates] == ["objective", "n"]
    assert record.estimates[1].effect_percent == pytest.approx(11.1, abs=0.1)
    assert record.test is not None
    assert record.test.cases == 3
    assert set(record.artifacts[Side.CANDIDATE]) == {"cpu", "other", "guard"}
    assert record.profile == ("guard: bytes 12 -> 11 (-8.3 %)", "instructions = 10")
    assert record.flags == ("unmeasured at home: the gfx1151 code changed; expctl run P1 --target gfx1151 settles it",)
    assert record.environment == {"machine": "fake", "settings": "NUMA balancing 0", "cc": "1.0"}
    assert record.rule is None


def test_an_effect_of_more_than_a_fifth_is_flagged() -> None:
    assert "large effect (objective, n): look twice" in run(staged("slow 500000")).record.flags


def test_a_reject_leaves_a_rule() -> None:
    rule = run(staged("slow 1100000")).record.rule
    assert rule is not None
    assert rule.text.startswith("title of P1: n regresses")
    assert (rule.judged, rule.conditions["architecture"], rule.conditions["cc"]) == ("cpu", "cpu", "1.0")
    assert rule.patch_id
    assert rule.change


def test_an_analysis_is_kept_and_moves_nothing() -> None:
    stage = staged("slow 900000", kind=Kind.ANALYSIS)
    assert run(stage).record.verdict is Verdict.KEEP
    assert stage.kernel() == "slow 1000000"


def test_an_analysis_with_wrong_results_is_timed() -> None:
    stage = staged("slow 900000", kind=Kind.ANALYSIS)
    stage.steps.fails_test["900000"] = Failed(reason="C[3] is 1")
    record = run(stage).record
    assert record.verdict is Verdict.KEEP
    assert "wrong results, as an analysis may have: test: C[3] is 1" in record.notes
    assert record.rule is None
    assert set(stage.steps.forgiven) == {True}
    assert stage.kernel() == "slow 1000000"


def test_only_what_failed_is_forgiven() -> None:
    stage = staged("slow 900000", kind=Kind.ANALYSIS)
    run(stage)
    assert set(stage.steps.forgiven) == {False}


def test_a_simplification_may_cost_a_little() -> None:
    stage = staged("slow 1001000", kind=Kind.SIMPLIFY, mode=Mode.SIMPLIFY)
    assert run(stage).record.verdict is Verdict.KEEP
    assert stage.kernel() == "slow 1001000"


def test_a_profile_that_fails_is_a_note() -> None:
    stage = staged("slow 900000")
    stage.steps.profile_answer = Failed(reason="no profiler", fault=True)
    record = run(stage).record
    assert record.verdict is Verdict.KEEP
    assert "profile of the baseline: nothing: no profiler" in record.profile


def test_what_a_profiler_wrote_becomes_facts_and_the_reason() -> None:
    stage = staged("slow 900000")
    stage.profiles.answer = (Fact(name="total time", value=5, unit="us"),)
    stage.profiles.sentence = "total takes 10 % less time: registers no longer spill."
    record = run(stage).record
    assert {"instructions = 10", "total time = 5 us"} <= set(record.profile)
    assert record.explanation == stage.profiles.sentence
    assert stage.profiles.forgotten == ["cpu"]


@pytest.mark.parametrize(
    ("damaged", "failed", "said", "explained"),
    [
        ({0: "no profile"}, None, "profile of the baseline: its output is left out: no profile", False),
        ({1: "no table"}, None, "profile of the baseline: no counters: no table", True),
        ({}, Failed(reason="not on this GPU", fault=True), "profile of the baseline: no counters: not on this GPU", True),
    ],
)
def test_part_of_a_profile_that_fails_is_a_note(
    damaged: dict[int, str], failed: Failed | None, said: str, explained: bool
) -> None:
    stage = staged("slow 900000")
    counting = Step(argv=("rocprofv3", "-d", "{out}", "--", "{python}"), timeout_s=5, counters=("A", "B"))
    cpu = replace(PROTOCOL.targets["cpu"], profile=counting)
    stage.library.given_protocol = replace(PROTOCOL, targets={**PROTOCOL.targets, "cpu": cpu})
    stage.profiles.damaged, stage.steps.counter_answer = damaged, failed
    stage.profiles.answer, stage.profiles.sentence = (Fact(name="total time", value=5, unit="us"),), "Spills."
    record = run(stage).record
    assert record.verdict is Verdict.KEEP
    assert said in record.profile
    assert (record.explanation == "Spills.") == ("total time = 5 us" in record.profile) == explained
    assert "instructions = 10" in record.profile


def test_only_a_keep_is_profiled_each_side_with_its_own_sources() -> None:
    stage = staged("slow 1100000")
    run(stage)
    assert stage.steps.profiled == []
    stage.queue("P2", "slow 900000")
    run(stage, "P2")
    assert stage.steps.profiled == ["b slow_1000000", "c slow_900000"]


def test_a_tainted_round_is_measured_again() -> None:
    stage = staged("slow 900000")
    stage.steps.taints = [(), NCU]
    record = run(stage).record
    assert record.verdict is Verdict.KEEP
    assert record.estimates[0].rounds == 6
    assert stage.steps.measured == list(range(10))


def test_a_keep_is_confirmed_in_a_fresh_bench_and_only_that_session_is_shown() -> None:
    stage = staged("slow 900000")
    record = run(stage).record
    assert stage.gate.holds == 2
    assert stage.workspace.removals == 3  # before the run, before the confirmation, after the run
    assert record.schema == 3
    assert record.procedure is not None
    assert (record.procedure.boundaries, record.procedure.looks) == ("2", (3,))
    assert (record.procedure.search_rounds, record.procedure.confirm_rounds) == (3, 6)
    assert [each.rounds for each in record.estimates] == [6, 6]
    text = stage.workspace.commits[stage.workspace.head()].files["experiments/P1/samples.jsonl"]
    sessions = [(sample.round, sample.session) for sample in samples_of(text, where="samples")]
    assert {r for r, session in sessions if session is Session.SEARCH} == set(range(3))
    assert {r for r, session in sessions if session is Session.CONFIRM} == set(range(3, 9))


def test_what_simplifications_cost_is_taken_from_the_next_ones_budget() -> None:
    stage = staged("slow 1003000", kind=Kind.SIMPLIFY, mode=Mode.SIMPLIFY)
    first = run(stage).record
    effect_percent: object = first.estimates[0].effect_percent
    assert (first.verdict, effect_percent) == (Verdict.KEEP, pytest.approx(-0.3, abs=0.01))
    stage.queue("P2", "slow 1006000", kind=Kind.SIMPLIFY, mode=Mode.SIMPLIFY)
    second = run(stage, "P2").record
    assert second.verdict is Verdict.REJECT
    assert second.procedure is not None
    assert second.procedure.simplify_used_percent == pytest.approx(0.3, abs=0.01)


def test_a_guard_whose_baseline_does_not_build_is_a_note() -> None:
    stage = staged("slow 900000")
    stage.toolchains.refuses["guard", "slow"] = "asm"
    record = run(stage).record
    assert record.verdict is Verdict.KEEP
    assert record.notes == ("guard guards nothing: its baseline does not build: asm",)


def test_where_only_a_guards_code_changed_nothing_is_timed_and_another_target_may_still_decide() -> None:
    stage = staged("slow 1000000 // slow 900000 at home")
    record = run(stage).record
    assert (record.verdict, record.estimates, record.samples_sha256) == (Verdict.INCONCLUSIVE, (), "")
    assert record.reasons == ("the same code on cpu, which can't decide; other code on guard; nothing was timed",)
    assert record.profile == ("guard: bytes 12 -> 35 (+191.7 %)",)
    assert stage.kernel() == "slow 1000000"
    assert not run(stage).measured
    again = run(stage, target="other")
    assert again.measured
    assert (again.record.target, again.record.attempts, again.record.replications) == ("other", 2, ())


def test_the_next_target_decides_where_the_first_is_absent() -> None:
    stage = staged("slow 900000")
    stage.toolchains.absent["cpu"] = Unavailable(reason="no clang", hint="install it")
    record = run(stage).record
    assert (record.target, record.notes) == ("other", ("cpu: unavailable: no clang",))


# ------------------------------------------------------------------ sources that are unchanged


def test_a_guard_whose_preprocessed_source_is_unchanged_is_not_built() -> None:
    stage = staged("slow 1000000 # a comment")
    stage.toolchains.preprocesses = True
    record = run(stage).record
    built = [name for name, text in stage.toolchains.builds if "comment" in text]
    assert (record.verdict, built) == (Verdict.NO_OP, ["cpu"]), "the target that decides is always built"
    assert record.profile == ("guard: source unchanged: not built",)
    assert record.artifacts[Side.CANDIDATE]["guard"] == record.artifacts[Side.BASELINE]["guard"]
    assert "build guard, candidate (source unchanged: not built) 1.0" in stage.progress.lines


@pytest.mark.parametrize("kernel", ["slow 900000", "slow 1000000 // 5 at home"])
def test_a_guard_whose_source_changed_is_built(kernel: str) -> None:
    stage = staged(kernel)
    stage.toolchains.preprocesses = True
    record = run(stage).record
    assert ("guard", kernel) in stage.toolchains.builds
    assert record.profile[0].startswith("guard: bytes 12 -> ")


def test_a_guard_whose_baseline_does_not_build_is_not_taken_from_it() -> None:
    stage = staged("slow 1000000 # a comment")
    stage.toolchains.preprocesses = True
    stage.toolchains.refuses["guard", "slow"] = "asm"
    record = run(stage).record
    assert record.notes == ("guard guards nothing: its baseline does not build: asm",)
    assert "guard" not in record.artifacts[Side.CANDIDATE]


def test_a_simplification_whose_guard_was_not_built_lands_tested() -> None:
    stage = free()
    stage.toolchains.preprocesses = True
    record = run(stage).record
    assert (record.verdict, record.profile) == (Verdict.KEEP, ("guard: source unchanged: not built",))
    assert stage.steps.tested == ["slow_1000000"] * 2


# ------------------------------------------------------------------ free changes


def free(**absent: str) -> Stage:
    """A simplification whose code is the same, on a machine without some targets."""
    stage = staged("slow 1000000 # less", kind=Kind.SIMPLIFY, mode=Mode.SIMPLIFY)
    stage.toolchains.absent = {name: Unavailable(reason=why, hint="install it") for name, why in absent.items()}
    return stage


def test_a_simplification_with_the_same_code_lands_tested_and_untimed() -> None:
    stage = free()
    outcome = run(stage)
    record = outcome.record
    assert (record.verdict, record.estimates, record.procedure, record.samples_sha256) == (Verdict.KEEP, (), None, "")
    assert record.reasons == ("same machine code; nothing to time", "compared on cpu, other, guard")
    assert (record.flags, record.notes, record.profile) == ((), (), ("guard: machine code unchanged",))
    assert is_free_keep(record, record)
    assert stage.kernel() == "slow 1000000 # less"
    assert stage.workspace.commits[outcome.head_after].parent == record.candidate
    assert (stage.steps.tested, stage.steps.measured, stage.steps.profiled) == (["slow_1000000"] * 2, [], [])


def test_a_free_change_that_fails_a_test_is_rejected() -> None:
    stage = free()
    stage.steps.fails_test["slow"] = Failed(reason="no symbol")
    record = run(stage).record
    assert (record.verdict, record.reasons) == (Verdict.REJECT, ("test: no symbol; nothing was timed",))
    assert stage.kernel() == "slow 1000000"


def test_targets_that_could_not_be_built_stay_debts_until_a_run_compares_them() -> None:
    stage = free(other="no card", guard="no compiler")
    record = run(stage).record
    assert record.reasons[1] == "compared on cpu; not built, an open debt: other, guard"
    owed = "not compared on {}, which could not be built; expctl run P1 --again compares it where it can be"
    assert record.flags == (owed.format("other"), owed.format("guard"))
    assert record.notes == ("other: unavailable: no card", "guard: unavailable: no compiler")
    assert summary_of(record).debts == record.flags
    assert "not compared" not in why_of(record)
    del stage.toolchains.absent["other"]
    again = run(stage, again=True).record
    assert (again.flags, again.replications[0].verdict) == ((owed.format("guard"),), Verdict.KEEP)
    assert is_free_keep(again, again.replications[0])
    stage.toolchains.absent.clear()
    assert run(stage, target="other").record.flags == ()


def test_a_debt_whose_code_turns_out_to_differ_is_not_forgotten() -> None:
    stage = free(guard="no compiler")
    stage.queue("P1", "slow 1000000 // 5", kind=Kind.INFRA)
    assert run(stage).record.verdict is Verdict.KEEP
    stage.toolchains.absent.clear()
    record = run(stage, again=True).record
    assert record.replications[0].verdict is Verdict.INCONCLUSIVE
    assert [flag[:21] for flag in record.flags] == ["not compared on guard"]


def test_a_protocol_may_ask_for_every_target() -> None:
    stage = free(guard="no compiler")
    stage.library.given_protocol = replace(PROTOCOL, keep=KeepRule(free_simplify=FreeSimplify.ALL))
    record = run(stage).record
    assert record.verdict is Verdict.NO_OP
    assert record.reasons[1].startswith("not built: guard; keep.free_simplify: all asks for every target")
    assert (stage.kernel(), stage.steps.tested) == ("slow 1000000", [])


def test_a_free_change_is_charged_to_nothing_and_is_no_step_of_the_path() -> None:
    stage = free()
    run(stage)
    stage.queue("P2", "slow 900000")
    run(stage, "P2")
    records = stage.library.records(stage.workspace.head())
    summaries = [summary_of(each) for each in records]
    assert (summaries[0].cost_percent, summaries[0].lands, summaries[0].timed_on) == (None, True, ())
    epochs = epochs_of(records)
    assert len(epochs.all) == 1
    landed = [Landed(each.id, each.title, each.target, each.measurings, each.gains) for each in summaries]
    (path,) = kept_gains(landed, epochs.last)
    assert [step.id for step in path.steps] == ["P2"]
    (row,) = [each.row for each in summaries if each.id == "P1"]
    assert (row.effect_percent, row.why) == (None, "same machine code; nothing to time; compared on cpu, other, guard")


# ------------------------------------------------------------------ run is resume


def crash_counts() -> list[tuple[str, int, bool]]:
    return [
        (kernel, at, before) for kernel in ("slow 900000", "slow 1100000") for at in range(1, 19) for before in (True, False)
    ]


def fault_free(kernel: str) -> tuple[Record, int]:
    stage = staged(kernel)
    return run(stage).record, stage.journal.appends


def timeless(record: Record) -> Record:
    return replace(record, date="")


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_a_crash_during_a_free_change_is_resumed_to_the_same_record(before: bool) -> None:
    whole = free(guard="no compiler")
    wanted = run(whole).record
    assert whole.journal.appends >= 8
    for at in range(1, whole.journal.appends + 1):
        stage = free(guard="no compiler")
        stage.journal.crash_at, stage.journal.crash_before = at, before
        with pytest.raises(Crash):
            run(stage)
        assert record_bytes(timeless(run(stage).record)) == record_bytes(timeless(wanted)), at
        assert stage.kernel() == "slow 1000000 # less"


@pytest.mark.parametrize("kernel", ["slow 900000", "slow 1100000", "bad", "slow 1000000 # c"])
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_a_crash_at_any_append_is_resumed_to_the_same_record_and_a_third_run_does_nothing(kernel: str, before: bool) -> None:
    wanted, appends = fault_free(kernel)
    assert appends >= 8
    for at in range(1, appends + 1):
        stage = staged(kernel)
        stage.journal.crash_at, stage.journal.crash_before = at, before
        with pytest.raises(Crash):
            run(stage)
        record = run(stage).record
        assert record_bytes(timeless(record)) == record_bytes(timeless(wanted)), at
        assert stage.kernel() == (kernel if wanted.verdict is Verdict.KEEP else "slow 1000000")
        effects = (stage.workspace.head(), stage.journal.appends, list(stage.steps.measured), len(stage.workspace.commits))
        again = run(stage)
        assert not again.measured
        assert again.record == record
        assert effects == (stage.workspace.head(), stage.journal.appends, stage.steps.measured, len(stage.workspace.commits))


def test_three_crashes_in_a_row_count_no_round_twice() -> None:
    stage = staged("slow 900000")
    for at in (10, 12, 14):
        stage.journal.crash_at = at
        with pytest.raises(Crash):
            run(stage)
    stage.journal.crash_at = 0
    record = run(stage).record
    assert record.estimates[0].rounds == 6
    assert stage.steps.measured == list(range(9))


def test_what_a_dead_run_left_is_cleared_first() -> None:
    stage = staged("slow 900000")
    stage.workspace.check_outs = {"b"}
    stage.gate.busy = True
    with pytest.raises(Busy):
        run(stage)
    assert stage.survivors_ended == 1
    assert stage.workspace.check_outs == set()


def test_a_request_to_stop_ends_after_the_step_and_the_next_run_goes_on() -> None:
    stage = staged("slow 900000")
    stage.stops_after = 9
    with pytest.raises(Interrupted, match="expctl run P1 goes on from there"):
        run(stage)
    rounds = sum(isinstance(event, Measured) for event in stage.journal.read("P1"))
    assert 0 < rounds < 6
    assert run(stage).record.verdict is Verdict.KEEP
    assert stage.steps.measured == list(range(9))
    assert any("an unfinished run goes on after measured" in line for line in stage.progress.lines)


def test_a_proposal_that_was_changed_meanwhile_is_refused() -> None:
    stage = staged("slow 900000")
    stage.journal.crash_at = 5
    with pytest.raises(Crash):
        run(stage)
    stage.queue("P1", "slow 800000")
    with refuses("proposal-changed-after-begin"):
        run(stage)
    assert stage.kernel() == "slow 1000000"


# ------------------------------------------------------------------ burn-in

STEADY = BurnIn(seconds=14.0, steady=True, clock_mhz=1755, temperature_c=61)
RESTLESS = BurnIn(seconds=60.0, clock_mhz=1700, temperature_c=70)


def burning(kernel: str, *burn_ins: BurnIn | BaseException) -> Stage:
    stage = staged(kernel)
    benchmark = replace(BENCHMARK, burn_in=BurnInRule())
    cpu = replace(PROTOCOL.targets["cpu"], benchmark=benchmark, number_kind=NumberKind.DEVICE_TIME)
    stage.library.given_protocol = replace(PROTOCOL, targets={**PROTOCOL.targets, "cpu": cpu})
    stage.steps.burn_ins = list(burn_ins)
    return stage


@pytest.mark.parametrize("ended", [STEADY, RESTLESS, BurnIn(seconds=5.0, trouble="no sensor read them for 5 s")])
def test_the_baseline_is_burnt_in_once_before_a_confirmation_and_the_record_says_how_it_ended(ended: BurnIn) -> None:
    stage = burning("slow 900000", ended)
    record = run(stage).record
    assert (record.verdict, record.burn_ins) == (Verdict.KEEP, (ended,))
    assert stage.steps.burnt == [("slow_1000000", 3)]
    assert stage.steps.measured == list(range(9)), "what the burn-in ran isn't counted"
    assert any(line.startswith(f"burn-in the confirmation begins {ended}") for line in stage.progress.lines)


def test_a_search_that_rejects_needs_no_burn_in() -> None:
    stage = burning("slow 1100000")
    assert (run(stage).record.burn_ins, stage.steps.burnt) == ((), [])


def test_a_run_that_dies_in_the_burn_in_burns_in_again() -> None:
    stage = burning("slow 900000", Crash(), STEADY)
    with pytest.raises(Crash):
        run(stage)
    record = run(stage).record
    assert (record.verdict, record.burn_ins) == (Verdict.KEEP, (STEADY,))
    assert stage.steps.burnt == [("slow_1000000", 3)] * 2


def test_a_confirmation_that_dies_is_burnt_in_anew_when_it_goes_on() -> None:
    stage = burning("slow 900000", RESTLESS, STEADY)
    stage.journal.crash_at = 8 + 2 + 3 + 2  # begun, pinned, six builds; two tests, a search, two rounds of the confirmation
    with pytest.raises(Crash):
        run(stage)
    rounds = sum(isinstance(event, Measured) for event in stage.journal.read("P1"))
    assert rounds == 5
    record = run(stage).record
    assert (record.verdict, record.burn_ins) == (Verdict.KEEP, (RESTLESS, STEADY))
    assert [before for _, before in stage.steps.burnt] == [3, 5]


def test_a_replication_has_burn_ins_of_its_own() -> None:
    stage = burning("slow 900000", STEADY, RESTLESS)
    run(stage)
    record = run(stage, again=True).record
    assert (record.burn_ins, record.replications[0].burn_ins) == ((STEADY,), (RESTLESS,))


# ------------------------------------------------------------------ whose commit it is


@pytest.mark.parametrize(
    ("ticket", "committed", "author"),
    [
        ("Ada <a@b>", "Bob <b@b>", "Ada <a@b>"),
        ("", "Bob <b@b>", "Bob <b@b>"),
        (". <a@b>", "Bob <b@b>", "Bob <b@b>"),
        ("Ada\n<a@b>", " <b@b>", ""),
        (" <a@b>", ", <b@b>", ""),
    ],
)
def test_the_author_is_the_proposer_whom_git_takes_for_one(ticket: str, committed: str, author: str) -> None:
    stage = staged("slow 900000")
    _, patch = stage.library.queue["P1"]
    filed = Ticket(content=stage.library.queued(stage.workspace.head(), "P1").content, base="", date="", author=ticket)
    stage.workspace.edit({"experiments/P1/queued.json": ticket_bytes(filed), "experiments/P1/change.patch": patch})
    stage.workspace.committed_by = committed
    assert run(stage).record.verdict is Verdict.KEEP
    assert stage.workspace.authors["refs/expctl/P1"] == author


# ------------------------------------------------------------------ the branch moves meanwhile


def test_a_keep_follows_a_branch_that_moved_elsewhere() -> None:
    stage = staged("slow 900000")
    base = stage.workspace.head()
    stage.journal.crash_at = 8
    with pytest.raises(Crash):
        run(stage)
    moved = stage.workspace.edit({"notes": b"edited"})
    record = run(stage).record
    assert record.verdict is Verdict.KEEP
    assert record.base == moved != base
    assert stage.kernel() == "slow 900000"
    assert stage.workspace.commits[stage.workspace.head()].files["notes"] == b"edited"


WATCHED = ("src/kernel", "src/more", "bench/run", "protocol.yaml")


@pytest.mark.parametrize("path", WATCHED)
def test_a_branch_that_moved_under_the_measurement_invalidates_it(path: str) -> None:
    stage = staged("slow 900000")
    stage.journal.crash_at = 12
    with pytest.raises(Crash):
        run(stage)
    stage.workspace.edit({path: b"edited"})
    record = run(stage).record
    assert record.verdict is Verdict.INVALID
    assert record.reasons[0].startswith("base moved: main went to ")
    assert stage.workspace.commits[stage.workspace.head()].files[path] == b"edited"


@pytest.mark.parametrize("path", WATCHED)
@pytest.mark.parametrize("target", ["", "other"])
def test_a_branch_that_moved_before_anything_was_timed_is_begun_anew(path: str, target: str) -> None:
    stage = staged("slow 900000")
    stage.gate.busy = True
    with refuses("machine-not-quiet", Busy):
        run(stage, target=target)
    assert stage.journal.unfinished() == ("P1",)
    stage.gate.busy = False
    moved = stage.workspace.edit({path: b"edited"})
    record = run(stage).record
    assert (record.verdict, record.base, record.target) == (Verdict.KEEP, moved, target or "cpu")
    assert any("it begins anew" in line for line in stage.progress.lines)


def test_a_run_that_waited_for_the_machine_goes_on_where_nothing_has_moved() -> None:
    stage = staged("slow 900000")
    stage.gate.busy = True
    with refuses("machine-not-quiet", Busy):
        run(stage)
    stage.gate.busy = False
    builds, tested = list(stage.toolchains.builds), list(stage.steps.tested)
    stage.workspace.edit({"notes": b"edited"})
    assert run(stage).record.verdict is Verdict.KEEP
    assert stage.steps.tested == tested
    assert stage.toolchains.builds[len(builds) :] == [("cpu", "slow 900000")], "on the commit to which the branch went"


def test_another_branch_that_is_checked_out_begins_nothing_anew() -> None:
    stage = staged("slow 900000")
    stage.gate.busy = True
    with refuses("machine-not-quiet", Busy):
        run(stage)
    stage.gate.busy = False
    base = stage.workspace.refs["refs/heads/side"] = stage.workspace.head()
    stage.workspace.checked_out = "side"
    stage.workspace.edit({"src/kernel": b"on the side"})
    record = run(stage).record
    assert (record.verdict, record.base) == (Verdict.KEEP, base)


@pytest.mark.parametrize(("kernel", "verdict"), [("slow 900000", Verdict.KEEP), ("slow 1100000", Verdict.REJECT)])
def test_others_who_publish_while_it_settles_are_followed(kernel: str, verdict: Verdict) -> None:
    stage = staged(kernel)
    moved: list[str] = []

    def others(what: str) -> None:
        if what == "P1" and len(moved) < 3:
            moved.append(stage.workspace.edit({"notes": f"{len(moved)}".encode()}))

    stage.locks.before_publishing = others
    outcome = run(stage)
    assert (outcome.record.verdict, len(moved)) == (verdict, 3)
    assert stage.workspace.commits[stage.workspace.head()].files["notes"] == b"2"
    parent = stage.workspace.parent(outcome.head_after)
    assert (stage.workspace.parent(parent) if verdict is Verdict.KEEP else parent) == moved[-1]
    assert stage.locks.publisher == ""


def test_a_proposal_that_was_rewritten_meanwhile_has_no_verdict() -> None:
    stage = staged("slow 1100000")

    def rewritten(_number: int) -> None:
        if stage.journal.appends == 9:
            proposed, _ = stage.library.queue["P1"]
            stage.library.queue["P1"] = (proposed, patch_to("slow 800000"))
            stage.workspace.edit({"notes": b"a commit"})

    stage.journal.before_append = rewritten
    record = run(stage).record
    assert record.verdict is Verdict.INVALID
    assert "another proposal under this id" in record.reasons[0]


def test_a_publisher_who_never_ends_leaves_the_verdict_in_the_journal() -> None:
    stage = staged("slow 1100000")
    stage.locks.before_publishing = lambda what: setattr(stage.locks, "publisher", "P9" if what == "P1" else "")
    with refuses("repository-publishing", Busy):
        run(stage)
    stage.locks.before_publishing = lambda _what: None
    measured = list(stage.steps.measured)
    assert run(stage).record.verdict is Verdict.REJECT
    assert stage.steps.measured == measured


def test_a_branch_that_moves_between_verdict_and_publication_is_followed() -> None:
    stage = staged("slow 1100000")
    moved = stage.workspace.edit({"notes": b"edited"})
    stage.workspace.refs["refs/heads/main"] = stage.workspace.parent(moved)
    stage.workspace.move_before_publishing = [moved]
    outcome = run(stage)
    assert outcome.record.verdict is Verdict.REJECT
    assert stage.workspace.parent(outcome.head_after) == moved


def test_a_user_who_checks_out_another_branch_meanwhile_gets_the_verdict_on_the_first() -> None:
    stage = staged("slow 1100000")
    first = stage.workspace.head()
    stage.journal.crash_at = 8
    with pytest.raises(Crash):
        run(stage)
    stage.workspace.refs["refs/heads/side"] = first
    stage.workspace.checked_out = "side"
    side = stage.workspace.edit({"notes": b"on the side"})
    run(stage)
    assert stage.workspace.refs["refs/heads/side"] == side
    main = stage.workspace.refs["refs/heads/main"]
    assert stage.workspace.parent(main) == first
    assert "experiments/P1/record.json" in stage.workspace.commits[main].files


# ------------------------------------------------------------------ again, and other targets


def test_a_concluded_experiment_is_not_run_again() -> None:
    stage = staged("slow 1100000")
    record = run(stage).record
    again = run(stage)
    assert (again.measured, again.record, again.head_before) == (False, record, again.head_after)


def test_an_invalid_one_is_run_again_and_its_record_replaced() -> None:
    stage = staged("slow 900000")
    stage.steps.fails_measure.append(Failed(reason="no device", fault=True))
    assert run(stage).record.verdict is Verdict.INVALID
    assert run(stage).record.verdict is Verdict.KEEP
    assert stage.kernel() == "slow 900000"


def test_another_target_replicates_and_never_moves_the_branch() -> None:
    stage = staged("slow 900000")
    first = run(stage).record
    record = run(stage, target="other").record
    assert (record.target, record.verdict, record.estimates) == (first.target, first.verdict, first.estimates)
    (again,) = record.replications
    assert (again.target, again.verdict) == ("other", Verdict.KEEP)
    assert stage.kernel() == "slow 900000"
    assert "experiments/P1/samples-2.jsonl" in stage.workspace.commits[stage.workspace.head()].files
    assert not run(stage, target="other").measured
    assert len(run(stage, again=True).record.replications) == 2


# ------------------------------------------------------------------ refusals


def dirty_scope(stage: Stage) -> None:
    stage.workspace.local_changes = ("src/kernel",)


def dirty_ledger(stage: Stage) -> None:
    stage.workspace.local_changes = ("ledger.md",)


def detached(stage: Stage) -> None:
    stage.workspace.refs["refs/heads/"] = stage.workspace.head()
    stage.workspace.checked_out = ""


def rebasing(stage: Stage) -> None:
    stage.workspace.operation = "rebase"


def broken_patch(stage: Stage) -> None:
    stage.queue("P1", "", patch=b"not a patch")


def stale_patch(stage: Stage) -> None:
    stage.queue("P1", "was:slow 7:slow 6")


def outside(stage: Stage) -> None:
    stage.queue("P1", "", patch=patch_to("x", "bench/run"))


def no_change(stage: Stage) -> None:
    stage.queue("P1", "slow 1000000")


def waits(stage: Stage) -> None:
    stage.queue("P1", "slow 900000", depends_on=("P0",))


def nothing_available(stage: Stage) -> None:
    stage.toolchains.absent = {name: Unavailable(reason=f"no {name}", hint="buy one") for name in PROTOCOL.targets}


REFUSALS: dict[str, tuple[Callable[[Stage], None], str]] = {
    "dirty scope": (dirty_scope, "scope-not-committed"),
    "dirty ledger": (dirty_ledger, "own-files-not-committed"),
    "detached": (detached, "head-detached"),
    "rebasing": (rebasing, "git-operation-under-way"),
    "broken patch": (broken_patch, "patch-does-not-apply"),
    "stale patch": (stale_patch, "patch-does-not-apply"),
    "outside the scope": (outside, "patch-not-allowed"),
    "no change": (no_change, "patch-not-allowed"),
    "waits": (waits, "dependency-not-met"),
    "nothing available": (nothing_available, "target-unavailable"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_can_be_refused_is_refused_before_anything_changes(name: str) -> None:
    prepare, code = REFUSALS[name]
    stage = staged("slow 900000")
    prepare(stage)
    refs = dict(stage.workspace.refs)
    with refuses(code) as caught:
        run(stage)
    assert caught.value.hint
    assert stage.workspace.refs == refs
    assert stage.journal.events == {}
    assert stage.toolchains.builds == []
    assert not stage.locks.held


def test_a_target_that_does_not_decide_is_refused() -> None:
    with refuses("target-does-not-decide"):
        run(staged("slow 900000"), target="guard")


def test_a_wanted_target_that_is_absent_is_refused_though_another_is_there() -> None:
    stage = staged("slow 900000")
    stage.toolchains.absent["cpu"] = Unavailable(reason="no clang", hint="install it")
    with refuses("target-unavailable") as caught:
        run(stage, target="cpu")
    assert caught.value.hint == "install it"


def test_a_held_repository_is_busy() -> None:
    stage = staged("slow 900000")
    stage.locks.taken = True
    with pytest.raises(Busy):
        run(stage)
    assert stage.journal.events == {}


# ------------------------------------------------------------------ what was learned before


def test_a_dependency_must_have_been_kept() -> None:
    stage = staged("slow 900000")
    stage.queue("P2", "slow 800000", depends_on=("P1",))
    with refuses("dependency-not-met") as caught:
        run(stage, "P2")
    assert (caught.value.found, caught.value.hint) == ("P1 has not run yet", "expctl run P1")
    run(stage)
    assert run(stage, "P2").record.verdict is Verdict.KEEP
    stage.queue("P3", "slow 2000000")
    run(stage, "P3")
    stage.queue("P4", "slow 700000", depends_on=("P1", "P3"))
    with pytest.raises(Refused) as caught:
        run(stage, "P4")
    assert caught.value.found == "P3 ended in REJECT"


def test_a_rejected_patch_is_refused_under_another_id_until_a_precondition_says_what_changed() -> None:
    stage = staged("slow 1100000")
    run(stage)
    stage.queue("P2", "slow 1100000")
    with refuses("tried-before") as caught:
        run(stage, "P2")
    assert "n regresses" in caught.value.found
    stage.queue("P2", "slow 1100000", precondition="   ")
    with pytest.raises(Refused):
        run(stage, "P2")
    stage.queue("P2", "slow 1100000", precondition="another compiler")
    assert run(stage, "P2").record.verdict is Verdict.REJECT
