"""What a protocol must not say, sentence by sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from expctl.domain.protocol.inconsistencies import inconsistencies
from expctl.domain.protocol.ledger_layout import LedgerLayout
from expctl.domain.protocol.model import (
    Benchmark,
    Build,
    BurnInRule,
    Control,
    Gate,
    HotLoopRule,
    KeepRule,
    NumberKind,
    Protocol,
    Size,
    Target,
    Toolchain,
    inside,
)
from expctl.domain.protocol.step import LimitedStep, Step

STEP = LimitedStep(argv=("run",), timeout_s=1)
BENCHMARK = Benchmark(argv=("run",), timeout_s=1, sizes=(Size(name="a", weight=0.25), Size(name="b", weight=0.75)))
TARGET = Target(build=Build(toolchain=Toolchain.COMMAND, argv=("make",)), test=STEP, benchmark=BENCHMARK, profile=STEP)
SOUND = Protocol(version=1, name="x", scope=("src",), harness=("bench",), decides=("here",), targets={"here": TARGET})


def with_target(**changes: object) -> Protocol:
    return replace(SOUND, targets={"here": replace(TARGET, **changes)})


def with_benchmark(**changes: object) -> Protocol:
    return with_target(benchmark=replace(BENCHMARK, **changes))


def with_build(**changes: object) -> Protocol:
    return with_target(build=replace(TARGET.build, **changes))


def test_a_sound_protocol_has_no_faults() -> None:
    assert inconsistencies(SOUND) == ()
    assert inconsistencies(with_target(hot_loop=HotLoopRule(launch="src/launch.yaml"))) == ()


FAULTS = {
    "version": (replace(SOUND, version=2), "version: expected 1, found 2; upgrade expctl if a newer one wrote it"),
    "gate limit": (
        replace(SOUND, gate=Gate(others_percent=101)),
        "gate.others_percent: expected 0 (off) to 100, found 101",
    ),
    "burn-in without a GPU": (
        with_benchmark(burn_in=BurnInRule()),
        "targets.here.benchmark.burn_in: expected none, because it waits for the clock and heat of a GPU, and none is timed",
    ),
    "burn-in beyond the time-out": (
        with_target(number_kind=NumberKind.DEVICE_TIME, benchmark=replace(BENCHMARK, timeout_s=59, burn_in=BurnInRule())),
        "targets.here.benchmark.burn_in.most_s: expected more than 0, at most 59, found 60",
    ),
    "burn-in shorter than its window": (
        with_target(
            number_kind=NumberKind.DEVICE_TIME, benchmark=replace(BENCHMARK, timeout_s=99, burn_in=BurnInRule(most_s=4))
        ),
        "targets.here.benchmark.burn_in.window_s: expected at most most_s, 4, found 5",
    ),
    "no scope": (replace(SOUND, scope=()), "scope: expected at least one folder that a patch may touch"),
    "unknown decider": (replace(SOUND, decides=("there",)), "decides: expected one of targets (here), found there"),
    "no decider": (replace(SOUND, decides=()), "decides: expected at least one target whose verdict may move the branch"),
    "no test": (with_target(test=None), "decides: here needs both a test and a benchmark to decide"),
    "no benchmark": (with_target(benchmark=None), "decides: here needs both a test and a benchmark to decide"),
    "no command": (with_build(argv=()), "targets.here.build.argv: expected the command that writes {artifact}"),
    "control in reach": (
        with_benchmark(control=Control(patch="src/slower.patch")),
        "targets.here.benchmark.control.patch: src/slower.patch is in scope, where an experiment could change it",
    ),
    "launch description in reach": (
        with_target(hot_loop=HotLoopRule(launch="src/launch.py")),
        "targets.here.hot_loop.launch: src/launch.py is Python in scope, where a patch could change what is run",
    ),
    "control elsewhere": (
        with_benchmark(control=Control(patch="/slower.patch")),
        "targets.here.benchmark.control.patch: expected a file inside the repository, found '/slower.patch'",
    ),
    "control too small": (
        with_benchmark(control=Control(patch="slower.patch", slower_percent=0.5)),
        "targets.here.benchmark.control.slower_percent: expected 1 to 50, found 0.5",
    ),
    "no such peak": (
        with_benchmark(peak_gb_s=-1.0),
        "targets.here.benchmark.peak_gb_s: expected at least 0, found -1",
    ),
    "no source": (
        with_build(toolchain=Toolchain.NVCC),
        "targets.here.build.source: expected the file that nvcc compiles",
    ),
    "empty test": (
        with_target(test=LimitedStep(argv=(), timeout_s=1)),
        "targets.here.test.argv: expected a command, found an empty list",
    ),
    "empty benchmark": (with_benchmark(argv=()), "targets.here.benchmark.argv: expected a command, found an empty list"),
    "empty profile": (
        with_target(profile=Step(argv=(), timeout_s=1)),
        "targets.here.profile.argv: expected a command, found an empty list",
    ),
    "size twice": (
        with_benchmark(sizes=(Size(name="a", weight=0.5), Size(name="a", weight=0.5))),
        "targets.here.benchmark.sizes: expected each name once, found one twice",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_one_whole_sentence(name: str) -> None:
    protocol, sentence = FAULTS[name]
    assert inconsistencies(protocol) == (sentence,)


@pytest.mark.parametrize("folder", ["/src", ".git", ".github", "src/../..", "..", "", "."])
def test_a_scope_outside_the_repository_is_a_fault(folder: str) -> None:
    assert f"scope and harness: expected a folder or file inside the repository, found {folder!r}" in inconsistencies(
        replace(SOUND, scope=(folder,))
    )


@pytest.mark.parametrize("path", ["/etc/ledger.j2", "../ledger.j2", "docs//a.j2", ".git/a.j2", "docs/../a.j2"])
def test_a_template_outside_the_repository_is_a_fault(path: str) -> None:
    (fault,) = inconsistencies(replace(SOUND, ledger=LedgerLayout(template=path)))
    assert fault == f"ledger.template: expected a file inside the repository, found {path!r}"


def test_a_template_that_a_patch_could_change_is_a_fault() -> None:
    path = f"{SOUND.scope[0]}/ledger.j2"
    assert inconsistencies(replace(SOUND, ledger=LedgerLayout(template=path))) == (
        f"ledger.template: {path} is in scope, where a patch could change it",
    )
    assert inconsistencies(replace(SOUND, ledger=LedgerLayout(template="docs/ledger.j2"))) == ()


@pytest.mark.parametrize("folder", ["bench", "bench/sub", "protocol.yaml", "ledger.md", "experiments", "experiments/P1"])
def test_a_scope_that_reaches_what_judges_is_a_fault(folder: str) -> None:
    (sentence,) = inconsistencies(replace(SOUND, scope=(folder,)))
    assert sentence.startswith(f"scope: {folder} overlaps ")


def test_a_harness_inside_the_scope_is_a_fault() -> None:
    assert inconsistencies(replace(SOUND, harness=("src/bench",))) == (
        "scope: src overlaps src/bench, which no patch may change, because it judges or records",
    )


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/kernel.so"])
def test_an_artifact_is_a_plain_file_name(name: str) -> None:
    assert inconsistencies(with_build(artifact=name)) == (
        f"targets.here.build.artifact: expected a plain file name, found {name!r}",
    )


@pytest.mark.parametrize("weights", [(), (0.5,), (1.5, -0.5), (0.5, 0.6)])
def test_weights_are_shares_of_one(weights: tuple[float, ...]) -> None:
    sizes = tuple(Size(name=str(i), weight=weight) for i, weight in enumerate(weights))
    (sentence,) = inconsistencies(with_benchmark(sizes=sizes))
    assert sentence.startswith("targets.here.benchmark.sizes: expected weights")


@pytest.mark.parametrize("change", [{"rounds": 2}, {"rounds": 9}, {"rounds": 37}, {"iterations": 0}, {"quads": 0}])
def test_counts_have_limits(change: dict[str, int]) -> None:
    (sentence,) = inconsistencies(with_benchmark(**change))
    assert sentence.startswith("targets.here.benchmark")


@pytest.mark.parametrize("layouts", [-1, 0, 33])
def test_layouts_have_limits(layouts: int) -> None:
    assert inconsistencies(with_benchmark(layouts=layouts)) == (
        f"targets.here.benchmark.layouts: expected 1 to 32, found {layouts}",
    )


def test_a_command_that_builds_layouts_is_told_which() -> None:
    several = replace(BENCHMARK, layouts=8)
    build = Build(toolchain=Toolchain.COMMAND, argv=("make", "{artifact}"))
    assert inconsistencies(with_target(build=build, benchmark=several)) == (
        "targets.here.benchmark.layouts: expected 1, or {layout} in build.argv for the number of the layout to build, found 8",
    )
    told = replace(build, argv=("make", "LAYOUT={layout}", "{artifact}"))
    assert inconsistencies(with_target(build=told, benchmark=several)) == ()


@pytest.mark.parametrize("toolchain", [Toolchain.NVCC, Toolchain.HIPCC, Toolchain.ZIG_GFX])
def test_a_toolchain_that_builds_no_other_layout_is_asked_for_none(toolchain: Toolchain) -> None:
    build = Build(toolchain=toolchain, source="k.cu")
    assert inconsistencies(with_target(build=build)) == ()
    assert inconsistencies(with_target(build=build, benchmark=replace(BENCHMARK, layouts=2))) == (
        f"targets.here.benchmark.layouts: expected 1, because {toolchain} builds no other layout, found 2",
    )


def test_at_most_three_sizes_may_rescue() -> None:
    sizes = tuple(Size(name=str(i), weight=0.25, rescuer=True) for i in range(4))
    assert inconsistencies(with_benchmark(sizes=sizes)) == (
        "targets.here.benchmark.sizes: expected at most 3 sizes with `rescuer: true`",
    )
    assert inconsistencies(with_benchmark(sizes=(*sizes[:3], replace(sizes[3], rescuer=False)))) == ()


@pytest.mark.parametrize(
    "limit", ["guard_percent", "regression_percent", "worthwhile_percent", "simplify_percent", "costly_percent"]
)
@pytest.mark.parametrize("value", [-0.1, 51.0, float("nan")])
def test_limits_of_the_verdict_are_percent(limit: str, value: float) -> None:
    (sentence,) = inconsistencies(replace(SOUND, keep=replace(KeepRule(), **{limit: value})))
    assert sentence == f"keep.{limit}: expected 0 to 50, found {value}"


def test_all_faults_come_together() -> None:
    broken = replace(SOUND, version=3, scope=(), decides=("there", "nowhere"))
    assert len(inconsistencies(broken)) == 4


INSIDE = [
    ("src", ("src",), True),
    ("src/a", ("src",), True),
    ("src/a/b", ("other", "src/"), True),
    ("srcs", ("src",), False),
    ("src.py", ("src",), False),
    ("a/src", ("src",), False),
    ("", ("src",), False),
    ("src", ("src/a",), False),
    ("SRC/a", ("src",), False),
    ("a", (), False),
]


@pytest.mark.parametrize(("path", "folders", "answer"), INSIDE)
def test_inside(path: str, folders: tuple[str, ...], answer: bool) -> None:
    assert inside(path, folders) is answer


WORDS = st.text("abc.", min_size=1, max_size=3)


@given(st.lists(WORDS, min_size=1, max_size=4), st.integers(1, 4))
def test_a_path_is_inside_each_of_its_own_folders(parts: list[str], depth: int) -> None:
    assert inside("/".join(parts), ("/".join(parts[:depth]),))
    assert not inside("/".join(parts), ("/".join([*parts, "more"]),))
