"""A stranger's modules, taken apart by kernel: what computes something else has another text, other names alone have not."""

import pytest

from expctl.inspection.readers.llvm_kernels import kernel_modules, one_of_each_kind, with_numbers

MODULE = """target datalayout = "e-p6:32:32-i64:64"
target triple = "nvptx64-nvidia-cuda"

%struct.Piece = type { [4 x i32] }
%struct.Turn = type { i32, ptr }

$_Z4growi = comdat any

@raw = external addrspace(3) global [0 x i8], align 128
@.str = private unnamed_addr constant [22 x i8] c"at #1 !2 a comdat b !7\\00", align 1
@.plain = private unnamed_addr constant [9 x i8] c"#3 @x !4\\00", align 1
@count = addrspace(1) externally_initialized global i32 0, align 4
@table = internal addrspace(4) constant [2 x i32] [i32 5, i32 7], align 4
@ways = internal addrspace(1) constant [2 x ptr] [ptr @_ZL4halfi, ptr @_ZL4fulli], align 8

define dso_local ptx_kernel void @first(ptr noundef byval(%struct.Piece) align 16 %0, ptr noundef noalias %1) #0 {
  %3 = load i32, ptr addrspacecast (ptr addrspace(4) @table to ptr), align 4, !tbaa !10, !range !12
  %4 = call i32 @_Z4growi(i32 noundef %3) #4
  %5 = call i32 asm sideeffect "mov.u32 $0, $1; // #4 !10 @raw", "=r,r,~{memory}"(i32 %4) #5, !srcloc !13
  %6 = atomicrmw add ptr addrspace(1) @count, i32 1 syncscope("device") seq_cst, align 4
  fence syncscope("block") acquire
  store i32 %5, ptr %1, align 4, !nontemporal !14
  br label %7

7:                                                ; preds = %7, %2
  call void @llvm.nvvm.barrier0()
  br label %7, !llvm.loop !15
}

define linkonce_odr i32 @_Z4growi(i32 noundef %0) #1 comdat {
  %2 = call i32 @_ZL4halfi(i32 %0)
  %3 = call i32 @_ZL4fulli(i32 %2)
  ret i32 %3
}

define internal i32 @_ZL4halfi(i32 noundef %0) #1 {
  %2 = sdiv i32 %0, 2
  ret i32 %2
}

define internal i32 @_ZL4fulli(i32 noundef %0) #1 {
  %2 = mul i32 %0, 3
  ret i32 %2
}

define dso_local ptx_kernel void @second(ptr noundef %0) #0 {
  %2 = load ptr, ptr addrspacecast (ptr addrspace(1) @ways to ptr), align 8
  %3 = call i32 %2(i32 7)
  %4 = call i32 @vprintf(ptr @.str, ptr null)
  ret void
}

define dso_local ptx_kernel void @third(ptr noundef %0) #0 {
  %2 = call i32 @vprintf(ptr @.plain, ptr null)
  ret void
}

declare i32 @vprintf(ptr, ptr) #2

declare void @llvm.nvvm.barrier0() #3

attributes #0 = { convergent mustprogress noinline "nvvm.maxntid"="128" "target-cpu"="sm_90a" }
attributes #1 = { convergent alwaysinline "target-cpu"="sm_90a" }
attributes #2 = { convergent }
attributes #3 = { convergent nocallback nounwind }
attributes #4 = { convergent nounwind }
attributes #5 = { convergent nounwind memory(none) }

!llvm.module.flags = !{!0, !1}
!nvvm.annotations = !{!2, !3}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 4, !"nvvm-reflect-ftz", i32 0}
!2 = !{ptr @first, !"grid_constant", !4}
!3 = !{ptr @second, !"maxnreg", i32 64}
!4 = !{i32 1}
!10 = !{!11, !11, i64 0}
!11 = !{!"int @first", !14, i64 0}
!12 = !{i32 0, i32 8}
!13 = !{i64 2147}
!14 = !{i32 1}
!15 = distinct !{!15, !16, !17}
!16 = !{!"llvm.loop.mustprogress"}
!17 = !{!"llvm.loop.unroll.count", i32 4}
"""


def texts(module: str) -> dict[str, str]:
    return {name: each.text for name, each in kernel_modules(module).items()}


def replaced(old: str, new: str) -> str:
    assert old in MODULE
    return MODULE.replace(old, new)


