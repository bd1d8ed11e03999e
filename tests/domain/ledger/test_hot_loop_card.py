"""The sentences of a hot-loop card, of figures that a person has worked out."""

from msgspec.structs import replace

from expctl.domain.experiment.hot_loop import CountedLoop, HotLoop, LoopLine
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.record import Fact
from expctl.domain.history.baselines import Baseline, Figure
from expctl.domain.ledger.hot_loop_card import cards, keep_changes
from expctl.domain.protocol.model import Benchmark, Build, HotLoopRule, NumberKind, Protocol, Size, Target, Toolchain
from tests.domain.ledger.test_model import measured

BENCHMARK = Benchmark(argv=("b",), timeout_s=1, sizes=(Size(name="n=8", weight=1, flop=10**12),), peak_tflops=100.0)
HOME = Target(build=Build(toolchain=Toolchain.HIPCC), benchmark=BENCHMARK)
STATIC = Target(build=Build(toolchain=Toolchain.ZIG_GFX), stands_for="gpu", hot_loop=HotLoopRule(config="1,8"))
PROTOCOL = Protocol(
    version=1, name="gemm", scope=("k",), harness=("h",), decides=("gpu",), targets={"gpu": HOME, "static": STATIC}
)
LOOP = CountedLoop(
    kernel="gemm",
    is_launched=True,
    lines=(LoopLine(file="k/a.h", line=7, text="mma", instructions={"matrix": 4, "LDS": 6}),),
    instructions={"matrix": 4, "LDS": 6},
    registers=200,
    live=150,
    simd_cycles=160,
    lds_cycles=100,
    matrix_cycles=128,
)
COUNTED = HotLoop(target="static", code="c", head="f" * 40, counted_on="zig 1", loop=LOOP)
FASTEST = Baseline(
    target="gpu",
    commit="c",
    since="P1",
    shown_by="P1",
    date="2026-01-01",
    kind=NumberKind.DEVICE_TIME,
    figures=(Figure(size="n=8", ns=25e6, flop=10**12),),
)


def test_where_it_is_what_bounds_it_and_how_far_it_is_from_that() -> None:
    (card,) = cards(PROTOCOL, [COUNTED], [FASTEST], [])
    text = "\n".join(card.lines)
    assert "Hot loop of gemm (machine code of gpu): k/a.h lines 7." in text
    assert "Config: 1,8." in text
    assert "For each matrix instruction: 1.5 LDS." in text
    assert "at most 80.0 % of the loop's cycles: 80 of the peak 100 TFLOP/s" in text
    assert ": 50.0 % of the bound, 40.0 % of the peak." in text  # 1e12 in 25 ms are 40 TFLOP/s
    assert card.costly == ("k/a.h:7: 4 matrix, 6 LDS: mma",)


def test_without_a_counted_loop_each_size_has_the_wall_that_is_nearest() -> None:
    sizes = (Size(name="n=8", weight=1, flop=10**12, bytes=10**9), Size(name="m=1", weight=1, flop=10**9, bytes=10**9))
    benchmark = replace(BENCHMARK, sizes=sizes, peak_gb_s=100.0)
    own = replace(HOME, benchmark=benchmark, hot_loop=HotLoopRule(config="auto"))
    protocol = replace(PROTOCOL, targets={"gpu": own})
    both = replace(FASTEST, figures=(*FASTEST.figures, Figure(size="m=1", ns=12.5e6, flop=10**9)))
    (card,) = cards(protocol, [], [both], [])
    text = "\n".join(card.lines)
    assert "Peak of gpu: 100 TFLOP/s, 100 GB/s." in text
    assert (  # 1e12 FLOP at 100 TFLOP/s and 1e9 bytes at 100 GB/s take 10 ms each; 1e9 FLOP take .01 ms
        "Bound of gpu, by these figures alone, for its loop isn't counted: "
        "at n=8 arithmetic, 40 % of the time at its peak: at most 2.50 times as fast; "
        "at m=1 memory, 80 % of the time at its peak: at most 1.25 times as fast."
    ) in text


def test_a_loop_that_was_not_counted_says_how_to() -> None:
    (card,) = cards(PROTOCOL, [], [FASTEST], [])
    assert not card.counted
    assert "expctl brief --count" in "\n".join(card.lines)


def test_one_that_can_not_be_counted_here_says_why() -> None:
    (card,) = cards(PROTOCOL, [], [FASTEST], [], absent={"static": "no nvcc on PATH"})
    assert not card.counted
    assert "unavailable here: no nvcc on PATH" in "\n".join(card.lines)


def test_a_loop_of_earlier_code_is_shown_as_stale() -> None:
    (fresh,), (card,) = cards(PROTOCOL, [COUNTED], [], []), cards(PROTOCOL, [replace(COUNTED, stale=True)], [], [])
    assert not card.counted
    assert card.lines[:2] == (f"STALE, counted at {'f' * 12}.", "The code has changed since; `expctl brief --count` counts it.")
    assert card.lines[2:] == fresh.lines
    (card,) = cards(PROTOCOL, [replace(COUNTED, stale=True)], [], [], absent={"static": "no zig"})
    assert "it can't be counted again here: no zig" in card.lines[1]


def test_the_last_keep_that_was_profiled_on_the_target_has_its_figures() -> None:
    other = replace(measured("P3", Verdict.KEEP), target="cpu", profile=("gemm vgpr = 1",))
    mine = replace(other, id="P2", target="gpu", profile=("gemm vgpr = 224", "static: hot loop instructions 5 -> 4"))
    older = replace(mine, id="P1", profile=("gemm vgpr = 100",))
    (card,) = cards(PROTOCOL, [], [], [], kept=[other, mine, older])
    assert "Last profile on gpu, P2: gemm vgpr = 224." in card.lines


def test_a_loop_that_loads_more_than_it_multiplies_is_bound_by_that() -> None:
    facts = [("hot loop loads", 40.0, ""), ("hot loop vector multiply-adds", 32.0, ""), ("hot loop in k/a.h from", 5.0, "line")]
    facts += [
        ("hot loop in k/a.h to", 9.0, "line"),
        ("cycles n=256", 100.0, ""),
        ("cycles stalled in the back end n=256", 30.0, ""),
    ]
    known = replace(COUNTED, loop=None, facts=tuple(Fact(name=name, value=value, unit=unit) for name, value, unit in facts))
    (card,) = cards(PROTOCOL, [known], [], [])
    text = "\n".join(card.lines)
    assert "Hot loop: k/a.h lines 5 to 9." in text
    assert "Bound by loading" in text
    assert "at most 80 % of the multiply-adds" in text
    assert "cycles stalled in the back end n=256 30 %" in text


def test_what_two_targets_say_alike_of_a_keep_is_told_once() -> None:
    alike = tuple(f"{name}: vgpr = 248, code 94720 -> 95488 B (+0.8 %)" for name in ("gpu", "rows"))
    (said,) = keep_changes([replace(measured("P1", Verdict.KEEP), profile=(*alike, "time 5 -> 4 us (-20.0 %)"))])
    assert said.endswith("): code 94720 -> 95488 B (+0.8 %); time 5 -> 4 us (-20.0 %)")
