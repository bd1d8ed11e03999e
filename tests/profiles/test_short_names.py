"""Folded names stay apart, also after a narrow terminal has cut them."""

from collections.abc import Callable
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from expctl.domain.layout import cut_middle
from expctl.domain.patch.function_name import function_name
from expctl.profiles.read_profile import read_profile
from expctl.profiles.views.short_names import apart_when_cut, short_names


def test_templates_keep_what_differs() -> None:
    frame = "void at::native::vectorized_elementwise_kernel<4, at::native::{}<float>, std::array<char*, 3ul> >(int)"
    names = [frame.format("CUDAFunctor_add"), frame.format("AbsFunctor"), "void flash_fwd_kernel<128, true>(Params)"]
    assert list(short_names(names).values()) == [
        "vectorized_elementwise_kernel<CUDAFunctor_add>", "vectorized_elementwise_kernel<AbsFunctor>", "flash_fwd_kernel",
    ]  # fmt: skip


def test_a_functor_tells_names_apart_before_a_number_does() -> None:
    frame = "void at::native::vectorized_elementwise_kernel<{}, at::native::{}<{}> >(int)"
    names = [frame.format(8, "AbsFunctor", "float"), frame.format(4, "FillFunctor", "int")]
    assert list(short_names(names).values()) == [
        "vectorized_elementwise_kernel<AbsFunctor>", "vectorized_elementwise_kernel<FillFunctor>",
    ]  # fmt: skip


def test_a_launcher_alone_is_named_with_its_functor() -> None:
    """`BinaryFunctor` is in every kernel of two operands."""
    names = [
        "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1ul> >(int)",
        "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::native::BinaryFunctor<float, "
        "float, float, at::native::binary_internal::MulFunctor<float> > >(at::TensorIteratorBase&)::{lambda(int)#1}>(int)",
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float> > >(int)",
        "elementwise_kernel_plain",
        "void cutlass::Kernel2<cutlass_80_tensorop_f16_s16816gemm_f16_64x64_32x6_tn_align8>(T1::Params)",
        "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int> > >(T1::Params)",
        "void flash_fwd_kernel<128, true>(Params)",
    ]
    assert list(short_names(names).values()) == [
        "vectorized_elementwise_kernel<FillFunctor>", "elementwise_kernel<MulFunctor>", "reduce_kernel<MeanOps>",
        "elementwise_kernel_plain", "Kernel2<cutlass_80_tensorop_f16_s16816gemm_f16_64x64_32x6_tn_align8>",
        "device_kernel<GemmUniversal>", "flash_fwd_kernel",
    ]  # fmt: skip


def test_tensile_names_keep_operands_and_tile_and_then_what_differs() -> None:
    names = [
        "Cijk_Ailk_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x32x256_MI16x16x1_SN_LDSB1_GSU1",
        "Cijk_Ailk_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x32x256_MI16x16x1_SN_LDSB1_GSU4",
        "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x32x256_MI16x16x1_SN_LDSB1_GSU1",
    ]
    assert list(short_names(names).values()) == [
        "Cijk_Ailk_Bljk_BBS_MT64x32x256<GSU1>", "Cijk_Ailk_Bljk_BBS_MT64x32x256<GSU4>", "Cijk_Alik_Bljk_BBS_MT128x32x256",
    ]  # fmt: skip


names = st.lists(st.text("ab<>(), :_1x", min_size=1, max_size=30), unique=True, min_size=1, max_size=8)


@given(names=names)
def test_distinct_names_stay_distinct(names: list[str]) -> None:
    found = short_names(names)
    assert list(found) == names
    assert len(set(found.values())) == len(names)


def test_kernels_of_real_profiles_stay_apart_when_cut(golden: Callable[[str], Path]) -> None:
    for file in ("torch_cuda12.4_h100.json", "torch_rocm6.4_mi210.json", "rocprofv3_7_mi350x_first3000.json"):
        kernels = read_profile(golden(file)).kernels
        shown = apart_when_cut(short_names([kernel.name for kernel in kernels]), 24)
        assert len({cut_middle(each, 24) for each in shown.values()}) == len(kernels)


def test_a_return_type_that_compares_numbers_is_skipped_whole() -> None:
    frame = "std::enable_if<(((8){}(0)))&&a::has<X>::value, void>::type a::rms_norm<X, 8>(X*)"
    assert {function_name(frame.format(sign)) for sign in "<>"} == {"a::rms_norm"}
