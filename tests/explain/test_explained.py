"""What is explained of a loop: figures that a person counted, and what a longer loop costs more."""

from pathlib import Path

import pytest

from expctl.check.kernel_file import KernelFile, named
from expctl.check.runner import KernelRunner
from expctl.explain.bounds import simd_cycles
from expctl.explain.comparison import compared
from expctl.explain.explained import Explained, explain
from expctl.explain.figures import Figures, Group, group_of
from expctl.gfx11.launch import Interpretation
from expctl.inspection.model.instruction_mix import class_of
from tests.explain.made import CASE, PRODUCT, PRODUCT_CASE, STATEMENTS, described, source, walk
from tests.refusals import refuses


def by_text(found: Explained) -> dict[str, Figures]:
    return {line.place.text: line.figures for line in found.lines if line.place}


def test_an_iteration_as_counted_by_hand(tmp_path: Path) -> None:
    found = explain(walk(tmp_path), described(CASE, n=5))
    assert (found.iterations, found.waves, found.statements) == (5, 1, 10)
    assert found.share_percent == pytest.approx(100 * 50 / 57)
    counted = {Group.VECTOR: 1, Group.MEMORY: 1, Group.LDS: 2, Group.SCALAR: 2, Group.BRANCH: 1, Group.WAIT: 3}
    assert dict(found.total.instructions) == counted
    assert (found.total.passes, found.total.passes_least) == (4, 2)
    assert (found.total.lines, found.total.lines_least) == (2, 1)
    assert (found.total.live, found.registers, found.total.cycles) == (3, 24, 1)
    lines = by_text(found)
    assert len(found.lines) == found.statements, "two waits have the same text, and each has its line"
    assert (lines["ds_load_b32 v4, v1"].passes, lines["ds_store_b32 v1, v3"].live) == (2, 3)
    assert found.per_matrix is None
    assert found.notes == ()


def test_as_written_without_a_launch(tmp_path: Path) -> None:
    found = explain(walk(tmp_path), None)
    assert (found.iterations, found.total.all, found.total.passes, found.bounds) == (None, 10, 0, ())
    assert found.total.live == 3


def test_a_kernel_without_a_loop_is_shown_for_each_wave(tmp_path: Path) -> None:
    straight = STATEMENTS.replace("\ts_cbranch_scc1 .Lturn\n", "")
    found = explain(walk(tmp_path, straight), described({**CASE, "grid": [8]}))
    assert (found.is_loop, found.iterations, found.waves, found.total.all) == (False, 8, 8, 16)


def test_a_matrix_instruction_divides(tmp_path: Path) -> None:
    matrix = "\tv_wmma_f32_16x16x16_f16 v[16:23], v[8:15], v[8:15], v[16:23]\n"
    twice = STATEMENTS.replace("\tv_add_f32", f"{matrix}{matrix}\tv_add_f32")
    found = explain(walk(tmp_path, twice), described(CASE))
    assert found.per_matrix is not None
    assert (found.total.matrix, found.per_matrix.all, found.per_matrix.passes) == (2, 6, 2)
    assert (found.total.live, found.total.cycles) == (19, 65)


def whole(file: KernelFile, n: int) -> Interpretation:
    description = described(PRODUCT_CASE, n=n)
    return KernelRunner(file, description, named(file, ""), 0).interpreted({"n": n})


def grown(short: Interpretation, long: Interpretation) -> dict[Group, int]:
    """What the longer launch executed more, in the whole kernel."""
    more = dict.fromkeys(Group, 0)
    for run, sign in ((short, -1), (long, 1)):
        for instruction, times in zip(run.counts.program.instructions, run.counts.executed, strict=True):
            more[group_of(instruction.mnemonic)] += sign * times
    return {group: count for group, count in more.items() if count}


