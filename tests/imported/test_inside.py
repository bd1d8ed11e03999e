"""Verdicts that stand in the words of a cell, and sections below a heading that rules them all."""

import pytest

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.document import ParsedLedger
from expctl.imported.rows import read_document
from expctl.imported.tables import read_document as document_of
from expctl.imported.verdict_columns import Map

KEEP, REJECT = Verdict.KEEP, Verdict.REJECT


def parsed(text: str, name: str, meanings: dict[str, Verdict | None] | None = None) -> ParsedLedger:
    return read_document(document_of(text.encode(), name), Map(meanings=meanings or {}))


def verdicts(text: str, name: str = "a.md") -> list[tuple[int, Verdict]]:
    return [(row.line, ruling.verdict) for row in parsed(text, name).rows for ruling in row.rulings]


LOG = (
    "run\ttflops\tnotes\n0\t4.5\tbaseline: plain loop\n1\t5.5\ttiles of 64: +20%\n2\t4.1\tfour stages: REVERT slower\n"
    "3\t4.2\ttwo stages: REVERT no gain\n4\t5.1\tswizzle: REVERT more conflicts\n5\t5.9\twide loads - KEEP\n"
)


def test_words_in_capitals_inside_a_description_decide() -> None:
    made = parsed(LOG, "a.tsv")
    assert [(row.line, row.rulings[0].verdict) for row in made.rows] == [(4, REJECT), (5, REJECT), (6, REJECT), (7, KEEP)]
    assert [each.line for each in made.waiting] == [2]
    assert [each.line for each in made.unread] == [3], "who says nothing may have kept it or not"


def test_a_map_says_what_a_row_without_a_word_is() -> None:
    made = parsed(LOG, "a.tsv", {"(no word)": KEEP})
    assert [row.line for row in made.rows] == [3, 4, 5, 6, 7]
    assert made.unread == ()


@pytest.mark.parametrize("words", ["REVERT if slower", "must not be reverted yet", "REVERT? KEEP?", "the old KEEP rule"])
def test_words_that_decide_nothing(words: str) -> None:
    rows = "".join(f"{number}\t4.{number}\tidea {number}: {words}\n" for number in range(1, 6))
    assert verdicts(f"run\ttflops\tnotes\n{rows}", "a.tsv") == []


BELOW = "### 1. Pooled queues\n\n**What was tried:**\n- one pool\n\n**Metrics:** 17 % {}\n\n"


@pytest.mark.parametrize(
    ("heading", "other", "words", "verdict"),
    [
        ("Failed experiments", "Successful experiments", "slower", REJECT),
        ("Successful experiments", "Failed experiments", "faster", KEEP),
        ("What worked", "What didn't work", "faster", KEEP),
        ("What didn't work", "What worked", "slower", REJECT),
        ("Failed experiments & dead ends", "Plan", "slower", REJECT),
        ("Successful experiments", "Plan", "faster", None),
        ("Successful experiments", "Failed experiments", "faster, reverted", None),
        ("What worked", "What didn't work", "faster, within noise", None),
        ("Failed experiments", "Plan", "slower, and later merged: now enabled", None),
    ],
)
def test_a_heading_rules_the_sections_below_it(heading: str, other: str, words: str, verdict: Verdict | None) -> None:
    text = f"# Log\n\n## {heading}\n\n{BELOW.format(words)}## {other}\n\nNothing.\n"
    assert verdicts(text) == ([(5, verdict)] if verdict else [])


def test_a_title_rules_no_sections() -> None:
    assert verdicts("# What didn't work\n\n## 1. Pooled queues\n\n**Result:** 3 ms\n") == []


def test_a_verdict_that_contradicts_its_heading_is_none() -> None:
    text = "## What didn't work\n### A status line\n**Tried:** one.\n**Status:** The code was kept.\n"
    assert verdicts(f"# Log\n{text}") == []
    assert verdicts(f"# What didn't work\n{text.replace('## What', '## How')}") == []


def test_heads_and_words_in_chinese() -> None:
    rows = "| M1 | wider loads | ✅ done | 3 ms | ok |\n| M2 | two stages | ✅ KEEP | 2 ms | ok |\n"
    rows += "| M3 | a loop | ❌ crash | - | - |\n"
    assert verdicts(f"| Exp | 假设 | 状态 | 结果 | 结论 |\n|---|---|---|---|---|\n{rows}") == [(4, KEEP), (5, Verdict.INVALID)]
    decided = "| wider loads | 3 ms | 已采纳 |\n| two stages | 4 ms | 回滚，更慢 |\n| a loop | 5 ms | 不采纳 |\n"
    assert verdicts(f"| 改动 | 结果 | 决定 |\n|---|---|---|\n{decided}") == [(3, KEEP), (4, REJECT), (5, REJECT)]


@pytest.mark.parametrize("cells", ["PASS | Δ < -0.5 %", "PASS | if p > 0.05", "any | < 0.3 % slower"])
def test_a_table_of_rules_holds_no_verdicts(cells: str) -> None:
    rules = f"| Stage | Change | Keep? |\n|---|---|---|\n| {cells} | YES |\n| {cells} | NO |\n"
    assert verdicts(f"# Log\n\n## Experiments\n\n{rules}") == []
    plain = "| Stage | Change | Keep? |\n|---|---|---|\n| one | wider | YES |\n| two | pooled | NO |\n"
    assert verdicts(f"# Log\n\n## Experiments\n\n{plain}") == [(7, KEEP), (8, REJECT)]
    assert verdicts(f"# Log\n\n## Decision table\n\n{plain}") == []


def test_a_column_without_a_known_head_must_begin_with_its_verdicts() -> None:
    rows = "| rewrite in place | exit 1, source kept |\n| rename | exit 0, source removed, no warning |\n"
    assert verdicts(f"| case | tool 1.3 |\n|---|---|\n{rows}") == []
    assert verdicts("| case | tool 1.3 |\n|---|---|\n| rewrite | kept, 3 ms |\n| rename | removed, 4 ms |\n")


def test_verdicts_alone_in_some_cells_of_another_column_decide_these_rows() -> None:
    states = ["PASS"] * 9 + ["REVERT"] * 3
    lines = (f"{at}\tidea {chr(65 + at)}\t{at + 1}.5 ms\t{state}\n" for at, state in enumerate(states))
    made = parsed("run\tidea\tlatency\tcorrectness\n" + "".join(lines), "a.tsv")
    assert [(row.line, row.rulings[0].verdict) for row in made.rows] == [(11, REJECT), (12, REJECT), (13, REJECT)]
    assert len(made.unread) == 9, "what passed may have been kept or not"


def test_a_column_of_words_beside_is_named_where_rows_have_none() -> None:
    said = ("PASS", "FAIL", "PASS", "KILL", "PASS", "REVERT")
    rows = "".join(
        f"{at}\t{word}\t{'REVERT: too slow' if at > 2 else 'wider loads'}\t{at} ms\n" for at, word in enumerate(said)
    )
    reading = read_document(document_of(f"n\tcorrectness\tdescription\ttime\n{rows}".encode(), "a.tsv"))
    assert {each.options[0] for each in reading.unread} == {'--map "verdict=correctness"'}
