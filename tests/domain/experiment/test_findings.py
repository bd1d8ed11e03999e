"""Ids, evidence and repetitions of findings."""

import pytest

from expctl.domain.errors import Refused
from expctl.domain.experiment.finding import EvidenceKind, Finding
from expctl.domain.experiment.findings import alike, by_id, file_faults, leads_back, next_id, numbered, unknown_evidence


def finding(text: str, id: str = "", superseded_by: str = "") -> Finding:
    return Finding(text=text, since="2026-03-01", kind=EvidenceKind.EXTERNAL, id=id, superseded_by=superseded_by)


def test_a_finding_without_an_id_takes_a_free_number_and_no_other_changes_its_own() -> None:
    found = numbered([finding("a"), finding("b", "F1"), finding("c"), finding("d", "F7")])
    assert [each.id for each in found] == ["F2", "F1", "F3", "F7"]
    assert numbered(found) == found
    assert next_id(found) == "F8"
    assert next_id(()) == "F1"


def test_the_same_words_are_one_finding() -> None:
    known = [finding("The epilogue  costs little.", "F1")]
    assert alike(known, "the epilogue costs little") == known[0]
    assert alike(known, "The epilogue costs much.") is None


def test_links_that_lead_nowhere_say_so_with_the_way_out() -> None:
    links = ["P1", "P2", "P3", "4f2c91a", "deadbee", "https://example.org/x", "a rumour"]
    assert unknown_evidence(links, concluded={"P1": True, "P2": False}, commits=["4f2c91a"]) == [
        "P2: it has no record yet; expctl run P2 makes one",
        "P3: no such experiment",
        "deadbee: no such commit here",
        "a rumour: neither an experiment id, nor a commit, nor an address such as https://example.org/page",
    ]


def test_a_chain_of_superseded_findings_may_not_close() -> None:
    known = [finding("a", "F1", "F2"), finding("b", "F2", "F3"), finding("c", "F3")]
    assert leads_back(known, "F3", "F1")
    assert not leads_back(known, "F3", "P1")
    assert not leads_back([*known, finding("d", "F4")], "F4", "F1")


def test_an_unknown_id_names_the_known_ones() -> None:
    with pytest.raises(Refused) as caught:
        by_id([finding("a"), finding("b")], "F9")
    assert caught.value.expected == "one of F1 to F2"


def test_ids_in_the_file_are_ids_and_appear_once() -> None:
    assert file_faults([finding("a", "F1"), finding("b", "F1"), finding("c", "x")]) == [
        "id: expected F and a number such as F3, found 'x'",
        "id: F1 appears twice",
    ]
