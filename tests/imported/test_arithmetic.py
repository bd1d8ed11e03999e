"""The audit asks about sums that don't come out: a change that its two figures contradict, a total smaller than its parts."""

import pytest

from expctl.imported.audit.arithmetic import misstated, printed
from expctl.imported.audit.ledger import audit
from expctl.imported.remarks import Flaw
from expctl.imported.roofline import Roofline
from expctl.imported.tables import read_document


def remarks(text: str) -> list[tuple[int, str]]:
    return [(each.line, each.text) for each in misstated(read_document(text.encode(), "a.md"), ())]


@pytest.mark.parametrize(
    "text",
    [
        "decode 5.6 → 4.2 ms (-12 %)",
        "decode 5600 us -> 4.2 ms (-12 %)",
        "median 4.0 ms vs baseline 5.0 ms, -34 %",
        "6 wins of 6, +9.4 % (50.0→53.0 frames/s)",
        "13 % faster (5.6 → 4.2 ms)",
        "from 81 to 41 ms (1.5x)",
        "hit rate 41 % → 62 % (+27 %)",
        "`5.6` → **4.2** (−12 %)",
        "12k → 15k (+11 %)",
    ],
)
def test_a_change_that_its_figures_contradict_is_asked_about(text: str) -> None:
    assert [line for line, _ in remarks(f"# Log\n- {text}\n")] == [2]


def test_the_audit_of_a_file_has_these_remarks() -> None:
    document = read_document(b"# Log\n- decode 5.6 -> 4.2 ms (-12 %)\n", "a.md")
    assert [each.flaw for each in audit(document, (), Roofline(), None)] == [Flaw.CONTRADICTION]


@pytest.mark.parametrize(
    "text",
    [
        "decode 5.6 → 4.2 ms (-25 %)",
        "decode 5.6 → 4.2 ms (+33 %)",  # of the figure after
        "decode 5.6 → 4.2 ms (75 %)",  # what is left
        "decode 5.6 → 4.2 ms (~12 %)",
        "decode 5.6 → 4.2 ms, mostly cold (-12 %)",
        "decode 5.6 → 4.2 (-25 %)",
        "decode ~5.6 → 4.2 ms (-12 %)",
        "from 80 to 40 ms (2x)",
        "from 80 to 40 ms (1x faster)",  # so much less
        "hit rate 41 % → 62 % (+21 %)",  # in points
        "hit rate 41 % → 62 % (+51 %)",
        "100.0 → 88.7 ms (-11.0 %)",
        "0.8 → 0.7 ms (-10 %)",  # 0.84 → 0.66 to 0.76 → 0.74, as they are printed
        "300 → 270 MB (-9 %)",
        "1.0 → 2.0 → 2.1 ms (+110 %)",  # a chain
        "shards 64→128 (8x the cores)",
        "rate 0.3→0.4, +9 % tokens",  # no unit: a setting, and what it gained
        "3.1 → 2.9 ms (-6 %/-2 %)",
        "workers 8 → 16 (+30 % vs the third run)",  # a setting, and what it gained
        "the loss crossed 5 %: 4.73 → 5.70 %",  # a threshold
        "memory 21.7 → 0.3 MB, -17 % score",  # of something else
        "**stages** 2 → 8 (-15.8 %). The default is too low",  # a setting, and what it gained
        "memory 25.9 → 30.5 GiB (97.6 %)",  # of what there is
        "map -3.61 % (11.743→11.281 us)",  # the median of pairs, and two medians
        "backoff 100→10 ms (+35 %)",  # a setting, and what it gained
        "v1.2 → v1.4 (+9 %)",
        "10 ms → 3 W (+9 %)",
        "0 → 3 ms (+9 %)",
    ],
)
def test_a_change_that_may_be_meant_or_rounded_otherwise_is_not(text: str) -> None:
    assert remarks(f"# Log\n- {text}\n") == []


def test_columns_before_after_and_of_the_change_are_held_against_each_other() -> None:
    head = "# Log\n| case | before | after | change |\n|---|---|---|---|\n"
    assert remarks(f"{head}| a | 4.0 ms | 5.0 ms | +25 % |\n| b | 4.0 ms | 5.0 ms | +52 % |\n") == [
        (5, "'4.0 ms → 5.0 ms (+52 %': the two figures make 25%, or -20% the other way round")
    ]
    assert remarks("# Log\n| case | before | after | note |\n|---|---|---|---|\n| b | 4.0 ms | 5.0 ms | +52 % |\n") == []


def test_a_column_of_changes_that_mostly_does_not_fit_is_of_something_else() -> None:
    """From a ledger whose changes are those against the tool's own baseline, not of the two means beside them."""
    head = "# Log\n| case | previous mean | new mean | change |\n|---|---|---|---|\n"
    off = ["| a | 312.2 us | 331.7 us | 7.491% slower |", "| b | 86.66 us | 82.68 us | 6.513% faster |"]
    fits = ["| c | 100.0 us | 90.0 us | 10.0% faster |", "| d | 50.0 us | 55.0 us | 10.0% slower |"]
    same = "| e | 8.778 us | 8.970 us | within noise |"
    assert remarks("\n".join([head.rstrip(), *off, same])) == []
    assert len(remarks("\n".join([head.rstrip(), off[0], *fits, same]))) == 1
    assert len(remarks("\n".join([head.rstrip(), off[0], same]))) == 1


def test_numbers_of_any_length_are_read() -> None:
    long, small = "1" + 5000 * "0", "0." + 400 * "0" + "1"
    assert (
        remarks(f"# Log\n- {long} → {small} ms (-12 %), {small} → {long} ms (-12 %)\n- {long} ideas, {long} kept, 1 killed\n")
        == []
    )


def test_a_printed_number_is_an_interval() -> None:
    assert printed("300", 0.5) == (250, 350)
    assert printed("1,205", 0.5) == (1204.5, 1205.5)
    assert printed("3.10", 0.5) == pytest.approx((3.095, 3.105))
    assert printed("0", 0.5) == (-0.5, 0.5)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Totals: 20 candidates, 11 survivors (8 landed, 3 open), 10 killed.", True),
        ("Tried 4 ideas; 1 KEPT (H1), 3 REVERTED (H2-H4), 1 REJECTED (H5).", True),
        ("Totals: 21 candidates, 11 survivors (8 landed, 3 open), 10 killed.", False),
        ("Of 30 candidates 11 landed and 10 were killed.", False),  # others are open
        ("20 candidates. 11 landed, 10 killed.", False),  # of what?
        ("20 experiments, 11 kept, 8 variants, 10 rejected", False),
        ("20 experiments, 21 kept", False),
    ],
)
def test_a_total_smaller_than_its_parts_is_asked_about(text: str, *, asked: bool) -> None:
    assert len(remarks(f"# Log\n{text}\n")) == asked