@pytest.mark.parametrize(
    ("kernel", "old", "new"),
    [
        ("@first", "[i32 5, i32 7]", "[i32 5, i32 8]"),
        ("@first", "@table = internal", "@table = weak"),
        ("@first", "addrspace(4) constant [2 x i32]", "addrspace(4) externally_initialized constant [2 x i32]"),
        ("@first", "global i32 0", "global i32 1"),
        ("@first", "externally_initialized global i32", "global i32"),
        ("@first", 'syncscope("device") seq_cst', 'syncscope("device") monotonic'),
        ("@first", 'syncscope("device")', 'syncscope("block")'),
        ("@first", "asm sideeffect", "asm"),
        ("@first", "=r,r,~{memory}", "=r,r"),
        ("@first", "// #4 !10", "// #5 !10"),
        ("@first", "// #4 !10", "// #4 !11"),
        ("@first", "!12 = !{i32 0, i32 8}", "!12 = !{i32 0, i32 9}"),
        ("@first", ", !nontemporal !14", ""),
        ("@first", '"llvm.loop.unroll.count", i32 4', '"llvm.loop.unroll.count", i32 2'),
        ("@first", "!4 = !{i32 1}", "!4 = !{i32 2}"),
        ("@first", 'nvvm-reflect-ftz", i32 0', 'nvvm-reflect-ftz", i32 1'),
        ("@first", 'maxntid"="128"', 'maxntid"="256"'),
        ("@first", "memory(none)", "memory(read)"),
        ("@first", "byval(%struct.Piece) align 16", "byval(%struct.Piece) align 8"),
        ("@first", "noalias %1", "%1"),
        ("@first", "sdiv i32 %0, 2", "sdiv i32 %0, 4"),
        ("@first", "alwaysinline", "noinline"),
        ("@first", '"int @first"', '"int @second"'),
        ("@second", "[ptr @_ZL4halfi, ptr @_ZL4fulli]", "[ptr @_ZL4fulli, ptr @_ZL4halfi]"),
        ("@second", '"maxnreg", i32 64', '"maxnreg", i32 72'),
        ("@third", "#3 @x !4", "#2 @x !4"),
        ("@third", "#3 @x !4", "#3 @x !3"),
    ],
)
def test_what_computes_something_else_has_another_text(kernel: str, old: str, new: str) -> None:
    assert texts(replaced(old, new))[kernel] != texts(MODULE)[kernel]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("_ZL4halfi", "_ZL11in_two_equali"),
        ("@_ZL4fulli", '@"quoted; {name} = #1 !2"'),
        ("@table", "@_ZN12_GLOBAL__N_15tableE"),
        ("_Z4growi", "_ZN4more4growEi"),
        ("#5", "#57"),
        ("!11", "!1100"),
        (" #1 comdat {", " #1 {"),
        ("i64 2147", "i64 99"),
        ("attributes #2 = { convergent }\n", "attributes #2 = { convergent }\nattributes #9 = { cold }\n"),
        ("declare i32 @vprintf", "@spare = global i32 4\n\ndeclare i32 @vprintf"),
    ],
)
def test_another_name_or_number_is_the_same_text(old: str, new: str) -> None:
    assert texts(replaced(old, new)) == texts(MODULE)


def test_two_helpers_that_change_places_are_another_kernel() -> None:
    swapped = MODULE.replace("_ZL4halfi(i32 %0)", "X(i32 %0)").replace("_ZL4fulli(i32 %2)", "_ZL4halfi(i32 %2)")
    assert texts(swapped.replace("X(i32 %0)", "_ZL4fulli(i32 %0)"))["@first"] != texts(MODULE)["@first"]


def test_a_recursion_keeps_calling_itself() -> None:
    recursive = texts(replaced("%2 = mul i32 %0, 3", "%2 = call i32 @_ZL4fulli(i32 %0)"))["@first"]
    other = texts(replaced("%2 = mul i32 %0, 3", "%2 = call i32 @_ZL4halfi(i32 %0)"))["@first"]
    assert "@_ZL4fulli" not in recursive
    assert recursive != other


@pytest.mark.parametrize("text", ["a comdat b", "a !srcloc !7b", "a, comdat b"])
def test_a_string_stays_as_it_is(text: str) -> None:
    # Wrong for all three: words of a string are taken for those of a definition. clang then refuses the text, whose string has
    # another length than its type, so the module is compiled as a whole.
    string = f'c"{text}\\00"'
    module = replaced('[22 x i8] c"at #1 !2 a comdat b !7\\00"', f"[{len(text) + 1} x i8] {string}")
    assert string in texts(module)["@second"]


