"""Epochs: what opens one, what does not, and what old records without a yardstick can still say."""

import random
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from expctl.domain.experiment.proposal import Kind, Mode, Verdict
from expctl.domain.experiment.record import BenchmarkIdentity, Estimate, Origin, Procedure, Record, Replication
from expctl.domain.history.benchmark_identity import benchmark_identity_of
from expctl.domain.history.comparability import comparability_of, measurement_conditions
from expctl.domain.history.epochs import epochs_of
from expctl.domain.ledger.model import ledger_of
from expctl.domain.ledger.record_summary import summary_of
from expctl.domain.ledger.simplify_budget import simplify_used_percent
from expctl.domain.protocol.model import (
    Benchmark,
    Build,
    BurnInRule,
    Environment,
    Gate,
    KeepRule,
    PatchLimits,
    Protocol,
    ResourceLimits,
    Size,
    Target,
    Toolchain,
)
from expctl.domain.protocol.step import LimitedStep

MACHINE = {"cpu": "a CPU", "vector": "avx512f", "cores": "2", "os": "Linux 6.18", "python": "3.11.7", "elftools": "0.33"}
STICK = BenchmarkIdentity(harness="h1", kpi="n=512 (1); fine", build="zig-cpu -O3")


def record(
    id: str,
    *,
    date: str = "",
    protocol: str = "p1",
    stick: BenchmarkIdentity | None = STICK,
    compiler: str = "0.16.0",
    size: str = "n=512",
    target: str = "cpu",
    more: Mapping[str, str] | None = None,
) -> Record:
    return Record(
        id=id,
        title=id,
        kind=Kind.PERF,
        origin=Origin.MEASURED,
        target=target,
        verdict=Verdict.KEEP,
        reasons=("r",),
        base=f"base of {id}",
        date=date or f"2026-01-{int(id[1:]):02}",
        protocol=protocol,
        environment={**MACHINE, "ziglang": compiler, **(more or {})},
        estimates=(Estimate(size=size, effect_percent=-0.1, low_percent=-1, high_percent=1, sd_percent=1, rounds=5),)
        if size
        else (),
        yardstick=stick,
    )


def numbers(*records: Record) -> list[int]:
    epochs = epochs_of(records)
    return [epochs.number(each.id) for each in records]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"stick": replace(STICK, harness="h2"), "protocol": "p2"}, "harness h1 -> h2"),
        (
            {"stick": replace(STICK, kpi="n=768 (1); fine"), "protocol": "p2", "size": "n=768"},
            "KPI n=512 (1); fine -> n=768 (1); fine",
        ),
        ({"stick": replace(STICK, build="zig-cpu -O2"), "protocol": "p2"}, "build zig-cpu -O3 -> zig-cpu -O2"),
        ({"compiler": "0.17.0"}, "compiler ziglang 0.16.0 -> ziglang 0.17.0"),
        ({"more": {"os": "Linux 6.19"}}, "kernel Linux 6.18 -> Linux 6.19"),
        ({"more": {"cores": "4"}}, "machine a CPU, 2 cores -> a CPU, 4 cores"),
        ({"more": {"vector": "avx2"}}, "vector instructions avx512f -> avx2"),
    ],
)
def test_what_opens_an_epoch_and_what_it_says_of_the_change(changed: dict[str, Any], words: str) -> None:
    records = [record("P1"), record("P2", **changed), record("P3", **changed)]
    assert numbers(*records) == [1, 2, 2]
    assert [str(change) for change in epochs_of(records).all[1].begins] == [words]


@pytest.mark.parametrize(
    "changed", [{"protocol": "p2"}, {"more": {"python": "3.12.1"}}, {"more": {"elftools": "0.34"}}, {"size": ""}]
)
def test_what_leaves_figures_comparable_opens_none(changed: dict[str, Any]) -> None:
    assert numbers(record("P1"), record("P2", **changed)) == [1, 1]


def test_a_driver_or_clock_policy_that_was_not_known_before_opens_none_and_is_learned() -> None:
    known, other = (
        {"driver": "nvidia 550", "clock_policy": "performance"},
        {"driver": "nvidia 560", "clock_policy": "performance"},
    )
    records = [record("P1"), record("P2", more=known), record("P3", more=other), record("P4", more=known)]
    assert numbers(*records) == [1, 1, 2, 1]
    assert numbers(record("P1", more=known), record("P2", more={**known, "clock_policy": "powersave"})) == [1, 2]


@pytest.mark.parametrize("fact", ["settings", "cards", "variables"])
def test_other_settings_or_variables_open_one_and_unknown_ones_none(fact: str) -> None:
    one, other = ({fact: value, "fingerprint": value} for value in ("nvidia 9.0: 700 W", "nvidia 9.0: 500 W"))
    records = [record("P1"), record("P2", more=one), record("P3", more=other), record("P4", more=one)]
    assert numbers(*records) == [1, 1, 2, 1]
    assert [str(change) for change in epochs_of(records).all[1].begins] == [f"{fact} nvidia 9.0: 700 W -> nvidia 9.0: 500 W"]
    assert numbers(record("P1", more={"fingerprint": "a"}), record("P2", more={"fingerprint": "b"})) == [1, 1]


