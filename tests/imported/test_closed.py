"""What was closed without a word that is read is asked about; what was taken back as a means to measure is no verdict."""

import pytest

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.document import ParsedLedger
from expctl.imported.given import Given, given_by, ranges_of
from expctl.imported.rows import read_document
from expctl.imported.tables import read_document as document_of
from tests.refusals import refuses

KEEP, REJECT = Verdict.KEEP, Verdict.REJECT
KNOWN = "\n## E9: a queue — reverted\n\n4 ms.\n"


def parsed(text: str, *maps: str) -> ParsedLedger:
    document = document_of(text.encode(), "a.md")
    return read_document(document, given_by(Given(), maps, (), document).map())


@pytest.mark.parametrize(
    "told",
    [
        "**Instrumentation performed (temp only, model.ts, reverted):** added counters, 3 ms in all.",
        "- **Debug prints:** 3 ms — reverted",
        "- temporary probes in the loop: 3 ms, removed",
        "- **Timers around E2** (for the measurement, rolled back): 3 ms",
        "## E2: temporary timers — reverted",
        "## Sub-profile of E2 (instrumented, reverted before impl)",
    ],
)
def test_a_means_to_measure_that_was_taken_back_is_no_verdict(told: str) -> None:
    reading = parsed(f"# Experiments\n\n## Results\n\n{told}\n\nIt took 3 ms, and was reverted.\n{KNOWN}")
    assert [row.name for row in reading.rows] == ["E9"]
    assert not any(each.guess for each in reading.asked())


@pytest.mark.parametrize("told", ["- **Softmax at temp 0.7:** 3 ms — reverted", "- **Faster logging:** 3 ms — reverted"])
def test_an_experiment_about_such_things_is_read(told: str) -> None:
    assert len(parsed(f"# Experiments\n\n## Results\n\n{told}\n{KNOWN}").rows) == 2


@pytest.mark.parametrize(
    ("heading", "verdict"),
    [
        ("Run 6: fewer features — 0.61 (KEEP) ★ CURRENT BEST", KEEP),
        ("Run 6: a wider buffer — 0.61 (KEEP) [EXPLORE]", KEEP),
        ("Run 6: a wider buffer (DISCARDED) [EXPLORE]", REJECT),
        ("E08 / 2026-06-21: 拡張（✅採用・弱い正）", KEEP),
        ("E08 / 2026-06-21: 拡張（❌不採用）", REJECT),
        ("Run 6: a wider buffer (BEST) [EXPLORE]", None),
        ("E08: 拡張（❌）＋表示（✅採用）", None),
    ],
)
def test_a_verdict_in_brackets_need_not_end_the_heading(heading: str, verdict: Verdict | None) -> None:
    rows = parsed(f"# Log\n\n### {heading}\n\nSome words.\n").rows
    assert [row.rulings[0].verdict for row in rows] == ([verdict] if verdict else [])


@pytest.mark.parametrize(
    ("label", "verdict"),
    [("棄却。差し戻し。", REJECT), ("採用・既定化。", KEEP), ("価値は棄却（再確認）。採用は深さ。", None)],
)
def test_a_japanese_conclusion_decides(label: str, verdict: Verdict | None) -> None:
    rows = parsed(f"# Log\n\n## E05 / 2026-06-21: 拡張\n\n- 仮説: 強くなる。\n- 結論: {label}\n").rows
    assert [row.rulings[0].verdict for row in rows] == ([verdict] if verdict else [])


@pytest.mark.parametrize(
    "line",
    [
        "### A shadow copy — SUPERSEDED",
        "### Two conversions — later BUILT",
        "- [x] Connected rooks (failed) (on the first rank?)",
        "1. ~~**Blocked solve**~~ — **done:** it matches",
    ],
)
def test_what_was_closed_is_asked_about_even_among_plans(line: str) -> None:
    reading = parsed(
        f"# Plans\n\n## Next experiments\n\n{line}\n\nSome words.\n\n- [ ] pins (failed for threats)\n- [ ] a book\n"
    )
    assert [(each.line, each.guess) for each in reading.asked()] == [(5, None), (9, None)]


