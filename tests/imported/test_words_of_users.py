"""What a user says of words holds in cells, headings and items; and the words that recur are asked for."""

import pytest

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.document import ParsedLedger
from expctl.imported.given import Given, given_by
from expctl.imported.rows import read_document
from expctl.imported.tables import read_document as document_of
from expctl.imported.terminal import proposed_lines
from tests.refusals import refuses

HEAD = "# Match log\n\n| feature | games | result |\n|---|---|---|\n"
GAMES = (
    "| killers | 438 | **H1: +76 ±27** (0 timeouts) |\n"
    "| history | 624 | **H1: +45 ±20** |\n"
    "\n"
    "| bundle | 494 | **H0 (2nd): −12 ±18** — it hurts |\n"
    "| draws | 240 | +7 ±9 (stopped; H0-TOLERATED — ships) |\n"
    "| margins | 120 | probe +5 ±23; NO TEST SPENT on it |\n"
)
MAPS = ("verdict=result", "H1=KEEP", "H0=REJECT", "H0-TOLERATED=KEEP", "no test spent=INCONCLUSIVE")


def parsed(text: str, *maps: str) -> ParsedLedger:
    document = document_of(text.encode(), "a.md")
    return read_document(document, given_by(Given(), maps, (), document).map())


def verdicts(text: str, *maps: str) -> list[tuple[int, Verdict]]:
    return [(row.line, ruling.verdict) for row in parsed(text, *maps).rows for ruling in row.rulings]


def test_words_count_inside_the_cells_of_their_column_the_longer_ones_first() -> None:
    assert verdicts(HEAD + GAMES, *MAPS) == [
        (5, Verdict.KEEP),
        (6, Verdict.KEEP),
        (8, Verdict.REJECT),
        (9, Verdict.KEEP),
        (10, Verdict.INCONCLUSIVE),
    ]


def test_a_cell_that_begins_with_another_verdict_keeps_it() -> None:
    rows = "| E1 | loads | Reverted: ruled in for reference |\n| E2 | waves | ruled in |\n"
    text = f"# Log\n| id | change | verdict |\n|---|---|---|\n{rows}"
    assert verdicts(text, "ruled in=KEEP") == [(4, Verdict.REJECT), (5, Verdict.KEEP)]


def test_words_that_recur_are_asked_for() -> None:
    (table,) = parsed(HEAD + GAMES).skipped_tables
    assert table.options[:2] == ('--map "verdict=result"', '--map "h1=VERDICT"')
    alone = "".join(f"| f{at} | 9 | text {at} of its own |\n" for at in range(20))
    (table,) = parsed(HEAD + alone).skipped_tables
    assert table.options == ()
    (table,) = parsed(HEAD + alone + "".join(f"| g{at} | 9 | H{at % 2}: {at} |\n" for at in range(30))).skipped_tables
    assert table.options == ('--map "verdict=result"', '--map "h0=VERDICT"', '--map "h1=VERDICT"')


def test_rows_of_results_are_asked_about_until_they_are_answered() -> None:
    assert [each.line for each in parsed(HEAD + GAMES).proposals] == [5, 6, 8, 9, 10]
    assert [each.line for each in parsed(HEAD + GAMES, "lines 5,8=KEEP", "line 9=WAIT").proposals] == [6, 10]


def test_rows_that_only_blank_lines_part_from_a_table_are_its_rows() -> None:
    text = "# Log\n\n| id | change | verdict |\n|---|---|---|\n| E1 | loads | kept |\n\n| E2 | waves | reverted |\n"
    assert verdicts(text) == [(5, Verdict.KEEP), (7, Verdict.REJECT)]
    assert verdicts(text.replace("\n\n| E2", "\n\n## Text\n\n| E2")) == [(5, Verdict.KEEP)]
    assert verdicts(text.replace("| E2 | waves |", "| E2 | waves | fast |")) == [(5, Verdict.KEEP)]


def test_rows_between_the_paragraphs_below_a_table_are_its_rows_where_they_go_on_numbering() -> None:
    head = "# Log\n\n| # | change | verdict |\n|---|---|---|\n| 1 | loads | kept |\n\nWhy it was kept.\n\n"
    size = "| size | ms |\n|---|---|\n| 64 | 3 |\n\n"
    text = head + "| 2 | waves | reverted |\n\nWhy it was not.\n\n" + size + "| 3 | a queue | reverted |\n"
    assert verdicts(text) == [(5, Verdict.KEEP), (9, Verdict.REJECT), (17, Verdict.REJECT)]
    assert verdicts(head + "| 1 | waves | reverted |\n") == [(5, Verdict.KEEP)], "a number twice begins something else"
    assert verdicts(head + "| E2 | waves | reverted |\n") == [(5, Verdict.KEEP)]


def test_a_column_whose_cells_begin_with_the_words_holds_verdicts_whatever_its_head() -> None:
    text = "# Log\n| id | change | what became of it |\n|---|---|---|\n| E1 | loads | on ice: slow |\n| E2 | waves | on ice |\n"
    assert verdicts(text) == []
    assert verdicts(text, "on ice=REJECT") == [(4, Verdict.REJECT), (5, Verdict.REJECT)]


