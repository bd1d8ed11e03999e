"""Foreign text in an answer is made harmless, and an error is one text."""

from expctl.agents.answers import CUT, LETTERS_MAX, BriefAnswer, StatusAnswer, error_text, plain, spelled, text_of
from expctl.domain.errors import Refused

STATUS = StatusAnswer(
    name="n\x1b[2J",
    branch="main",
    head="0",
    baselines=[{"a\u202e": ["b\0", 1, None, True, 0.5]}],
    running=[],
    queue=[],
    last=[],
    debts=["two\nlines\t"],
    blocking=[],
    target="here",
)


def test_what_is_not_seen_is_spelled_out_at_any_depth() -> None:
    found = plain(STATUS)
    assert found["name"] == "n\\x1b[2J"
    assert found["baselines"] == [{"a\\u202e": ["b\\x00", 1, None, True, 0.5]}]
    assert found["debts"] == ["two\nlines\t"]


def test_a_huge_text_is_cut() -> None:
    assert spelled("x" * (LETTERS_MAX + 5)) == "x" * LETTERS_MAX + CUT
    assert spelled("größer") == "größer"


def test_an_answer_with_a_text_of_its_own_is_shown_as_that() -> None:
    brief = BriefAnswer(head="0", text="# Brief", verdicts={}, next_id="P1")
    assert text_of(brief, plain(brief)) == "# Brief"
    assert '"branch": "main"' in text_of(STATUS, plain(STATUS))


def test_an_error_says_everything_on_lines_of_its_own() -> None:
    refusal = Refused("it\x1b[31m is wrong", code="some-code", expected="a\nb", found="c", where="d", hint="e")
    assert error_text(refusal).splitlines() == [
        "Error [some-code]: it is wrong",
        "  expected  a",
        "            b",
        "  found     c",
        "  where     d",
        "  next      e",
    ]
