"""Tensile names against records whose parameters are known, and by hand where no record exists."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expctl.gpu.tensile.decode import decode_name
from expctl.gpu.tensile.keys import KEYS, read_keys
from expctl.gpu.tensile.name import Dialect, Kind, read_name
from expctl.gpu.tensile.threads import threads
from expctl.profiles.views.tensile import tensile_lines
from tests.gpu.tensile_check import check_names, check_truth

GOLDEN = Path(__file__).with_name("golden")
ROCBLAS = (
    "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI16x16x16x1_SN_1LDSB1_AMAS3_BL1_BS1_EPS1_GLVWA8_GLVWB8_GRVW8_GSU1_GSUASB_ISA1151_IU1_K1_"
    "KLA_LBSPPA0_LBSPPB128_LPA0_LPB8_LRVW16_MIAV1_MMFGLC_NLCA1_NLCB1_PGR1_PLR0_SIA3_SS1_SU32_SUS256_SVW4_TT4_64_TLDS1_UMLDSA0_"
    "UMLDSB1_USFGROn1_VAW2_VSn1_VW4_VWB2_WSGRA1_WSGRB1_WS32_WG32_4_1_WGM8"
)


def names() -> list[str]:
    return gzip.decompress((GOLDEN / "tensile_names.txt.gz").read_bytes()).decode().splitlines()


def test_every_parameter_of_a_name_is_the_records_or_one_that_generators_change() -> None:
    with gzip.open(GOLDEN / "tensile_truth.jsonl.gz", "rt") as lines:
        tally = check_truth(map(json.loads, lines))
    assert tally.wrong == []
    assert (tally.compared, tally.threads_known, tally.threads_unknown) == (16122, 991, 78)
    assert sum(tally.differing.values()) == 48


def test_every_name_of_the_field_is_read_without_an_unknown_key() -> None:
    assert check_names(names()) == []


# The list that the kernel's author wrote for this symbol, line by line.
AUTHORS_LIST = {
    "WorkGroup": (32, 4, 1), "ThreadTile": (4, 64), "WavefrontSize": 32, "1LDSBuffer": 1, "BufferLoad": 1, "BufferStore": 1,
    "PrefetchGlobalRead": 1, "PrefetchLocalRead": 0, "GlobalReadVectorWidth": 8, "GlobalLoadVectorWidthA": 8,
    "GlobalLoadVectorWidthB": 8, "LocalReadVectorWidth": 16, "LdsPadA": 0, "LdsPadB": 8, "LdsBlockSizePerPadA": 0,
    "LdsBlockSizePerPadB": 128, "ScheduleIterAlg": 3, "StaggerU": 32, "StaggerUStride": 256, "TransposeLDS": 1,
    "UnrollMajorLDSA": 0, "UnrollMajorLDSB": 1, "WaveSeparateGlobalReadA": 1, "WaveSeparateGlobalReadB": 1, "VectorWidth": 4,
    "VectorWidthB": 2, "StoreVectorWidth": 4, "VectorAtomicWidth": 2, "UseSgprForGRO": -1, "VectorStore": -1, "GlobalSplitU": 1,
    "GlobalSplitUAlgorithm": "SB", "KernelLanguage": "A", "Kernel": 1, "MIArchVgpr": 1, "MemoryModifierFormat": "GLC",
    "ISA": "1151",
}  # fmt: skip
AUTHORS_WORDS = {
    "USFGROn1": "auto",
    "VSn1": "auto",
    "GSUASB": "SingleBuffer",
    "KLA": "assembly",
    "1LDSB1": "on",
    "ISA1151": "gfx1151",
}


def test_the_rocblas_symbol_says_all_that_its_author_listed() -> None:
    reading = decode_name(ROCBLAS)
    assert reading is not None
    kernel = reading.kernel
    assert {parameter: kernel.value(parameter) for parameter in AUTHORS_LIST} == AUTHORS_LIST
    assert kernel.tile == (128, 128, 32)
    assert kernel.instruction is not None
    assert (kernel.instruction.m, kernel.instruction.n, kernel.instruction.k, kernel.instruction.blocks) == (16, 16, 16, 1)
    assert (reading.threads.workgroup, reading.threads.waves, reading.layout) == (128, 4, "NN")
    said = {key.token: key.meaning for key in kernel.keys}
    assert [token for token, word in AUTHORS_WORDS.items() if word not in said[token]] == []
    assert reading.omitted == ()


@pytest.mark.parametrize(
    ("head", "types"),
    {
        "HHS_BH": ("H", "H", "H", "H", "S"),
        "SB": ("S", "S", "S", "S", "S"),
        "SB_MX": ("S", "S", "X", "S", "S"),
        "I8II_BH": ("I8", "I8", "I8", "I", "I"),
        "4xi8II_BH": ("4xi8", "4xi8", "4xi8", "I", "I"),
        "F8H_HHS_BH": ("F8", "H", "H", "H", "S"),
        "HH_F8HS_BH": ("H", "H", "F8", "H", "S"),
        "F8B8B8S_BH": ("F8", "B8", "F8B8", "B8", "S"),
        "F8B8S_BH": ("F8", "F8", "F8", "B8", "S"),
        "B8F8BH": ("B8", "F8", "B8F8", "", ""),
        "I8BH": ("I8", "I8", "I8", "", ""),
        "B_BS_BH": ("B", "B", "B", "B", "S"),
        "BBS_BBiasH": ("B", "B", "B", "B", "S"),
    }.items(),
)
def test_types(head: str, types: tuple[str, ...]) -> None:
    kernel = read_name(f"Cijk_Alik_Bljk_{head}_MT16x16x32_SN_PGR1")
    assert kernel is not None
    problem = kernel.problem
    assert problem is not None
    assert (problem.a.type, problem.b.type, problem.multiplied, problem.result, problem.computed) == types
    assert kernel.unknown_keys == ()


def test_what_a_name_leaves_out_is_unknown() -> None:
    reading = decode_name("Cijk_Ailk_Bljk_HHS_BH_UserArgs_MT16x16x32_MI16x16x1_SN_PGR2_WG16_4_1")
    assert reading is not None
    assert reading.kernel.instruction is not None
    assert reading.kernel.instruction.k is None
    assert reading.kernel.value("GlobalSplitU") is None
    assert {"GSU", "WGM", "SU", "SUS"} < set(reading.omitted)
    assert "given at launch" in reading.why


def test_numbers_without_end() -> None:
    assert read_name(f"Cijk_Ailk_Bljk_HHS_BH_MT16x16x{'9' * 5000}_SN_PGR2") is None
    kernel = read_name(f"Cijk_Ailk_Bljk_HHS_BH_MT16x16x32_SN_PGR{'9' * 4000}")
    assert kernel is not None
    assert kernel.tile == (16, 16, 32)


def test_an_unknown_key_is_marked_and_the_rest_is_read() -> None:
    kernel = read_name("Cijk_Ailk_Bljk_HHS_BH_MT16x16x32_MI16x16x16x1_SN_PGR2_QQX7_WG16_4_1")
    assert kernel is not None
    assert [key.token for key in kernel.unknown_keys] == ["QQX7"]
    assert kernel.value("WorkGroup") == (16, 4, 1)
    reading = decode_name(kernel.name)
    assert reading is not None
    assert any(line.split() == ["QQX7", "?", "unknown"] for line in tensile_lines(reading))


@pytest.mark.parametrize(
    ("name", "kind", "purpose"),
    [
        (
            "Cijk_SB8_GG_BiasH_HAS_ScaleAB_ScaleAlphaVec_PostGSU8_VW4",
            Kind.HELPER,
            "adds up 8 partial sums, float32 to float8 e5m2",
        ),
        ("Cijk_Dijk_S_PostGSU16_VW2", Kind.HELPER, "adds up 16 partial sums, float32"),
        ("Cijk_I_GG_GA", Kind.HELPER, "scales C by beta before the product, int32"),
        ("Cijk_SB_GB", Kind.HELPER, "scales C by beta before the product, float32 to bfloat16"),
        ("Custom_Cijk_Ailk_Bljk_HHS_BH_Bias_GG_AS_SAV_UserArgs_shortname10_gfx942", Kind.CUSTOM, "computes a matrix product"),
        ("DGEMM_Aldebaran_NN_MT128x128x16_MI16x16x4x1_GRVW2_SU4_SUS128_WGM4", Kind.CUSTOM, "computes a matrix product"),
        ("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT2QMY_LPoyw1aKn", Kind.SHORTENED, "computes a matrix product"),
        ("Cijk_AlikC_Bljk_ZB_GB_MT16x16x16_MI16x16x4x1_SN_w7sFP__lQopabvLxzkL9V", Kind.SHORTENED, "computes a matrix product"),
    ],
)
def test_kinds(name: str, kind: Kind, purpose: str) -> None:
    kernel = read_name(name)
    assert kernel is not None
    assert (kernel.kind, kernel.purpose, kernel.unknown_keys) == (kind, purpose, ())


@pytest.mark.parametrize(
    ("token", "place"), [("XYZn1", 5), ("XYZ1p25", 5), ("gfx942", 13), ("UserArgs", 4), ("AuxH", 3), ("MT64", 6), ("Xyz", 12)]
)
def test_an_unknown_key_in_small_letters_takes_no_other_key_with_it(token: str, place: int) -> None:
    """`n1` is -1 and `1p25` is 1.25; whatever it is, no hash stands there."""
    name = "Cijk_Alik_Bljk_HHS_BH_MT128x128x64_MI16x16x1_SN_LDSB0_PGR2_PLR1_VW4_WG32_4_1"
    tokens = name.split("_")
    plain, other = read_name(name), read_name("_".join([*tokens[: place + 3], token, *tokens[place + 3 :]]))
    assert plain is not None
    assert other is not None
    assert other.kind is Kind.PRODUCT
    assert [key.token for key in other.unknown_keys] == [token]
    assert tuple(key for key in other.keys if key.known) == plain.keys


def test_a_hash_stands_where_names_are_shortened() -> None:
    head = "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT2"
    whole, cut = "PIAnuAzhps7cxzoHkYmnutF4zPyV18OXcgAexyUP_K4", "PIAnuAzhps7cxzo"
    for text in (whole, cut):
        found = read_name(head + text)
        assert found is not None
        assert (found.kind, found.keys, found.words) == (
            Kind.SHORTENED, (), (f"{text}: cut off, or a hash of the rest; the keys are lost",),
        )  # fmt: skip


def test_a_name_that_its_author_shortened_is_none_of_a_generator() -> None:
    found = read_name("Cijk_Alik_Bljk_BBS_BH_MT256x256x64_MI16x16x1_UserArgs_shortname0_gfx950")
    assert found is not None
    assert (found.kind, found.keys) == (Kind.CUSTOM, ())
    assert found.words[-1] == "gfx950: for this GPU, says its author"


def test_a_kernel_descriptor_is_the_same_kernel() -> None:
    plain, descriptor = read_name(ROCBLAS), read_name(f"{ROCBLAS}.kd.kd")
    assert plain is not None
    assert descriptor is not None
    assert plain.keys == descriptor.keys
    assert any(word.startswith(".kd") for word in descriptor.words)


@pytest.mark.parametrize(
    ("token", "parameter", "value"),
    [
        ("GRPM0p20", "GlobalReadPerMfma", 0.2),
        ("USFGROn1", "UseSgprForGRO", -1),
        ("ELFLRn20", "ExtraLatencyForLR", -20),
        ("WG16_08_01", "WorkGroup", (16, 8, 1)),
        ("MI16_16_32_1", "MatrixInstruction", (16, 16, 32, 1)),
        ("GSUAMBSK", "GlobalSplitUAlgorithm", "MBSK"),
        ("ISA90a", "ISA", "90a"),
        ("FSSC10", "ForceStoreSC1", 0),
        ("FMA", "MACInstruction", "FMA"),
        ("ASGT", "AssertSizeGreaterThan", ()),
    ],
)
def test_values(token: str, parameter: str, value: object) -> None:
    (key,) = read_keys(token.split("_"))
    assert (key.parameter, key.value, key.token) == (parameter, value, token)


def test_the_pair_that_shares_its_letters() -> None:
    keys = read_keys(["AFEM8", "AFDBMTLGT0", "AFEM4"])
    assert [(key.parameter[:11], key.value) for key in keys] == [("AssertFree0", 8), ("AssertFree1", 0), ("AssertFree1", 4)]


@pytest.mark.parametrize(
    ("name", "arch", "workgroup", "waves"),
    [
        ("MT128x128x16_MI16x16x16x1_SN_TT4_64", "gfx1100", 128, 4),
        ("MT128x128x16_MI16x16x16x1_SN_TT4_64", "gfx942", 256, 4),
        ("MT128x128x16_MI16x16x16x1_SN_TT4_64", "", None, 4),
        ("MT128x128x16_MI16x16x1_SN_MIWT4_4_WS64", "", 256, 4),
        ("MT64x32x8_SN_TT4_4", "gfx906", 128, 2),
        ("MT64x32x8_SN_PGR1", "gfx906", None, None),
        ("MT16x16x16_MI4x4x4x16_SN_TT1_4", "gfx90a", None, None),
    ],
)
def test_threads_follow_from_the_tile_where_the_name_gives_no_workgroup(
    name: str, arch: str, workgroup: int | None, waves: int | None
) -> None:
    kernel = read_name(f"Cijk_Ailk_Bjlk_HHS_BH_{name}")
    assert kernel is not None
    found = threads(kernel, arch)
    assert (found.workgroup, found.waves) == (workgroup, waves)
    assert bool(found.assumed) == bool(waves)


def test_what_the_generator_changed_is_reported() -> None:
    reading = decode_name(
        ROCBLAS, recorded={"PrefetchLocalRead": 1, "ISA": [11, 5, 1], "GlobalSplitUAlgorithm": "SingleBuffer", "LdsPadA": 0}
    )
    assert reading is not None
    assert tensile_lines(reading)[-1].split() == ["differs", "PrefetchLocalRead:", "requested", "0,", "record", "differs:", "1"]


def test_the_generators_are_told_apart() -> None:
    def dialect(name: str) -> Dialect:
        kernel = read_name(name)
        assert kernel is not None
        return kernel.dialect

    assert dialect("Cijk_Ailk_Bljk_HHS_BH_MT16x16x32_MI16x16x16x1_SN_PLR1") is Dialect.TENSILE
    assert dialect("Cijk_Ailk_Bljk_HHS_BH_MT16x16x32_MI16x16x1_SN_PLR1") is Dialect.TENSILE_LITE
    assert dialect("Cijk_Ailk_Bljk_HHS_BH_Bias_GG_MT16x16x32_MI16x16x16x1_SN_1LDSB1") is Dialect.TENSILE_LITE
    assert dialect("Cijk_Ailk_Bljk_SB_MT16x16x32_SN_PLR1") is Dialect.UNKNOWN


@pytest.mark.parametrize(
    "name", ["", "gemm_kernel", "ampere_sgemm_128x64_nn", "triton_poi_fused_add_0", "Cijk", "C_A_B", "MT1x1"]
)
def test_other_names_are_none_of_ours(name: str) -> None:
    assert decode_name(name) is None


@given(st.text(alphabet="CijklABMTx_SN0123456789nHSgsub. \n\x1b|<>", max_size=80))
def test_no_text_breaks_the_reader(text: str) -> None:
    for name in (text, f"Cijk_A{text}", f"Cijk_Ailk_Bljk_{text}", f"Cijk_Ailk_Bljk_HHS_BH_MT16x16x8_{text}"):
        reading = decode_name(name, "gfx942", {"PrefetchGlobalRead": 1})
        if reading is not None:
            lines = tensile_lines(reading)
            assert all(line.isprintable() for line in lines)


def test_every_key_has_a_meaning_of_its_own() -> None:
    assert [
        key for key, parameter in KEYS.items() if len(parameter.meaning) < 5 or "{}" in parameter.name + parameter.meaning
    ] == []
    assert len(KEYS) > 250
