"""Classes of instructions, and which loop is the hot one."""

import pytest

from expctl.inspection.model.instruction_mix import Body, InstructionClass, Statement, class_of, counts, hot_loop

CLASSES = {
    "v_wmma_f32_16x16x16_f16": InstructionClass.MATRIX,
    "v_mfma_f32_32x32x8_f16": InstructionClass.MATRIX,
    "v_perm_b32": InstructionClass.PERMUTE,
    "v_permlane16_b32": InstructionClass.VECTOR,
    "v_cvt_f16_f32_e32": InstructionClass.CONVERT,
    "v_dual_fmac_f32": InstructionClass.DUAL,
    "v_readlane_b32": InstructionClass.LANE,
    "v_writelane_b32": InstructionClass.LANE,
    "v_accvgpr_read_b32": InstructionClass.LANE,
    "v_fma_f32": InstructionClass.VECTOR,
    "global_load_b128": InstructionClass.GLOBAL_LOAD_128,
    "global_load_dwordx4": InstructionClass.GLOBAL_LOAD_128,
    "buffer_load_dwordx4": InstructionClass.GLOBAL_LOAD_128,
    "global_load_d16_hi_b16": InstructionClass.GLOBAL_LOAD,
    "global_load_b64": InstructionClass.GLOBAL_LOAD,
    "flat_load_dword": InstructionClass.GLOBAL_LOAD,
    "global_store_b128": InstructionClass.GLOBAL_STORE_128,
    "global_store_d16_hi_b16": InstructionClass.GLOBAL_STORE,
    "global_atomic_add_f32": InstructionClass.ATOMIC,
    "ds_add_rtn_u32": InstructionClass.ATOMIC,
    "ds_load_b128": InstructionClass.LDS_LOAD_128,
    "ds_read_b128": InstructionClass.LDS_LOAD_128,
    "ds_load_2addr_b32": InstructionClass.LDS_LOAD,
    "ds_read_u16_d16_hi": InstructionClass.LDS_LOAD,
    "ds_store_b128": InstructionClass.LDS_STORE_128,
    "ds_write_b64": InstructionClass.LDS_STORE,
    "ds_bpermute_b32": InstructionClass.LDS_LANE,
    "scratch_store_b32": InstructionClass.SCRATCH,
    "s_load_b64": InstructionClass.SCALAR_LOAD,
    "s_buffer_load_dword": InstructionClass.SCALAR_LOAD,
    "s_add_u32": InstructionClass.SCALAR,
    "s_cbranch_scc1": InstructionClass.BRANCH,
    "s_branch": InstructionClass.BRANCH,
    "s_swappc_b64": InstructionClass.BRANCH,
    "s_waitcnt": InstructionClass.WAIT,
    "s_waitcnt_vscnt": InstructionClass.WAIT,
    "s_wait_loadcnt": InstructionClass.WAIT,
    "s_barrier": InstructionClass.BARRIER,
    "s_barrier_signal": InstructionClass.BARRIER,
    "s_setprio": InstructionClass.PRIORITY,
    "s_delay_alu": InstructionClass.HINT,
    "buffer_gl0_inv": InstructionClass.HINT,
    "image_sample": InstructionClass.OTHER,
}


@pytest.mark.parametrize("mnemonic", CLASSES)
def test_classes(mnemonic: str) -> None:
    assert class_of(mnemonic) is CLASSES[mnemonic]


def body(text: str) -> Body:
    """`name:` is a label, everything else an instruction."""
    statements: list[Statement] = []
    labels: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if line.endswith(":"):
            labels[line[:-1]] = len(statements)
        else:
            mnemonic, _, operands = line.partition(" ")
            statements.append(Statement(line=number, mnemonic=mnemonic, operands=operands))
    return Body(statements=tuple(statements), labels=labels)


