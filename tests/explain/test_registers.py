"""Which vector registers an instruction reads and overwrites."""

import pytest

from expctl.explain.registers import access_of, registers_in
from expctl.inspection.model.instruction_mix import Statement

# Instruction -> registers read, registers (or halves: 3.l, 3.h) whose old value ends.
CASES = {
    "v_add_f32_e32 v3, v1, v2": ("1 2", "3"),
    "v_add_f32_e64 v3, -|v1|, s2": ("1", "3"),
    "v_fma_f64 v[2:3], v[4:5], v[6:7], -v[8:9]": ("4 5 6 7 8 9", "2 3"),
    "v_fmac_f32_e32 v3, v1, v2": ("1 2 3", "3"),
    "v_dot2acc_f32_f16 v3, v1, v2": ("1 2 3", "3"),
    "v_cmp_gt_i32_e32 vcc_lo, v0, v1": ("0 1", ""),
    "v_cmpx_gt_i32_e32 v0, v1": ("0 1", ""),
    "v_cndmask_b32_e64 v0, 0, v1, vcc_lo": ("1", "0"),
    "v_add_co_ci_u32_e64 v5, null, s3, v6, vcc_lo": ("6", "5"),
    "v_readfirstlane_b32 s4, v7": ("7", ""),
    "v_writelane_b32 v7, s4, 3": ("", ""),
    "v_movrels_b32_e32 v0, v254": ("254 255", "0"),
    "v_swap_b32 v0, v1": ("0 1", "0 1"),
    "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]": (" ".join(map(str, range(24))), "0 1 2 3 4 5 6 7"),
    "v_dual_fmac_f32 v0, v1, v2 :: v_dual_mov_b32 v5, v0": ("0 1 2", "0 5"),
    "v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf": ("1", ""),
    "v_add_f32_dpp v0, v1, v2 row_ror:8 row_mask:0xf bank_mask:0xf bound_ctrl:1": ("1 2", "0"),
    "v_permlanex16_b32 v0, v1, -1, -1 op_sel:[1,0]": ("1", "0"),
    "v_permlanex16_b32 v0, v1, -1, -1": ("1", ""),
    "v_fma_mixhi_f16 v0, v1, v2, v3": ("1 2 3", "0.h"),
    "v_add_f16_e32 v0.h, v1.l, v2.h": ("1 2", "0.h"),
    "ds_load_b128 v[4:7], v0 offset:16": ("0", "4 5 6 7"),
    "ds_load_u16_d16_hi v4, v0": ("0", "4.h"),
    "ds_store_b64 v0, v[2:3]": ("0 2 3", ""),
    "ds_add_u32 v0, v1": ("0 1", ""),
    "ds_add_rtn_u32 v2, v0, v1": ("0 1", "2"),
    "ds_bpermute_b32 v2, v0, v1": ("0 1", "2"),
    "global_load_b64 v[2:3], v[0:1], off": ("0 1", "2 3"),
    "global_load_d16_b16 v2, v0, s[2:3]": ("0", "2.l"),
    "global_store_b32 v0, v1, s[2:3]": ("0 1", ""),
    "global_atomic_add_u32 v0, v1, s[2:3]": ("0 1", ""),
    "global_atomic_add_u32 v2, v0, v1, s[2:3] glc": ("0 1", "2"),
    "scratch_load_b32 v2, off, s0": ("", "2"),
    "buffer_load_b32 v2, v0, s[0:3], 0 offen": ("0", "2"),
    "s_waitcnt vmcnt(0)": ("", ""),
    "s_add_i32 s4, s5, s6": ("", ""),
}


def halves(names: str) -> int:
    bits = {".l": 1, ".h": 2}
    found = 0
    for name in names.split():
        number, half = (name[:-2], bits[name[-2:]]) if "." in name else (name, 3)
        found |= half << 2 * int(number)
    return found


def whole(read: int) -> set[int]:
    return {register for register in range(256) if read >> 2 * register & 3}


@pytest.mark.parametrize("text", CASES)
def test_what_is_read_and_what_ends(text: str) -> None:
    mnemonic, _, operands = text.partition(" ")
    found = access_of(Statement(line=1, mnemonic=mnemonic, operands=operands))
    reads, kills = CASES[text]
    assert whole(found.reads) == {int(name) for name in reads.split()}
    assert found.kills == halves(kills)


def test_a_register_counts_once_whichever_of_its_halves_are_meant() -> None:
    assert registers_in(halves("0 1.l 2.h 255.h")) == 4
    assert registers_in(0) == 0
