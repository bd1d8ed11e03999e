import random
import re
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from expctl.domain.errors import Refused
from expctl.domain.experiment.finding import EvidenceKind, Finding
from expctl.domain.experiment.history import History
from expctl.domain.experiment.machine_times import MachineState, SideTime, TimesOfSize
from expctl.domain.experiment.proposal import Kind, Prediction, Probe, Proposal, Verdict
from expctl.domain.experiment.record import ChangedCondition, Estimate, Origin, Record, Replication, Rule, Times, Waiver
from expctl.domain.history.baselines import Baseline, Figure
from expctl.domain.ledger.model import ledger_of
from expctl.domain.ledger.record_summary import summary_of
from expctl.domain.protocol.ledger_layout import LedgerLayout
from expctl.domain.protocol.model import (
    Benchmark,
    Build,
    NumberKind,
    Protocol,
    ResourceLimits,
    Size,
    Style,
    Target,
    Toolchain,
)
from expctl.domain.protocol.step import LimitedStep
from expctl.domain.text import plain_text
from expctl.views.escape import code_text, escaped_text, markdown_text
from expctl.views.ledger.document import baseline_text, render
from expctl.views.ledger.rows import cell, measured_row

GOLDEN = Path(__file__).parent / "golden"

PROTOCOL = Protocol(
    version=1,
    name="scaled_mm",
    goal="raise the throughput at large N",
    scope=("kernel/hip",),
    harness=("kernel/harness",),
    decides=("cpu",),
    targets={
        "cpu": Target(
            build=Build(toolchain=Toolchain.ZIG_CPU, source="kernel/hip/scaled_mm.hip"),
            test=LimitedStep(argv=("python", "kernel/harness/test.py"), timeout_s=60),
            benchmark=Benchmark(
                argv=("python", "kernel/harness/benchmark.py"),
                timeout_s=60,
                sizes=(Size(name="n512", weight=0.25, flop=2 * 512**3), Size(name="n1024", weight=0.75, flop=2 * 1024**3)),
                style=Style.FINE,
            ),
        ),
        "gfx1151-static": Target(
            build=Build(toolchain=Toolchain.ZIG_GFX, source="kernel/hip/scaled_mm.hip", arch="gfx1151"),
            stands_for="gfx1151",
            limits=ResourceLimits(most={"scratch": 0, "vgpr": 256}, may_fall={"occupancy": 2}),
            test=LimitedStep(argv=("python", "kernel/harness/emulate.py"), timeout_s=60),
        ),
    },
)


def estimates(objective: float, ns512: tuple[float, float], ns1024: tuple[float, float]) -> tuple[Estimate, ...]:
    whole = Estimate(
        size="objective",
        effect_percent=objective,
        low_percent=objective - 0.6,
        high_percent=objective + 0.6,
        sd_percent=0.8,
        rounds=10,
    )
    return (
        whole,
        replace(whole, size="n512", baseline_ns=ns512[0], candidate_ns=ns512[1], flop=2 * 512**3),
        replace(whole, size="n1024", baseline_ns=ns1024[0], candidate_ns=ns1024[1], flop=2 * 1024**3),
    )


