"""`run ID --extend` where it shouldn't, twice, in bad company, and while the branch moves. What was measured stays measured."""

import hashlib
import re
from collections.abc import Callable
from random import Random

import pytest
from msgspec.structs import replace

from expctl.adapters.codec.record_codec import samples_bytes, samples_of
from expctl.domain.errors import Busy, Interrupted, Refused
from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.domain.protocol.model import Benchmark
from expctl.domain.run.events import Measured
from expctl.domain.run.step_result import Failed, Unavailable
from expctl.domain.verdict.samples import Sample, Side
from expctl.flow.run.experiment import run_experiment
from tests.fakes.run import Crash
from tests.fakes.stage import Stage
from tests.fakes.undecided import WILD, Undecided
from tests.refusals import refuses

ENDS: dict[str, tuple[str, Verdict, Callable[[Stage], object]]] = {
    "KEEP": ("slow 900000", Verdict.KEEP, lambda _: None),
    "REJECT": ("slow 1100000", Verdict.REJECT, lambda _: None),
    "does not build": ("bad", Verdict.REJECT, lambda s: s.toolchains.refuses.update({("cpu", "bad"): "syntax"})),
    "fails its test": ("wrong", Verdict.REJECT, lambda s: s.steps.fails_test.update({"wrong": Failed(reason="C[0] is 1")})),
    "NO-OP": ("slow 1000000 # words", Verdict.NO_OP, lambda _: None),
    "a guard's code alone": ("slow 1000000 // 5", Verdict.INCONCLUSIVE, lambda _: None),
    "INVALID": (
        "slow 900000", Verdict.INVALID, lambda s: s.steps.fails_measure.append(Failed(reason="no device", fault=True)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDS)
def test_only_samples_that_left_it_open_can_go_on(name: str) -> None:
    kernel, verdict, prepare = ENDS[name]
    stage = Stage()
    prepare(stage)
    stage.queue("P1", kernel)
    record = run_experiment(stage.context(), "P1").record
    assert record.verdict is verdict
    head, files, measured = stage.workspace.head(), stage.workspace.commits[stage.workspace.head()].files, stage.steps.measured
    with refuses("not-extendable"):
        run_experiment(stage.context(), "P1", extend=True)
    assert stage.workspace.head() == head
    assert (stage.workspace.commits[head].files, stage.steps.measured) == (files, measured)
    assert stage.journal.unfinished() == ()


def test_a_free_keep_has_nothing_to_go_on_from() -> None:
    stage = Stage()
    stage.queue("P1", "slow 1000000 # words", kind=Kind.SIMPLIFY)
    assert run_experiment(stage.context(), "P1").record.verdict is Verdict.KEEP
    with refuses("not-extendable"):
        run_experiment(stage.context(), "P1", extend=True)


@pytest.mark.parametrize("side", [side.value for side in Side])
def test_other_layouts_of_a_build_are_another_build(side: str) -> None:
    undecided = Undecided()
    built = undecided.record.artifacts
    other = replace(built[side]["cpu"], layouts=("e" * 64,))
    undecided.edit_record(artifacts={**built, side: {**built[side], "cpu": other}})
    with refuses("extension-not-comparable") as refused:
        undecided.run(extend=True)
    assert f"layouts of the {side} for cpu" in refused.value.found
    undecided.stands()


def test_samples_that_are_not_those_of_the_record_do_not_go_on() -> None:
    undecided = Undecided()
    samples = samples_of(undecided.file("samples.jsonl"), where="")
    undecided.head = undecided.stage.workspace.edit({"experiments/P1/samples.jsonl": samples_bytes(samples[:-4])})
    with refuses("extension-other-samples"):
        undecided.run(extend=True)
    undecided.stands()


# ------------------------------------------------------------------ the branch moves


def test_it_lands_on_a_head_that_moved_beside_the_kernel() -> None:
    undecided = Undecided()
    moved = undecided.stage.workspace.edit({"notes": b"more notes"})
    outcome = undecided.run(extend=True)
    assert outcome.record.verdict is Verdict.KEEP
    commits = undecided.stage.workspace.commits
    assert commits[commits[outcome.head_after].parent].parent == moved
    assert commits[outcome.head_after].files["notes"] == b"more notes"


@pytest.mark.parametrize(("kernel", "lands"), [("slow 1100000", True), ("slow 900000", False)])
def test_another_experiment_in_between_is_in_the_way_only_if_it_was_kept(kernel: str, lands: bool) -> None:
    undecided = Undecided()
    undecided.steps.scatter = 0.0001
    undecided.steps.gain = 0.0
    undecided.stage.queue("P2", kernel)
    run_experiment(undecided.stage.context(), "P2")
    undecided.head = undecided.stage.workspace.head()
    undecided.steps.gain = 0.01
    if lands:
        assert undecided.run(extend=True).record.verdict is Verdict.KEEP
        assert undecided.stage.kernel() == "slow 999999"
    else:
        with refuses("extension-not-comparable"):
            undecided.run(extend=True)
        undecided.stands()
        assert undecided.stage.kernel() == kernel


@pytest.mark.parametrize("change", [{"src/kernel": b"slow 1"}, {"bench/run": b"b2"}, {"protocol.yaml": b"q"}])
def test_a_branch_that_moves_while_it_measures_keeps_the_users_commit_and_the_record(change: dict[str, bytes | None]) -> None:
    undecided = Undecided()
    workspace = undecided.stage.workspace
    workspace.move_before_publishing = [moved := workspace.edit(change)]
    workspace.refs["refs/heads/main"] = undecided.head
    with pytest.raises(Refused):
        undecided.run(extend=True)
    assert workspace.head() == moved
    assert undecided.stage.journal.unfinished() == ()
    assert undecided.file("record.json") == undecided.file("record.json", undecided.head)
    assert workspace.commits[moved].files["experiments/P1/samples.jsonl"] == undecided.file("samples.jsonl", undecided.head)


def test_a_branch_that_moves_elsewhere_while_it_measures_gets_the_keep_on_top() -> None:
    undecided = Undecided()
    workspace = undecided.stage.workspace
    workspace.move_before_publishing = [moved := workspace.edit({"notes": b"others were here"})]
    workspace.refs["refs/heads/main"] = undecided.head
    assert undecided.run(extend=True).record.verdict is Verdict.KEEP
    assert workspace.is_ancestor(moved, workspace.head())
    assert (undecided.stage.kernel(), workspace.commits[workspace.head()].files["notes"]) == (
        "slow 999999",
        b"others were here",
    )


@pytest.mark.parametrize("extend", [False, True])
def test_killed_in_the_middle_and_then_the_kernel_moved(extend: bool) -> None:
    """Whatever is said then: the user's kernel stays, and the record is the old one or none."""
    undecided = Undecided()
    stage = undecided.stage
    stage.journal.crash_at = stage.journal.appends + 12
    with pytest.raises(Crash):
        undecided.run(extend=True)
    assert sum(isinstance(event, Measured) for event in stage.journal.read("P1")) > 0
    moved = stage.workspace.edit({"src/kernel": b"slow 5"})
    with pytest.raises(Refused):
        undecided.run(extend=extend)
    assert (stage.workspace.head(), stage.kernel()) == (moved, "slow 5")
    assert undecided.file("record.json") == undecided.file("record.json", undecided.head)


# ------------------------------------------------------------------ twice, and interrupted


@pytest.mark.parametrize(("gain", "verdict"), [(0.01, Verdict.KEEP), (-0.01, Verdict.REJECT)])
def test_twice_is_once(gain: float, verdict: Verdict) -> None:
    undecided = Undecided()
    undecided.steps.gain = gain
    first = undecided.run(extend=True)
    assert first.record.verdict is verdict
    head, measured = undecided.stage.workspace.head(), len(undecided.stage.steps.measured)
    again = undecided.run(extend=True)
    assert (again.measured, again.record) == (False, first.record)
    assert (undecided.stage.workspace.head(), len(undecided.stage.steps.measured)) == (head, measured)


def test_stopped_again_and_again_it_ends_as_if_in_one_go() -> None:
    whole = Undecided()
    wanted = whole.run(extend=True).record
    undecided = Undecided()
    stage = undecided.stage
    for _ in range(40):
        stage.stops_after = 2
        try:
            record = undecided.run(extend=True).record
            break
        except Interrupted:
            continue
    assert replace(record, date="") == replace(wanted, date="")
    assert undecided.file("samples.jsonl") == whole.file("samples.jsonl")
    assert stage.steps.measured == list(range(len(stage.steps.measured)))


def test_on_a_busy_machine_nothing_begins() -> None:
    undecided = Undecided()
    undecided.stage.gate.busy = True
    with pytest.raises(Busy):
        undecided.run(extend=True)
    undecided.stands()
    undecided.stage.gate.busy = False
    assert undecided.run(extend=True).record.verdict is Verdict.KEEP


def test_beside_another_run_it_is_refused() -> None:
    undecided = Undecided()
    undecided.stage.locks.taken = True
    with pytest.raises(Busy):
        undecided.run(extend=True)
    undecided.stands()


def test_where_the_target_is_missing_it_is_refused() -> None:
    undecided = Undecided()
    undecided.stage.toolchains.absent["cpu"] = Unavailable(reason="no clang", hint="install it")
    with pytest.raises(Refused):
        undecided.run(extend=True)
    undecided.stands()


def test_a_proposal_that_was_changed_since_is_refused() -> None:
    undecided = Undecided()
    undecided.stage.queue("P1", "slow 999998")
    with pytest.raises(Refused):
        undecided.run(extend=True)
    undecided.stands()


# ------------------------------------------------------------------ what is recorded


@pytest.mark.parametrize("seed", range(8))
def test_the_record_holds_every_sample_and_its_figures_are_theirs(seed: int) -> None:
    """On a noisy machine, with rounds that foreign work disturbed before and after."""
    draw = Random(seed)
    undecided = Undecided()
    steps = undecided.steps
    plain, spread, middle = steps.measure, draw.choice([0.002, 0.01, 0.02]), draw.choice([-0.01, 0.0, 0.004, 0.01])

    def noisy(benchmark: Benchmark, **parts: object) -> tuple[Sample, ...] | Failed:
        found = plain(benchmark, **parts)  # type: ignore[arg-type]
        assert not isinstance(found, Failed)
        slower = draw.gauss(-middle, spread)
        return tuple(
            replace(each, ns=tuple(int(1e6 * (1 + slower)) for _ in each.ns)) if each.side is Side.CANDIDATE else each
            for each in found
        )

    steps.measure = noisy  # type: ignore[method-assign]
    steps.taints = [("ncu matches ncu",) if draw.random() < 0.04 else () for _ in range(500)]
    before = undecided.file("samples.jsonl")
    record = undecided.run(extend=True).record
    text = undecided.file("samples.jsonl")
    assert text.startswith(before)
    samples = samples_of(text, where="")
    assert {each.round for each in samples} == set(range(len(steps.measured)))
    assert record.procedure is not None
    clean = {each.round for each in samples if not each.taints}
    assert len(clean) == record.procedure.search_rounds + record.procedure.confirm_rounds
    assert {each.rounds for each in record.estimates} == {record.procedure.confirm_rounds or record.procedure.search_rounds}
    assert record.procedure.extended
    assert record.procedure.looks[:1] == (3,)
    if record.verdict is Verdict.INCONCLUSIVE:
        assert not re.search("--extend|up to 0 more", " ".join(record.reasons))


def test_disturbed_rounds_of_the_first_run_stay_disturbed() -> None:
    undecided = Undecided()
    samples = samples_of(undecided.file("samples.jsonl"), where="")
    tainted = [replace(each, round=WILD, taints=("ncu matches ncu",)) for each in samples if each.round == 0]
    text = samples_bytes((*samples, *tainted))
    undecided.stage.workspace.edit({"experiments/P1/samples.jsonl": text})
    undecided.edit_record(samples_sha256=hashlib.sha256(text).hexdigest())
    record = undecided.run(extend=True).record
    now = samples_of(undecided.file("samples.jsonl"), where="")
    assert record.verdict is Verdict.KEEP
    assert [each for each in now if each.taints] == tainted
    assert len({(each.round, each.launch) for each in now}) == len(now)
