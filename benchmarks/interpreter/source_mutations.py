"""Mistakes that one can make in the kernel's source or its launch, each with the check that must see it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from benchmarks.interpreter.mutations import BASES, Base, Check, Mutant, Product
from kernel.runtime.formats import Fp8


@dataclass(frozen=True, slots=True, kw_only=True)
class Slip:
    """One replacement, tried on the whole tile and on a product with edges; on the KPI's config where `kpi`."""

    name: str
    family: str
    file: str
    old: str
    new: str
    expected: Check
    also: frozenset[Check] = field(default_factory=frozenset)
    shape: str = "whole"
    kpi: bool = False


def _also(*checks: Check) -> frozenset[Check]:
    return frozenset(checks)


INDEX, LANES, EPILOGUE, STAGE, UPCAST, UNSET = (
    "index off by one", "wrong lane layout", "epilogue off by a row", "double use of an LDS stage", "wrong upcast",
    "LDS that nothing wrote",
)  # fmt: skip
SLIPS = (
    Slip(
        name="row beyond", family=EPILOGUE, file="wave_tile_gpu.h",
        old="row <= corner.last_m", new="row <= corner.last_m + 1",
        expected=Check.OUT_OF_BOUNDS, shape="edge", kpi=True,
    ),
    Slip(
        name="row short", family=EPILOGUE, file="wave_tile_gpu.h",
        old="row <= corner.last_m", new="row < corner.last_m",
        expected=Check.NEVER_WRITTEN, also=_also(Check.WRONG), shape="edge", kpi=True,
    ),
    Slip(
        name="column beyond", family=EPILOGUE, file="wave_tile_gpu.h",
        old="column <= corner.last_n", new="column <= corner.last_n + 1",
        expected=Check.OUT_OF_BOUNDS, also=_also(Check.RACE, Check.WRONG), shape="edge",
    ),
    Slip(
        name="column short", family=EPILOGUE, file="wave_tile_gpu.h",
        old="column <= corner.last_n", new="column < corner.last_n",
        expected=Check.NEVER_WRITTEN, also=_also(Check.WRONG), shape="edge",
    ),
    Slip(
        name="fragment's row", family=EPILOGUE, file="wave_tile_gpu.h",
        old="first_m + i * kFragment + sum_row(s)", new="first_m + i * kFragment + sum_row(s) + 1",
        expected=Check.NEVER_WRITTEN, also=_also(Check.WRONG, Check.OUT_OF_BOUNDS, Check.RACE), shape="edge",
    ),
    Slip(
        name="bias one on", family=INDEX, file="wave_tile_gpu.h",
        old="problem.bias[corner.n + at_most(n + sum_column(s)", new="problem.bias[corner.n + 1 + at_most(n + sum_column(s)",
        expected=Check.OUT_OF_BOUNDS, also=_also(Check.WRONG), shape="edge",
    ),
    Slip(
        name="bias of the next column", family=INDEX, file="wave_tile_gpu.h",
        old="at_most(n + sum_column(s), corner.last_n)", new="at_most(n + 1 + sum_column(s), corner.last_n)",
        expected=Check.WRONG,
    ),
    Slip(
        name="scale forgotten", family=EPILOGUE, file="wave_tile_gpu.h",
        old=" * problem.scale", new="",
        expected=Check.WRONG,
    ),
    Slip(
        name="last row of A", family=INDEX, file="stage.h",
        old="last_m(problem.m - 1 - first_m)", new="last_m(problem.m - first_m)",
        expected=Check.OUT_OF_BOUNDS, also=_also(Check.WRONG), shape="edge",
    ),
    Slip(
        name="rows of A not held back", family=INDEX, file="ring_gfx11.h",
        old="at_most(row, corner.last_m)", new="(row)",
        expected=Check.OUT_OF_BOUNDS, shape="ring edge", kpi=True,
    ),
    Slip(
        name="columns of B not held back", family=INDEX, file="ring_gfx11.h",
        old="at_most(piece % C::block_n, corner.last_n)", new="(piece % C::block_n)",
        expected=Check.OUT_OF_BOUNDS, shape="ring edge", kpi=True,
    ),
    Slip(
        name="k of the edge one on", family=INDEX, file="stage.h",
        old="(k + i < problem.k ?", new="(k + i < problem.k - 1 ?",
        expected=Check.WRONG, shape="edge",
    ),
    Slip(
        name="k not held back", family=INDEX, file="stage.h",
        old="at_most(k + i, problem.k - 1)", new="(k + i)",
        expected=Check.OUT_OF_BOUNDS, shape="edge",
    ),
    Slip(
        name="one row of B too many", family=INDEX, file="stage.h",
        old="k16 < b_rows", new="k16 <= b_rows",
        expected=Check.OUT_OF_BOUNDS, shape="short edge",
    ),
    Slip(
        name="next chunk too far", family=INDEX, file="ring_gfx11.h",
        old="static_cast<const u16 *>(a_base) + C::chunk_k", new="static_cast<const u16 *>(a_base) + C::chunk_k + 8",
        expected=Check.WRONG, also=_also(Check.OUT_OF_BOUNDS),
    ),
    Slip(
        name="next slice of B one column on", family=INDEX, file="ring_gfx11.h",
        old="static_cast<u32>(problem.n) * C::slice_k", new="static_cast<u32>(problem.n + 1) * C::slice_k",
        expected=Check.OUT_OF_BOUNDS, also=_also(Check.WRONG),
    ),
    Slip(
        name="plane off by one", family=INDEX, file="wave_tile_gpu.h",
        old="view.a(slice, 2 * k16 + 1, i)", new="view.a(slice, 2 * k16, i)",
        expected=Check.WRONG, kpi=True,
    ),
    Slip(
        name="store to LDS one piece on", family=INDEX, file="ring_gfx11.h",
        old="lds_offset = static_cast<u32>(thread) * kPieceBytes",
        new="lds_offset = static_cast<u32>(thread + 1) * kPieceBytes",
        expected=Check.RACE, also=_also(Check.WRONG, Check.UNINITIALISED, Check.OUT_OF_BOUNDS),
    ),
    Slip(
        name="swizzle of a store alone", family=LANES, file="ring_gfx11.h",
        old="Slices<C>::slot(row, piece % planes)", new="(piece % planes)",
        expected=Check.WRONG, kpi=True,
    ),
    Slip(
        name="upper lanes differ", family=LANES, file="slices_gfx11.h",
        old="private_thread_index() % kFragment", new="private_thread_index() % 32",
        expected=Check.LANES_DIFFER, also=_also(Check.WRONG, Check.OUT_OF_BOUNDS, Check.RACE), kpi=True,
    ),
    Slip(
        name="rows of sums in halves", family=LANES, file="fragment_gfx11.h",
        old="2 * s + lane_index() / 16", new="s + lane_index() / 16 * 8",
        expected=Check.WRONG, kpi=True,
    ),
    Slip(
        name="all lanes the first row", family=LANES, file="fragment_gfx11.h",
        old="2 * s + lane_index() / 16", new="2 * s",
        expected=Check.NEVER_WRITTEN, also=_also(Check.WRONG, Check.RACE),
    ),
    Slip(
        name="lanes rotated", family=LANES, file="slices_gfx11.h",
        old="private_thread_index() % kFragment", new="(private_thread_index() + 1) % kFragment",
        expected=Check.WRONG,
    ),
    Slip(
        name="columns of sums reversed", family=LANES, file="fragment_gfx11.h",
        old="return lane_index() % 16;", new="return 15 - lane_index() % 16;",
        expected=Check.WRONG,
    ),
    Slip(
        name="A and B exchanged", family=LANES, file="fragment_gfx11.h",
        old="f32_16x16x16_f16_w32(a.halves, b.halves", new="f32_16x16x16_f16_w32(b.halves, a.halves",
        expected=Check.WRONG,
    ),
    Slip(
        name="store into the slice being read", family=STAGE, file="ring_gfx11.h",
        old="    refill.store(second);\n    refill.load(problem, 0);",
        new="    refill.store(first);\n    refill.load(problem, 0);",
        expected=Check.RACE, also=_also(Check.WRONG, Check.UNINITIALISED), kpi=True,
    ),
    Slip(
        name="read the slice being stored", family=STAGE, file="ring_gfx11.h",
        old="    tile.multiply(first, view);\n    BARRIER();\n    refill.store(first);",
        new="    tile.multiply(second, view);\n    BARRIER();\n    refill.store(first);",
        expected=Check.RACE, also=_also(Check.WRONG, Check.UNINITIALISED), kpi=True,
    ),
    Slip(
        name="one slice for the whole chunk", family=STAGE, file="slices_gfx11.h",
        old="slice[k8 / planes]", new="slice[0]",
        expected=Check.RACE, also=_also(Check.WRONG, Check.UNINITIALISED), shape="edge",
    ),
    Slip(
        name="the last slice twice", family=STAGE, file="ring_gfx11.h",
        old="  BARRIER();\n  tile.multiply(second, view);\n}", new="  BARRIER();\n  tile.multiply(first, view);\n}",
        expected=Check.WRONG,
    ),
    Slip(
        name="first slice not stored", family=UNSET, file="ring_gfx11.h",
        old="  refill.store(first);\n  refill.load(problem, 1);\n#", new="  refill.load(problem, 1);\n#",
        expected=Check.UNINITIALISED, also=_also(Check.WRONG), kpi=True,
    ),
    Slip(
        name="a piece of B not stored", family=UNSET, file="slices_gfx11.h",
        old="slice[k16 / rows].b[k16 % rows][column] = bytes[0]",
        new="if (column != 1) slice[k16 / rows].b[k16 % rows][column] = bytes[0]",
        expected=Check.UNINITIALISED, also=_also(Check.WRONG), shape="edge",
    ),
    Slip(
        name="e4m3fn mantissa cut", family=UPCAST, file="fp8.h",
        old="0x7f007f00u) >> 1", new="0x7e007f00u) >> 1",
        expected=Check.WRONG, shape="e4m3fn",
    ),
    Slip(
        name="e4m3fn times 128", family=UPCAST, file="fp8.h",
        old="static_cast<_Float16>(256.0f)", new="static_cast<_Float16>(128.0f)",
        expected=Check.WRONG, shape="e4m3fn",
    ),
    Slip(
        name="e4m3fn sign lost", family=UPCAST, file="fp8.h",
        old="(high & 0x80008000u)", new="(high & 0x80000000u)",
        expected=Check.WRONG, shape="e4m3fn",
    ),
    Slip(
        name="barrier of all waves but one", family="barrier that a wave skips", file="scaled_mm.h",
        old="    BARRIER();   // read before refill", new="    if (wave_index() != 0) BARRIER();   // read before refill",
        expected=Check.DIVERGED, also=_also(Check.RACE, Check.WRONG, Check.UNINITIALISED), shape="edge", kpi=True,
    ),
)  # fmt: skip


def of_source() -> Iterator[Mutant]:
    """All of them; and one workgroup too many in each direction."""
    for base in BASES:
        for slip in SLIPS:
            if base.name == "small" or slip.kpi:
                yield Mutant(
                    id=f"{base.name} {slip.name}", family=slip.family, base=base, products=(_product(base, slip.shape),),
                    expected=slip.expected, also=slip.also, file=slip.file, old=slip.old, new=slip.new,
                )  # fmt: skip
        for axis, more in (("columns", (1, 0)), ("rows", (0, 1))):
            yield Mutant(
                id=f"{base.name} one workgroup too many in {axis}", family="one workgroup too many", base=base,
                products=(base.one,), expected=Check.OUT_OF_BOUNDS, more_blocks=more,
            )  # fmt: skip


def _product(base: Base, shape: str) -> Product:
    m, n = base.whole[1:3]
    return {
        "whole": base.whole,
        "e4m3fn": (Fp8.E4M3FN, m, n, 32),
        "edge": (Fp8.E5M2, m - 4, n - 14, 45),
        "short edge": (Fp8.E5M2, m - 4, n - 14, 13),
        "ring edge": (Fp8.E5M2, m - 4, n - 14, 64),
    }[shape]