def test_the_loop_is_what_a_longer_one_costs_more(tmp_path: Path) -> None:
    """Found without the control flow: the difference of two launches. The rare side of the branch is taken once in each."""
    pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
    file = source(tmp_path, PRODUCT)
    short, long = whole(file, 21), whole(file, 50)
    a, b = (explain(file, described(PRODUCT_CASE, n=n)) for n in (21, 50))
    assert a.iterations is not None
    assert b.iterations is not None
    assert b.iterations - a.iterations == 29
    more = {group: b.total.instructions[group] * b.iterations - a.total.instructions[group] * a.iterations for group in Group
            if group in b.total.instructions}  # fmt: skip
    assert {group: round(count) for group, count in more.items() if round(count)} == grown(short, long)
    for name, counter in {
        "passes": "lds_passes",
        "passes_least": "lds_least",
        "lines": "lines",
        "lines_least": "lines_least",
    }.items():
        inside = getattr(b.total, name) * b.iterations - getattr(a.total, name) * a.iterations
        everywhere = getattr(long.counts.summary(), counter) - getattr(short.counts.summary(), counter)
        assert round(inside) == everywhere > 0, name
    at = next(i for i, text in enumerate(PRODUCT.splitlines(), 1) if "tile[threadIdx.x][i % 32] =" in text)
    assert any(line.place and line.place.line == at and line.figures.lines for line in b.lines)


def test_two_builds_side_by_side(tmp_path: Path) -> None:
    added = STATEMENTS.replace("\tv_add_f32_e32 v2, v2, v4\n", "\tv_add_f32_e32 v2, v2, v4\n\tv_add_f32_e32 v2, v2, v2\n")
    moved = added.replace("v_lshlrev_b32_e32 v1, 3, v0", "v_lshlrev_b32_e32 v1, 2, v0")
    case = described(CASE)
    both = compared(explain(walk(tmp_path), case), explain(walk(tmp_path, moved, "moved.s"), case))
    texts = [
        (pair.a and pair.a.place and pair.a.place.text, pair.b and pair.b.place and pair.b.place.text) for pair in both.lines
    ]
    at = texts.index((None, "v_add_f32_e32 v2, v2, v2"))
    assert texts[at - 1] == ("v_add_f32_e32 v2, v2, v4",) * 2
    differing = [text for text, pair in zip(texts, both.lines, strict=True) if not pair.is_same]
    assert [a for a, _ in differing if a] == ["global_load_b32 v3, v1, s[2:3]", "ds_store_b32 v1, v3", "ds_load_b32 v4, v1"]
    assert (both.a.total.passes, both.b.total.passes) == (4, 2)
    assert (both.a.total.lines, both.b.total.lines) == (2, 1)


def test_several_kernels_need_a_name(tmp_path: Path) -> None:
    file = walk(tmp_path)
    with refuses("kernel-not-named"):
        explain(file, None, "run")
    with refuses("case-has-problems"):
        explain(file, described({**CASE, "arguments": []}))
    with refuses("case-has-problems"):
        explain(file, described({**CASE, "block": ["n - 1"]}, n=1))


GROUPS = {
    "v_wmma_i32_16x16x16_iu4": Group.MATRIX,
    "v_dual_mov_b32": Group.VECTOR,
    "v_readlane_b32": Group.VECTOR,
    "global_atomic_add_u32": Group.MEMORY,
    "flat_load_b32": Group.MEMORY,
    "scratch_store_b32": Group.MEMORY,
    "ds_add_u32": Group.LDS,
    "ds_bpermute_b32": Group.LDS,
    "s_load_b64": Group.SCALAR,
    "s_cbranch_scc1": Group.BRANCH,
    "s_barrier": Group.WAIT,
    "s_waitcnt_vscnt": Group.WAIT,
    "buffer_gl0_inv": Group.HINT,
    "s_setprio": Group.HINT,
    "s_delay_alu": Group.HINT,
}


@pytest.mark.parametrize("mnemonic", GROUPS)
def test_groups(mnemonic: str) -> None:
    assert group_of(mnemonic) is GROUPS[mnemonic], class_of(mnemonic)


def test_cycles_of_a_simd() -> None:
    """8,192 operations at 256 a cycle; 4-bit integers twice as fast."""
    names = ("v_wmma_f32_16x16x16_f16", "v_wmma_i32_16x16x16_iu8", "v_wmma_i32_16x16x16_iu4", "v_exp_f32_e32", "ds_load_b32")
    assert [simd_cycles(name) for name in names] == [32, 32, 16, 1, 0]