NESTED = body(
    "outer:\nv_mov_b32 v0, 0\ninner:\nv_wmma_f32 v0\ns_cbranch_scc1 inner\nlong:\nv_add v0\nv_add v0\nv_add v0\n"
    "s_cbranch_scc1 long\ns_cbranch_scc0 outer\ns_branch end\nend:\ns_endpgm"
)


def test_the_hot_loop_is_innermost_and_has_the_most_matrix_instructions() -> None:
    assert hot_loop(NESTED) == NESTED.statements[1:3]


def test_among_loops_with_as_many_matrix_instructions_it_is_the_one_with_the_fewest_others() -> None:
    edge_first = body("edge:\nv_add v0\nv_wmma_f32 v0\ns_cbranch_scc1 edge\nwhole:\nv_wmma_f32 v0\ns_cbranch_scc1 whole")
    edge_last = body("whole:\nv_wmma_f32 v0\ns_cbranch_scc1 whole\nedge:\nv_add v0\nv_wmma_f32 v0\ns_cbranch_scc1 edge")
    assert hot_loop(edge_first) == edge_first.statements[3:5]
    assert hot_loop(edge_last) == edge_last.statements[0:2]


def test_without_matrix_instructions_it_is_the_longest_innermost_one() -> None:
    plain = body("a:\nv_add v0\ns_cbranch_scc1 a\nb:\nv_add v0\nv_add v0\ns_cbranch_scc1 b")
    assert hot_loop(plain) == plain.statements[2:5]


def test_a_branch_forward_is_no_loop() -> None:
    assert hot_loop(body("s_cbranch_scc1 end\nv_add v0\nend:\ns_endpgm")) == ()


def test_a_block_of_the_loop_that_lies_elsewhere_belongs_to_it() -> None:
    """What compilers do with the less likely side of an if: it stands behind the loop, and jumps back into it."""
    scattered = body(
        "s_mov s0\nhead:\nv_wmma_f32 v0\ns_cbranch_scc1 rare\nback:\nv_add v0\ns_cbranch_scc0 head\ns_endpgm\n"
        "rare:\nv_mul v0\ns_branch back\nunused:\nv_add v0\ns_branch unused"
    )
    assert [each.mnemonic for each in hot_loop(scattered)] == [
        "v_wmma_f32", "s_cbranch_scc1", "v_add", "s_cbranch_scc0", "v_mul", "s_branch",
    ]  # fmt: skip


def test_a_loop_that_is_entered_in_its_middle_too() -> None:
    rotated = body("s_cbranch_scc1 middle\nhead:\nv_add v0\nmiddle:\nv_mul v0\ns_cbranch_scc0 head\ns_endpgm")
    assert hot_loop(rotated) == rotated.statements[1:4]


def test_counts_leave_nothing_out_and_follow_the_order_of_the_classes() -> None:
    found = counts(NESTED.statements)
    assert sum(found.values()) == len(NESTED.statements)
    assert found == {"matrix": 1, "other vector ALU": 4, "branch": 5}
    assert list(found) == ["matrix", "other vector ALU", "branch"]


FAR = """
s_mov_b32 s0, 0
.LBB0_1:
v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]
s_cbranch_scc1 .LBB0_3
s_getpc_b64 s[4:5]
.Lpost_getpc0:
s_add_u32 s4, s4, (.LBB0_1-.Lpost_getpc0)&4294967295
s_addc_u32 s5, s5, (.LBB0_1-.Lpost_getpc0)>>32
s_setpc_b64 s[4:5]
.LBB0_3:
s_endpgm
"""


def test_a_loop_that_a_far_branch_closes_is_a_loop() -> None:
    found = hot_loop(body(FAR))
    assert [each.mnemonic for each in found][0::5] == ["v_wmma_f32_16x16x16_f16", "s_setpc_b64"]
    assert hot_loop(body(FAR.replace("s_setpc_b64 s[4:5]", "s_setpc_b64 s[30:31]"))) == (), "a return"
