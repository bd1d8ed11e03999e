"""What fits into a terminal: names cut in the middle, columns left out, sentences wrapped below their beginning."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expctl.domain.layout import NAME_LEAST, Column, cut_middle, fitting, named_table, wrapped

WORDS = st.text(alphabet="ab1 [],%", max_size=300)


def test_a_name_keeps_both_ends() -> None:
    assert cut_middle("Cijk_Ailk_Bljk_MT128x128x32", 11) == "Cijk_…28x32"
    assert cut_middle("short", 5) == "short"
    assert len(cut_middle("x" * 500, 0)) == 90


def test_a_function_is_cut_before_its_arguments() -> None:
    assert cut_middle("vectorized_elementwise_kernel<CUDAFunctor_add>", 26) == "vectoriz…<CUDAFunctor_add>"
    assert cut_middle("Kernel2<cutlass_80_tensorop_bf16_s16816gemm>", 20) == "Kernel2<cu…6816gemm>"


@given(st.text(alphabet="abc", max_size=100), st.integers(2, 120))
def test_a_name_fits(name: str, width: int) -> None:
    cut = cut_middle(name, width)
    assert len(cut) == min(len(name), width)
    assert cut == name or name.endswith(cut.partition("…")[2])


COLUMNS = (
    Column("status", ("same", "regression"), words=True),
    Column("ratio", ("1.0", "1.25"), rank=1),
    Column("bytes", ("-", ""), rank=1),
    Column("grid", ("8", "16x16"), rank=2),
)
NAMES = Column("kernel", ("gemm", "n" * 60))


def test_a_table_without_a_limit_shows_everything() -> None:
    assert named_table(COLUMNS, NAMES) == (
        [
            "status      ratio  bytes   grid  kernel",
            "same          1.0      -      8  gemm",
            f"regression   1.25         16x16  {'n' * 60}",
        ],
        [],
    )


def test_columns_without_a_value_make_room_for_names() -> None:
    lines, left_out = named_table(COLUMNS, NAMES, 90)
    assert (lines[2], left_out) == (f"regression   1.25  16x16  {'n' * 60}", [])


def test_a_narrow_table_leaves_out_empty_columns_first_then_those_of_a_high_rank() -> None:
    assert [each.head for each in fitting(COLUMNS, 25)] == ["status", "ratio", "grid"]
    assert [each.head for each in fitting(COLUMNS, 20)] == ["status", "ratio"]
    assert [each.head for each in fitting(COLUMNS, 1)] == ["status"]


@pytest.mark.parametrize("width", range(10 + 2 + NAME_LEAST, 120))
def test_a_table_fits(width: int) -> None:
    lines, left_out = named_table(COLUMNS, NAMES, width)
    assert max(map(len, lines)) <= width
    assert lines[1].split()[-1] == "gemm"
    assert set(left_out) <= {"ratio", "bytes", "grid"}


WRAPPED = """\
  reason     it is slower than the
             baseline by far
  hypothesis fewer reads of the same
             value
             a text below that label,
             and the rest of it
  one GPU: 2 dispatches in as many us as
    there are
  P1     KEEP  Skip all waves that lie
               beyond the matrix
- a finding that was measured here, and
    what it says
a sentence of its own that does not end
  so soon
the objective gains an effect of
  [+1.25, +2.75]
""".splitlines()
STARTS = ("  reason", "  hypothesis", "             a text", "  P1", "  one GPU", "- a finding", "a sentence", "the objective")


def test_a_line_goes_on_below_its_text() -> None:
    begins = [index for index, line in enumerate(WRAPPED) if line.startswith(STARTS)]
    for begin, end in zip(begins, [*begins[1:], len(WRAPPED)], strict=True):
        parts = WRAPPED[begin:end]
        whole = " ".join([parts[0], *(part.strip() for part in parts[1:])])
        assert wrapped(whole, 40) == parts


@given(WORDS, st.integers(40, 100))
def test_nothing_is_lost_and_nothing_is_wider(text: str, width: int) -> None:
    parts = wrapped(text, width)
    assert all(len(part) <= width for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


def test_without_a_limit_a_line_stays_whole() -> None:
    assert wrapped("x " * 500, 0) == ["x " * 500]
