from __future__ import annotations

import pytest

from expctl.gfx11.decode_program import decode
from expctl.gfx11.machine.counts import Class, class_of
from expctl.gfx11.text.descriptor import parse_descriptor
from expctl.gfx11.text.errors import Unsupported
from expctl.gfx11.text.operand import Kind, Operand, parse_operand
from expctl.gfx11.text.program import parse_program

TEXT = """\
\t.globl\tk
k:                                      ; @k
; %bb.0:
\ts_load_b64 s[4:5], s[0:1], 0x0
\tv_pk_fma_f16 v0, v1, -v[2:3], 1.0 op_sel:[0,1,0] clamp ; what it is for
.LBB0_1:                                ; =>This Loop Header
\t;;#ASMSTART
\ts_cbranch_scc1 .LBB0_1
\ts_endpgm
\t.section\t.rodata
\tv_mov_b32_e32 v0, 0
"""


def test_instructions_labels_and_lines() -> None:
    program = parse_program(TEXT, "k")
    assert [(x.line, x.mnemonic) for x in program.instructions] == [
        (4, "s_load_b64"), (5, "v_pk_fma_f16"), (8, "s_cbranch_scc1"), (9, "s_endpgm")]  # fmt: skip
    assert program.labels == {".LBB0_1": 2}
    fields = program.instructions[1].fields()
    assert fields.modifiers == {"op_sel": "[0,1,0]", "clamp": ""}
    assert fields.operands[2] == Operand(kind=Kind.VECTOR, index=2, count=2, negated=True)
    assert [class_of(x) for x in program.instructions] == [Class.SCALAR_LOAD, Class.VECTOR, Class.BRANCH, Class.BRANCH]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("v7", Operand(kind=Kind.VECTOR, index=7)),
        ("s[4:11]", Operand(kind=Kind.SCALAR, index=4, count=8)),
        ("-|v3|", Operand(kind=Kind.VECTOR, index=3, negated=True, absolute=True)),
        ("-1", Operand(kind=Kind.NUMBER, number=-1)),
        ("0xffff", Operand(kind=Kind.NUMBER, number=65535)),
        ("-0.5", Operand(kind=Kind.NUMBER, number=-0.5)),
        ("0.15915494", Operand(kind=Kind.NUMBER, number=0.15915494)),
        ("vcc_lo", Operand(kind=Kind.SCALAR, index=106)),
        ("v3.h", Operand(kind=Kind.HALF, index=3, upper=True)),
        ("off", Operand(kind=Kind.OFF)),
    ],
)
def test_operands(text: str, wanted: Operand) -> None:
    assert parse_operand(text) == wanted


@pytest.mark.parametrize(
    "text", ["v256", "v1.x", "s106", "v[3:1]", "sext(v1)", "--v1", "-off", "lit(1.0)", "flat_scratch", "src_shared_limit", ""]
)
def test_operands_that_are_not_known(text: str) -> None:
    assert parse_operand(text) is None


def test_every_instruction_is_looked_up_before_anything_runs() -> None:
    with pytest.raises(Unsupported) as refusal:
        decode(parse_program(TEXT.replace("s_endpgm", "s_rfe_b64 s[0:1]\n\ts_endpgm"), "k"))
    assert refusal.value.line == 5  # the sign on a packed operand comes first
    with pytest.raises(Unsupported, match="beyond the 2"):
        decode(parse_program(TEXT, "k"), vector_registers=2)
    text = TEXT.replace("\tv_pk_fma_f16 v0, v1, -v[2:3], 1.0 op_sel:[0,1,0] clamp ;", "\ts_nop 0 ;").replace("scc1", "scc2")
    with pytest.raises(Unsupported, match="unknown opcode") as refusal:
        decode(parse_program(text, "k"))
    assert refusal.value.line == 8


def test_the_descriptor_of_a_kernel(small: str) -> None:
    found = parse_descriptor(small, "scaled_mm_e4m3fn_2_2_2_2_2_2")
    assert [(x.offset, x.size, x.kind) for x in found.arguments[3:6]] == [
        (24, 8, "global_buffer"), (32, 4, "by_value"), (36, 4, "by_value")]  # fmt: skip
    assert found.user == (("kernarg_segment_ptr", 2),)
    assert found.workgroup_ids == (True, True, False)
    assert (found.kernarg_bytes, found.private_bytes, found.most_threads, found.workitem_axes) == (48, 0, 128, 1)


@pytest.mark.parametrize("directive", ["float_denorm_mode_32 3", "float_round_mode_32 0", "wavefront_size32 1", "ieee_mode 1"])
def test_other_modes_are_refused(small: str, directive: str) -> None:
    name, _, value = directive.partition(" ")
    with pytest.raises(Unsupported, match=name):
        parse_descriptor(
            small.replace(f".amdhsa_{directive}", f".amdhsa_{name} {int(value) ^ 1}"), "scaled_mm_e5m2_2_2_2_2_2_2"
        )
