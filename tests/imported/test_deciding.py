"""Where one column decides nearly all rows of a table, the audit asks about those that were decided against it."""

import pytest

from expctl.imported.audit.ledger import audit
from expctl.imported.remarks import Flaw
from expctl.imported.roofline import Roofline
from expctl.imported.rows import read_document
from expctl.imported.tables import read_document as document_of

HEAD = "run\tscore\tmemory_gb\tstatus\tdescription\nr0\t100.0\t5.1\tbaseline\tas it was\n"
# Kept rows gain 2 % and more; what was rejected is worse.
STEADY = (
    ("101.5", "discard", "wider loads"),
    ("98.0", "keep", "pool of buffers"),
    ("98.9", "discard", "smaller pool"),
    ("96.0", "keep", "flat map"),
    ("97.2", "discard", "tree map"),
    ("96.3", "discard", "sorted list"),
    ("93.0", "keep", "heap of four"),
    ("94.1", "discard", "heap of eight"),
    ("93.4", "discard", "heap of two"),
    ("90.0", "keep", "fewer checks"),
    ("92.0", "discard", "no checks of bounds"),
)


def asked(
    *more: tuple[str, str, str], rows: tuple[tuple[str, str, str], ...] = STEADY, head: str = HEAD
) -> list[tuple[Flaw, int]]:
    lines = [f"r{place}\t{score}\t5.1\t{status}\t{words}\n" for place, (score, status, words) in enumerate((*rows, *more), 1)]
    document = document_of((head + "".join(lines)).encode(), "a.tsv")
    return [(each.flaw, each.line) for each in audit(document, read_document(document).rows, Roofline(), None)]


def test_a_ledger_that_keeps_to_its_column_is_not_asked_about() -> None:
    assert asked() == []


@pytest.mark.parametrize("words", ["parallel array of prices", "parallel array (marginal)", "parallel array - no improvement"])
def test_a_rejected_gain_larger_than_a_kept_one_is_asked_about(words: str) -> None:
    assert asked(("87.0", "discard", words)) == [(Flaw.REJECTED_GAIN, 14)]


@pytest.mark.parametrize(
    ("score", "words"),
    [
        ("89.5", "parallel array of prices"),  # a smaller gain than any that was kept
        ("87.0", "parallel array of prices: fails on short queues"),
        ("87.0", "parallel array of prices (twice the memory)"),
        ("87.0", "parallel array, but the gap grew"),
        ("87.0", "uniform noise: the noise changed, not comparable"),
        ("40.0", "parallel array of prices"),  # of another kind, or broken
    ],
)
def test_a_rejected_gain_with_a_reason_is_not(score: str, words: str) -> None:
    assert asked((score, "discard", words)) == []


def test_what_is_better_than_the_last_kept_row_alone_is_no_gain() -> None:
    assert asked(("92.5", "keep", "checks again, but fewer"), ("90.5", "discard", "heap of six")) == [
        (Flaw.KEPT_REGRESSION, 14)
    ]


@pytest.mark.parametrize(
    ("score", "words", "told"),
    [
        ("92.5", "batch of ten", True),
        ("90.5", "batch of ten", False),  # a smaller loss than any gain that was kept
        ("92.5", "fix the order of equal prices", False),
        ("92.5", "rerun of fewer checks", False),
        ("92.5", "batch of ten, on par", False),
        ("92.5", "batch of ten, median of 5", False),
        ("92.5", "batch of ten, from scratch", False),
        ("140.0", "batch of ten", False),  # of another kind
    ],
)
def test_a_row_kept_against_the_column_is_asked_about(score: str, words: str, *, told: bool) -> None:
    assert asked((score, "keep", words)) == [(Flaw.KEPT_REGRESSION, 14)] * told


def test_a_loss_below_one_percent_is_not_where_smaller_gains_were_kept() -> None:
    assert asked(("89.8", "keep", "fewer loads"), ("90.3", "keep", "batch of ten")) == []
    assert asked(("89.8", "keep", "fewer loads"), ("90.9", "keep", "batch of ten")) == [(Flaw.KEPT_REGRESSION, 15)]


def test_a_baseline_that_waits_is_what_the_first_row_was_held_against() -> None:
    first = (("97.0", "discard", "loads of four"), *STEADY[1:])
    assert asked(rows=first) == [(Flaw.REJECTED_GAIN, 3)]
    assert asked(rows=first, head=HEAD.replace("100.0", "-")) == []


def test_a_row_that_was_not_understood_may_be_what_others_were_held_against() -> None:
    assert asked(("91.0", "see below", "batches"), ("92.5", "keep", "batch of ten")) == []


@pytest.mark.parametrize(
    "rows",
    [
        STEADY[:8],  # too few
        (*STEADY, ("85.0", "discard", "a"), ("84.0", "discard", "b"), ("83.0", "discard", "c")),  # something else decided, too
        tuple(each if float(each[0]) >= 96 else ("97.5", "discard", each[2]) for each in STEADY),  # two gains alone were kept
    ],
)
def test_without_a_column_that_decides_nothing_is_asked(rows: tuple[tuple[str, str, str], ...]) -> None:
    assert asked(("90.5", "discard", "parallel array of prices"), rows=rows) == []