def test_old_records_are_told_apart_by_their_protocol_alone() -> None:
    old = [record("P1", stick=None), record("P2", stick=None), record("P3", stick=None, protocol="p2", size="n=384")]
    assert numbers(*old) == [1, 1, 2]
    assert [str(change) for change in epochs_of(old).all[1].begins] == [
        "protocol.yaml or harness p1 -> p2",
        "sizes n=512 -> n=384",
    ]


def test_a_new_record_under_the_protocol_of_old_ones_joins_them_and_teaches_their_epoch_its_yardstick() -> None:
    records = [record("P1", stick=None), record("P2"), record("P3", protocol="p2"), record("P4", stick=None, protocol="p2")]
    assert numbers(*records) == [1, 1, 1, 1]
    assert numbers(record("P1", stick=None), record("P2", protocol="p2")) == [1, 2]


def test_equal_protocols_are_one_epoch_however_a_later_version_words_the_yardstick() -> None:
    assert numbers(record("P1"), record("P2", stick=replace(STICK, kpi="n=512, in other words"))) == [1, 1]


CODED = replace(STICK, harness_code="c1")


@pytest.mark.parametrize(
    ("later", "number"),
    [
        (replace(CODED, harness="h2"), 1),
        (replace(CODED, harness="h2", harness_code="c2"), 2),
        (replace(CODED, harness_code="c2"), 2),
        (replace(STICK, harness="h2"), 2),
        (STICK, 1),
    ],
    ids=["a comment", "code", "code, whatever the files", "an older record of other files", "an older record of these files"],
)
def test_the_code_of_the_harness_decides_where_both_know_it_and_the_files_elsewhere(
    later: BenchmarkIdentity, number: int
) -> None:
    assert numbers(record("P1", stick=CODED), record("P2", stick=later, protocol="p2")) == [1, number]


def test_an_epoch_of_older_records_learns_the_code_of_its_harness_from_a_later_one() -> None:
    records = [
        record("P1", stick=None),
        record("P2", stick=CODED),
        record("P3", stick=replace(CODED, harness="h2"), protocol="p2"),
        record("P4", stick=replace(CODED, harness_code="c2"), protocol="p3"),
    ]
    assert numbers(*records) == [1, 1, 1, 2]
    assert [str(change) for change in epochs_of(records).all[1].begins] == ["harness code c1 -> c2"]


def test_targets_count_by_themselves_and_imported_records_have_no_epoch() -> None:
    records = [record("P1"), record("P2", target="gpu"), replace(record("P3"), base="", origin=Origin.IMPORTED)]
    assert numbers(*records) == [1, 1, 0]
    assert [epoch.name for epoch in epochs_of(records).all] == ["cpu 1", "gpu 1"]


def test_a_replication_opens_an_epoch_of_its_own_target_and_none_for_its_experiment() -> None:
    again = Replication(
        target="gpu",
        date="2026-01-05",
        verdict=Verdict.KEEP,
        reasons=("r",),
        estimates=(),
        environment=MACHINE,
        yardstick=STICK,
    )
    epochs = epochs_of([replace(record("P1"), replications=(again,))])
    assert {epoch.name: epoch.first.again for epoch in epochs.all} == {"cpu 1": False, "gpu 1": True}
    assert epochs.of["P1"].name == "cpu 1"


@given(st.integers())
def test_the_order_in_which_records_come_does_not_matter(seed: int) -> None:
    records = [
        record(f"P{n}", compiler=f"0.{n // 3}", protocol=f"p{n % 2}", stick=STICK if n % 2 else None) for n in range(1, 10)
    ]
    expected = epochs_of(records)
    random.Random(seed).shuffle(records)
    assert epochs_of(records) == expected


@pytest.mark.parametrize(
    ("harness", "number", "changed"),
    [("h1", 1, []), ("h2", 3, []), ("h3", 1, ["harness h1 -> h3"])],
    ids=["of today", "of an old base, measured last", "of nothing measured yet"],
)
def test_the_epoch_of_now_is_the_one_that_the_next_run_joins(harness: str, number: int, changed: list[str]) -> None:
    """P1 and P3 ran on one machine, P2 on another; a replication on an old base, with its old harness, came last."""
    old = replace(STICK, harness="h2")
    there, late = {"cpu": "another CPU"}, "2026-02-02"
    records = [record("P1"), record("P2", more=there), record("P3"), record("P4", stick=old, protocol="p2", date=late)]
    asked = comparability_of(protocol="p3", yardstick=replace(STICK, harness=harness), environment={})
    epochs = epochs_of(records)
    assert [each.number for each in epochs.all] == [1, 2, 3]
    assert epochs.last["cpu"].number == 3
    now = epochs.at({"cpu": asked, "gpu": asked}, {"cpu": epochs.all[0]}).last
    assert (list(now), now["cpu"].number) == (["cpu"], number)
    assert [str(change) for change in now["cpu"].changes_to(asked)] == changed