def with_variables(count: int, **bodies: str) -> str:
    """Return a module of `count` variables that no other file sees, and of kernels with these bodies."""
    variables = "".join(f"@shared.{at} = internal addrspace(1) global i32 7, align 4\n" for at in range(count))
    kernels = "".join(f"define ptx_kernel void @{name}(ptr %0) {{\n{body}  ret void\n}}\n\n" for name, body in bodies.items())
    return f"{MODULE.partition('%struct')[0]}{variables}\n{kernels}"


LOADED = "  %2 = load i32, ptr addrspace(1) @shared.0, align 4\n  store i32 %2, ptr %0, align 4\n"
STORED = "  store i32 9, ptr addrspace(1) @shared.0, align 4\n"
ADDED = "  %{at} = atomicrmw add ptr addrspace(1) @shared.{which}, i32 {more} seq_cst, align 4\n"


def test_a_variable_that_another_kernel_writes_is_not_taken_for_its_first_value() -> None:
    # Wrong: each kernel has a variable of its own, which nobody writes in one and nobody reads in the other. The optimiser
    # then puts 7 for it, and drops the store: whatever is stored, the module is the same.
    made = texts(with_variables(1, reader=LOADED, writer=STORED))
    assert not made or " = internal addrspace(1) global i32 7" not in made["@reader"]


def test_which_of_two_variables_a_kernel_shares_with_another_is_in_its_text() -> None:
    # Wrong: both are the first variable of a text in which the other one isn't. Whole modules are told apart.
    both = ADDED.format(at=2, which=0, more=1) + ADDED.format(at=3, which=1, more=2)
    one, other = (with_variables(2, both=both, user=ADDED.format(at=2, which=which, more=5)) for which in range(2))
    assert (texts(one) or one) != (texts(other) or other)


def test_variables_that_one_kernel_uses_are_its_own() -> None:
    made = texts(with_variables(2, first=LOADED + STORED, second=ADDED.format(at=2, which=1, more=1)))
    assert "@own.1 = internal addrspace(1) global i32 7, align 4" in made["@first"]
    assert "shared" not in "".join(made.values())


def test_a_number_for_a_helper_is_nobody_elses_name() -> None:
    # Wrong: a function that is called like the number given to another one is in the text twice; clang refuses it.
    module = replaced("declare i32 @vprintf", "declare i32 @own.3(i32)\n\ndeclare i32 @vprintf").replace(
        "call i32 @_ZL4fulli(i32 %2)", "call i32 @own.3(i32 %2)"
    )
    made = texts(module)["@first"]
    defined = [line.split("@")[1].split("(")[0].split(" ")[0] for line in made.split("\n") if line.startswith(("de", "@"))]
    assert len(defined) == len({*defined}), defined


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("@count = ", "@other = alias i32, ptr @table\n@count = "),
        ("@count = ", "@llvm.compiler.used = appending global [1 x ptr] [ptr @table]\n@count = "),
        ("@count = ", 'module asm "// @x = 1"\n@count = '),
        ("ptr @_ZL4fulli]", "ptr @third]"),
    ],
)
def test_a_module_of_which_parts_hang_together_is_whole(old: str, new: str) -> None:
    assert kernel_modules(replaced(old, new)) == {}


def test_kernels_of_parameters_are_of_one_kind() -> None:
    module = MODULE.replace("@first", "@_Z5firstILi4EEvPi").replace("@_Z4growi", "@_Z4growILi4EEii")
    other = module[module.index("define dso_local ptx_kernel void @_Z5first") : module.index("define internal i32 @_ZL4halfi")]
    made = kernel_modules(
        module.replace("define internal i32 @_ZL4halfi", f"{other.replace('Li4E', 'Li64E')}{'define internal i32 @_ZL4halfi'}")
    )
    assert {*made} == {"@_Z5firstILi4EEvPi", "@_Z5firstILi64EEvPi", "@second", "@third"}
    assert len({"@_Z5firstILi4EEvPi", "@_Z5firstILi64EEvPi"} & {*one_of_each_kind(made)}) == 1


def test_numbers_for_names_leave_strings_and_types_alone() -> None:
    text = (
        "%struct.at = type { i32 }\ndefine void @f(ptr %0) {\nentry:\n  %at = load %struct.at, ptr %0\n"
        '  call void asm "%at entry: // %x", ""()\n  br label %next.a\n\nnext.a:\n  %x-y = phi i32 [ 0, %entry ]\n'
        "  ret void\n}\n"
    )
    made = with_numbers(text)
    assert "%struct.at = type" in made
    assert "load %struct.at, ptr" in made
    assert '"%at entry: // %x"' in made
    assert "%at = " not in made
    assert "\nentry:" not in made
    assert made.count("%x-y") == 0
