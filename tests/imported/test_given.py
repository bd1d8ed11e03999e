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


TABLE = "# Log\n| id | change | verdict |\n|---|---|---|\n| E1 | wider loads | binned |\n| E2 | a loop | kept |\n"


@pytest.mark.parametrize("word", ["xyzzy=KEEP", "verdict=Outcome", "wider=REJECT", "loop=WAIT", "binned: twice=REJECT"])
def test_a_map_that_decides_nothing_is_refused(word: str) -> None:
    document = document_of(f"{TABLE}\n**Result: xyzzy.**\n".encode(), "a.md")
    with refuses("map-idle") as caught:
        given_by(Given(), ["binned=REJECT", word], (), document)
    assert caught.value.found == word


def test_a_map_that_says_what_is_read_anyway_is_none_of_these() -> None:
    document = document_of(TABLE.encode(), "a.md")
    given = given_by(Given(), ["binned=REJECT", "kept=KEEP", "verdict=Verdict"], (), document)
    assert given_by(given, ["binned=KEEP"], (), document).verdicts["binned"] == "KEEP", "the newer word counts"
    shorter = document_of(TABLE.partition("| E1")[0].encode() + b"| E2 | a loop | kept |\n", "a.md")
    assert given_by(given, (), (), shorter) == given, "what was kept from an earlier import may be idle"
