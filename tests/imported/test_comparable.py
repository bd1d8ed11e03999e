"""The audit compares only what is comparable: units and directions, parts of figures, noise of this figure, one table."""

import pytest

from expctl.imported.audit.ledger import audit
from expctl.imported.audit.noise import Noise
from expctl.imported.document import Document, Row
from expctl.imported.figures import Quantity, figures_in, figures_of
from expctl.imported.remarks import Flaw, Remark
from expctl.imported.roofline import Roofline
from expctl.imported.rows import read_document
from expctl.imported.tables import read_document as document_of
from expctl.imported.units import Better, Part

NOISE = Noise(percent=0.5, source="the protocol")


def read(text: str) -> tuple[Document, tuple[Row, ...]]:
    document = document_of(text.encode(), "a.md")
    return document, read_document(document).rows


def remarks(text: str, **known: Better) -> list[Remark]:
    return list(audit(*read(text), Roofline(), NOISE, known))


def flaws(text: str, **known: Better) -> list[tuple[Flaw, tuple[str, ...]]]:
    return [(remark.flaw, remark.rows) for remark in remarks(text, **known)]


def table(*rows: str, heads: str = "id | keep? | change | result") -> str:
    return f"| {heads} |\n{'|---' * (heads.count('|') + 1)}|\n" + "".join(f"| {row} |\n" for row in rows)


def test_a_rate_is_no_time() -> None:
    (rate,) = figures_in("80.1 tok/s")
    assert (rate.quantity, rate.unit, rate.value) == (Quantity.RATE, "toks", 80.1)
    _, rows = read(table("P1 | keep | a | 80", "P2 | keep | b | 70", heads="id | keep? | change | tok/s"))
    assert [(each.quantity, each.unit) for row in rows for each in figures_of(row)] == [(Quantity.RATE, "toks")] * 2
    assert [each.quantity for each in figures_in("1.2 s/iter and 3 GB/s and 9 cycles")] == [Quantity.RATE] * 3


@pytest.mark.parametrize("unit", ["tok/s", "tok_s", "GB/s", "fps"])
def test_more_of_a_rate_is_better(unit: str) -> None:
    heads = f"id | keep? | change | {unit}"
    assert flaws(table("P1 | keep | a | 80", "P2 | keep | b | 70", heads=heads)) == [(Flaw.KEPT_REGRESSION, ("P2",))]
    assert flaws(table("P1 | keep | a | 70", "P2 | keep | b | 80", heads=heads)) == []


def test_what_nobody_knows_the_direction_of_is_not_compared_until_the_user_says_so() -> None:
    text = table("P1 | keep | a | 80", "P2 | keep | b | 70", heads="id | keep? | change | val_bpb")
    assert flaws(text) == []
    assert flaws(text, valbpb=Better.HIGHER) == [(Flaw.KEPT_REGRESSION, ("P2",))]
    assert flaws(text, valbpb=Better.LOWER) == []


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("3.1 ms", Part.RESULT),
        ("-7 ms", Part.DIFFERENCE),
        ("saves 50 ms", Part.DIFFERENCE),
        ("0.2 ms slower", Part.DIFFERENCE),
        ("floor of 12 us", Part.BOUND),
        ("12 us floor", Part.BOUND),
        ("under 5 ms", Part.BOUND),
        ("target 3 ms", Part.BOUND),
        ("was 4.3 ms", Part.BEFORE),
        ("64 % of the lanes", Part.SHARE),
        ("2 % faster", Part.DIFFERENCE),
    ],
)
def test_the_part_of_a_figure(text: str, part: Part) -> None:
    assert [each.part for each in figures_in(text)] == [part]


def test_before_and_after() -> None:
    assert [each.part for each in figures_in("5.6 ms → 4.9 ms")] == [Part.BEFORE, Part.RESULT]
    heads = "id | keep? | change | Before | After"
    assert flaws(table("P1 | keep | a | 5 ms | 6 ms", "P2 | keep | b | 9 ms | 8 ms", heads=heads)) == [
        (Flaw.KEPT_REGRESSION, ("P1",))
    ]


