"""ledger.md of this project keeps to the length that a person reads, and one new record changes little of it."""

import difflib
import re
from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

from expctl.adapters.git.reader import GitReader, locate
from expctl.adapters.records.repository_contents import GitLibrary
from expctl.domain.experiment.record import Record
from expctl.domain.ledger.inputs import LedgerInputs
from expctl.flow.repository.ledger_inputs import read_ledger_inputs
from expctl.views.ledger.document import render

HERE = Path(__file__).parents[3]
DETAILS = re.compile(r"<details>.*?</details>", re.DOTALL)
BAR = re.compile(r"(?<!\\)\|")
WORDS_MAX, LINE_MAX, CELL_MAX = 1800, 160, 80
FIRST_ROW_MAX = 52
"""Lines before the newest verdict: those of three targets that kept something, of which each has a table in Path."""
CHANGED_MAX = 51
"""Lines of a difference: ten rows are Latest, and the eleventh begins the table of the others, with its head; a KEEP also comes
into the list of what each changed in the hot loop, and the figures of the two other timed targets say that it landed later. The
first record of an epoch, as after a change of the harness, also takes the table of the epoch before out of Path."""


@pytest.fixture(scope="module")
def inputs() -> LedgerInputs:
    reader = GitReader(locate(HERE))
    return read_ledger_inputs(GitLibrary(reader), reader.head())


def faults(text: str) -> list[str]:
    """What a reader would mind in this ledger."""
    unfolded = DETAILS.sub("", text)
    found = []
    if len(unfolded.split()) > WORDS_MAX:
        found.append("words")
    latest = text.index("## Latest")
    if text[: text.index("| [P", latest)].count("\n") >= FIRST_ROW_MAX:
        found.append("first row")
    if any(len(line) > LINE_MAX for line in unfolded.splitlines()):
        found.append("line")
    if any(len(cell.strip()) > CELL_MAX for line in text.splitlines() if line.startswith("| ") for cell in BAR.split(line)):
        found.append("cell")
    sentences = Counter(re.findall(r"[A-Z][^.|]{30,}?\.(?= |$)", " ".join(unfolded.split())))
    if any(count + len(re.findall(re.escape(each), text)) > 2 for each, count in sentences.items()):
        found.append("sentence")
    return found


def test_the_page_is_short(inputs: LedgerInputs) -> None:
    assert faults(render(inputs.ledger())) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("## Latest", "## Latest\n" + "a word of many\n" * 200, "words"),
        ("## Latest", "\n" * 20 + "## Latest", "first row"),
        ("## Do not repeat", "## Do not repeat\n" + "x" * 161, "line"),
        ("| id | verdict |", f"| {'x' * 81} |\n| id | verdict |", "cell"),
        (
            "## Do not repeat",
            "## Do not repeat\nA sentence that somebody wrote a second time. A sentence that somebody wrote a second time.",
            "sentence",
        ),
    ],
)
def test_a_longer_page_would_be_noticed(inputs: LedgerInputs, old: str, new: str, fault: str) -> None:
    assert fault in faults(render(inputs.ledger()).replace(old, new, 1))


def newest(experiment: str) -> Record:
    reader = GitReader(locate(HERE))
    record = GitLibrary(reader).record(reader.head(), experiment)
    assert record is not None
    return replace(record, id="P9999", title="One more idea", date="2026-12-01T00:00:00Z")


@pytest.mark.parametrize("like", ["P18", "P19", "P24"])
def test_one_new_record_changes_few_lines(inputs: LedgerInputs, like: str) -> None:
    record = newest(like)
    before, after = (render(each.ledger()).splitlines() for each in (inputs, inputs.with_records((record,))))
    changed = [line for line in difflib.unified_diff(before, after, n=0) if line[0] in "+-" and line[:3] not in ("+++", "---")]
    assert 1 <= len(changed) <= CHANGED_MAX
    assert any("[P9999](experiments/P9999)" in line for line in changed)


def test_what_a_reader_asks_first_is_answered(inputs: LedgerInputs) -> None:
    text = render(inputs.ledger())
    unfolded = DETAILS.sub("", text)
    assert re.search(
        r"^\| cpu \| [0-9.]+ GFLOP/s \[[0-9.]+, [0-9.]+\] at n=\d+( in the \w+ of \d states)?, since P\d+ \|", unfolded, re.M
    ), "where we stand"
    assert re.search(
        r"^\| cpu \|.*\| (\*\*[+-][0-9.]+ %\*\* \[.*\], \d+ KEEP|nothing kept in epoch \d+) \|$", unfolded, re.M
    ), "the gain"
    assert re.search(r"^- \*\*Next:\*\* P\d+ .*`expctl run P\d+`$", unfolded, re.M), "what is next"
    again = "-23.24 % on cpu, again -0.82 %"
    assert re.search(rf"\| P17 \| Upcast B in registers next to the product \| {again} \|", text), "what not to repeat"
    assert re.search(r"\[P17\]\(experiments/P17\) \| REJECT \|.*\| n=768 regresses: -23.13 %", text), "why P17 was rejected"