def test_a_section_in_labelled_parts_is_asked_about_whatever_its_title_begins_with() -> None:
    told = "**Tried:** one line of text.\n\n**Why it was abandoned:** nobody reads it.\n\n**Status:** v0.6 ripped it out.\n"
    assert 3 in [each.line for each in parsed(f"# Experiments\n\n## Status line as the only surface\n\n{told}{KNOWN}").asked()]


def test_a_name_that_holds_avoid_forbids_nothing() -> None:
    assert 3 in [each.line for each in parsed("# 実験\n\n## E50: 抑制（plan.avoid）→ ❌不採用＝補償\n\n- 結果: 3 ms\n").asked()]


def test_a_turn_round_is_not_understood_and_waits_for_nothing() -> None:
    rows = "| E1 | loads | kept |\n| E2 | a start | 🔄 **Reversal**: helps early |\n| E3 | a pool | 🔄 running |\n"
    reading = parsed(f"# Log\n\n| id | change | verdict |\n|---|---|---|\n{rows}")
    assert ([each.line for each in reading.unread], [each.line for each in reading.waiting]) == ([6], [7])


def test_an_empty_label_says_nothing_of_waiting() -> None:
    reading = parsed(f"# Experiments\n\n## E2: a prototype\n\n**Verdict:** \nIt runs, but its output is wrong.\n{KNOWN}")
    assert (reading.waiting, 3 in [each.line for each in reading.asked()]) == ((), True)


LISTED = "# Log\n\n## Open ideas worth a try\n\n1. larger tables\n   - of 64\n2. a lower limit\n3. more threads: +3 %\n"
TABLE = "# Log of experiments\n\n### Confirmed failures\n"
TABLE += "| change | ms | notes |\n|---|---|---|\n| a | - | x |\n| b | 3 | y |\n| c | 4 | z |\n"


@pytest.mark.parametrize(
    ("text", "maps", "lines"), [(LISTED, "5-8", [5, 7, 8]), (TABLE, "6-8", [6, 7, 8]), (TABLE, "7-8", [7, 8])]
)
def test_a_range_takes_all_items_or_rows_from_its_first_to_its_last(text: str, maps: str, lines: list[int]) -> None:
    assert [row.line for row in parsed(text, f"lines {maps}=REJECT").rows] == lines


def test_a_range_leaves_what_is_read_and_what_waits() -> None:
    rows = "| E1 | a baseline | baseline |\n| E2 | loads | kept |\n| E3 | a pool | hm |\n"
    reading = parsed(f"# Log\n\n| id | change | verdict |\n|---|---|---|\n{rows}", "lines 5-7=REJECT")
    assert [(row.line, row.rulings[0].verdict) for row in reading.rows] == [(6, KEEP), (7, REJECT)]


def test_a_range_goes_on_from_lines_of_the_same_command() -> None:
    assert [row.line for row in parsed(TABLE, "line 6=REJECT", "lines 7-8=REJECT").rows] == [6, 7, 8]


def test_it_is_said_what_a_range_took() -> None:
    document = document_of(LISTED.encode(), "a.md")
    maps = ["lines 5-8=WAIT", "line 6=KEEP"]
    given = given_by(Given(), maps[:1], (), document)
    assert list(ranges_of(maps, given, document)) == ["lines 5-8: 3 taken; not line 6"]


@pytest.mark.parametrize(
    ("unit", "known"), [("val_fid", True), ("t/s", True), ("nodes", True), ("furlongs", False), ("fid", False)]
)
def test_a_unit_that_fits_nothing_is_refused(unit: str, known: bool) -> None:
    document = document_of(b"# Log: 3 t/s\n\n| id | val_fid | status |\n|---|---|---|\n| E1 | 3.1, 20 nodes | kept |\n", "a.md")
    if known:
        assert given_by(Given(), (), [f"{unit}=higher"], document).units == {unit: "higher"}
        return
    with refuses("unit-idle"):
        given_by(Given(), (), [f"{unit}=higher"], document)
