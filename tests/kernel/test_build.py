"""The same source gives the same code wherever it lies, and gfx1151 code fits its registers."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import ziglang
from elftools.elf.elffile import ELFFile

from kernel.runtime.build import SOURCE, ZIG_CPP

CODE_SECTIONS = (".text", ".rodata", ".data.rel.ro")


def code_of(library: Path) -> dict[str, bytes]:
    with library.open("rb") as file:
        elf = ELFFile(file)
        sections = {name: elf.get_section_by_name(name) for name in CODE_SECTIONS}
        return {name: section.data() for name, section in sections.items() if section is not None}


def test_the_build_does_not_depend_on_where_it_lies(tmp_path: Path) -> None:
    built = []
    for folder in (tmp_path / "a", tmp_path / "another folder with a longer name"):
        shutil.copytree(SOURCE, folder / "hip")
        library = folder / "scaled_mm.so"
        argv = [
            *ZIG_CPP,
            "-march=native",
            "-DSCALED_MM_CONFIG=1,8,2,2,8,2",
            str(folder / "hip/host_cpu.cpp"),
            "-o",
            str(library),
        ]
        subprocess.run(argv, check=True, capture_output=True)
        built.append(code_of(library))
    assert built[0][".text"]
    assert built[0] == built[1]


def test_a_config_that_breaks_a_rule_says_why(tmp_path: Path) -> None:
    for config, reason in {"1,8,2,4,8,2": "stages is fixed at 2", "1,8,3,2,8,2": "unroll_k must be even"}.items():
        argv = [*ZIG_CPP, f"-DSCALED_MM_CONFIG={config}", "-fsyntax-only", str(SOURCE / "host_cpu.cpp")]
        ran = subprocess.run(argv, capture_output=True, text=True, cwd=tmp_path)
        assert ran.returncode != 0
        assert reason in ran.stderr


@pytest.mark.parametrize(
    "flags",
    [
        pytest.param(["-march=x86_64"], id="x86 without AVX2"),
        pytest.param(["--target=aarch64-linux-gnu"], id="aarch64", marks=pytest.mark.long),
    ],
)
def test_the_plain_fallback_compiles(tmp_path: Path, flags: list[str]) -> None:
    argv = [
        *ZIG_CPP,
        *flags,
        "-DSCALED_MM_CONFIG=1,8,2,2,8,2",
        str(SOURCE / "host_cpu.cpp"),
        "-o",
        str(tmp_path / "x.so"),
    ]
    subprocess.run(argv, check=True, capture_output=True)


@pytest.fixture(scope="module")
def gfx1151(tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("gfx1151") / "scaled_mm.s"
    include = Path(ziglang.__file__).parent / "lib" / "include"
    argv = [sys.executable, "-m", "ziglang", "clang", "-x", "hip", "--offload-arch=gfx1151", "--cuda-device-only"]
    argv += ["--no-gpu-bundle-output", "-nogpuinc", "-nogpulib", "-isystem", str(include), "-O3", "-Wall", "-Werror"]
    subprocess.run([*argv, "-S", str(SOURCE / "scaled_mm.hip"), "-o", str(out)], check=True, capture_output=True)
    return out.read_text(encoding="utf-8")


def figures(assembly: str, field: str) -> list[int]:
    return [int(x) for x in re.findall(rf"^\s+\.{field}:\s+(\d+)$", assembly, re.MULTILINE)]


def test_gfx1151_spills_nothing_in_any_config(gfx1151: str) -> None:
    assert len(figures(gfx1151, "vgpr_count")) == 14  # 7 configs x 2 formats
    assert set(figures(gfx1151, "vgpr_spill_count")) == {0}
    assert set(figures(gfx1151, "sgpr_spill_count")) == {0}
    assert set(figures(gfx1151, "private_segment_fixed_size")) == {0}


def test_gfx1151_winner_hot_loop(gfx1151: str) -> None:
    """Per v_wmma: no wider than the successor of P14 in design/4-kernel.md, 5.22 instructions, 1.25 of them vector ALU."""
    body = re.search(r"^scaled_mm_e5m2_1_8_2_2_8_2:.*?^\.Lfunc_end", gfx1151, re.MULTILINE | re.DOTALL)
    assert body is not None
    loops = re.findall(
        r"^(\.LBB\d+_\d+):[^\n]*This Inner Loop Header.*?\n(.*?s_cbranch_scc\d \1)\n", body[0], re.MULTILINE | re.DOTALL
    )
    hot = next(text for _, text in loops if text.count("v_wmma") == 32 and text.count("global_load_b128") == 4)
    instructions = [line.split()[0] for line in hot.splitlines() if re.match(r"^\s+[a-z]", line)]
    vector = [x for x in instructions if x.startswith("v_") and "wmma" not in x]
    lds = [x for x in instructions if x.startswith("ds_")]
    assert len(instructions) / 32 <= 5.22
    assert len(vector) / 32 <= 1.25
    assert len(lds) / 32 == 1.25
    assert set(lds) == {"ds_load_b128", "ds_store_b128"}
    assert instructions.count("s_barrier") == 2