def test_a_delta_or_a_floor_beats_no_kept_figure() -> None:
    assert flaws(table("P1 | keep | a | 5 ms", "P2 | keep | b | saves 6 ms", "P3 | keep | c | floor of 7 ms")) == []


def test_comparison_only_within_one_table() -> None:
    rows = "P1 | keep | a | 5 ms", "P2 | keep | b | 9 ms"
    assert flaws(f"{table(rows[0])}\n{table(rows[1])}") == []
    assert flaws(table(*rows)) == [(Flaw.KEPT_REGRESSION, ("P2",))]


@pytest.mark.parametrize("result", ["batch 8 9 ms", "p95 9 ms", "9 s/iter", "N=4096 9 ms"])
def test_comparison_only_within_one_unit_shape_and_metric(result: str) -> None:
    assert flaws(table("P1 | keep | a | batch 4 p50 N=8192 5 ms", f"P2 | keep | b | {result}")) == []


def test_a_row_of_a_table_with_several_metrics_may_be_kept_for_another() -> None:
    heads = "id | keep? | change | encode ms | decode MB/s"
    assert flaws(table("P1 | keep | a | 5 | 100", "P2 | keep | b | 6 | 200", heads=heads)) == []
    worse = flaws(table("P1 | keep | a | 5 | 100", "P2 | keep | b | 6 | 90", heads=heads))
    assert worse == [(Flaw.KEPT_REGRESSION, ("P2",))] * 2


@pytest.mark.parametrize(
    ("sentence", "noise"),
    [
        ("Gains under 2% are treated as noise.", True),
        ("Run-to-run noise is about 2 %.", True),
        ("The noise floor: ±2 %.", True),
        ("It regressed 2 %, perhaps by thermal noise of the room.", False),
        ("We saw 2 % and much noise in the logs.", False),
    ],
)
def test_noise_is_what_the_text_calls_noise(sentence: str, noise: bool) -> None:
    text = f"{sentence}\n\n" + table("P1 | keep | a | +1.5 %")
    assert ((Flaw.NOISE, ("P1",)) in flaws(text)) is noise


def test_who_rejects_what_is_no_faster_is_right() -> None:
    assert flaws(table("P1 | reject | a | 0.3 % slower")) == []
    assert flaws(table("P1 | reject | a | +0.3 %")) == []
    assert flaws(table("P1 | reject | a | +0.3 % faster")) == [(Flaw.NOISE, ("P1",))]
    assert flaws(table("P1 | keep | a | code size +0.3 % bytes")) == []


def test_flat_where_the_figure_says_otherwise() -> None:
    assert flaws(table("P1 | reject | a | flat (-4.2 %)")) == [(Flaw.NOT_FLAT, ("P1",))]
    assert flaws(table("P1 | keep | a | flat / -4.2 %")) == []  # two workloads
    assert flaws(table("P1 | reject | a | decode -4.2 %, prefill flat")) == []
    assert flaws(table("P1 | reject | a | flat (-0.2 %)")) == []


@pytest.mark.parametrize(
    ("result", "asked"),
    [
        ("42.0k, and autotune drifted to (2,2,2,2,4,4)", True),
        ("measured with another config", True),
        ("the clocks changed", True),
        ("same config, 42.0k", False),
        ("does not compile for another GPU", False),
        ("the jump of the fourth was confounded, which has been fixed", False),
        ("run 96's lesson was confounded", False),
    ],
)
def test_confounded_configs(result: str, asked: bool) -> None:
    assert ((Flaw.CONFOUNDED, ("P1",)) in flaws(table(f"P1 | reject | a | {result}"))) is asked


def test_a_snapshot_in_a_table_is_stale_too() -> None:
    rows = table("P1 | keep | a | N=8192 40 TFLOPS", "P2 | keep | b | N=8192 44 TFLOPS")
    snapshot = "\n## Current best\n| size | rate |\n|---|---|\n| N=8192 | 40 TFLOPS |\n"
    assert (Flaw.STALE, ("P1", "P2")) in flaws(rows + snapshot)