IMPORTED = Record(
    id="P14",
    title="Two stages only",
    kind=Kind.SIMPLIFY,
    origin=Origin.IMPORTED,
    target="gfx1151",
    verdict=Verdict.KEEP,
    reasons=("imported, decided by hand",),
    date="2026-02-18",
    notes=("A note.",),
    rule=Rule(text="Swizzle toggle.", conditions={"architecture": "gfx1151"}, reopened_by="race-free baseline"),
    history=History(change="c", result="N=8192 about 42.68k GFLOPS", why="It fits the winner.", corrections=("It raced.",)),
)
KEPT = Record(
    id="P15",
    title="Stage B through registers",
    kind=Kind.PERF,
    origin=Origin.MEASURED,
    target="cpu",
    verdict=Verdict.KEEP,
    reasons=("objective +2.31 % [+1.71, +2.91]: gain beyond noise; no size regresses",),
    base="4f2c91a0000000000000000000000000000000aa",
    candidate="81be07d0000000000000000000000000000000bb",
    date="2026-03-01",
    estimates=estimates(2.31, (6_090_000, 6_080_000), (45_900_000, 44_800_000)),
    flags=("unmeasured at home: gfx1151 code changed",),
    replications=(
        Replication(
            target="cpu",
            date="2026-03-03",
            verdict=Verdict.KEEP,
            reasons=("objective +2.10 % [+1.50, +2.70]",),
            estimates=(),
            environment={},
        ),
    ),
)
REJECTED = Record(
    id="P16",
    title="Unroll the inner loop twice",
    kind=Kind.PERF,
    origin=Origin.MEASURED,
    target="cpu",
    verdict=Verdict.REJECT,
    reasons=("n1024 regresses: -1.20 % [-1.80, -0.60]",),
    base="81be07d0000000000000000000000000000000bb",
    candidate="aaaaaaa0000000000000000000000000000000cc",
    date="2026-03-02",
    estimates=estimates(-1.2, (6_081_000, 6_150_000), (44_810_000, 45_350_000)),
    rule=Rule(
        text="Unroll the inner loop twice: n1024 regresses",
        patch_id="feed",
        change="beef",
        conditions={"compiler": "clang 21.1"},
        region={"kernel/tile.h": ("1", "2")},
        probe=Probe(source="int x;"),
    ),
)
RACED = replace(
    REJECTED,
    id="P13",
    title="Refill early",
    rule=Rule(
        text="Refill early: wrong", lapsed=(ChangedCondition(condition="baseline free of races", was="unknown", now="yes"),)
    ),
)
PASSED = replace(
    REJECTED,
    id="P19",
    title="Unroll it again",
    rule=None,
    waivers=(Waiver(rule="P16", level="patch", reason="wider tiles", written=True),),
)
UNCHANGED = Record(
    id="P17",
    title="Rename a variable",
    kind=Kind.SIMPLIFY,
    origin=Origin.MEASURED,
    target="cpu",
    verdict=Verdict.NO_OP,
    reasons=("the same code sections as the baseline on cpu; nothing was timed",),
    date="2026-03-02",
)
QUEUED = Proposal(
    id="P18",
    title="Wider LDS reads",
    kind=Kind.PERF,
    hypothesis="Reads of 16 bytes\nhalve the passes.",
    prediction=Prediction(verdict=Verdict.KEEP, gain_percent=(0.5, 2.0), text="fewer LDS passes"),
    depends_on=("P15",),
    precondition="the new layout of P15",
)
FINDINGS = (
    Finding(text="The epilogue costs little.", since="P5", kind=EvidenceKind.IMPORTED, evidence=("P5",)),
    Finding(text="Two stages are enough.", since="P8", kind=EvidenceKind.MEASURED, superseded_by="P30"),
)


def ledger_text(*records: Record, proposals: tuple[Proposal, ...] = (), findings: tuple[Finding, ...] = ()) -> str:
    return render(ledger_of(PROTOCOL, proposals, records, findings))


# ------------------------------------------------------------------ whole output


def test_a_ledger_with_every_section() -> None:
    text = ledger_text(IMPORTED, KEPT, REJECTED, UNCHANGED, RACED, PASSED, proposals=(QUEUED,), findings=FINDINGS)
    assert text == (GOLDEN / "ledger_full.md").read_text(encoding="utf-8")


def test_a_ledger_of_nothing() -> None:
    assert ledger_text() == (GOLDEN / "ledger_empty.md").read_text(encoding="utf-8")


@settings(max_examples=20, deadline=None)
@given(st.integers())
def test_the_same_records_give_the_same_bytes(seed: int) -> None:
    records = [IMPORTED, KEPT, REJECTED, UNCHANGED]
    expected = ledger_text(*records)
    random.Random(seed).shuffle(records)
    assert ledger_text(*records) == expected


# ------------------------------------------------------------------ hostile text

