"""Kernels that differ in what is easily taken for one have several hashes."""

from expctl.inspection.readers.compiled_functions import read_functions

HEAD = '; ModuleID\ntarget triple = "nvptx64-nvidia-cuda"\n'


def kernel(body: str, *, before: str = "", given: str = "ptr %0, ptr %1, i32 %2", after: str = "") -> str:
    lines = "".join(f"{line}\n" if line.endswith(":") else f"  {line}\n" for line in body.split("\n"))
    text = f"{HEAD}{before}\ndefine ptx_kernel void @k({given}) #0 {{\n{lines}  ret void\n}}\n{after}"
    return read_functions("meaning", text)[0]["k"]


TILES = "".join(f"@{name} = internal addrspace(3) global [64 x float] undef, align 16\n" for name in "ab")
COPY = """%4 = load float, ptr %1, align 4
store float %4, ptr addrspace(3) @a, align 4
store float 1.0, ptr addrspace(3) @b, align 4
fence seq_cst
%5 = load float, ptr addrspace(3) @a, align 4
store float %5, ptr %0, align 4"""


def test_variables_that_look_alike_are_several() -> None:
    plain = kernel(COPY, before=TILES)
    other = COPY.replace("%5 = load float, ptr addrspace(3) @a", "%5 = load float, ptr addrspace(3) @b")
    assert plain != kernel(other, before=TILES)
    assert plain != kernel(COPY.replace("@b", "@a"), before=TILES)
    assert plain == kernel(COPY.replace("@a", "@x").replace("@b", "@y"), before=TILES.replace("@a", "@x").replace("@b", "@y"))
    assert plain == kernel(COPY, before=TILES, after="define ptx_kernel void @m() #0 {\n  store i32 1, ptr @b\n  ret void\n}\n")


READ = "%4 = load float, ptr addrspace(4) @c, align 4\nstore float %4, ptr %0, align 4"
TABLE = "@c = dso_local addrspace(4) externally_initialized constant [2 x float] [float 1.0, float {}], align 4"
CALL = "%4 = call i32 @twice(i32 %2)\nstore i32 %4, ptr %0, align 4"
TWICE = "define dso_local i32 @twice(i32 %0) #0 {{\n  %2 = mul i32 %0, {}\n  ret i32 %2\n}}\n"


def test_what_a_kernel_uses_counts() -> None:
    assert kernel(READ, before=TABLE.format("2.0")) != kernel(READ, before=TABLE.format("3.0"))
    assert kernel(CALL, before=TWICE.format("2")) != kernel(CALL, before=TWICE.format("3"))