def test_numbers_and_names_of_two_tables_are_not_one_id() -> None:
    rows = "1 | keep | a | ok", "baseline | keep | b | ok"
    assert flaws(table(*rows) + "\n" + table(*rows)) == []
    assert flaws(table("P1 | keep | wider loads | ok") + "\n" + table("P1 | keep | wider loads again | ok")) == []
    twice = table("P1 | keep | wider loads | ok") + "\n" + table("P1 | keep | another ring | ok")
    assert flaws(twice) == [(Flaw.REUSED_ID, ("P1",))]


def test_the_key_of_a_remark_changes_with_its_words_and_not_with_its_line() -> None:
    (one,) = remarks(table("P1 | reject | a | flat (-4.2 %)"))
    (other,) = remarks("\n\n" + table("P1 | reject | a | flat (-4.2 %)"))
    (third,) = remarks(table("P1 | reject | a | flat (-5.2 %)"))
    assert one.key == other.key != third.key
    assert one.line != other.line


def test_columns_that_nobody_knows_may_decide_for_a_row() -> None:
    heads = "id | keep? | change | tok/s | vram"
    assert flaws(table("P1 | keep | a | 80 | 10", "P2 | keep | b | 70 | 9", heads=heads)) == []
    alone = table("P1 | keep | a | 80", "P2 | keep | b | 70", heads="id | keep? | change | tok_per_sec")
    assert flaws(alone) == [(Flaw.KEPT_REGRESSION, ("P2",))]


def test_figures_far_apart_were_measured_otherwise() -> None:
    assert flaws(table("P1 | keep | a | 3 ms", "P2 | keep | b | 4 ms")) == [(Flaw.KEPT_REGRESSION, ("P2",))]
    assert flaws(table("P1 | keep | a | 3 ms", "P2 | keep | b | 40 ms")) == []


def test_noise_is_no_share_that_explains_a_variance() -> None:
    row = table("P1 | keep | a | +9 %")
    assert (Flaw.NOISE, ("P1",)) in flaws("Noise is about 12 %.\n\n" + row)
    assert flaws("Variance of 12 % is explained by the clock.\n\n" + row) == []
    assert flaws("Noise of 1244 % of the index.\n\n" + row) == []


def test_a_threshold_from_elsewhere_asks_about_less() -> None:
    def asked(*rows: str) -> list[tuple[str, ...]]:
        found = audit(*read(table(*rows)), Roofline(), Noise(percent=2, source="the protocol"), {})
        return [remark.rows for remark in found if remark.flaw is Flaw.NOISE]

    assert asked("P1 | keep | a | 3 ms", "P2 | keep | b | 2.99 ms") == [("P2",)]
    assert asked("P1 | keep | a | 3 ms", "P2 | keep | simplify the loop | 2.99 ms") == []
    assert asked("P1 | keep | a | 3 ms", "P2 | reject | b | +1 %") == []
    assert asked("P1 | keep | a | 3 ms", "P2 | reject | b | +1 % faster") == [("P2",)]


@pytest.mark.parametrize("cells", [("0.52", "0.61"), ("**0.52**", "**0.61**"), ("`0.52`", "≈ 0.61")])
def test_a_metric_in_bold_decides_too(cells: tuple[str, str]) -> None:
    rows = [f"P{at} | keep | change {at} | {cell} | {time} s" for at, cell, time in zip("12", cells, (569, 734), strict=True)]
    heads = "id | keep? | change | score | elapsed"
    assert flaws(table(*rows, heads=heads)) == []
    same = [row.replace("0.61", "0.52") for row in rows]
    assert flaws(table(*same, heads=heads)) == [(Flaw.KEPT_REGRESSION, ("P2",))]


@pytest.mark.parametrize(
    ("change", "result", "asked"),
    [
        ("remove the dead mask, simpler", "100.8 ms", False),
        ("remove the dead mask, simpler", "103.5 ms", True),
        ("wider loads", "100.8 ms", True),
        ("correctness: mask the tail", "100.8 ms", False),
    ],
)
def test_a_small_loss_that_is_explained_is_no_question(change: str, result: str, *, asked: bool) -> None:
    found = flaws(table("P1 | keep | first | 100 ms", f"P2 | keep | {change} | {result}"))
    assert ((Flaw.KEPT_REGRESSION, ("P2",)) in found) is asked