HOSTILE = {
    "a cell": "| a | b",
    "a row": "x\n| P99 | KEEP |",
    "html": "<script>alert(1)</script> <!-- --> </td>",
    "a link": "[x](javascript:alert(1))",
    "an image": "![x](https://evil.example/p.png)",
    "a reference": "[x][y] and [x]: https://evil.example",
    "an address": "https://evil.example and www.evil.example",
    "code": "`unbalanced ``",
    "emphasis": "**bold** __init__ _it_ a_b ~~gone~~ $x$",
    "a heading": "x\n\n# Verdict: KEEP",
    "ansi": "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b1A \x1b]8;;http://a\x1b\\t",
    "bidi": "abc\u202edef\u2066ghi\u200f",
    "invisible": "a\u200bb\ufeff\U000e0041\U000e0042\ufe0f\u00ad",
    "line ends": "a\rb\u2028c\u2029d\x85e\x0bf",
    "an entity": "&lt;b&gt; &#60;",
    "a template": "{{ 7 * 7 }} {% raw %}",
    "a surrogate": "a\ud800b",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_words_change_no_line_but_their_own(text: str) -> None:
    calm = ledger_text(replace(KEPT, title="TITLE"), proposals=(replace(QUEUED, title="TITLE", hypothesis="TITLE"),))
    harsh = ledger_text(replace(KEPT, title=text), proposals=(replace(QUEUED, title=text, hypothesis=text),))
    harsh.encode("utf-8")
    before, after = calm.splitlines(), harsh.splitlines()
    assert len(before) == len(after)
    bars = re.compile(r"(?<!\\)\|")
    assert [len(bars.findall(line)) for line in before] == [len(bars.findall(line)) for line in after]
    for ours in (r"<(?!!-- rendered)", r"(?<!\\)\]\("):
        assert len(re.findall(ours, harsh)) == len(re.findall(ours, calm))
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufe0f\U000e0041]", harsh)


def test_every_untrusted_field_is_escaped() -> None:
    evil = "<i>|[x](y)\n# z"
    record = replace(
        REJECTED,
        reasons=(evil,),
        flags=(evil, f"unmeasured at home {evil}"),
        notes=(evil,),
        target=evil,
        base=evil,
        rule=Rule(
            text=evil,
            conditions={evil: evil},
            reopened_by=evil,
            region={evil: (evil,)},
            lapsed=(ChangedCondition(condition=evil, was=evil, now=evil, evidence=evil),),
        ),
        waivers=(Waiver(rule=evil, level=evil, reason=evil, written=True),),
        history=History(change=evil, result=evil, why=evil, corrections=(evil,)),
        replications=(replace(KEPT.replications[0], target=evil, reasons=(evil,)),),
    )
    item = replace(
        QUEUED, title=evil, hypothesis=evil, precondition=evil, prediction=Prediction(verdict=Verdict.KEEP, text=evil)
    )
    finding = Finding(text=evil, since=evil, kind=cast("EvidenceKind", evil), evidence=(evil,), superseded_by=evil)
    text = ledger_text(record, replace(IMPORTED, title=evil, history=record.history), proposals=(item,), findings=(finding,))
    assert "<i>" not in text
    ours = re.sub(r"\[[\w -]+\]\((experiments/P\d+|docs/[A-Z]+\.md|protocol\.yaml|#latest)\)", "", text)
    assert not re.search(r"(?<!\\)\]\(", ours)
    assert not re.search(r"(?m)^\s*# z", text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("| a | b", r"\| a \| b"),
        (r"a\|b", r"a\\\|b"),
        ("<b>", "&lt;b>"),
        ("a < b <= 1", "a < b <= 1"),
        ("[x](y) [z](y)", r"\[x\](y) [z\](y)"),
        ("[x]: http:y", r"\[x]: http:y"),
        ("+2.3 % [+1.7, +2.9], 10 rounds", "+2.3 % [+1.7, +2.9], 10 rounds"),
        ("cvt_pk_f16 __x__", r"cvt_pk_f16 \_\_x\_\_"),
        ("# a", r"\# a"),
        ("- a", r"\- a"),
        ("---", r"\---"),
        ("1. a", r"1\. a"),
        ("1.5 times", "1.5 times"),
        ("-0.5 %", "-0.5 %"),
        ("&amp; & b", "&amp;amp; & b"),
        ("http://a www.b", r"http:\//a www\.b"),
        ("two\nlines", "two lines"),
        ("", ""),
    ],
)
def test_markdown_text_reads_as_it_was_typed(text: str, shown: str) -> None:
    assert markdown_text(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;owned\x07title", "title"),
        ("\x1b]8;;http://a\x1b\\word\x1b]8;;\x1b\\", "word"),
        ("\x1b]0;never ended", "0;never ended"),
        ("\x9b31mred", "red"),
        ("a\u202eb\u2069c", "abc"),
        ("a\r\nb\tc\u2028d", "a b c d"),
        ("a\x00b\x7fc\ud800d", "abcd"),
        ("a\u00a0b  c", "a b c"),
        ("größer ≥ 2 µs", "größer ≥ 2 µs"),
    ],
)
def test_plain_text_keeps_what_can_be_seen(text: str, shown: str) -> None:
    assert plain_text(text) == shown


