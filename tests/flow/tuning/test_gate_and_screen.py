"""The static gate drops what does not build, breaks a limit or is the same code; a search that learns is told each gain."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from expctl.adapters.proposers.sweep_search import search_for
from expctl.domain.experiment.record import Artifact, Fact
from expctl.domain.patch.sweep import Combination
from expctl.domain.protocol.model import Benchmark, Build, ResourceLimits, Size, Style, Target, Toolchain
from expctl.domain.protocol.tune import Order, Tune
from expctl.domain.run.step_result import Available, Failed
from expctl.domain.tuning.contest import Bucket
from expctl.domain.tuning.events import Gated
from expctl.domain.verdict.samples import Sample, Side
from expctl.flow.tuning.candidates import gate
from expctl.flow.tuning.screening import _screened, screen
from expctl.tables.operations import config_text, settings_of

CONFIGS = ("1,8,2,2,8,2", "2,2,2,2,4,4", "1,2,4,2,2,2", "2,4,2,2,4,2", "64,8,2,2,8,2")
RULE = Tune(tables="t", configs=CONFIGS, shapes=("64x512x128",), define="CFG")
BENCHMARK = Benchmark(argv=("x",), timeout_s=1, sizes=(Size(name="n=8", weight=1.0),))
BUCKET = Bucket(file="DEFAULT.json", name="any", shapes=("64x512x128",))
TIMES = {"auto": 1000, "1,8,2,2,8,2": 1200, "2,2,2,2,4,4": 800, "1,2,4,2,2,2": 1000, "2,4,2,2,4,2": 990}


def target(**more: Any) -> Target:
    build = Build(toolchain=Toolchain.ZIG_CPU, source="a.cpp", artifact="a.so", flags=("-O3", "-DCFG=9"))
    return Target(build=build, **more)


class Toolchains:
    def __init__(self) -> None:
        self.flags: list[tuple[str, tuple[str, ...]]] = []

    def availability(self, name: str, target: Target) -> Available:
        return Available(versions={name: str(target.number_kind)})

    def build(self, name: str, target: Target, *, tree: object, sources: str) -> Artifact | Failed:
        assert (tree, sources) == ("tree", "source")
        self.flags.append((name, target.build.flags))
        config = target.build.flags[-1].removeprefix("-DCFG=")
        if config == "2,4,2,2,4,2":
            return Failed(reason="no registers left")
        spills = 3.0 if name == "home-static" and config == "1,2,4,2,2,2" else 0.0
        code = "same" if config in CONFIGS[:2] and name == "home" else config
        return Artifact(sha256=config, code=code, facts=(Fact(name="vgpr_spills", value=spills),))


def session(**more: Any) -> Any:
    events: list[Any] = []
    guard = target(stands_for="home", limits=ResourceLimits(most={"vgpr_spills": 0}))
    tools = SimpleNamespace(toolchains=Toolchains(), gate=SimpleNamespace(working=nullcontext))
    context = SimpleNamespace(
        progress=SimpleNamespace(working=lambda *_: None, advance=lambda *_: None),
        workspace=SimpleNamespace(source_identity=lambda _: "source"),
        clock=SimpleNamespace(monotonic_s=lambda: 0.0),
    )
    targets = {"home": target(), "home-static": guard, "other": target()}
    setup = SimpleNamespace(
        name="home", head="h", context=context, tools=tools, benchmark=BENCHMARK, protocol=SimpleNamespace(targets=targets)
    )
    return SimpleNamespace(
        setup=setup,
        rule=more.pop("rule", RULE),
        cwd="tree",
        events=events,
        all=lambda kind: (event for event in events if isinstance(event, kind)),
        add=events.append,
        told=lambda *_: None,
        measuring=nullcontext,
        search=search_for,
        **more,
    )


def test_the_gate_builds_each_config_alone_for_the_target_and_its_guards() -> None:
    tuning = session()
    tuning.setup.tools.toolchains.build = _with_distinct_guard(tuning.setup.tools.toolchains)
    assert gate(tuning) == ("1,8,2,2,8,2",)
    (event,) = tuning.all(Gated)
    assert event.dropped == {
        "2,2,2,2,4,4": "the machine code of 1,8,2,2,8,2",
        "1,2,4,2,2,2": "home-static: vgpr_spills 3, at most 0 is allowed",
        "2,4,2,2,4,2": "does not build for home: no registers left",
        "64,8,2,2,8,2": "16384 threads, expected at most 1024 threads",
    }
    flags = tuning.setup.tools.toolchains.flags
    assert ("home", ("-O3", "-DCFG=1,8,2,2,8,2")) in flags
    assert {name for name, _ in flags} == {"home", "home-static"}
    count = len(flags)
    assert gate(tuning) == ("1,8,2,2,8,2",)
    assert len(flags) == count, "what the journal has is not built again"


def _with_distinct_guard(toolchains: Toolchains) -> Any:
    """Two configs are the same only if every target's code is: let the guard's be equal for the first two, too."""
    plain = toolchains.build

    def build(name: str, target: Target, *, tree: object, sources: str) -> Artifact | Failed:
        made = plain(name, target, tree=tree, sources=sources)
        if isinstance(made, Failed) or made.code not in CONFIGS[:2]:
            return made
        return Artifact(sha256=made.sha256, code="same", facts=made.facts)

    return build


def test_code_that_differs_for_a_guard_is_not_the_same() -> None:
    assert gate(session()) == ("1,8,2,2,8,2", "2,2,2,2,4,4")


def timed(benchmark: Benchmark, number: int) -> tuple[Sample, ...]:
    assert number == 0
    return tuple(
        Sample(
            round=0,
            launch=launch,
            side=Side.BASELINE if launch in (0, 3) else Side.CANDIDATE,
            size=size.name,
            style=Style.LAUNCH,
            visit=10,
            ns=(TIMES[size.name.partition("@")[2]] + launch,) * 3,
            order="ABBA",
            config="64x512x128@auto: 1,2,4,2,2,2 (DEFAULT.json, any, not tuned); x: y",
        )
        for launch in range(4)
        for size in benchmark.sizes
    )


def test_a_screen_has_finalists_and_leaves_out_what_the_bucket_has() -> None:
    found = screen(session(round=timed), [BUCKET], CONFIGS[:4])
    assert found == {BUCKET.key: ["2,2,2,2,4,4"]}


@pytest.mark.parametrize("learns", [True, False])
def test_a_search_that_learns_is_told_each_gain_before_it_is_asked_again(learns: bool) -> None:
    said: list[str] = []

    class Learning:
        def __init__(self, combinations: list[Combination]) -> None:
            self.left, self.learns = combinations, learns

        def ask(self) -> Combination | None:
            said.append("ask")
            return self.left.pop(0) if self.left else None

        def tell(self, score: float | None) -> None:
            said.append(f"tell {score or 0:+.2f}")

    tuning = session(round=timed)
    tuning.search = lambda _, combinations: Learning(list(combinations))
    event = _screened(tuning, BUCKET, CONFIGS[:3])
    assert said == (
        ["ask", "tell -0.18", "ask", "tell +0.22", "ask", "tell +0.00", "ask"]
        if learns
        else ["ask", "ask", "ask", "ask", "tell -0.18", "tell +0.22", "tell +0.00", "ask"]
    )
    assert event.now == "1,2,4,2,2,2"
    assert [set(launch) for launch in event.launches] == [{"current", *CONFIGS[:3]}] * 4


def test_a_config_that_is_asked_for_again_is_not_timed_again() -> None:
    rounds: list[int] = []

    class Repeating:
        learns = True

        def ask(self) -> Combination | None:
            rounds.append(0)
            return {name: str(value) for name, value in settings_of(CONFIGS[0]).items()} if len(rounds) < 4 else None

        def tell(self, score: float | None) -> None:
            assert score is not None
            assert score < 0

    timings: list[int] = []

    def counted(benchmark: Benchmark, number: int) -> tuple[Sample, ...]:
        timings.append(number)
        return timed(benchmark, number)

    tuning = session(round=counted)
    tuning.search = lambda *_: Repeating()
    assert len(_screened(tuning, BUCKET, CONFIGS[:1]).launches) == 4
    assert (len(rounds), len(timings)) == (4, 1)


def test_random_takes_some_and_the_same_again() -> None:
    def asked(order: Order, trials: int) -> list[str]:
        combinations = [{name: str(value) for name, value in settings_of(config).items()} for config in CONFIGS]
        found = search_for(Tune(tables="t", configs=CONFIGS, shapes=(), order=order, trials=trials), combinations)
        texts = []
        while (combination := found.ask()) is not None:
            texts.append(config_text(combination))
        return texts

    assert asked(Order.GRID, 2) == list(CONFIGS)
    assert len(set(asked(Order.RANDOM, 2))) == 2
    assert asked(Order.RANDOM, 2) == asked(Order.RANDOM, 2)
    assert sorted(asked(Order.RANDOM, 9)) == sorted(CONFIGS)


def test_optuna_picks_configs_of_the_list() -> None:
    pytest.importorskip("optuna")
    combinations = [{name: str(value) for name, value in settings_of(config).items()} for config in CONFIGS]
    found = search_for(Tune(tables="t", configs=CONFIGS, shapes=(), order=Order.OPTUNA, trials=30), combinations)
    asked = set()
    while (combination := found.ask()) is not None:
        asked.add(config_text(combination))
        found.tell(1.0)
    assert found.learns
    assert asked
    assert asked <= set(CONFIGS)
