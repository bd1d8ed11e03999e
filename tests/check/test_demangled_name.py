"""Names and types out of mangled symbols. The right-hand sides are what c++filt prints, without what templates return."""

import pytest

from expctl.check.demangled_name import demangled

SYMBOLS = {
    "_Z5twicePf": "twice(float*)",
    "_Z10reduce_sumPKfPfi": "reduce_sum(float const*, float*, int)",
    "_Z5emptyv": "empty()",
    "_ZL6hiddenPVKjm": "hidden(unsigned int const volatile*, unsigned long)",
    "_ZN2nn4gemmEPKDF16_S1_PDF16_iii": "nn::gemm(_Float16 const*, _Float16 const*, _Float16*, int, int, int)",
    "_ZN12_GLOBAL__N_15innerEPhPaPtPs": "(anonymous namespace)::inner(unsigned char*, signed char*, unsigned short*, short*)",
    "_Z4scanIfEvPKT_PS0_i": "scan<float>(float const*, float*, int)",
    "_Z4tileIDF16_Li16ELb1ELj4EEvPT_": "tile<_Float16, 16, true, 4u>(_Float16*)",
    "_Z3negILin3EEvPx": "neg<-3>(long long*)",
    "_ZN1a1b1cI6float4EEvPT_S3_S4_": "a::b::c<float4>(float4*, float4, float4*)",
    "_Z4copyP6float4PKS_": "copy(float4*, float4 const*)",
    "_Z3rowPA16_fPKA4_A8_i": "row(float (*)[16], int const (*)[4][8])",
    "_Z3vecPDv4_fDv2_i": "vec(float vector[4]*, int vector[2])",
    "_Z2pp10ParametersPS_": "pp(Parameters, Parameters*)",
    "_Z3useN2ns3BoxIiEEPS1_": "use(ns::Box<int>, ns::Box<int>*)",
    "_Z4pairSt4pairIifE": "pair(std::pair<int, float>)",
    "_Z4castIN2ns4KindE1EvPi": "_Z4castIN2ns4KindE1EvPi",  # damaged
    "_Z4kindILN2ns4KindE1EEvPi": "kind<(ns::Kind)1>(int*)",
    "_Z3refRKfOi": "ref(float const&, int&&)",
    "_Z4bf16PDF16bPKDF16b": "bf16(__bf16*, __bf16 const*)",
    "_Z5twicePf.intern.6c9b": "twice(float*)",
    "gemm_f32": "gemm_f32",
    "_ZZ4mainENKUlvE_clEv": "_ZZ4mainENKUlvE_clEv",
    "_Z": "_Z",
    "_Z9": "_Z9",
    "_Z5ab": "_Z5ab",
}


@pytest.mark.parametrize("symbol", SYMBOLS)
def test_symbols(symbol: str) -> None:
    assert str(demangled(symbol)) == SYMBOLS[symbol]


def test_the_name_has_no_parameters_and_a_c_symbol_none_at_all() -> None:
    assert demangled("_Z4scanIfEvPKT_PS0_i").name == "scan<float>"
    assert demangled("_Z5emptyv").parameters == ()
    assert demangled("gemm_f32").parameters is None


@pytest.mark.parametrize("cut", range(2, 40, 3))
def test_a_cut_symbol_is_no_error(cut: int) -> None:
    whole = "_ZN1a1b1cILi4E6float4S1_PA16_KfEEvPT0_S3_"
    assert demangled(whole[:cut]).name