def test_words_of_headings_and_items() -> None:
    text = (
        "# Notes\n\n## Ruled by the agent (list)\n- **wider loads**: 3 ms\n- **pooled queues**: 4 ms\n\n"
        "## v3: what made it worse\nText.\n\n## Another branch\nAll five of them thrown away.\n\n## More\nText.\n"
    )
    maps = ("Ruled by the agent=REJECT", "what made it worse=REJECT", "five of them thrown=REJECT")
    assert verdicts(text) == []
    assert [line for line, _ in verdicts(text, *maps)] == [4, 5, 7, 10]
    assert [line for line, _ in verdicts(text, "more=WAIT")] == []
    with refuses("map-idle"):
        parsed(text, "text=KEEP")  # short words count only where a title has them


def test_a_heading_rules_the_rows_of_its_table_that_say_nothing_else() -> None:
    rows = "| J1 | queues | rejeitado | 3 ms |\n| J2 | unroll | -85 pts | 4 ms |\n| J3 | order | neutro | 3 ms |\n"
    text = f"# Diário\n\n## Rejeitados (com razão)\n\n| ID | Tentativa | Resultado | Tempo |\n|---|---|---|---|\n{rows}"
    assert verdicts(text) == [(7, Verdict.REJECT), (8, Verdict.REJECT)]
    assert [each.line for each in parsed(text).asked()] == [9], "neutral is asked about"
    assert [line for line, _ in verdicts(text, "Rejeitados (com razão)=REJECT")] == [7, 8, 9]


@pytest.mark.parametrize(("beside", "count"), [("**棄却（実測）**", 4), ("**採用**", 0), ("slow", 0)])
def test_crosses_that_rejections_bear_out_are_verdicts(beside: str, count: int) -> None:
    rows = (
        f"| ✅ | K1 | loads | fast |\n| ❌ | K2 | waves | {beside} |\n| ❌ | K3 | queues | {beside} |\n| 🚧 | K4 | tiles | |\n"
    )
    text = f"# 台帳\n\n| 状態 | ID | 候補 | 根拠 |\n|---|---|---|---|\n{rows}"
    found = parsed(text)
    assert len(found.rows) + len(found.waiting) == count
    lone = text + "".join(f"| ❌ | K{at} | another | GO |\n" for at in range(5, 9))
    assert parsed(lone).rows == (), "most crosses say that it isn't there yet"
    done = parsed(text + "| ✅ | K5 | there | **却下** |\n")
    assert all(row.name != "K1" for row in done.rows), "what is there may be rejected"


def test_what_became_of_sizes_is_no_verdict() -> None:
    rows = "| 64 MB | 9 ms | baseline |\n| 32 MB | - | OOM |\n| 8 MB | 8 ms | worst |\n"
    text = f"# Log\n| Memory | Peak | Verdict |\n|---|---|---|\n{rows}"
    assert verdicts(text) == []
    assert verdicts(text.replace("| Memory |", "| Change |")) != []


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("A plain change of one line. **Ship.**", [Verdict.KEEP]),
        ("**Ship**, but tune it for small sizes.", [Verdict.KEEP]),
        ("It needs two passes. **Drop.**", [Verdict.REJECT]),
        ("**Ship if** the other one ships.", []),
        ("**Keep.** Later: **Revert.**", []),
    ],
)
def test_one_word_in_bold_decides_a_long_cell(cell: str, said: list[Verdict]) -> None:
    rows = f"| a1 | one | -2 % | kept |\n| a2 | two | -3 % | {cell} |\n"
    found = verdicts(f"# Log\n| commit | change | delta | verdict |\n|---|---|---|---|\n{rows}")
    assert [verdict for line, verdict in found if line == 5] == said


def test_a_run_of_proposals_shares_an_option() -> None:
    text = "# Log of experiments\n## Dead ends\n- A swizzle\n- Two waves\n- Three waves\n"
    assert '    --map "lines 3-5=REJECT"  takes these 3:' in proposed_lines(parsed(text))
    twice = proposed_lines(parsed(text + text.partition("\n")[2].replace("Dead ends", "More dead ends")))
    assert [line for line in twice if "takes these 3" in line] == [
        f'    --map "lines {lines}=REJECT"  takes these 3:' for lines in ("3-5", "7-9")
    ]
    mixed = proposed_lines(
        parsed("# Log of experiments\n| Tile | ms |\n|---|---|\n| a | slower |\n| b | winner |\n| c | slower |\n")
    )
    assert mixed[1:4] == [
        '    each of these 3 by itself, --map "line N=VERDICT":',
        "      line 4    a | slower",
        "      line 5    b | winner",
    ]
    assert not any("--map proposed" in line for line in mixed), "it would take nothing"


def test_words_are_not_taken_from_a_heading_of_which_they_are_a_part() -> None:
    titles = ("Current Best Configuration", "Wider loads — current best", "Current best: deeper tile")
    text = "# Log\n" + "".join(f"## {title}\n3 ms\n" for title in titles)
    assert verdicts(text, "current best=KEEP") == [(4, Verdict.KEEP), (6, Verdict.KEEP)]


def test_words_are_a_decision_in_a_labelled_part_of_an_item() -> None:
    text = "# Experiments\n1. **Wider loads**\n   - Result: 3 ms\n   - Status: **CURRENT BEST**\n"
    assert verdicts(text, "current best=KEEP") == [(2, Verdict.KEEP)]
