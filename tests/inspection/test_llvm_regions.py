"""Instructions stand in their source functions, however they were written."""

import pytest

from expctl.inspection.readers.llvm_regions import instructions_by_region

TABLE = """
!1 = distinct !DISubprogram(name: "load", scope: !9)
!2 = !DILocation(line: 1, column: 1, scope: !1)
"""


@pytest.mark.parametrize(
    "call",
    [
        "tail call void @llvm.amdgcn.s.setprio(i16 2), !dbg !2",
        'tail call void asm sideeffect "s_setprio 2", ""() #1, !dbg !2',
        'tail call void asm sideeffect "s_setprio 0x2 ; first", ""() #1, !dbg !2',
        'tail call void asm sideeffect "s_setprio $0", "n"(i32 2) #1, !dbg !2',
        'tail call void asm sideeffect "s_setprio ${0:c}", "n"(i32 2) #1, !dbg !2',
        'call void asm "s_setprio $0", "n,~{memory}"(i32 2) #1, !dbg !2',
        '%1 = call i32 asm sideeffect "s_nop 0\\0As_setprio $1", "=v,n"(i32 2) #1, !dbg !2',
    ],
)
def test_a_priority_is_known_by_its_number(call: str) -> None:
    found = instructions_by_region(f"define void @f() {{\n  {call}\n}}\n{TABLE}")
    assert found["load"]["s_setprio 2"] == 1


def test_an_operand_that_is_no_constant_is_no_number() -> None:
    call = 'call void asm sideeffect "s_setreg_b32 1, $0\\0As_mov $0", "s"(i32 %2) #1, !dbg !2'
    assert instructions_by_region(f"define void @f() {{\n  {call}\n}}\n{TABLE}") == {}
