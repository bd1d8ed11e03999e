"""Where a ledger isn't understood, it is said what to type, and typing it once decides all."""

import re

import pytest

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.document import ParsedLedger
from expctl.imported.given import Given, given_by
from expctl.imported.questions import hint
from expctl.imported.rows import read_document
from expctl.imported.tables import read_document as document_of

HEADS = "| # | hypothesis | outcome | ms |\n|---|---|---|---|\n"
SURE = "| 1 | wide loads | confirmed | 3.0 |\n| 2 | pooled queues | disproved | 3.1 |\n| 3 | two stages | confirmed | 2.9 |\n"
MIXED = "| 4 | a swizzle | fewer lines, no speedup | 2.9 |\n"


def parsed(text: str, *maps: str) -> ParsedLedger:
    return read_document(document_of(text.encode(), "a.md"), given_by(Given(), maps, ()).map())


@pytest.mark.parametrize("text", [HEADS + SURE, HEADS + SURE + MIXED, HEADS + MIXED + "| 5 | a loop | kept | 2.0 |\n"])
def test_what_is_proposed_decides_all_in_one_round(text: str) -> None:
    before = parsed(text)
    options = [option for each in (*before.skipped_tables, *before.unread) for option in each.options]
    assert options
    maps = [re.sub(r'--map "(.*)"', r"\1", option).replace("=VERDICT", "=KEEP") for option in options]
    after = parsed(text, *maps)
    assert (after.unread, after.skipped_tables) == ((), ())
    assert len(after.rows) == text.count("\n") - 2


def test_the_hint_names_what_to_type_and_what_else() -> None:
    lines = parsed(HEADS + SURE).skipped_tables
    words = hint("expctl import a.md", lines, "do something else")
    assert words.startswith('expctl import a.md --map "verdict=outcome" --map "confirmed=VERDICT" --map "disproved=VERDICT"')
    assert words.endswith("; or do something else")
    assert hint("", parsed("| a | b |\n|---|---|\n| 1 | 2 |\n").skipped_tables, "do something else") == "do something else"


def test_words_with_an_equals_sign_can_be_mapped() -> None:
    assert given_by(Given(), ["tile=64 wins=KEEP"], ()).map().meanings == {"tile=64 wins": Verdict.KEEP}


def test_a_column_with_any_head_is_asked_about_where_its_texts_repeat() -> None:
    heads = "| tag | ms | gate | note |\n|---|---|---|---|\n"
    rows = "".join(f"| t{n} | 3.{n} | {'PASS' if n % 2 else 'works'} | loads {n} |\n" for n in range(6))
    (skipped,) = parsed(heads + rows).skipped_tables
    assert skipped.options == ('--map "verdict=gate"', '--map "works=VERDICT"', '--map "pass=VERDICT"')
    after = parsed(heads + rows, "verdict=gate", "works=REJECT", "pass=KEEP")
    assert [row.rulings[0].verdict for row in after.rows] == [Verdict.REJECT, Verdict.KEEP] * 3
    assert parsed(heads + rows.replace("works", "x").replace("PASS", "y")).skipped_tables[0].options == ()


def test_a_column_of_notes_is_asked_about_where_most_begin_with_an_outcome() -> None:
    rows = "".join(f"| e{n} | 3.{n} | 改善なし、既存=70.{n}で上書きなし |\n" for n in range(4)) + "| e9 | 3.9 | 更新 |\n"
    (skipped,) = parsed("| Change | CV | Note |\n|---|---|---|\n" + rows).skipped_tables
    assert skipped.options == ('--map "verdict=Note"', '--map "改善なし=VERDICT"', '--map "更新=VERDICT"')
    after = parsed("| Change | CV | Note |\n|---|---|---|\n" + rows, "verdict=Note", "改善なし=REJECT")
    assert [row.rulings[0].verdict for row in after.rows] == [Verdict.REJECT] * 4