@pytest.mark.parametrize(("verdict", "asked"), [("halfway", False), ("reject", True)])
def test_nothing_is_held_against_what_stands_beyond_a_row_that_was_not_understood(verdict: str, *, asked: bool) -> None:
    text = table("P1 | keep | one | 300 us", f"P2 | {verdict} | two | 500 us", "P3 | keep | three | 400 us")
    assert ((Flaw.KEPT_REGRESSION, ("P3",)) in flaws(text)) is asked


@pytest.mark.parametrize(("words", "count"), [("correctness fixed", 0), ("correctness pass", 1)])
def test_what_was_kept_because_it_is_right_needs_no_question(words: str, count: int) -> None:
    rows = f"| P1 | KEEP | first | 2.0 ms |\n| P2 | KEEP | second: {words} | 2.2 ms |\n"
    found = remarks(f"| ID | Verdict | Change | Time |\n|---|---|---|---|\n{rows}")
    assert len([each for each in found if each.flaw is Flaw.KEPT_REGRESSION]) == count


def test_rows_of_workloads_are_not_held_against_each_other() -> None:
    rows = ("| one word | 205 us | 178 us | KEEP |", "| a sentence | 335 us | 322 us | KEEP |")
    for head, asked in (("Workload", 0), ("Change", 1)):
        text = "\n".join([f"# Log\n\n| {head} | theirs | ours | Status |", "|---|---|---|---|", *rows]) + "\n"
        assert len({each.line for each in remarks(text)}) == asked, head


def test_changes_of_one_batch_are_not_held_against_each_other() -> None:
    rows = ("| E1 | keep | {} EMA | 3.00 ms |", "| E2 | keep | {} weight decay | 3.40 ms |")
    for tags, asked in ((("pq13", "pq13"), 0), (("pq13", "pq14"), 1)):
        text = (
            "\n".join(["# Log", "", "| id | keep? | change | result |", "|---|---|---|---|", *map(str.format, rows, tags)])
            + "\n"
        )
        assert len(remarks(text)) == asked, tags


@pytest.mark.parametrize(
    ("change", "asked"),
    [
        ("a larger step", 1),
        ("a larger step, fresh start", 0),
        ("phase 3, cycle 1", 0),
        ("phase 3, cycle 12", 1),
        ("a larger step (mean of 11 runs)", 0),
        ("objective of the tail, a larger step", 0),
    ],
)
def test_a_series_that_begins_anew_or_is_measured_by_another_rule_is_not_held_against_the_last(change: str, asked: int) -> None:
    rows = ("P1 | keep | a smaller step | 3.00 ms", f"P2 | keep | {change} | 3.40 ms")
    assert len(remarks(table(*rows))) == asked


def test_rows_that_repeat_the_ids_of_others_one_after_another_are_one_question() -> None:
    old, new = ([f"E{at} | keep | {words} {at} | 3.00 ms" for at in range(11, 16)] for words in ("tile", "prefetch"))
    (remark,) = [each for each in remarks(table(*old, *new)) if each.flaw is Flaw.REUSED_ID]
    assert remark.rows == ("E11", "E12", "E13", "E14", "E15")
    assert remark.text.startswith("E11 to E15, 5 ids, are also the rows of line 3 to line 7: tile 11")


def test_rows_without_a_size_are_held_against_each_other_only_on_request() -> None:
    sized = ("P1 | keep | a | N=4096 3.00 ms", "P2 | keep | b | N=4096 3.40 ms")
    for rows, doubtful, asked in (
        (sized, False, 1),
        (sized, True, 1),
        ([row.replace("N=4096 ", "") for row in sized], False, 0),
    ):
        found = audit(*read(table(*rows)), Roofline(), NOISE, doubtful=doubtful)
        assert len([each for each in found if each.flaw is Flaw.KEPT_REGRESSION]) == asked


@pytest.mark.parametrize(
    ("name", "change", "asked"),
    [
        ("loop-3", "narrow loads", True),
        ("HEAD", "narrow loads", False),  # a word for what has no id
    ],
)
def test_an_id_has_a_digit(name: str, change: str, *, asked: bool) -> None:
    rows = table(f"{name} | keep | wide loads | 4.01 ms", f"{name} | keep | {change} | 3.02 ms")
    assert flaws(rows) == [(Flaw.REUSED_ID, (name,))] * asked