@given(st.text())
def test_plain_text_is_one_line_and_done_once(text: str) -> None:
    plain = plain_text(text)
    assert plain_text(plain) == plain
    assert plain.isprintable() or not any(ord(letter) < 32 for letter in plain)
    plain.encode("utf-8")


@given(st.text(alphabet=st.sampled_from(r"\`*_|<>[]()!&;#-+=~$:/w.1a b")))
def test_no_escaped_text_has_a_bare_bar_tag_or_tick(text: str) -> None:
    shown = re.sub(r"\\[!-/:-@\[-`{-~]", "e", markdown_text(text))
    assert not re.search(r"[|`*~$\\]|<(?![\s=\d])|\]\(", shown)


def test_code_falls_back_to_text_where_a_span_cannot_hold_it() -> None:
    assert code_text("benchmark_*") == "`benchmark_*`"
    assert code_text("a`b|c") == r"a\`b\|c"
    assert code_text("") == ""


# ------------------------------------------------------------------ cells, rows, and an owner's template


@given(st.text(st.sampled_from("aZ1 -+.)(]['\"*_`|~$&#;<>=/:wW\\é\n\x1b"), max_size=200), st.integers(8, 80))
def test_a_cell_is_never_longer_than_it_may_be(text: str, limit: int) -> None:
    assert len(cell(text, limit)) <= limit
    assert cell(text, limit) == (markdown_text(text) or "-") or cell(text, limit).endswith("…")


def test_a_row_keeps_to_its_line_and_says_as_much_of_why_as_fits() -> None:
    long = replace(KEPT, id="P123456", title="*" * 90, target="_" * 30, verdict=Verdict.INCONCLUSIVE, reasons=("x" * 200,))
    for record in (KEPT, REJECTED, UNCHANGED, long):
        drawn = measured_row(summary_of(record).row)
        assert len(drawn) <= 160
        assert drawn.count(" | ") == 5
    assert measured_row(summary_of(REJECTED).row) == (
        "| [P16](experiments/P16) | REJECT | Unroll the inner loop twice | cpu | -1.20 % [-1.80, -0.60]"
        " | n1024 regresses: -1.20 % [-1.80, -0.60] |"
    )


def with_template(text: str) -> str:
    protocol = replace(PROTOCOL, ledger=LedgerLayout(template="docs/mine.j2"))
    return render(replace(ledger_of(protocol, (), (replace(KEPT, title="a | b"),), ()), template=text))


