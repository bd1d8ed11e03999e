"""Rivals in the ledger and on a terminal: which figures stand where, within which widths, and escaped."""

import re

import pytest
from msgspec.structs import replace

from expctl.domain.experiment.rivals import Backend, CodeObject, Rival, RivalKernel, Rivals, RivalSize, Role
from expctl.domain.ledger.model import ledger_of
from expctl.domain.protocol.model import NumberKind
from expctl.views.ledger.document import render
from expctl.views.rivals import rivals_lines
from tests.fakes.stage import PROTOCOL

CIJK = "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI16x16x16x1_SN_1LDSB1_AMAS3_BL1_BS1_EPS1_GLVWA8_GLVWB8_GRVW8_GSU1_ISA1151_PGR1_PLR0"
PRODUCT = RivalKernel(
    name=CIJK, calls=23, mean_ns=40_185_627, registers=256, lds_bytes=17408, grid=(8192, 64, 1), workgroup=(128, 1, 1)
)
CAST = RivalKernel(name="triton_poi_fused__to_copy_0", calls=23, mean_ns=951_516)
OURS = Rival(name="this kernel", role=Role.OURS, ns=(40e6, 41e6, 42e6), config="1,8,2,2,8,2")
COMPILED = Rival(
    name="torch.compile | max",
    role=Role.RIVAL,
    ns=(42e6, 42e6, 42e6),
    products=23,
    kernels=(PRODUCT, CAST),
    cast_bytes=201_326_592,
    chosen="ATEN mm",
    tried_us={"ATEN mm": 40000.0, "TRITON mm_1": 41000.0},
    backends=(
        Backend(name="ATEN", eligible=True),
        *(Backend(name=name, eligible=False, why="not here") for name in ("CK", "CPP")),
    ),
    code_objects=(CodeObject(symbol=CIJK, count=117, nearest=(CIJK.replace("EPS1", "EPS0"),)),),
)
WALL = Rival(name="product alone", role=Role.WALL, ns=(39e6, 39e6, 39e6), products=23, kernels=(PRODUCT,))
ABSENT = Rival(name="naive", role=Role.RIVAL, absent="out of memory")
RIVALS = Rivals(
    target="cpu",
    date="2026-11-24T03:18:09Z",
    head="3f8b2ca1229da9d522d2a86b76e87e596a327a86",
    artifact="a" * 64,
    number_kind=NumberKind.DEVICE_TIME,
    sizes=(
        RivalSize(name="small", entries=(replace(OURS, ns=(1.0,)), replace(WALL, ns=(1.0,)))),
        RivalSize(name="n", flop=2 * 8192**3, entries=(OURS, COMPILED, WALL, ABSENT)),
    ),
    environment={"torch": "2.13.0", "device": "gfx1151"},
)


@pytest.fixture(scope="module")
def page() -> str:
    ledger = ledger_of(PROTOCOL, (), (), ())
    cpu, other = ledger.targets
    return render(replace(ledger, targets=(replace(cpu, rivals=RIVALS), other)))


def test_the_head_has_the_quickest_of_each_at_the_main_size(page: str) -> None:
    head, _, cpu, other = page.splitlines()[3:7]
    assert head == "| target | now | beside rivals | gained by expctl |"
    assert r"| 1.02x torch.compile \| max; 0.95x product |" in cpu
    assert "| not measured |" in other


def test_tables_below_a_fold_have_times_and_the_seeds_columns(page: str) -> None:
    folded = page[page.index("<summary>Rivals") : page.index("<summary>Predictions")]
    assert "3f8b2ca1229d, device time, median of 3 turns, 2026-11-24; torch 2.13.0, device gfx1151" in folded
    assert "([all figures](experiments/rivals/cpu-20261124031809.json))" in folded
    assert "| this kernel (1,8,2,2,8,2) | 41.00 ms | 26.82 TFLOP/s | - |" in folded
    assert r"| torch.compile \| max | 42.00 ms | 26.18 TFLOP/s | 1.02x [1.00, 1.05] |" in folded
    assert "| naive | - | - | not timed: out of memory |" in folded
    assert "| kernel at n | of | calls | average | registers | LDS | grid | workgroup |" in folded
    assert "| 23 | 40.19 ms | 256 | 17408 | 8192x64x1 | 128x1x1 |" in folded
    assert "| 23 | 951.5 us | - | - | - | - |" in folded
    assert "the cast moves 201.3 MB in 951.5 us: 212 GB/s" in folded
    assert "eligible backends: ATEN; not CK, CPP: not here" in folded
    assert "of 117; the likest differ in: EPS0" in folded


def test_no_cell_is_too_wide(page: str) -> None:
    cells = [cell for line in page.splitlines() if line.startswith("| ") for cell in re.split(r"(?<!\\)\|", line)]
    assert max(map(len, cells)) <= 82


def test_without_rivals_the_page_is_as_it_was() -> None:
    page = render(ledger_of(PROTOCOL, (), (), ()))
    assert "ivals" not in page


@pytest.mark.parametrize("width", [0, 60, 80, 200])
def test_a_terminal_gets_every_size_within_its_width(width: int) -> None:
    lines = rivals_lines(RIVALS, width)
    text = "\n".join(lines)
    assert text.count("this kernel (1,8,2,2,8,2)") == 2
    assert "  naive: not timed: out of memory" in lines
    assert "  chosen: ATEN mm, of 2 tried; next TRITON mm_1 41.00 ms" in lines
    tables = [line for line in lines if "Cijk" in line and "lies in" not in line]
    assert len(tables) == 3
    assert not width or all(len(line) <= width for line in tables)


def test_where_no_kernel_casts_it_is_said_to_be_fused() -> None:
    fused = replace(RIVALS, sizes=(RivalSize(name="n", entries=(OURS, replace(COMPILED, kernels=(PRODUCT,)))),))
    assert "  no kernel of its own casts: the conversion is fused" in rivals_lines(fused)
