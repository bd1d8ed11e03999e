"""Which kernels belong together."""

from expctl.profiles.diff.kernel_pairs import PairedBy, pair_up, short_name
from expctl.profiles.model.kernel_profile import Kernel, KernelClass, Launch


def kernel(name: str, total: int, kind: KernelClass = KernelClass.GEMM, calls: int = 10, grid: int = 64) -> Kernel:
    return Kernel(name=name, kind=kind, calls=calls, total_ns=total, share_percent=10.0, launches=(Launch(grid=(grid, 1, 1)),))


def names(before: list[Kernel], after: list[Kernel]) -> list[tuple[str, str, PairedBy]]:
    return [(pair.before.name, pair.after.name, pair.by) for pair in pair_up(before, after).pairs]


def test_by_name_whatever_the_order() -> None:
    a, b = kernel("a", 30), kernel("b", 20)
    assert names([a, b], [b, a]) == [("a", "a", PairedBy.NAME), ("b", "b", PairedBy.NAME)]


def test_by_the_name_without_what_a_compiler_adds() -> None:
    assert names([kernel("void mm<4>(int)", 30)], [kernel("mm<8>(int) [clone .kd]", 30)]) == [
        ("void mm<4>(int)", "mm<8>(int) [clone .kd]", PairedBy.SHORT_NAME)
    ]


def test_two_functions_of_an_unnamed_namespace_or_a_templated_return_type_are_two() -> None:
    for frame in ("void at::(anonymous namespace)::{}<int>(float*)", "std::enable_if<(true), void>::type prim::{}<int>(int)"):
        before, after = kernel(frame.format("cat"), 30, KernelClass.COPY), kernel(frame.format("norm"), 30, KernelClass.OTHER)
        assert names([before], [after]) == []
        assert short_name(before).endswith("::cat")


def test_short_names_that_several_have_are_paired_by_role() -> None:
    before = [kernel("mm<4>", 30, grid=1), kernel("mm<8>", 20, grid=2)]
    after = [kernel("mm<16>", 30, grid=2), kernel("mm<32>", 20, grid=1)]
    assert names(before, after) == [("mm<4>", "mm<32>", PairedBy.ROLE), ("mm<8>", "mm<16>", PairedBy.ROLE)]


def test_place_decides_between_equals() -> None:
    before = [kernel("a", 30), kernel("b", 20)]
    after = [kernel("c", 30), kernel("d", 20)]
    assert names(before, after) == [("a", "c", PairedBy.ROLE), ("b", "d", PairedBy.ROLE)]


def test_another_class_is_another_kernel() -> None:
    found = pair_up([kernel("a", 30)], [kernel("cast", 2, KernelClass.COPY)])
    assert (found.pairs, [each.name for each in found.missing], [each.name for each in found.extra]) == ((), ["a"], ["cast"])
