"""findings.yaml, edited by inserting lines: comments and wording stay, and what can't be edited so is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from expctl.adapters.records.findings_file import FindingsEditor, findings_of
from expctl.domain.experiment.finding import EvidenceKind, Finding
from tests.refusals import refuses

BY_HAND = b"""\
# What we know.
findings:
- text: >-
    Folded over
    two lines.   # not a comment here
  since: P1
  kind: imported
  evidence: [P1]   # the only one
# between
- {text: "in a flow", since: "2026-01-01", kind: external}
"""


def new(id: str, text: str = "Something new: 100 % of it, {so} 'to' \"say\" # here.") -> Finding:
    return Finding(id=id, text=text, since="2026-03-01", kind=EvidenceKind.MEASURED, evidence=("P1", "https://example.org/a#b"))


def test_adding_writes_ids_down_and_leaves_everything_else() -> None:
    text = FindingsEditor().added(BY_HAND, new("F3"))
    assert text.startswith(
        b"# What we know.\nfindings:\n- id: F1\n  text: >-\n    Folded over\n    two lines.   # not a comment here\n"
    )
    assert b"  evidence: [P1]   # the only one\n# between\n- {id: F2, text:" in text
    assert text.endswith(
        b"- id: F3\n  text: >-\n    Something new: 100 % of it, {so} 'to' \"say\" # here.\n"
        b'  since: "2026-03-01"\n  kind: measured\n  evidence: [P1, "https://example.org/a#b"]\n'
    )
    assert [each.id for each in findings_of(text, where="f")] == ["F1", "F2", "F3"]


def test_the_first_finding_makes_the_file() -> None:
    text = FindingsEditor().added(b"", new("F1"))
    assert findings_of(text, where="f") == (new("F1"),)
    assert FindingsEditor().added(text, new("F2")).startswith(text)


def test_a_mark_is_one_line_more() -> None:
    known = findings_of(BY_HAND, where="f")
    first = FindingsEditor().marked(BY_HAND, replace(known[0], superseded_by="F2"))
    second = FindingsEditor().marked(first, replace(known[1], contradicted_by="P9"))
    assert b"- id: F1\n  superseded_by: F2\n  text: >-" in second
    assert b"- {id: F2, contradicted_by: P9, text:" in second
    assert [each.stands for each in findings_of(second, where="f")] == [False, False]


def test_an_indented_list_keeps_its_indent() -> None:
    text = b"findings:\n  - text: a\n    since: P1\n    kind: static\n"
    assert b"\n  - id: F2\n    text: >-\n      Something" in FindingsEditor().added(text, new("F2"))


@pytest.mark.parametrize(
    "text", [b"findings: [{text: a, since: P1, kind: static}]\n", b"{findings: [{text: a, since: P1, kind: static}]}\n"]
)
def test_a_file_in_one_line_is_refused_with_the_way_out(text: bytes) -> None:
    with refuses("findings-form-not-editable") as caught:
        FindingsEditor().added(text, new("F2"))
    assert caught.value.hint


def test_a_file_that_contradicts_itself_is_refused() -> None:
    with refuses("file-contradicts-itself"):
        findings_of(b"findings:\n- {id: G1, text: a, since: P1, kind: static}\n", where="f")
    with refuses("file-has-problems"):
        findings_of(b"findings:\n- {text: a, since: P1, kind: a rumour}\n", where="f")


@given(st.text(alphabet=st.characters(codec="utf-8"), min_size=1))
def test_any_sentence_comes_back_as_one_line(text: str) -> None:
    from expctl.domain.text import plain_text

    words = plain_text(text)
    if words:
        (found,) = findings_of(FindingsEditor().added(b"", new("F1", words)), where="f")
        assert found.text == words