# ------------------------------------------------------------------ what rests on them


def test_the_simplify_budget_outlives_an_edit_that_leaves_figures_comparable_and_no_other() -> None:
    loss = Estimate(size="objective", effect_percent=-0.2, low_percent=-0.4, high_percent=0, sd_percent=1, rounds=5)
    procedure = Procedure(boundaries="1", mode=Mode.SIMPLIFY, looks=(5,), search_rounds=5)
    spent = replace(record("P1"), estimates=(loss,), procedure=procedure)

    other = record("P2", compiler="0.17.0")  # so that there is a second epoch to join

    def used(**changed: Any) -> float:
        ground = measurement_conditions(record("P9", size="", **changed))[0][2]
        return simplify_used_percent([summary_of(spent), summary_of(other)], target="cpu", conditions=ground, but="P9")

    assert used() == 0.2
    assert used(protocol="p2") == 0.2
    assert used(compiler="0.17.0") == used(compiler="0.18.0") == 0.0
    assert (
        simplify_used_percent([summary_of(spent)], target="gpu", conditions=measurement_conditions(spent)[0][2], but="") == 0.0
    )


# ------------------------------------------------------------------ yardsticks

STEP = LimitedStep(argv=("t",), timeout_s=1)
BENCHMARK = Benchmark(argv=("b",), timeout_s=1, sizes=(Size(name="n=512", weight=0.6), Size(name="n=384", weight=0.4)))
PROTOCOL = Protocol(
    version=1,
    name="p",
    scope=("k",),
    harness=("h",),
    decides=("cpu",),
    targets={
        "cpu": Target(build=Build(toolchain=Toolchain.ZIG_CPU, source="k.c", flags=("-O3",)), test=STEP, benchmark=BENCHMARK)
    },
)


def with_benchmark(**changes: object) -> Protocol:
    target = replace(PROTOCOL.targets["cpu"], benchmark=replace(BENCHMARK, **changes))
    return replace(PROTOCOL, targets={"cpu": target})


@pytest.mark.parametrize(
    "other",
    [
        with_benchmark(quads=9, style="fine"),
        with_benchmark(iterations=11),
        with_benchmark(argv=("b", "--config", "x")),
        with_benchmark(burn_in=BurnInRule()),
        with_benchmark(sizes=BENCHMARK.sizes[:1]),
        with_benchmark(sizes=(replace(BENCHMARK.sizes[0], weight=0.5), replace(BENCHMARK.sizes[1], weight=0.5))),
        replace(PROTOCOL, environment=Environment(set={"OMP_NUM_THREADS": "2"})),
        replace(PROTOCOL, environment=Environment(pass_through=("OMP_NUM_THREADS",))),
        replace(
            PROTOCOL, targets={"cpu": replace(PROTOCOL.targets["cpu"], build=Build(toolchain=Toolchain.ZIG_CPU, source="k.c"))}
        ),
    ],
)
def test_a_yardstick_changes_with_all_that_shapes_a_figure(other: Protocol) -> None:
    assert benchmark_identity_of(other, "cpu", harness="h") != benchmark_identity_of(PROTOCOL, "cpu", harness="h")


@pytest.mark.parametrize(
    "other",
    [
        replace(PROTOCOL, gate=Gate(wait_s=5)),
        replace(PROTOCOL, goal="another goal", references=("a book",), name="another name"),
        replace(PROTOCOL, keep=KeepRule(worthwhile_percent=1.0), patch=PatchLimits(files=3)),
        replace(PROTOCOL, keep=KeepRule(second_device=True)),
        replace(
            PROTOCOL, targets={"cpu": replace(PROTOCOL.targets["cpu"], test=None, limits=ResourceLimits(most={"vgpr": 1}))}
        ),
        with_benchmark(rounds=46, timeout_s=9, peak_tflops=1.0),
    ],
)
def test_a_yardstick_stays_with_what_shapes_none(other: Protocol) -> None:
    assert benchmark_identity_of(other, "cpu", harness="h") == benchmark_identity_of(PROTOCOL, "cpu", harness="h")


def test_a_protocol_that_asks_for_another_kpi_is_pending() -> None:
    stick = benchmark_identity_of(PROTOCOL, "cpu", harness="h1")

    def pending(protocol: Protocol, one: Record) -> list[str]:
        asked = comparability_of(protocol="", yardstick=benchmark_identity_of(protocol, "cpu", harness="h1"), environment={})
        state = ledger_of(protocol, (), [one], (), {"cpu": asked}).targets[0]
        return [str(change) for change in state.next_epoch]

    known = replace(record("P1", stick=stick), estimates=())
    assert pending(PROTOCOL, known) == []
    (changed,) = pending(with_benchmark(iterations=11), known)
    assert changed.startswith("KPI ")
    assert pending(PROTOCOL, record("P1", stick=None, size="n=768")) == ["sizes n=768 -> n=512, n=384"]


def test_a_ground_says_nothing_of_what_is_not_known() -> None:
    assert comparability_of(protocol="", yardstick=None, environment={}).parts == {}
