"""A module of device code is taken apart by kernel: what else the file holds doesn't count."""

import re

import pytest

from expctl.inspection.readers.llvm_kernels import kernel_modules

MODULE = """; ModuleID = 'host.cu'
source_filename = "host.cu"
target datalayout = "e-p6:32:32-i64:64"
target triple = "nvptx64-nvidia-cuda"

%struct.Turn = type { i32, i32 }

@raw = external addrspace(3) global [0 x i8], align 128
@table = internal addrspace(4) constant [2 x i32] [i32 5, i32 7], align 4

; Function Attrs: convergent
define dso_local ptx_kernel void @first(ptr noundef %0) #0 {
  %2 = call i32 @_Z5addedi(i32 noundef 1) #3
  call void asm sideeffect "bar.sync $0; // #9 !8 @raw", "r"(i32 %2) #4, !srcloc !6
  store i32 %2, ptr addrspacecast (ptr addrspace(3) @raw to ptr), align 4, !tbaa !7
  ret void
}

define linkonce_odr i32 @_Z5addedi(i32 noundef %0) #1 {
  %2 = getelementptr inbounds %struct.Turn, ptr null, i32 0, i32 1
  br label %3

3:                                                ; preds = %3, %1
  br label %3, !llvm.loop !10
}

define dso_local ptx_kernel void @second(ptr noundef %0) #0 {
  %2 = load i32, ptr addrspacecast (ptr addrspace(4) @table to ptr), align 4
  call void @_Z5otheri(i32 %2) #3
  ret void
}

declare void @_Z5otheri(i32 noundef) #2

attributes #0 = { convergent "target-cpu"="sm_90a" }
attributes #1 = { "target-cpu"="sm_90a" }
attributes #2 = { nounwind }
attributes #3 = { convergent nounwind }
attributes #4 = { convergent }

!llvm.module.flags = !{!0}
!nvvm.annotations = !{!1, !2}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{ptr @first, !"grid_constant", !3}
!2 = !{ptr @second, !"grid_constant", !4}
!3 = !{i32 1}
!4 = !{i32 2}
!6 = !{i64 2147}
!7 = !{!8, !8, i64 0}
!8 = !{!"int", !9, i64 0}
!9 = !{!"omnipotent char"}
!10 = distinct !{!10, !11}
!11 = !{!"llvm.loop.mustprogress"}
"""


def test_each_kernel_has_what_it_uses_and_nothing_else() -> None:
    made = {name: each.text for name, each in kernel_modules(MODULE).items()}
    assert list(made) == ["@first", "@second"]
    assert [
        name for name in ("@raw =", "%struct.Turn =", "@table", "@second", "_Z5otheri", "srcloc") if name in made["@first"]
    ] == [
        "@raw =",
        "%struct.Turn =",
    ]
    assert made["@first"].count("grid_constant") == made["@second"].count("grid_constant") == 1
    assert "// #9 !8 @raw" in made["@first"]
    for text in made.values():
        assert text.startswith('target datalayout = "e-p6:32:32-i64:64"\ntarget triple = "nvptx64-nvidia-cuda"\n')
        said, used = (set(re.findall(pattern, text, re.MULTILINE)) for pattern in (r"^(?:attributes )?([#!]\d+) =", r"[#!]\d+"))
        assert used - {"#9", "!8"} <= said


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("_Z5addedi", "_Z11added_in_alli"),
        ("!6 = !{i64 2147}", "!6 = !{i64 4096}"),
        ("!srcloc !6", "!srcloc !4"),
        ("#3", "#7"),
        ("!8", "!80"),
        ("[i32 5, i32 7]", "[i32 5, i32 9]"),
        ("@_Z5otheri", "@_Z7anotheri"),
        ("%0) #0 {\n  %2 = load", "%0) #1 {\n  %2 = load"),
        ("@second, !", "@second, metadata !"),
    ],
)
def test_what_does_not_reach_a_kernel_leaves_its_text_alone(old: str, new: str) -> None:
    assert old in MODULE
    made = kernel_modules(MODULE.replace(old, new))["@first"].text
    assert made.replace("!80", "!8") == kernel_modules(MODULE)["@first"].text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("noundef 1)", "noundef 2)"),
        ("{ i32, i32 }", "{ i32, i64 }"),
        ("align 128", "align 64"),
        ('"target-cpu"="sm_90a" }\nattributes #2', "}\nattributes #2"),
        ("bar.sync", "bar.arrive"),
        ("!3 = !{i32 1}", "!3 = !{i32 2}"),
        ('!"int"', '!"float"'),
        ("@first", "@another"),
        ("i32 0, i32 1\n", "i32 0, i32 0\n"),
    ],
)
def test_what_reaches_a_kernel_is_in_its_text(old: str, new: str) -> None:
    assert old in MODULE
    assert next(iter(kernel_modules(MODULE.replace(old, new)).values())).text != kernel_modules(MODULE)["@first"].text


@pytest.mark.parametrize(
    "more",
    [
        '@llvm.used = appending global [1 x ptr] [ptr @first], section "llvm.metadata"',
        "@again = alias void (ptr), ptr @first",
        'module asm ".global x"',
        "define dso_local ptx_kernel void @third() #0 {\n  call void @first(ptr null)\n  ret void\n}",
    ],
)
def test_a_module_with_anything_else_stays_as_it_is(more: str) -> None:
    assert kernel_modules(MODULE.replace("; Function Attrs: convergent\n", f"{more}\n")) == {}


def test_code_of_another_machine_stays_as_it_is() -> None:
    assert kernel_modules(MODULE.replace("ptx_kernel", "amdgpu_kernel")) == {}
