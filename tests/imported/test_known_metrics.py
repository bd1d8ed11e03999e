"""Metrics of which everybody knows what is better; only like is compared with like; one id for many rows is one remark."""

import pytest

from expctl.imported.audit.ledger import audit
from expctl.imported.remarks import Flaw, Remark
from expctl.imported.roofline import Roofline
from expctl.imported.rows import read_document
from expctl.imported.tables import read_document as document_of
from expctl.imported.units import Better, well_known


def remarks(head: str, *lines: str) -> list[Remark]:
    text = f"commit\t{head}\tstatus\tdescription\n" + "".join(f"{line}\n" for line in lines)
    document = document_of(text.encode(), "a.tsv")
    return list(audit(document, read_document(document).rows, Roofline(peak_flops=0.0, flop={}, source=""), None))


@pytest.mark.parametrize(
    ("head", "better"),
    [
        ("val_bpb", Better.LOWER),
        ("val_fid", Better.LOWER),
        ("Test accuracy", Better.HIGHER),
        ("elo", Better.HIGHER),
        ("loss 2", Better.LOWER),
        ("score", None),
        ("loss fraction", None),
    ],
)
def test_the_last_word_of_a_head_tells_the_direction(head: str, better: Better | None) -> None:
    assert next(iter(well_known([head]).values()), None) is better


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("wide loads", [3]),
        ("wide loads, repro", []),
        ("variance of wide loads", []),
        ("wide loads, 2hr", []),
        ("wide loads (other session)", []),
    ],
)
def test_like_is_compared_with_like(change: str, told: list[int]) -> None:
    found = remarks("val_bpb", "abc1234\t1.20\tkeep\ta queue", f"bcd2345\t1.30\tkeep\t{change}")
    assert [each.line for each in found if each.flaw is Flaw.KEPT_REGRESSION] == told
