"""What is proposed for a kernel's signature, and that it is a description."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from expctl.check.case import case_of
from expctl.check.demangled_name import demangled
from expctl.check.fit import guessed, misfits
from expctl.check.kernel_file import KernelFile, Parameter, Signature, named
from expctl.check.proposal import element_of, proposal
from expctl.check.resolved import resolve
from expctl.inspection.device_compiler import Options
from tests.refusals import refuses


def kernel(
    symbol: str, *names: str, axes: int = 1, groups: int = 1, most: int = 1024, block: tuple[int, ...] = ()
) -> Signature:
    """A kernel with the parameters that its symbol says; a pointer has 8 bytes, anything else 4."""
    cpp_name = demangled(symbol)
    types = cpp_name.parameters or ("",) * len(names)
    parameters = tuple(
        Parameter(name=name, type=each, size=8 if "*" in each else 4, is_pointer="*" in each)
        for name, each in zip(names or ("",) * len(types), types, strict=True)
    )
    return Signature(
        symbol=symbol,
        cpp_name=cpp_name,
        parameters=parameters,
        most_threads=most,
        needs_block=block,
        axes=axes,
        group_axes=groups,
    )


def file_of(*kernels: Signature, path: Path = Path("k.hip")) -> KernelFile:
    return KernelFile(file=path, arch="gfx1151", compiler="", assembly="", kernels=kernels)


REDUCE = kernel("_Z10reduce_sumPKfPfi", "x", "out", "n")
GEMM = kernel("_Z4gemmPKDF16_S0_PfiiifPS_", "a", "b", "c", "m", "n", "k", "alpha", "flags", axes=2, most=256)


def test_a_kernel_of_one_size() -> None:
    text = proposal(file_of(REDUCE), REDUCE)
    assert text.splitlines()[:2] == [
        "# reduce_sum(float const*, float*, int)",
        "# Save as reduce_sum.yaml, correct shapes and roles, then: expctl check k.hip --launch reduce_sum.yaml",
    ]
    assert yaml.safe_load(text) == {
        "shapes": {"n": 1000},
        "vary": {"n": [1, 2000]},
        "grid": ["(n + 255) // 256"],
        "block": [256],
        "arguments": [
            {"name": "x", "dtype": "f32", "shape": ["n"]},
            {"name": "out", "dtype": "f32", "shape": ["n"], "role": "out"},
            {"name": "n", "dtype": "i32", "value": "n"},
        ],
    }


def test_whole_numbers_may_be_indices() -> None:
    gather = kernel("_Z6gatherPKiPKfPfi", "ids", "x", "out", "n")
    entries = [line for line in proposal(file_of(gather), gather).splitlines() if "name: " in line]
    assert ["of indices: values: {low: 0, high: n - 1}" in entry for entry in entries] == [True, False, False, False]


def test_a_kernel_of_two_axes() -> None:
    facts = yaml.safe_load(proposal(file_of(GEMM), GEMM))
    assert facts["shapes"] == {"m": 33, "n": 33, "k": 33}
    assert (facts["grid"], facts["block"]) == (["(k + 15) // 16", "(n + 15) // 16"], [16, 16])
    assert facts["arguments"][6] == {"name": "alpha", "dtype": "f32", "value": 1}


@pytest.mark.parametrize(
    ("groups", "grid"), [(1, ["(k + 31) // 32"]), (2, ["(k + 31) // 32", "n"]), (3, ["(k + 31) // 32", "n", "m"])]
)
def test_workgroups_lie_along_every_axis_that_the_kernel_reads(groups: int, grid: list[str]) -> None:
    wave = kernel(GEMM.symbol, *(each.name for each in GEMM.parameters), groups=groups, block=(32, 1, 1))
    assert yaml.safe_load(proposal(file_of(wave), wave))["grid"] == grid


@pytest.mark.parametrize(
    "signature",
    [
        REDUCE,
        GEMM,
        kernel("_Z4scanIfLi8EEvPT_PK6float4j", "data", "data", "count", block=(64, 1, 1)),
        kernel("_Z3addPi"),
        kernel("plain", "", ""),
        kernel("_Z3oddP10Parametersb", "p", "flag", most=33),
        kernel("_Z5emptyv"),
    ],
    ids=lambda each: each.symbol,
)
def test_every_proposal_is_a_description_that_fits_its_kernel(signature: Signature) -> None:
    case = case_of(yaml.safe_load(proposal(file_of(signature), signature)), "here")
    assert resolve(case, case.shapes).grid
    sized = [each for each in misfits(case, signature) if "bytes" not in each[1]]
    assert sized == []
    both = file_of(signature, kernel("_Z5otherPf"))
    named_in_text = case_of(yaml.safe_load(proposal(both, signature)), "here").kernel
    assert (case.kernel, named(both, named_in_text)) == ("", signature)


@pytest.mark.parametrize(
    ("type_name", "found"),
    [
        ("float const*", ("f32", 1, True)), ("float4*", ("f32", 4, True)), ("uchar2 const*", ("u8", 2, True)),
        ("_Float16 vector[8]*", ("f16", 8, True)), ("__half2*", ("f16", 2, True)), ("__hip_bfloat16*", ("bf16", 1, True)),
        ("unsigned long long", ("u64", 1, True)), ("Box*", ("f32", 1, False)), ("", ("f32", 1, False)),
    ],
)  # fmt: skip
def test_elements_of_types(type_name: str, found: tuple[str, int, bool]) -> None:
    element = element_of(Parameter(name="x", type=type_name, size=8, is_pointer=True))
    assert (element.dtype, element.count, element.is_known) == found


def test_dynamic_lds_is_proposed_where_the_source_declares_it(tmp_path: Path) -> None:
    source = tmp_path / "k.hip"
    source.write_text("extern __shared__ float tile[];\n")
    assert yaml.safe_load(proposal(file_of(REDUCE, path=source), REDUCE))["dynamic_lds"] == 4096


@pytest.mark.parametrize(
    ("source", "defines", "block", "comment"),
    [
        ("", (), 256, "threads: a guess, the source doesn't fix it"),
        ("i = blockIdx.x * 64 + threadIdx.x;", (), 64, "threads: a guess from blockIdx.x * 64"),
        ("#define TILE 96\nbase = blockIdx.x*TILE;", (), 96, "threads: a guess from blockIdx.x * 96"),
        ("constexpr int TILE = 96;\nbase = blockIdx.x * TILE;", (), 96, "threads: a guess from blockIdx.x * 96"),
        ("base = blockIdx.x * TILE;", ("TILE=32", "FAST"), 32, "threads: a guess from blockIdx.x * 32"),
        ("blockIdx.x * 64; blockIdx.x * 128", (), 256, "threads: a guess, the source doesn't fix it"),
        ("blockIdx.x * blockDim.x", (), 256, "threads: a guess, the source doesn't fix it"),
        ("blockIdx.x * 4096", (), 256, "threads: a guess, the source doesn't fix it"),
    ],
)
def test_a_block_that_the_source_leaves_open_is_called_a_guess(
    tmp_path: Path, source: str, defines: tuple[str, ...], block: int, comment: str
) -> None:
    (tmp_path / "k.hip").write_text(source)
    file = replace(file_of(REDUCE, path=tmp_path / "k.hip"), options=Options(arch="gfx1151", defines=defines))
    text = proposal(file, REDUCE)
    assert (yaml.safe_load(text)["block"], f"block: [{block}]   # {comment}\n" in text) == ([block], True)
    for bound in (kernel("_Z10reduce_sumPKfPfi", most=128), kernel("_Z10reduce_sumPKfPfi", block=(128, 1, 1))):
        assert re.search(r"block: \[128.*\]   # threads\n", proposal(replace(file, kernels=(bound,)), bound))


@pytest.mark.parametrize("update", ["atomicAdd(&out[i], v)", "atomicMax(out, v)", "__hip_atomic_fetch_add(out + i, v)"])
def test_what_atomics_update_is_proposed_with_a_beginning(tmp_path: Path, update: str) -> None:
    (tmp_path / "k.hip").write_text(update)
    text = proposal(file_of(REDUCE, path=tmp_path / "k.hip"), REDUCE)
    assert yaml.safe_load(text)["arguments"][1] == {
        "name": "out", "dtype": "f32", "shape": ["n"], "role": "inout", "values": "zeros",
    }  # fmt: skip
    assert "# float*; atomics update it" in text


def test_the_next_command_has_the_options_of_this_one() -> None:
    options = Options(arch="gfx1100", level="-O1", defines=("TILE=8", "A=b c"), includes=("inc",), standard="-std=c++20")
    text = proposal(replace(file_of(REDUCE), options=options), REDUCE)
    words = "-D TILE=8 -D 'A=b c' -I inc -O 1 --std c++20 --arch gfx1100"
    assert f"then: expctl check k.hip {words} --launch reduce_sum.yaml\n" in text


def test_a_kernel_is_named_in_several_ways() -> None:
    one, other = kernel("_ZN2nn4gemmIfLi4EEEvPT_"), kernel("_ZN2nn4gemmIDF16_Li8EEEvPT_")
    both = file_of(one, other)
    for name in ("nn::gemm<float, 4>", "nn::gemm<float, 4>(float*)", one.symbol):
        assert named(both, name) is one
    assert named(file_of(one), "gemm") is one
    assert named(file_of(one), "") is one
    for name in ("gemm", "", "gem"):
        with refuses("kernel-not-named"):
            named(both, name)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([("x", "f32", ["n"])], "1, but the kernel takes 3: reduce_sum(float const*, float*, int)"),
        (
            [("x", "f32", 1), ("o", "f32", ["n"]), ("n", "i32", 1)],
            "x is a number, but the parameter (float const*) is a pointer",
        ),
        (
            [("x", "f32", ["n"]), ("o", "f32", ["n"]), ("n", "i32", [1])],
            "n is an array, but parameter (int) takes a number of 4",
        ),
        (
            [("x", "f32", ["n"]), ("o", "f32", ["n"]), ("n", "i64", 1)],
            "n is i64, which has 8 bytes, but the parameter (int) has 4",
        ),
        ([("x", "f32", ["n"]), ("o", "f32", ["n"]), ("n", "f32", 1)], "n is f32, but the parameter (int) is i32"),
        (
            [("x", "f16", ["n"]), ("o", "f32", ["n"]), ("n", "i32", 1)],
            "x is an array of f16, but the parameter (float const*) points to others",
        ),
        (
            [("x", "i32", ["n"]), ("o", "f32", ["n"]), ("n", "i32", 1)],
            "x is an array of i32, but the parameter (float const*) points to others",
        ),
    ],
)
def test_arguments_that_the_kernel_does_not_take(arguments: list[tuple[str, str, object]], problem: str) -> None:
    entries = [
        {"name": name, "dtype": dtype, ("shape" if isinstance(what, list) else "value"): what}
        for name, dtype, what in arguments
    ]
    case = case_of({"shapes": {"n": 3}, "grid": [1], "block": [32], "arguments": entries}, "here")
    assert [problem in text for _, text in misfits(case, REDUCE)] == [True]


@pytest.mark.parametrize(
    ("symbol", "dtype", "note"),
    [
        ("_Z1kPf", "f32", ""),
        ("_Z1kP6float4", "f16", "x is an array of f16, but the parameter (float4*) points to others"),
        ("_Z1kPi", "i16", "x is an array of i16, but the parameter (int*) points to others"),
        ("_Z1kPj", "i32", ""),
        ("_Z1kP6float4", "f32", ""),
        ("_Z1kPv", "f16", ""),
        ("_Z1kP3Box", "f16", ""),
    ],
)
def test_elements_of_another_type_are_noted(symbol: str, dtype: str, note: str) -> None:
    entry = {"name": "x", "dtype": dtype, "shape": [4]}
    case = case_of({"grid": [1], "block": [32], "arguments": [entry]}, "here")
    assert list(guessed(case, kernel(symbol, "x"))) == ([note] if note else [])


@pytest.mark.parametrize(
    ("names", "notes"),
    [
        ("x w out", []),
        ("x weights out", []),
        ("w x out", ["argument 1 is called w here and x in the kernel", "argument 2 is called x here and w in the kernel"]),
        ("w filter out", ["argument 1 is called w here and x in the kernel"]),
    ],
)
def test_exchanged_names_are_noted(names: str, notes: list[str]) -> None:
    entries = [{"name": name, "dtype": "f32", "shape": [4]} for name in names.split()]
    case = case_of({"grid": [1], "block": [32], "arguments": entries}, "here")
    assert list(guessed(case, kernel("_Z4convPKfS0_Pf", "x", "w", "out"))) == notes