def test_the_owner_may_lay_the_ledger_out_otherwise_and_values_are_escaped_all_the_same() -> None:
    assert with_template(
        "# {{ ledger.protocol.name }}\n{% for row in ledger.latest %}\n- {{ row.title }}\n{% endfor %}\n\n"
    ) == ("# scaled_mm\n- a \\| b\n")


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("a\n{% if %}\n", 2, "Expected an expression"),
        ("a\nb\n{{ ledger.gone }}\n", 3, "no attribute 'gone'"),
        ("{{ unknown(1) }}", 1, "'unknown' is undefined"),
        ("a\n{{ 1 / 0 }}", 2, "ZeroDivisionError"),
        ("a\n{{ ledger.__class__.__mro__ }}", 2, "unsafe"),
        ("{{ names.__globals__ }}", 1, "unsafe"),
        ("a\n{% include 'head.md' %}\n", 2, "TemplateNotFound: head.md"),
        ("a\n\n{{ link() }}\n", 3, "TypeError: link() missing 1 required positional argument: 'experiment'"),
    ],
)
def test_a_broken_template_is_refused_with_its_file_and_line(text: str, line: int, found: str) -> None:
    with pytest.raises(Refused) as refused:
        with_template(text)
    assert refused.value.where == f"docs/mine.j2, line {line}"
    assert found in refused.value.found


# ------------------------------------------------------------------ epochs, predictions, findings


def test_a_ledger_of_two_epochs_with_predictions_and_fallen_findings() -> None:
    kept = replace(
        KEPT,
        environment={"cpu": "a CPU", "cores": "2", "ziglang": "0.16.0"},
        prediction=QUEUED.prediction,
        hypothesis="Fewer loads of B.",
        protocol="aaaa1111bbbb",
        flags=(),
    )
    rejected = replace(
        REJECTED,
        environment={"cpu": "a CPU", "cores": "2", "ziglang": "0.17.0"},
        prediction=Prediction(verdict=Verdict.KEEP),
        hypothesis="Fewer branches.",
        protocol="aaaa1111bbbb",
    )
    fallen = (*FINDINGS, Finding(text="Branches are free.", since="P2", kind=EvidenceKind.STATIC, contradicted_by="P16"))
    text = ledger_text(IMPORTED, kept, rejected, findings=fallen)
    assert text == (GOLDEN / "ledger_epochs.md").read_text(encoding="utf-8")


@settings(max_examples=400, deadline=None)
@given(st.text(st.sampled_from("aZ1 -+.)(]['\"*_`|~$&#;<>=/:wW\\é"), max_size=9))
def test_text_without_syntax_is_left_alone_exactly_where_escaping_would_leave_it_alone(text: str) -> None:
    assert markdown_text(text) == escaped_text(plain_text(text))


def test_a_baseline_shows_how_its_iterations_scatter_where_that_is_known() -> None:
    figure = Figure(size="n=768", ns=9.992e6, flop=2 * 768**3)
    baseline = Baseline(
        target="cpu",
        commit="4f2c91a",
        since="P16",
        shown_by="P16",
        date="2026-11-20",
        kind=NumberKind.WALL_TIME,
        figures=(figure,),
    )
    assert baseline_text(baseline).endswith("n=768 9.992 ms = 90.67 GFLOP/s")
    known = replace(figure, times=Times(mean_ns=10.1e6, p90=1.02, p99=1.3))
    assert baseline_text(replace(baseline, figures=(known,))).endswith(
        "n=768 9.992 ms = 90.67 GFLOP/s (mean 10.10 ms, p90 1.020, p99 1.300 of the median)"
    )
    bounded = replace(figure, low_ns=9.9e6, high_ns=10.1e6)
    assert baseline_text(replace(baseline, figures=(bounded,))).endswith("n=768 9.992 ms = 90.67 GFLOP/s [89.70, 91.51]")
    stated = replace(bounded, state=1, states=2)
    assert baseline_text(replace(baseline, figures=(stated,))).endswith("[89.70, 91.51] in the slower of 2 states")


def test_the_dashboard_names_interval_and_state_of_its_figure() -> None:
    times = TimesOfSize(
        size="n1024",
        states=tuple(
            MachineState(baseline=each, candidate=each, rounds=rounds)
            for each, rounds in (
                (SideTime(ns=45e6, low_ns=44.5e6, high_ns=45.5e6), 9),
                (SideTime(ns=60e6, low_ns=1, high_ns=1), 5),
            )
        ),
    )
    text = ledger_text(replace(KEPT, replications=(), times=(times,)))
    assert "| cpu | 47.72 GFLOP/s [47.20, 48.26] at n1024 in the faster of 2 states, since P15 |" in text
