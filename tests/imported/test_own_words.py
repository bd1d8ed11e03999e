"""The audit asks about a verdict against the words of its own row."""

import pytest

from expctl.imported.audit.ledger import audit
from expctl.imported.remarks import Flaw
from expctl.imported.roofline import Roofline
from expctl.imported.rows import read_document
from expctl.imported.tables import read_document as document_of

HEAD = "# Log\n| id | change | ms | verdict |\n|---|---|---|---|\n"


def asked(text: str) -> list[tuple[Flaw, int]]:
    document = document_of(text.encode(), "a.md")
    return [(each.flaw, each.line) for each in audit(document, read_document(document).rows, Roofline(), None)]


@pytest.mark.parametrize(
    ("verdict", "words", "told"),
    [
        ("kept", "drafts of three, memory over budget", True),
        ("kept", "took 83 min (exceeds 75min budget)", True),
        ("kept", "drafts of three, not over budget", False),
        ("rejected", "drafts of three, memory over budget", False),
        ("crash", "four-bit weights: SKIPPED, no build for it", True),
        ("crash", "four-bit weights: NOT RUN", True),
        ("crash", "four-bit weights, the tests were skipped", False),
        ("kept", "four-bit weights: SKIPPED layers", False),
    ],
)
def test_a_verdict_against_the_words_of_its_row_is_asked_about(verdict: str, words: str, *, told: bool) -> None:
    assert asked(f"{HEAD}| 1 | {words} | 9.1 | {verdict} |\n") == [(Flaw.OWN_WORDS, 4)] * told
