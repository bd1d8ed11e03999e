"""For which rows a sentence about noise holds."""

import pytest

from expctl.imported.audit.ledger import audit
from expctl.imported.audit.noise import Noise
from expctl.imported.remarks import Flaw
from expctl.imported.roofline import Roofline
from expctl.imported.rows import read_document
from expctl.imported.tables import read_document as document_of

ROW = "| id | keep? | change | result |\n|---|---|---|---|\n| {} | keep | wider loads | {} |\n"


def asked(text: str) -> list[str]:
    document = document_of(text.encode(), "a.md")
    found = audit(document, read_document(document).rows, Roofline(), Noise(percent=0.5, source="the protocol"))
    return [row for remark in found if remark.flaw is Flaw.NOISE for row in remark.rows]


@pytest.mark.parametrize(
    ("title", "rows"),
    [("Decode runs", ["P2"]), ("How it was measured", ["P1", "P2"]), ("Wrap-up (first measurement only)", ["P2"])],
)
def test_noise_of_a_section_holds_in_it_and_of_a_method_everywhere(title: str, rows: list[str]) -> None:
    first = "# Log\n\n## Prefill runs\n\n" + ROW.format("P1", "+2 %")
    second = f"\n## {title}\n\nThe noise is 3 %.\n\n### Details\n\n" + ROW.format("P2", "+2 %")
    assert asked(first + second) == rows


def test_noise_before_the_first_row_holds_everywhere() -> None:
    assert asked("# Log\n\n## About\n\nThe noise is 3 %.\n\n## Runs\n\n" + ROW.format("P1", "+2 %")) == ["P1"]


def test_noise_that_a_row_states_holds_in_its_table() -> None:
    own, other = ROW.format("P1", "+2 %, the noise is 3 %"), ROW.format("P2", "+2 %")
    assert asked(own + "\ntext\n\n" + other) == ["P1"]


@pytest.mark.parametrize(
    ("result", "rows"),
    [
        ("the spread is 0.1 points = 50x self-noise = 22 % of the gap to the best", []),
        ("the noise is 22 % of the time", ["P2"]),
        ("errors 5.4 %, worse times in two of the four rooms; the doors are open, and there is noise", []),
        (
            "+5.4 %, noise in two of the four rooms; the doors are open, and the times are those of a warm day in June",
            ["P1", "P2"],
        ),
    ],
)
def test_what_a_row_calls_noise(result: str, rows: list[str]) -> None:
    assert asked(ROW.format("P1", result) + "| P2 | keep | more stages | +4 % |\n") == rows


@pytest.mark.parametrize("result", ["-2.7 % gzip", "+0.3 % KiB", "download size +0.2 %"])
def test_sizes_have_no_noise(result: str) -> None:
    assert asked("# Log\n\nThe noise is 3 %.\n\n" + ROW.format("P1", result)) == []


def test_who_rejects_what_is_neutral_is_right() -> None:
    row = ROW.replace("| keep |", "| reject |")
    assert asked("# Log\n\nThe noise is 3 %.\n\n" + row.format("P1", "neutral to +2 % faster")) == []
    assert asked("# Log\n\nThe noise is 3 %.\n\n" + row.format("P1", "+2 % faster, no significant gain")) == []
    assert asked("# Log\n\nThe noise is 3 %.\n\n" + row.format("P1", "+2 % faster")) == ["P1"]


@pytest.mark.parametrize(
    ("change", "rows"), [("wider loads", ["P2"]), ("correctness fix", []), ("fixes the tail", []), ("prefix sums", ["P2"])]
)
def test_what_is_kept_as_a_fix_may_gain_little(change: str, rows: list[str]) -> None:
    text = ROW.format("P1", "100 ms") + f"| P2 | keep | {change} | 99.8 ms |\n"
    assert asked(text) == rows


def test_without_any_noise_that_is_stated_no_gain_is_asked_about() -> None:
    document = document_of(ROW.format("P1", "+0.2 %").encode(), "a.md")
    rows = read_document(document).rows
    assert audit(document, rows, Roofline(), None) == ()
    assert len(audit(document, rows, Roofline(), Noise(percent=0.5, source="--noise"))) == 1


@pytest.mark.parametrize(
    "sentence",
    [
        "a plain comparison is too noisy (±3-5 %)",
        "the 32 ms between the first runs are session variance (3 %)",
        "smaller workloads vary by 10-15 %, run-to-run 3 %",
        "the day-to-day noise is 3 %",
    ],
)
def test_noise_of_other_measurements_is_none_of_this_one(sentence: str) -> None:
    assert asked(f"# Log\n\n{sentence}\n\n" + ROW.format("P1", "+2 %")) == []
    assert asked("# Log\n\nThe noise is 3 %.\n\n" + ROW.format("P1", "+2 %")) == ["P1"]
