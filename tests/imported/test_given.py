"""What the user says about a ledger: columns, words of verdicts, directions of units."""

import pytest

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.given import Given, given_by
from expctl.imported.heads import Role
from expctl.imported.rows import read_document
from expctl.imported.tables import read_document as document_of
from expctl.imported.units import Better
from tests.refusals import refuses


def test_options_say_columns_verdicts_and_units() -> None:
    given = given_by(Given(), ["verdict=Outcome", "retained=keep", "on ice=WAIT"], ["tok_s=higher"])
    assert given.map().heads == {Role.VERDICT: "Outcome"}
    assert given.map().meanings == {"retained": Verdict.KEEP, "on ice": None}
    assert given.directions() == {"toks": Better.HIGHER}
    assert given_by(given, ["verdict=Fate"], []).map().heads == {Role.VERDICT: "Fate"}, "the newer word counts"


@pytest.mark.parametrize("word", ["Outcome", "colour=Outcome", "retained=", "=KEEP", "kept=perhaps"])
def test_a_word_that_says_nothing_is_refused(word: str) -> None:
    with refuses("map-unclear") as caught:
        given_by(Given(), [word], [])
    assert word in caught.value.found


@pytest.mark.parametrize("word", ["tok_s", "tok_s=more"])
def test_a_unit_without_a_direction_is_refused(word: str) -> None:
    with refuses("unit-without-direction"):
        given_by(Given(), [], [word])


def test_the_map_reads_a_ledger_in_other_words() -> None:
    text = "| What | Fate | id |\n|---|---|---|\n"
    text += "| a loop | binned | P1 |\n| a store | on ice | P2 |\n| a load | held: 3 % | P3 |\n"
    given = given_by(Given(), ["verdict=Fate", "binned=REJECT", "held=KEEP", "on ice=WAIT"], [])
    reading = read_document(document_of(text.encode(), "a.md"), given.map())
    assert [(row.name, row.rulings[0].verdict) for row in reading.rows] == [("P1", Verdict.REJECT), ("P3", Verdict.KEEP)]
    assert [each.line for each in reading.waiting] == [4]
